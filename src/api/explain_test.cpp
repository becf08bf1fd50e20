#include <sys/resource.h>

#include "api/testing.h"

namespace atl::api {
namespace {

bool says(const http::Response& response, const std::string& part) {
  return response.body.find(part) != std::string::npos;
}

// One node of four cores; what runs has an hour.
class Explained : public ApiTest {
 protected:
  void fill() {
    submit("ada", R"({"command":["x"],"cpus":4,"time":"1h"})");
    start("1");
  }
  std::string in(Duration span) const { return format_time(clock.time + span); }
};

TEST_F(Explained, SaysWhenItIsExpectedWhoHasItAndWhatStartsSooner) {
  submit("ada", R"({"command":["x"],"cpus":2,"time":"1h"})");
  submit("ada", R"({"command":["x"],"cpus":1,"time":"2h"})");
  submit("ada", R"({"command":["x"],"cpus":4,"time":"1h"})");
  const http::Response why = as("ada", "GET", "/api/v1/jobs/3/explain");
  EXPECT_EQ(why.status, 200);
  EXPECT_TRUE(says(why, R"("expected_start":{"expected":")" + in(hours(2)) + R"(","earliest":")" +
                            in(hours(2)) + R"(","latest":")" + in(hours(2)) +
                            R"(","not_before":null,"rough":false})"))
      << why.body;
  EXPECT_TRUE(says(why, R"("held_by":[{"namespace":"default","amount":3)")) << why.body;
  EXPECT_TRUE(says(why, R"("alternatives":[{"change":"--cpus 1","starts":"now","yields":0})"))
      << why.body;
  EXPECT_TRUE(says(why, R"("position":1)")) << why.body;
}

TEST_F(Explained, RequestsThatStartLaterButSoonerThanIt) {
  submit("ada", R"({"command":["x"],"cpus":2,"time":"1h"})");
  submit("ada", R"({"command":["x"],"cpus":2,"time":"2h"})");
  submit("ada", R"({"command":["x"],"cpus":4,"time":"1h"})");
  const http::Response why = as("ada", "GET", "/api/v1/jobs/3/explain");
  EXPECT_TRUE(says(why, R"("alternatives":[{"change":"--cpus 2","starts":")" + in(hours(1))))
      << why.body;
}

TEST_F(Explained, WhatRunsAndWhatHasEndedDoesNotWait) {
  fill();
  EXPECT_TRUE(says(as("ada", "GET", "/api/v1/jobs/1/explain"), R"("sentence":null)"));
  end("1", 0);
  const http::Response ended = as("ada", "GET", "/api/v1/jobs/1/explain");
  EXPECT_TRUE(says(ended, R"("state":"ended")")) << ended.body;
  EXPECT_TRUE(says(ended, R"("expected_start":null)")) << ended.body;
  EXPECT_EQ(as("ada", "GET", "/api/v1/jobs/7/explain").status, 404);
  EXPECT_EQ(as("rival", "GET", "/api/v1/jobs/1/explain").status, 404);
}

TEST_F(Explained, WhatCannotBeAskedSaysWhyAndWhatThatMeans) {
  fill();
  driver->troubles["node1"] = "no route to host";
  const AttemptId attempt = driver->started.at(0).attempt;
  driver->sink(core::AttemptStarted{attempt, clock.time});
  driver->sink(core::AttemptUnreachable{attempt, true});
  settle();
  const std::string sentence =
      R"("sentence":"local/node1 cannot be asked: no route to host; 1 goes on there as far as anybody )"
      R"(knows, and is not started elsewhere before it is known to have ended")";
  const http::Response why = as("ada", "GET", "/api/v1/jobs/1/explain");
  EXPECT_TRUE(says(why, R"("reason":"unreachable",)" + sentence)) << why.body;
  EXPECT_TRUE(says(as("ada", "GET", "/api/v1/jobs/1"), sentence));
  EXPECT_TRUE(says(as("ada", "GET", "/api/v1/sites/local"),
                   R"("node_trouble":{"node1":"no route to host"})"));
  driver->sink(core::AttemptUnreachable{attempt, false});
  settle();
  EXPECT_TRUE(says(as("ada", "GET", "/api/v1/jobs/1"), R"("sentence":null)"));
}

