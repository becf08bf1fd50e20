#include "http/sse.h"

#include <gtest/gtest.h>

#include <vector>

namespace atl::http {
namespace {

std::vector<Event> parse(std::string_view bytes, std::size_t piece) {
  std::vector<Event> events;
  EventParser parser;
  for (std::size_t at = 0; at < bytes.size(); at += piece) {
    EXPECT_TRUE(parser.feed(bytes.substr(at, piece), [&](const Event& event) {
      events.push_back(event);
      return true;
    }));
  }
  return events;
}

TEST(Sse, AnEventIsFormattedLineByLine) {
  EXPECT_EQ(format_event({.id = "7", .event = "log", .data = "a\nb\r\nc\rd"}),
            "id: 7\nevent: log\ndata: a\ndata: b\ndata: c\ndata: d\n\n");
  EXPECT_EQ(format_event({.id = "1\n2", .event = "x\r\ny", .data = ""}),
            "id: 12\nevent: xy\ndata: \n\n");
}

TEST(Sse, WhatIsFormattedIsParsedBackInPiecesOfAnySize) {
  const std::vector<Event> events = {{.id = "1", .event = "log", .data = "one\ntwo"},
                                     {.id = "2", .event = "", .data = ""},
                                     {.id = "3", .event = "end", .data = " spaced: \n"}};
  std::string bytes(kSseHeartbeat);
  for (const Event& event : events) bytes += format_event(event);
  for (std::size_t piece = 1; piece <= bytes.size(); ++piece)
    EXPECT_EQ(parse(bytes, piece), events);
}

TEST(Sse, OtherServersSpellingsAreUnderstood) {
  const std::vector<Event> expected = {{.id = "5", .event = "", .data = "x"},
                                       {.id = "5", .event = "", .data = "y"}};
  const std::string bytes =
      "\xef\xbb\xbfretry: 10\r\n:note\r\nid:5\r\ndata:x\r\n\r\nevent: dropped\r\n\r\ndata\r\ndata: "
      "\r\n";
  EXPECT_EQ(parse("\xef\xbb\xbfid:5\rdata:x\r\revent: no data\n\ndata: y\r\n\r\n", 1), expected);
  EXPECT_EQ(parse(bytes, 3).size(), 1u);
}

TEST(Sse, ALineWithoutEndIsGivenUp) {
  EventParser parser;
  const std::string piece(1 << 20, 'x');
  bool going = true;
  for (int i = 0; i < 20 && going; ++i)
    going = parser.feed(piece, [](const Event&) { return true; });
  EXPECT_FALSE(going);
}

}  // namespace
}  // namespace atl::http
