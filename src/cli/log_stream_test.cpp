// Output followed over broken connections: neither lost nor doubled.
#include "cli/log_stream.h"

#include <gtest/gtest.h>

#include <atomic>

#include "cli/test_server.h"

namespace atl::cli {
namespace {

using namespace std::chrono_literals;
using testing::TestServer;

const Patience kQuick{.first_pause = 1ms, .last_pause = 10ms, .away_max = 5s, .silence = 5s};

// A log that is served as events of `piece` bytes; each connection is cut after a number of bytes
// that need not fall between events.
class CutLog {
 public:
  CutLog(std::string log, std::size_t piece, std::size_t cut)
      : log_(std::move(log)), piece_(piece), cut_(cut) {}

  void serve(const std::shared_ptr<http::Exchange>& exchange) {
    ++connections;
    const std::string last(exchange->request().headers.get("Last-Event-ID"));
    std::size_t at = last.empty() ? 0 : std::stoul(last.substr(last.find('.') + 1));
    std::string bytes;
    while (at < log_.size() && bytes.size() < cut_) {
      const std::string part = log_.substr(at, piece_);
      at += part.size();
      bytes +=
          http::format_event({.id = "1." + std::to_string(at), .event = "output", .data = part});
    }
    if (at == log_.size() && bytes.size() < cut_) {
      bytes += http::format_event(
          {.id = "", .event = "end", .data = R"({"outcome":"failed","exit_code":3})"});
    }
    auto stream = exchange->stream(200, {{"Content-Type", "text/event-stream"}});
    static_cast<void>(stream->write(std::string_view(bytes).substr(0, cut_)));
    stream->close();
  }

  std::atomic<int> connections{0};