// More jobs than a state is copied for: copies of the copy run ahead.
TEST_F(Explained, InALongLineToo) {
  fill();
  std::string batch = R"({"jobs":[)";
  for (int i = 0; i < 600; ++i)
    batch += std::string(i ? "," : "") + R"({"command":["x"],"cpus":4,"time":"1h"})";
  EXPECT_EQ(as("ada", "POST", "/api/v1/jobs", batch + "]}").status, 201);
  const http::Response why = as("ada", "GET", "/api/v1/jobs/11/explain");
  EXPECT_TRUE(says(why, R"("position":10)")) << why.body;
  EXPECT_TRUE(says(why, R"("expected":")" + in(hours(10)))) << why.body;
}

TEST_F(Explained, AShorterTimeGoesBeforeOthers) {
  submit("ada", R"({"command":["x"],"cpus":3,"time":"1h","grace":"0s"})");
  submit("ada", R"({"command":["x"],"cpus":1,"time":"20m","grace":"0s"})");
  submit("ada", R"({"command":["x"],"cpus":4,"time":"1h","grace":"0s"})");
  submit("ada", R"({"command":["x"],"cpus":1,"time":"80m","grace":"0s"})");
  const http::Response why = as("ada", "GET", "/api/v1/jobs/4/explain");
  EXPECT_TRUE(says(why, R"({"change":"--time 40m","starts":")" + in(minutes(20)))) << why.body;
}

TEST_F(Explained, WhatIsInfeasibleCouldBeLess) {
  submit("ada", R"({"command":["x"],"cpus":4})");  // nobody knows for how long
  submit("ada", R"({"command":["x"],"cpus":64,"keep":true})");
  const http::Response why = as("ada", "GET", "/api/v1/jobs/2/explain");
  EXPECT_TRUE(says(why, R"({"change":"--cpus 4","starts":null,"yields":0})")) << why.body;
}

TEST_F(Explained, OneTaskOfAnArray) {
  submit("ada", R"({"command":["x"],"array":"0-5","cpus":2,"time":"1h"})");
  start("1", 0);
  const auto task = [&](const std::string& index) {
    return as("ada", "GET", "/api/v1/jobs/1%5B" + index + "%5D/explain");
  };
  EXPECT_TRUE(says(task("0"), R"({"id":"1[0]","state":"running","reason":null)")) << task("0").body;
  EXPECT_TRUE(says(task("2"), R"({"id":"1[2]","state":"waiting","reason":"capacity")"));
  EXPECT_TRUE(says(task("2"), R"("expected":")" + in(hours(1)))) << task("2").body;
  EXPECT_TRUE(says(task("5"), R"("expected":")" + in(hours(2)))) << task("5").body;
  EXPECT_EQ(task("9").status, 404);
}

TEST_F(Explained, ATaskOfWhatIsNoArrayIsRefused) {
  fill();
  const auto task = [&] { return as("ada", "GET", "/api/v1/jobs/1%5B5%5D/explain"); };
  EXPECT_TRUE(says(task(), "job 1 is not an array: write 1")) << task().body;
  end("1", 0);
  EXPECT_EQ(task().status, 404);
  EXPECT_TRUE(says(task(), "job 1 is not an array: write 1")) << task().body;
  EXPECT_EQ(as("ada", "GET", "/api/v1/jobs/1%5B0%5D/explain").status, 200);
}

TEST_F(Explained, ADryRunAfterWhatWasCancelledIsSkipped) {
  fill();
  submit("ada", R"({"command":["x"],"cpus":4})");
  as("ada", "POST", "/api/v1/jobs/2/cancel");
  settle();
  const http::Response tried = as("ada", "POST", "/api/v1/jobs?dry_run=true",
                                  R"({"command":["x"],"array":"1-3","after":["2"]})");
  EXPECT_TRUE(says(tried, R"({"jobs":[{"starts":null)")) << tried.body;
  EXPECT_TRUE(says(tried, R"("tasks":3,"tasks_now":0)")) << tried.body;
  EXPECT_TRUE(says(tried,
                   R"("reason":"skipped","sentence":"it would never start, but be skipped: job 2 )"
                   R"(ended as cancelled")"))
      << tried.body;
  EXPECT_FALSE(
      says(as("ada", "POST", "/api/v1/jobs?dry_run=true", R"({"command":["x"],"after":["1"]})"),
           "skipped"));
}

// Without a process to be had there is an answer, but no forecast, and no dry run.
TEST_F(Explained, WithoutACopyOfTheServer) {
  fill();
  submit("ada", R"({"command":["x"],"cpus":2,"time":"1h"})");
  rlimit files{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &files), 0);
  const rlimit none{0, files.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  const http::Response why = as("ada", "GET", "/api/v1/jobs/2/explain");
  const http::Response tried =
      as("ada", "POST", "/api/v1/jobs?dry_run=true", R"({"command":["x"]})");
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &files), 0);
  EXPECT_EQ(why.status, 200);
  EXPECT_TRUE(says(why, R"("reason":"capacity")")) << why.body;
  EXPECT_TRUE(says(why, R"("expected_start":null)")) << why.body;
  EXPECT_EQ(tried.status, 503) << tried.body;
}

class TooMany : public Explained {
 protected:
  TooMany() { service_options.copies_max = 0; }
};

TEST_F(TooMany, AreAskedToComeBack) {
  fill();
  submit("ada", R"({"command":["x"],"cpus":2,"time":"1h"})");
  const http::Response why = as("ada", "GET", "/api/v1/jobs/2/explain");
  EXPECT_EQ(why.status, 503);
  EXPECT_TRUE(says(why, "too many such questions at once")) << why.body;
  EXPECT_EQ(as("ada", "POST", "/api/v1/jobs?dry_run=true", R"({"command":["x"]})").status, 503);
}

class DryRun : public Explained {
 protected:
  http::Response try_out(const std::string& json, http::Headers headers = {}) {
    return as("ada", "POST", "/api/v1/jobs?dry_run=true", json, std::move(headers));
  }
  void nothing_was_submitted(size_t jobs) {
    settle();
    EXPECT_EQ(runtime->state().jobs.size(), jobs);
    EXPECT_EQ(runtime->state().counters.job, jobs);
  }
};

TEST_F(DryRun, SaysWhereItStartsNow) {
  const http::Response tried = try_out(R"({"command":["x"],"cpus":2})");
  EXPECT_EQ(tried.status, 200) << tried.body;
  EXPECT_TRUE(says(tried, R"({"jobs":[{"starts":"now","site":"local","node":"node1","tasks":1)"))
      << tried.body;
  nothing_was_submitted(0);
  EXPECT_TRUE(driver->started.empty());
}

TEST_F(DryRun, SaysWhenAndWhyNot) {
  fill();
  const http::Response tried = try_out(R"({"command":["x"],"cpus":2,"time":"1h"})");
  EXPECT_TRUE(says(tried, R"("starts":")" + in(hours(1)) + R"(","site":null)")) << tried.body;
  EXPECT_TRUE(says(tried, R"("reason":"capacity")")) << tried.body;
  EXPECT_TRUE(says(tried, R"("expected":")" + in(hours(1)))) << tried.body;
  nothing_was_submitted(1);
}

TEST_F(DryRun, RefusesWhatASubmissionWouldBeRefused) {
  for (const char* body : {R"({"command":["x"],"cpus":64})", R"({"command":["x"],"cpus":-1})",
                           R"({"command":["x"],"namespace":"nowhere"})"}) {
    const http::Response real = as("ada", "POST", "/api/v1/jobs", body);
    const http::Response tried = try_out(body);
    EXPECT_EQ(tried.status, real.status) << body;
    const size_t from = real.body.find("\"detail\""), to = real.body.find("\"request_id\"");
    EXPECT_TRUE(says(tried, real.body.substr(from, to - from))) << tried.body;
  }
  EXPECT_EQ(as("watcher", "POST", "/api/v1/jobs?dry_run=true", R"({"command":["x"]})").status, 403);
}

TEST_F(DryRun, SeveralArraysAndGangs) {
  const http::Response tried = try_out(
      R"({"jobs":[{"command":["x"],"array":"1-3","cpus":1,"time":"1h"},
                  {"command":["x"],"gang":3,"cpus":1,"time":"1h"},
                  {"command":["x"],"hold":true}]})");
  EXPECT_EQ(tried.status, 200) << tried.body;
  EXPECT_TRUE(says(tried, R"("tasks":3,"tasks_now":3)")) << tried.body;
  EXPECT_TRUE(says(tried, R"("starts":")" + in(hours(1)) + "\"")) << tried.body;
  EXPECT_TRUE(
      says(tried, R"("reason":"held","sentence":"held: it waits until somebody releases it")"))
      << tried.body;
  nothing_was_submitted(0);
}

