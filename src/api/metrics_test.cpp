#include "api/metrics.h"

#include <prometheus/registry.h>
#include <unistd.h>

#include "api/testing.h"
#include "api/work_counts.h"

namespace atl::api {
namespace {

class MetricsPage : public ApiTest {
 protected:
  // The value behind a name with its labels, or nothing.
  std::string value(const std::string& name) {
    const std::string page = "\n" + send({.target = "/metrics"})->response.body;
    const size_t at = page.find("\n" + name + " ");
    if (at == std::string::npos) return "";
    const size_t from = at + name.size() + 2;
    return page.substr(from, page.find('\n', from) - from);
  }
  double number(const std::string& name) {
    const std::string text = value(name);
    return text.empty() ? -1 : std::stod(text);
  }
};

TEST_F(MetricsPage, CountsWhatEndedByOutcome) {
  EXPECT_EQ(value("atoll_jobs_ended_total{outcome=\"lost\"}"), "0");
  submit("ada", R"({"command":["x"]})");
  submit("ada", R"({"command":["x"]})");
  const std::string array = submit("ada", R"({"command":["x"],"array":"1-5","hold":true})");
  end("1", 0);
  end("2", 3);
  EXPECT_EQ(as("ada", "POST", "/api/v1/jobs/" + array + "/cancel").status, 200);
  EXPECT_EQ(value("atoll_jobs_submitted_total"), "3");
  EXPECT_EQ(value("atoll_jobs_ended_total{outcome=\"succeeded\"}"), "1");
  EXPECT_EQ(value("atoll_jobs_ended_total{outcome=\"failed\"}"), "1");
  EXPECT_EQ(value("atoll_jobs_ended_total{outcome=\"cancelled\"}"), "1");
  EXPECT_EQ(value("atoll_tasks_ended_total{outcome=\"succeeded\"}"), "1");
  EXPECT_EQ(value("atoll_tasks_ended_total{outcome=\"cancelled\"}"), "5");
}

TEST_F(MetricsPage, ATaskWaitsFromWhenItCouldRunToItsFirstStart) {
  submit("ada", R"({"command":["x"],"retries":{"max":1,"backoff":"1s"}})");
  clock.time = clock.time + seconds(3);
  start("1");
  EXPECT_EQ(value("atoll_task_wait_seconds_count"), "1");
  EXPECT_EQ(number("atoll_task_wait_seconds_sum"), 3);
  end("1", 1);
  EXPECT_EQ(value("atoll_attempts_retried_total{reason=\"failed\"}"), "1");
  clock.time = clock.time + seconds(100);
  settle();
  end("1", 0);
  EXPECT_EQ(value("atoll_task_wait_seconds_count"), "1")
      << "a second attempt waits for nothing new";

  submit("ada", R"({"command":["x"],"hold":true})");
  clock.time = clock.time + seconds(1000);
  EXPECT_EQ(as("ada", "POST", "/api/v1/jobs/2/release").status, 200);
  clock.time = clock.time + seconds(2);
  end("2", 0);
  EXPECT_EQ(value("atoll_task_wait_seconds_count"), "2") << "its end told of its start too";
  EXPECT_EQ(number("atoll_task_wait_seconds_sum"), 5) << "being held is not waiting";
  EXPECT_EQ(value("atoll_task_wait_seconds_bucket{le=\"1\"}"), "0");
  EXPECT_EQ(value("atoll_task_wait_seconds_bucket{le=\"5\"}"), "2");
}

TEST_F(MetricsPage, AJobThatLivesAgainWaitsFromThenOn) {
  submit("ada", R"({"command":["x"],"hold":true})");
  ASSERT_EQ(as("ada", "POST", "/api/v1/jobs/1/cancel").status, 200);
  clock.time = clock.time + minutes(10);
  ASSERT_EQ(as("ada", "POST", "/api/v1/jobs/1/requeue").status, 200);
  as("ada", "POST", "/api/v1/jobs/1/release");
  start("1");
  EXPECT_EQ(value("atoll_task_wait_seconds_count"), "1");
  EXPECT_LT(number("atoll_task_wait_seconds_sum"), 60);
}

TEST(WorkCounts, OfWhatWasThereBeforeTheServerStartedNobodyKnowsSinceWhenItCouldRun) {
  prometheus::Registry registry;
  WorkCounts counts(registry);
  core::State state;
  core::Job job;
  job.id = JobId{1};
  job.submitted = Time{1000};
  state.jobs.emplace(job.id, job);
  const AttemptId attempt{job.id, 0, 1};
  const Time now{seconds(900).us};
  counts.on_commit(state, {{now, {}, core::TaskPlaced{attempt, {}, {}}},
                           {now, {}, core::TaskStarted{attempt, now}}});
  for (const auto& family : registry.Collect()) {
    if (family.name == "atoll_task_wait_seconds")
      EXPECT_EQ(family.metric.at(0).histogram.sample_count, 0u);
  }
}

TEST_F(MetricsPage, SaysWhatEachSiteHasAndWhatIsHeld) {
  submit("ada", R"({"command":["x"],"cpus":1.5,"memory":"1GiB"})");
  settle();
  EXPECT_EQ(number("atoll_site_cpus{site=\"local\"}"), 4);
  EXPECT_EQ(number("atoll_site_cpus_used{site=\"local\"}"), 1.5);
  EXPECT_EQ(number("atoll_site_memory_bytes{site=\"local\"}"), 16.0 * (1 << 30));
  EXPECT_EQ(number("atoll_site_memory_used_bytes{site=\"local\"}"), 1 << 30);
  EXPECT_EQ(number("atoll_site_tasks{site=\"local\"}"), 1);
}

TEST(SiteUse, ANodeThatIsGoneCountsOnlyForWhatIsOnIt) {
  core::Site site;
  site.name = "cluster";
  site.nodes["a"].capacity = {"a", 8000, 100, {{"gpu0", "gpu", "a100"}, {"gpu1", "gpu", "a100"}}};
  site.nodes["a"].units_used["gpu1"] = {1000, 0, true, 1};
  site.nodes["b"].capacity = {"b", 4000, 100, {{"gpu0", "gpu", "t4"}}};
  site.nodes["b"].gone = true;
  site.nodes["b"].cpu_milli_used = 500;
  site.nodes["b"].holders[TaskId{JobId{1}, 0}] = {};
  const SiteUse use = use_of(site);
  EXPECT_EQ(use.cpus.capacity, 8);
  EXPECT_EQ(use.cpus.used, 0.5);
  EXPECT_EQ(use.tasks, 1);
  EXPECT_EQ(use.devices.at({"gpu", "a100"}).capacity, 2);
  EXPECT_EQ(use.devices.at({"gpu", "a100"}).used, 1);
  EXPECT_EQ(use.devices.at({"gpu", "t4"}).capacity, 0);
}

TEST_F(MetricsPage, SaysWhatTheProcessUses) {
  EXPECT_GT(number("process_resident_memory_bytes"), 1e6);
  EXPECT_GE(number("process_cpu_seconds_total"), 0);
  const double files = number("process_open_fds");
  const int more = dup(0);
  EXPECT_EQ(number("process_open_fds"), files + 1);
  close(more);
  EXPECT_GT(number("process_max_fds"), files);
  const double age = static_cast<double>(time(nullptr)) - number("process_start_time_seconds");
  EXPECT_GE(age, -2);
  EXPECT_LT(age, 3600);
}

}  // namespace
}  // namespace atl::api