 private:
  const std::string log_;
  const std::size_t piece_;
  const std::size_t cut_;
};

std::string numbered_lines(int count) {
  std::string log;
  for (int i = 0; i < count; ++i) log += "line " + std::to_string(i) + "\n";
  return log;
}

TEST(LogFollower, NoByteIsLostOrDoubledWhereverTheConnectionBreaks) {
  const std::string log = numbered_lines(60);
  for (std::size_t cut = 100; cut < 300; cut += 11) {
    CutLog source(log, 13, cut);
    TestServer server;
    server.handle("GET", "/api/v1/jobs/{id}/logs",
                  [&](std::shared_ptr<http::Exchange> exchange) { source.serve(exchange); });
    server.start();
    auto api = Api::open(server.target()).value();
    std::string got;
    const LogSink sink{.bytes = [&](std::string_view bytes) { got += bytes; },
                       .cut = {},
                       .attempt = {},
                       .stop = {}};
    const auto end =
        follow_log(api, {.id = "12", .stream = "stdout", .attempt = "1"}, sink, kQuick);
    ASSERT_TRUE(end) << end.error().message;
    EXPECT_EQ(got, log) << "cut after " << cut;
    EXPECT_EQ(end->text("outcome"), "failed");
    EXPECT_GT(source.connections, 2);
  }
}

TEST(LogFollower, SurvivesAServerThatRestarts) {
  std::atomic<int> calls{0};
  TestServer server;
  server.handle("GET", "/api/v1/jobs/{id}/logs", [&](std::shared_ptr<http::Exchange> exchange) {
    const int call = calls++;
    if (call == 1) return exchange->respond(http::problem(503, "starting"));
    auto stream = exchange->stream(200, {{"Content-Type", "text/event-stream"}});
    if (call == 0) {
      static_cast<void>(
          stream->write(http::format_event({.id = "1.3", .event = "output", .data = "one"})));
    } else {
      EXPECT_EQ(exchange->request().headers.get("Last-Event-ID"), "1.3");
      static_cast<void>(stream->write(
          http::format_event({.id = "1.6", .event = "output", .data = "two"}) +
          http::format_event({.id = "", .event = "end", .data = R"({"outcome":"succeeded"})"})));
    }
    stream->close();
  });
  server.start();
  auto api = Api::open(server.target()).value();
  std::string got;
  const auto end = follow_log(api, {.id = "12"},
                              {.bytes = [&](std::string_view bytes) { got += bytes; },
                               .cut = {},
                               .attempt = {},
                               .stop = {}},
                              kQuick);
  ASSERT_TRUE(end);
  EXPECT_EQ(got, "onetwo");
}

TEST(LogFollower, BinaryCutsAndAttemptsArriveAsTheyAre) {
  TestServer server;
  server.handle("GET", "/api/v1/jobs/{id}/logs", [&](std::shared_ptr<http::Exchange> exchange) {
    auto stream = exchange->stream(200, {{"Content-Type", "text/event-stream"}});
    static_cast<void>(stream->write(
        http::format_event({.id = "", .event = "cut", .data = R"({"from":0,"to":100})"}) +
        http::format_event({.id = "1.103", .event = "base64", .data = "AA3/"}) +
        std::string(http::kSseHeartbeat) +
        http::format_event({.id = "2.0", .event = "attempt", .data = R"({"attempt":2})"}) +
        http::format_event({.id = "2.3", .event = "output", .data = "\x1b[1m"}) +
        http::format_event({.id = "", .event = "end", .data = "{}"})));
    stream->close();
  });
  server.start();
  auto api = Api::open(server.target()).value();
  std::string got;
  std::int64_t cut = 0;
  std::int64_t attempt = 0;
  const LogSink sink{.bytes = [&](std::string_view bytes) { got += bytes; },
                     .cut = [&](std::int64_t from, std::int64_t to) { cut = to - from; },
                     .attempt = [&](std::int64_t number) { attempt = number; },
                     .stop = {}};
  ASSERT_TRUE(follow_log(api, {.id = "12"}, sink, kQuick));
  EXPECT_EQ(got, std::string("\0\r\xff\x1b[1m", 7));
  EXPECT_EQ(cut, 100);
  EXPECT_EQ(attempt, 2);
}

TEST(LogFollower, ARefusalEndsItAtOnce) {
  TestServer server;
  server.on("GET", "/api/v1/jobs/{id}/logs", R"({"detail":"no job 12","code":"not_found"})", 404);
  server.start();
  auto api = Api::open(server.target()).value();
  const auto end =
      follow_log(api, {.id = "12"},
                 {.bytes = [](std::string_view) {}, .cut = {}, .attempt = {}, .stop = {}}, kQuick);
  ASSERT_FALSE(end);
  EXPECT_EQ(end.error().message, "no job 12");
  EXPECT_EQ(server.requests().size(), 1u);
}

TEST(LogFollower, GivesUpOnAServerThatStaysAway) {
  Target target;
  target.url = "http://127.0.0.1:1";
  auto api = Api::open(target).value();
  Patience short_one = kQuick;
  short_one.away_max = 30ms;
  const auto end = follow_log(
      api, {.id = "12"}, {.bytes = [](std::string_view) {}, .cut = {}, .attempt = {}, .stop = {}},
      short_one);
  ASSERT_FALSE(end);
  EXPECT_EQ(end.error().code, ErrorCode::unavailable);
}

TEST(LogPage, SaysWhereToGoOn) {
  TestServer server;
  server.on("GET", "/api/v1/jobs/{id}/logs", [](const http::Request& request) {
    EXPECT_EQ(request.target, "/api/v1/jobs/12/logs?stream=stderr&tail=5");
    http::Response page{
        .status = 200, .content_type = "text/plain", .body = "last\n", .headers = {}};
    page.headers.add("X-Atoll-Next-Offset", "105");
    page.headers.add("X-Atoll-Size", "105");
    page.headers.add("X-Atoll-Attempt", "2");
    return page;
  });
  server.start();
  auto api = Api::open(server.target()).value();
  const auto page = read_log(api, {.id = "12", .stream = "stderr"}, 5);
  ASSERT_TRUE(page);
  EXPECT_EQ(page->bytes, "last\n");
  EXPECT_EQ(page->next_offset, 105);
  EXPECT_EQ(page->attempt, "2");
}

TEST(Base64, GivesTheBytesBack) {
  EXPECT_EQ(decode_base64("aGk="), "hi");
  EXPECT_EQ(decode_base64("aGkh"), "hi!");
  EXPECT_EQ(decode_base64("aA=="), "h");
  EXPECT_EQ(decode_base64(""), "");
  EXPECT_EQ(decode_base64("!!!!"), "");
}

}  // namespace
}  // namespace atl::cli