TEST_F(DryRun, NamesAllPlacesAndWhenTheRestStarts) {
  const http::Response gang = try_out(R"({"command":["x"],"gang":3,"cpus":1})");
  EXPECT_TRUE(says(gang, R"("places":[{"site":"local","node":"node1","tasks":3}],"rest":null)"))
      << gang.body;
  const http::Response array = try_out(R"({"command":["x"],"array":"1-6","cpus":2,"time":"1h"})");
  EXPECT_TRUE(says(array, R"("tasks":6,"tasks_now":2)")) << array.body;
  EXPECT_TRUE(says(array, R"("rest":{"tasks":4,"first":")" + in(hours(1)) + R"(","last":")" +
                              in(hours(2)) + R"(","rough":false})"))
      << array.body;
}

TEST_F(DryRun, SaysThatNotAllAreExplained) {
  fill();
  std::string batch = R"({"jobs":[)";
  for (int i = 0; i < 12; ++i) batch += std::string(i ? "," : "") + R"({"command":["x"]})";
  const http::Response tried = try_out(batch + "]}");
  EXPECT_TRUE(says(tried, "only the first 10 of 12 jobs that would wait are explained"))
      << tried.body;
}

TEST_F(DryRun, UsesUpNoKey) {
  EXPECT_EQ(try_out(R"({"command":["x"]})", {{"Idempotency-Key", "k"}}).status, 200);
  const http::Response real =
      as("ada", "POST", "/api/v1/jobs", R"({"command":["y"]})", {{"Idempotency-Key", "k"}});
  EXPECT_EQ(real.status, 201) << real.body;
  EXPECT_TRUE(says(real, R"("repeated":false)"));
}

TEST_F(DryRun, KnowsJobsThatHaveEnded) {
  fill();
  end("1", 0);
  EXPECT_TRUE(says(try_out(R"({"command":["x"],"after":[{"job":"1","kind":"after_success"}]})"),
                   R"("starts":"now")"));
}

}  // namespace
}  // namespace atl::api
