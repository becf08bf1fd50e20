#include <chrono>
#include <thread>

#include "api/log_chunk.h"
#include "api/testing.h"

namespace atl::api {
namespace {

class Streams : public ApiTest {
 protected:
  std::shared_ptr<TestStream> open(const std::string& target, uint32_t uid,
                                   const std::string& last = {}) {
    http::Headers headers{{"Accept", "text/event-stream"}};
    if (!last.empty()) headers.add("Last-Event-ID", last);
    const auto exchange = send({.target = target, .uid = uid, .headers = headers});
    EXPECT_TRUE(exchange->streamed) << exchange->response.body;
    return exchange->streamed;
  }
  // Runs the loop until the stream holds the text.
  bool shows(const std::shared_ptr<TestStream>& stream, const std::string& part) {
    for (int i = 0; i < 3000; ++i) {
      settle();
      if (stream->text().find(part) != std::string::npos) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return false;
  }
};

TEST_F(Streams, LogsAreReadByOffset) {
  submit("ada", R"({"command":["x"]})");
  EXPECT_EQ(as("ada", "GET", "/api/v1/jobs/1/logs").status, 404);
  start("1");
  driver->output[{JobId{1}, 0, 1}] = "one\ntwo\nthree\n";
  const http::Response all = as("watcher", "GET", "/api/v1/jobs/1/logs");
  EXPECT_EQ(all.body, "one\ntwo\nthree\n");
  EXPECT_EQ(all.headers.get("X-Atoll-Next-Offset"), "14");
  EXPECT_EQ(as("ada", "GET", "/api/v1/jobs/1/logs?offset=4&limit=3").body, "two");
  EXPECT_EQ(as("ada", "GET", "/api/v1/jobs/1/logs?tail=1").body, "three\n");
  EXPECT_EQ(as("ada", "GET", "/api/v1/jobs/1/logs?tail=2").body, "two\nthree\n");
  EXPECT_EQ(as("ada", "GET", "/api/v1/jobs/1/logs?tail=9").body, "one\ntwo\nthree\n");
  EXPECT_EQ(as("ada", "GET", "/api/v1/jobs/1/logs?tail=0").body, "");
  EXPECT_EQ(as("ada", "GET", "/api/v1/jobs/1/logs?attempt=7").status, 404);
  EXPECT_EQ(as("ada", "GET", "/api/v1/jobs/1/logs?stream=stdin").status, 400);
  EXPECT_EQ(as("rival", "GET", "/api/v1/jobs/1/logs").status, 404);
}

TEST_F(Streams, LogsAreFollowedToTheEnd) {
  submit("ada", R"({"command":["x"]})");
  const auto stream = open("/api/v1/jobs/1/logs", 1000);
  start("1");
  driver->output[{JobId{1}, 0, 1}] = "hello\n";
  EXPECT_TRUE(shows(stream, "id: 1.6\nevent: output\ndata: hello\ndata: \n")) << stream->text();
  driver->output[{JobId{1}, 0, 1}] += "\xff\xfe";
  EXPECT_TRUE(shows(stream, "event: base64\ndata: //4=")) << stream->text();
  end("1", 4);
  EXPECT_TRUE(
      shows(stream, "event: end\ndata: {\"id\":\"1\",\"outcome\":\"failed\",\"exit_code\":4"))
      << stream->text();
  EXPECT_FALSE(stream->is_open());
  const auto late = open("/api/v1/jobs/1/logs", 1000, "1.3");
  EXPECT_TRUE(shows(late, "event: end"));
  EXPECT_EQ(late->text().find("hel"), std::string::npos) << late->text();
}

TEST_F(Streams, LogsGoOnWithTheNextAttempt) {
  submit("ada", R"({"command":["x"],"retries":{"max":1,"backoff":0}})");
  start("1");
  driver->output[{JobId{1}, 0, 1}] = "first";
  const auto stream = open("/api/v1/jobs/1/logs", 1000);
  EXPECT_TRUE(shows(stream, "first"));
  end("1", 1);
  clock.time = clock.time + seconds(60);
  settle();
  start("1");
  driver->output[{JobId{1}, 0, 2}] = "second";
  EXPECT_TRUE(shows(stream, "event: attempt\ndata: {\"attempt\":2}")) << stream->text();
  EXPECT_TRUE(shows(stream, "id: 2.6\nevent: output\ndata: second"));
  end("1", 0);
  EXPECT_TRUE(shows(stream, "\"outcome\":\"succeeded\""));
}

TEST_F(Streams, LogsEndWithTheOutcomeOfTheTaskAndNotOfItsLastAttempt) {
  submit("ada", R"({"command":["x"],"retries":{"max":1,"backoff":"1h"}})");
  submit("ada", R"({"command":["x"],"array":"1-2","retries":{"max":1,"backoff":"1h"}})");
  start("1");
  start("2", 1);
  const auto alone = open("/api/v1/jobs/1/logs", 1000);
  const auto task = open("/api/v1/jobs/2%5B1%5D/logs", 1000);
  end("1", 7);
  end("2", 7, 1);
  ASSERT_EQ(as("ada", "POST", "/api/v1/jobs/1/cancel").status, 200);
  ASSERT_EQ(as("ada", "POST", "/api/v1/jobs/2%5B1%5D/cancel").status, 200);
  EXPECT_TRUE(shows(alone, R"({"id":"1","outcome":"cancelled","exit_code":null)")) << alone->text();
  EXPECT_TRUE(shows(task, R"({"id":"2[1]","outcome":"cancelled","exit_code":null)"))
      << task->text();
}

TEST_F(Streams, EventsAreNumberedAndResumed) {
  const auto stream = open("/api/v1/events", 1000);
  submit("ada", R"({"command":["x"]})");
  EXPECT_TRUE(shows(stream, "event: job_submitted")) << stream->text();
  EXPECT_TRUE(shows(stream, "event: task_placed"));
  EXPECT_NE(stream->text().find("\"by\":\"ada\""), std::string::npos);
  const std::string text = stream->text();
  const size_t at = text.rfind("id: ") + 4;
  const std::string last = text.substr(at, text.find('\n', at) - at);
  start("1");
  const auto resumed = open("/api/v1/events", 1000, last);
  EXPECT_TRUE(shows(resumed, "event: task_started")) << resumed->text();
  EXPECT_EQ(resumed->text().find("job_submitted"), std::string::npos);
}

TEST_F(Streams, EventsNameAttemptsAsTheJobDoes) {
  const auto stream = open("/api/v1/events", 1000);
  submit("ada", R"({"command":["x"],"retries":{"max":1,"backoff":"1s"}})");
  submit("ada", R"({"command":["x"],"array":"0"})");
  EXPECT_TRUE(shows(stream, R"("attempt":"1.1")")) << stream->text();
  EXPECT_TRUE(shows(stream, R"("attempt":"2[0].1")")) << stream->text();
  end("1", 1);
  clock.time = clock.time + seconds(2);
  settle();
  EXPECT_TRUE(shows(stream, R"("task":"1")")) << stream->text();
  end("1", 0);
  end("2", 0);
  // The jobs are history now.
  const std::string page = as("ada", "GET", "/api/v1/events?after=0&limit=1000").body;
  EXPECT_NE(page.find(R"("attempt":"1.2")"), std::string::npos) << page;
  EXPECT_EQ(page.find("1[0]"), std::string::npos) << page;
  EXPECT_NE(page.find(R"("attempt":"2[0].1")"), std::string::npos) << page;
}

TEST_F(Streams, EventsShowOnlyWhatOneMaySee) {
  const auto rival = open("/api/v1/events?namespace=other", 1003);
  const auto root = open("/api/v1/events", 0);
  const std::string secret = token_of("ada");
  submit("ada", R"({"command":["x"]})");
  end("1", 0);
  submit("rival", R"({"command":["x"],"namespace":"other"})");
  EXPECT_TRUE(shows(rival, "\"job\":\"2\"")) << rival->text();
  EXPECT_EQ(rival->text().find("\"job\":\"1\""), std::string::npos);
  EXPECT_TRUE(shows(root, "event: token_created"));
  EXPECT_TRUE(shows(root, "event: job_ended"));
  EXPECT_EQ(root->text().find("hash"), std::string::npos);
  const std::string page = as("ada", "GET", "/api/v1/events?after=0&job=1").body;
  EXPECT_NE(page.find("job_ended"), std::string::npos) << page;
  EXPECT_EQ(as("rival", "GET", "/api/v1/events?after=0&job=1").body.find("job_ended"),
            std::string::npos);
  EXPECT_EQ(as("rival", "GET", "/api/v1/events?namespace=default").status, 404);
  EXPECT_NE(as("ada", "GET", "/api/v1/events?after=0&limit=1").body.find("\"more\":true"),
            std::string::npos)
      << "a page that its limit cut short says so";
  EXPECT_NE(page.find("\"more\":false"), std::string::npos) << page;
}

TEST_F(Streams, WhatPeopleAskedForOutlivesTheCommitsItWasPartOf) {
  submit("ada", R"({"command":["x"],"hold":true})");
  ASSERT_EQ(as("ada", "POST", "/api/v1/jobs/1/release").status, 200);
  ASSERT_TRUE(journal.snapshot());
  ASSERT_EQ(as("ada", "POST", "/api/v1/jobs/1/cancel").status, 200);
  const std::string all = as("ada", "GET", "/api/v1/events?after=0&job=1").body;
  EXPECT_NE(all.find("job_released"), std::string::npos) << all;
  EXPECT_NE(all.find(R"("by":"ada")"), std::string::npos) << all;
  EXPECT_EQ(all.find("job_submitted"), std::string::npos) << "the job's own record says that";
  EXPECT_NE(all.find("cancelled"), std::string::npos) << "and what came after is there as a whole";
  EXPECT_NE(all.find(R"("reset":true,"more":false)"), std::string::npos) << all;
  std::string pages;
  std::string after = "0";
  for (int i = 0; i < 50; ++i) {
    const std::string page = as("ada", "GET", "/api/v1/events?limit=1&after=" + after).body;
    pages += page;
    const size_t at = page.find(R"("after":)") + 8;
    after = page.substr(at, page.find(',', at) - at);
    if (page.find(R"("more":false)") != std::string::npos) break;
  }
  EXPECT_NE(pages.find("job_released"), std::string::npos) << pages;
  EXPECT_NE(pages.find("cancelled"), std::string::npos) << pages;
  EXPECT_EQ(as("rival", "GET", "/api/v1/events?after=0&job=1").body.find("job_released"),
            std::string::npos);
}

TEST_F(Streams, APositionTooOldIsReset) {
  submit("ada", R"({"command":["x"]})");
  ASSERT_TRUE(journal.snapshot());
  const auto stream = open("/api/v1/events", 1000, "1");
  EXPECT_TRUE(shows(stream, "event: reset")) << stream->text();
  EXPECT_NE(as("ada", "GET", "/api/v1/events?after=1").body.find("\"reset\":true"),
            std::string::npos);
}

TEST(LogChunk, KeepsCharactersWhole) {
  EXPECT_EQ(whole_characters("abc"), 3u);
  EXPECT_EQ(whole_characters("ab\xc3"), 2u);
  EXPECT_EQ(whole_characters("ab\xc3\xa9"), 4u);
  EXPECT_EQ(whole_characters("\xf0\x9f\x90"), 0u);
  EXPECT_EQ(whole_characters("\x80\x80\x80\x80\x80"), 5u);
  EXPECT_EQ(base64("a"), "YQ==");
  EXPECT_EQ(base64("abc"), "YWJj");
  EXPECT_NE(log_event("a\rb", 1, 3).find("event: base64"), std::string::npos);
}

}  // namespace
}  // namespace atl::api
