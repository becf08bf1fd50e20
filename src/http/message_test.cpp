#include "http/message.h"

#include <gtest/gtest.h>

namespace atl::http {
namespace {

TEST(Headers, NamesAreComparedWithoutCase) {
  Headers headers{{"Content-Type", "text/plain"}, {"X-A", "1"}};
  EXPECT_EQ(headers.get("content-TYPE"), "text/plain");
  EXPECT_FALSE(headers.has("Content"));
}

TEST(Headers, SetReplacesEveryFieldOfThatName) {
  Headers headers{{"a", "1"}, {"A", "2"}, {"b", "3"}};
  headers.set("A", "4");
  EXPECT_EQ(headers.size(), 2u);
  EXPECT_EQ(headers.get("a"), "4");
}

TEST(Request, TheFirstOfARepeatedQueryParameterIsFound) {
  Request request;
  request.query = {{"state", "running"}, {"state", "ended"}};
  EXPECT_EQ(request.query_param("state"), "running");
  EXPECT_EQ(request.query_param("missing"), std::nullopt);
}

TEST(ReasonPhrase, IsFoundForRegisteredStatuses) {
  EXPECT_EQ(reason_phrase(100), "Continue");
  EXPECT_EQ(reason_phrase(404), "Not Found");
  EXPECT_EQ(reason_phrase(507), "Insufficient Storage");
  EXPECT_EQ(reason_phrase(599), "Unknown");
}

TEST(Problem, DetailIsEscaped) {
  const Response answer = problem(404, "nothing at \"\n\"");
  EXPECT_EQ(answer.content_type, "application/problem+json");
  EXPECT_NE(answer.body.find(R"(nothing at \"\u000a\")"), std::string::npos) << answer.body;
}

}  // namespace
}  // namespace atl::http
