#include "simulate/measures.h"

#include <gtest/gtest.h>

namespace atl::simulate {
namespace {

TraceJob job(int64_t submit, uint32_t cores, int64_t run, uint16_t ns = 0) {
  TraceJob made;
  made.submit = seconds(submit);
  made.cpu_milli = cores * 1000;
  made.run = seconds(run);
  made.ns = ns;
  return made;
}

// As if each job had started then and run undisturbed.
Outcome outcome_of(const Trace& trace, const std::vector<int64_t>& starts) {
  Outcome outcome = empty_outcome(trace);
  struct Change {
    Duration at;
    size_t ns;
    int64_t cpu, wanted;
  };
  std::vector<Change> changes;
  for (size_t i = 0; i < trace.jobs.size(); ++i) {
    const TraceJob& each = trace.jobs[i];
    outcome.tasks[i].started = seconds(starts[i]);
    outcome.tasks[i].ended = seconds(starts[i]) + each.run;
    changes.push_back({each.submit, each.ns, 0, each.cpu_milli});
    changes.push_back(
        {outcome.tasks[i].started, each.ns, each.cpu_milli, -int64_t{each.cpu_milli}});
    changes.push_back({outcome.tasks[i].ended, each.ns, -int64_t{each.cpu_milli}, 0});
    outcome.end = std::max(outcome.end, outcome.tasks[i].ended);
  }
  std::sort(changes.begin(), changes.end(),
            [](const Change& a, const Change& b) { return a.at < b.at; });
  for (const Change& each : changes) {
    outcome.curve.use(each.ns, each.at, each.cpu);
    outcome.curve.wait(each.ns, each.at, each.wanted);
  }
  outcome.curve.finish(outcome.end);
  return outcome;
}

TEST(Measures, OfFourJobsOnOneNode) {
  Trace trace;
  trace.users = {"ada"};
  trace.namespaces = {"bio"};
  trace.jobs = {job(0, 2, 100), job(0, 2, 20), job(10, 1, 5), job(10, 2, 200)};
  const Outcome outcome = outcome_of(trace, {0, 100, 120, 125});
  const Measures m = measure(trace, outcome, 2000, {1});
  EXPECT_EQ(m.all.tasks, 4u);
  EXPECT_DOUBLE_EQ(m.all.mean, (0 + 100 + 110 + 115) / 4.0);
  EXPECT_DOUBLE_EQ(m.all.median, 100);
  EXPECT_DOUBLE_EQ(m.all.p95, 115);
  // 1, 120/20, 115/10 (ten seconds at least), 315/200
  EXPECT_DOUBLE_EQ(m.all.slowdown, (1 + 6 + 11.5 + 1.575) / 4);
  EXPECT_DOUBLE_EQ(m.makespan, 325);
  EXPECT_DOUBLE_EQ(m.utilisation, (200 + 40 + 5 + 400) / (2 * 325.0));
  EXPECT_DOUBLE_EQ(m.quarters[0].mean, 110);  // five core-seconds
  EXPECT_DOUBLE_EQ(m.quarters[3].mean, 115);
  EXPECT_EQ(m.tiers.size(), 1u);
  EXPECT_DOUBLE_EQ(m.namespaces[0].core_hours, 645 / 3600.0);
  EXPECT_EQ(m.evictions, 0u);
}

TEST(Measures, TheSteadyPartLeavesOutBothTenths) {
  Trace trace;
  trace.users = {"ada"};
  trace.namespaces = {"bio"};
  trace.jobs = {job(0, 1, 20), job(100, 1, 50)};
  const Measures m = measure(trace, outcome_of(trace, {0, 100}), 1000, {1});
  EXPECT_DOUBLE_EQ(m.steady, 10 / 80.0);  // of 10 to 90, 10 to 20 is in use
}

TEST(Measures, WhoWaitsIsComparedWithWhatWasDue) {
  Trace trace;
  trace.users = {"ada"};
  trace.namespaces = {"bio", "chem", "art"};
  // In the first hour bio has one core of four and wants three more, chem has three and wants
  // one more; art wants a quarter of a core and gets none.
  trace.jobs = {job(0, 1, 3600, 0), job(0, 3, 3600, 1), job(0, 3, 3600, 0), job(0, 1, 3600, 1),
                job(0, 1, 3600, 2)};
  trace.jobs.back().cpu_milli = 250;
  const Outcome outcome = outcome_of(trace, {0, 0, 3600, 3600, 3600});
  const Measures m = measure(trace, outcome, 4000, {0.4, 0.4, 0.2});
  EXPECT_DOUBLE_EQ(m.namespaces[0].got, 1 / 1.6);
  EXPECT_DOUBLE_EQ(m.namespaces[1].got, 3 / 1.6);
  EXPECT_DOUBLE_EQ(m.namespaces[2].got, 0);
  EXPECT_DOUBLE_EQ(m.worst, 0);
  EXPECT_DOUBLE_EQ(m.fairness, 1.625 * 1.625 / (3 * (0.625 * 0.625 + 1)));
  EXPECT_DOUBLE_EQ(m.namespaces[1].used, 4 / 8.25);
}

TEST(Measures, EvictionsAndLostWorkAreSummed) {
  Trace trace;
  trace.users = {"ada"};
  trace.namespaces = {"bio"};
  trace.jobs = {job(0, 4, 100)};
  Outcome outcome = outcome_of(trace, {0});
  outcome.tasks[0].evictions = 2;
  outcome.tasks[0].lost = seconds(900);
  const Measures m = measure(trace, outcome, 4000, {1});
  EXPECT_EQ(m.evictions, 2u);
  EXPECT_DOUBLE_EQ(m.lost_core_hours, 1);
}

TEST(Measures, WhoWasKeptOutDidNotWaitForEver) {
  Trace trace;
  trace.users = {"ada"};
  trace.namespaces = {"bio"};
  trace.jobs = {job(0, 4, 100), job(0, 64, 100), job(0, 4, 100)};
  Outcome outcome = outcome_of({trace}, {0, 0, 0});
  outcome.tasks[1] = outcome.tasks[2] = {};
  outcome.kept_out[1] = true;
  outcome.too_large = 1;
  const Measures m = measure(trace, outcome, 4000, {1});
  EXPECT_EQ(m.never_started, 1u);
  EXPECT_EQ(m.too_large, 1u);
  EXPECT_EQ(m.all.tasks, 1u);
}

TEST(Measures, PercentilesAreOfTheNearestRank) {
  std::vector<double> values;
  for (int i = 20; i >= 1; --i) values.push_back(i);
  EXPECT_DOUBLE_EQ(percentile(values, 0.95), 19);
  EXPECT_DOUBLE_EQ(percentile(values, 0.5), 10);
  EXPECT_DOUBLE_EQ(percentile(values, 1), 20);
  std::vector<double> none;
  EXPECT_DOUBLE_EQ(percentile(none, 0.5), 0);
}

TEST(Measures, EntitlementsFollowTheTree) {
  Trace trace;
  trace.users = {"ada"};
  trace.namespaces = {"bio", "chem", "art"};
  trace.jobs = {job(0, 1, 1, 0)};
  const auto file = spec::parse_platform_file(
      "cohorts: {science: {weight: 3}}\n"
      "namespaces:\n"
      "  bio: {cohort: science, weight: 1}\n"
      "  chem: {cohort: science, weight: 2}\n"
      "  art: {weight: 1}\n",
      "p.yaml");
  ASSERT_TRUE(file) << file.error().message;
  const auto state = build_state(*file, "p.yaml", {{"n", 1000, 1, {}}}, trace);
  ASSERT_TRUE(state) << state.error().message;
  const std::vector<double> parts = entitlements(*state, trace);
  EXPECT_DOUBLE_EQ(parts[0], 0.25);
  EXPECT_DOUBLE_EQ(parts[1], 0.5);
  EXPECT_DOUBLE_EQ(parts[2], 0.25);
}

}  // namespace
}  // namespace atl::simulate
