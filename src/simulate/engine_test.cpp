#include "simulate/engine.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace atl::simulate {
namespace {

// A trace of one user in one namespace, unless a job says otherwise.
class TestTrace {
 public:
  TestTrace() {
    trace.name = "test";
    trace.begin = Time{} + hours(24);
    trace.users = {"ada", "bob"};
    trace.namespaces = {"bio", "chem"};
  }
  TraceJob& add(int64_t submit, uint32_t cores, int64_t run, int64_t wall = 0) {
    TraceJob job;
    job.submit = seconds(submit);
    job.cpu_milli = cores * 1000;
    job.run = seconds(run);
    job.wall = seconds(wall);
    trace.jobs.push_back(job);
    return trace.jobs.back();
  }
  void add_node(int64_t cores) {
    nodes.push_back({"n" + std::to_string(nodes.size()), cores * 1000, int64_t{1} << 40, {}});
  }
  Outcome run(EngineOptions options = {.round = {}}) {
    auto state = build_state(file, "test.yaml", nodes, trace);
    EXPECT_TRUE(state) << state.error().message;
    return run_trace(trace, std::move(*state), options);
  }

  Trace trace;
  Nodes nodes;
  spec::PlatformFile file;
};

std::vector<int64_t> starts(const Outcome& outcome) {
  std::vector<int64_t> all;
  for (const TaskRecord& task : outcome.tasks) all.push_back(task.started.us / 1'000'000);
  return all;
}
std::vector<int64_t> ends(const Outcome& outcome) {
  std::vector<int64_t> all;
  for (const TaskRecord& task : outcome.tasks) all.push_back(task.ended.us / 1'000'000);
  return all;
}
using Seconds = std::vector<int64_t>;

// What is still to come (here an hour of the calendar) is no reason to look away until then.
TEST(Engine, AnHourOfTheCalendarThatConcernsNobodyChangesNothing) {
  TestTrace t;
  t.add_node(2);
  for (int i = 0; i < 5; ++i) t.add(i * 10, 2, 100);
  const Seconds before = starts(t.run());
  core::CalendarEntry entry;
  entry.name = "services";
  entry.tier = core::Tier::service;
  entry.days = 127;
  entry.from = 8 * 60;
  entry.until = 18 * 60;
  entry.share_milli = 900;
  t.file.calendar = {entry};
  EXPECT_EQ(starts(t.run()), before);
}

TEST(Engine, WhoFindsNoRoomStartsWhenThereIsSome) {
  TestTrace t;
  t.add_node(2);
  t.add(0, 2, 100);
  t.add(10, 2, 50);
  t.add(10, 1, 5);
  const Outcome outcome = t.run();
  EXPECT_EQ(starts(outcome), (Seconds{0, 100, 150}));
  EXPECT_EQ(ends(outcome), (Seconds{100, 150, 155}));
  EXPECT_EQ(outcome.end, seconds(155));
}

TEST(Engine, ShortWorkFillsInWhereItDelaysNobody) {
  TestTrace t;
  t.add_node(4);
  t.add(0, 3, 100, 100);
  t.add(1, 4, 50, 50);
  t.add(2, 1, 20, 20);
  t.add(3, 1, 20, 200);
  EXPECT_EQ(starts(t.run()), (Seconds{0, 100, 2, 150}));
}

TEST(Engine, RoundsAreAsFarApartAsAsked) {
  TestTrace t;
  t.add_node(1);
  t.add(0, 1, 5);
  t.add(1, 1, 5);
  t.add(100, 1, 5);
  EXPECT_EQ(starts(t.run({.round = seconds(10)})), (Seconds{0, 10, 100}));
}

TEST(Engine, ShortTracesHaveFinerRounds) {
  TestTrace t;
  t.add(0, 1, 1);
  EXPECT_EQ(round_for(t.trace), Duration{});
  t.add(86'400 * 3, 1, 1);
  EXPECT_EQ(round_for(t.trace), seconds(1));
  t.add(86'400 * 300, 1, 1);
  EXPECT_EQ(round_for(t.trace), seconds(10));
}

TEST(Engine, TasksOfAnArrayShareTheirTerms) {
  TestTrace t;
  t.add_node(2);
  t.add(0, 1, 100).tasks = 3;
  t.add(5, 1, 10);
  const Outcome outcome = t.run();
  EXPECT_EQ(starts(outcome), (Seconds{0, 0, 100, 100}));
  EXPECT_EQ(outcome.first_task, (std::vector<uint32_t>{0, 3}));
}

TEST(Engine, OneThatYieldsSavesItsWorkAndGoesOnWithTheRest) {
  TestTrace t;
  t.add_node(4);
  t.add(0, 4, 100).tier = core::Tier::opportunistic;
  t.add(30, 4, 50);
  const Outcome outcome = t.run({.round = {}, .checkpoint = seconds(10)});
  EXPECT_EQ(starts(outcome), (Seconds{0, 40}));
  EXPECT_EQ(ends(outcome), (Seconds{160, 90}));
  EXPECT_EQ(outcome.tasks[0].evictions, 1u);
  EXPECT_EQ(outcome.tasks[0].lost, seconds(10));
}

TEST(Engine, OneThatCannotSaveInItsGraceLosesAll) {
  TestTrace t;
  t.add_node(4);
  t.add(0, 4, 100).tier = core::Tier::opportunistic;
  t.add(30, 4, 50);
  const Outcome outcome = t.run({.round = {}, .checkpoint = seconds(31)});
  EXPECT_EQ(starts(outcome), (Seconds{0, 60}));
  EXPECT_EQ(ends(outcome), (Seconds{210, 110}));
  EXPECT_EQ(outcome.tasks[0].lost, seconds(60));
}

TEST(Engine, OneThatIsAboutToEndIsNotEvicted) {
  TestTrace t;
  t.add_node(4);
  t.add(0, 4, 35).tier = core::Tier::opportunistic;
  t.add(30, 4, 50);
  const Outcome outcome = t.run({.round = {}, .checkpoint = seconds(10)});
  EXPECT_EQ(ends(outcome), (Seconds{35, 85}));
  EXPECT_EQ(outcome.tasks[0].evictions, 0u);
}

TEST(Engine, JobsTooLargeForANodeAreLeftOutAndCounted) {
  TestTrace t;
  t.add_node(4);
  t.add_node(4);
  t.add(0, 8, 10);
  t.add(0, 4, 10);
  const Outcome outcome = t.run();
  EXPECT_EQ(outcome.too_large, 1u);
  EXPECT_EQ(outcome.left_out.at("no node has so many cores"), 1u);
  EXPECT_EQ(outcome.kept_out, (std::vector<bool>{true, false}));
  EXPECT_LT(outcome.tasks[0].started.us, 0);
  EXPECT_EQ(outcome.tasks[1].started, Duration{});
}

TEST(Engine, AJobWiderThanANodeRunsAsAGang) {
  TestTrace t;
  t.trace.spreads = true;
  for (int i = 0; i < 4; ++i) t.add_node(32);
  t.add(0, 16, 100);
  t.add(0, 100, 50);  // four parts of 25 cores, one on each node: one of them waits
  t.add(200, 128, 10);
  t.add(300, 129, 10);
  const Outcome outcome = t.run();
  EXPECT_EQ(starts(outcome), (Seconds{0, 100, 200, 0}));
  EXPECT_EQ(ends(outcome), (Seconds{100, 150, 210, 0}));
  EXPECT_EQ(outcome.spread, 2u);
  EXPECT_EQ(outcome.left_out.at("more cores than all nodes have together"), 1u);
  double used = 0;
  for (size_t hour = 0; hour < outcome.curve.buckets(); ++hour) used += outcome.curve.used(0, hour);
  EXPECT_DOUBLE_EQ(used, 16 * 100 + 100 * 50 + 128 * 10) << "core-seconds";
}

TEST(Engine, AGangThatYieldsCountsOnceAndGoesOnTogether) {
  TestTrace t;
  t.trace.spreads = true;
  for (int i = 0; i < 2; ++i) t.add_node(4);
  t.add(0, 8, 100).tier = core::Tier::opportunistic;
  t.add(30, 4, 50);
  const Outcome outcome = t.run({.round = {}, .checkpoint = seconds(10)});
  EXPECT_EQ(starts(outcome), (Seconds{0, 40}));
  EXPECT_EQ(ends(outcome), (Seconds{160, 90}));
  EXPECT_EQ(outcome.tasks[0].evictions, 1u);
  EXPECT_EQ(outcome.tasks[0].lost, seconds(10));
}

TEST(Engine, WhatTheHistoryTellsIsAskedFor) {
  TestTrace t;
  t.add_node(4);
  t.trace.wishes.push_back({.parallel_max = 1});
  t.trace.wishes.push_back({.gang = 2});
  t.trace.runs = {{}, seconds(10), seconds(20), seconds(5), seconds(7)};
  TraceJob& one_by_one = t.add(0, 1, 0);
  one_by_one.tasks = 2;
  one_by_one.wishes = 1;
  one_by_one.runs = 1;
  TraceJob& together = t.add(1, 2, 0);
  together.tasks = 2;
  together.wishes = 2;
  together.runs = 3;
  const Outcome outcome = t.run();
  EXPECT_EQ(starts(outcome), (Seconds{0, 10, 30, 30}));
  EXPECT_EQ(ends(outcome), (Seconds{10, 30, 35, 37}));
}

TEST(Engine, EachReasonToLeaveJobsOutIsCounted) {
  TestTrace t;
  t.add_node(4);
  t.nodes[0].memory_bytes = 1000;
  t.trace.wishes.push_back({.devices = {{"gpu", "a100", 1}}});
  t.trace.wishes.push_back({.gang = 9});
  t.add(0, 1, 10).memory_bytes = 2000;
  t.add(0, 2, 10).memory_bytes = 3000;
  t.add(0, 1, 10).wishes = 1;
  TraceJob& gang = t.add(0, 1, 10);
  gang.wishes = 2;
  gang.tasks = 9;
  const Outcome outcome = t.run();
  EXPECT_EQ(outcome.left_out,
            (std::map<std::string, uint64_t>{{"no node has so much memory", 2},
                                             {"no node has gpu:a100:1", 1},
                                             {"a gang too large for all nodes together", 1}}));
  EXPECT_EQ(outcome.too_large, 4u);
}

TEST(Engine, AQuotaOfQueuedJobsKeepsTheRestOut) {
  TestTrace t;
  t.add_node(1);
  for (int i = 0; i < 4; ++i) t.add(0, 1, 10);
  spec::NamespaceEntry bio;
  bio.name = "bio";
  bio.quota.queued = 3;
  t.file.namespaces = {bio};
  const Outcome outcome = t.run();
  EXPECT_EQ(outcome.refused, 1u);
  EXPECT_EQ(
      outcome.left_out,
      (std::map<std::string, uint64_t>{{"namespace bio has 3 of 3 jobs queued or running", 1}}));
  EXPECT_EQ(starts(outcome), (Seconds{0, 10, 20, 0}));
}

TEST(Engine, WorkThatNeverMayRunDoesNotHoldTheClock) {
  TestTrace t;
  t.add_node(4);
  t.add(0, 2, 10);
  t.add(0, 3, 10);
  t.add(1, 1, 10);
  spec::NamespaceEntry bio;
  bio.name = "bio";
  bio.quota.cpu_milli = 1000;
  t.file.namespaces = {bio};
  const Outcome outcome = t.run();
  EXPECT_LT(outcome.tasks[0].started.us, 0);
  EXPECT_EQ(outcome.tasks[2].started, seconds(1));
  EXPECT_EQ(outcome.left_out,
            (std::map<std::string, uint64_t>{
                {"more than the quota of namespace bio ever allows: 1 core", 2}}));
}

TEST(Platform, AMistakeIsNamedByItsLine) {
  TestTrace t;
  t.add_node(1);
  t.add(0, 1, 1);
  const auto file =
      spec::parse_platform_file("namespaces:\n  bio:\n    cohort: nowhere\n", "p.yaml");
  ASSERT_TRUE(file) << file.error().message;
  const auto state = build_state(*file, "p.yaml", t.nodes, t.trace);
  ASSERT_FALSE(state);
  EXPECT_EQ(state.error().message.substr(0, 9), "p.yaml:3:") << state.error().message;
}

TEST(Platform, NodesComeFromTheFileOrTheHeader) {
  TestTrace t;
  EXPECT_NE(nodes_for(t.file, t.trace).error().message.find("{\"machine\": {"), std::string::npos);
  t.trace.spreads = true;
  EXPECT_NE(nodes_for(t.file, t.trace).error().message.find("; MaxNodes: 100"), std::string::npos);
  t.trace.nodes = 2;
  t.trace.processors = 8;
  EXPECT_EQ(cores_milli(*nodes_for(t.file, t.trace)), 8000);
  t.trace.machine = {{"n1", 3000, 1, {}}};
  EXPECT_EQ(cores_milli(*nodes_for(t.file, t.trace)), 3000);
  t.file.nodes = {{"big", 3, 16'000, 0, {{"gpu:a100", 2}}}};
  const Nodes nodes = *nodes_for(t.file, t.trace);
  EXPECT_EQ(cores_milli(nodes), 48'000);
  EXPECT_EQ(nodes[2].name, "big3");
  EXPECT_EQ(nodes[2].devices.size(), 2u);
}

TEST(Platform, ProcessorsThatDoNotDivideEvenlyAreAllThere) {
  TestTrace t;
  t.trace.nodes = 3;
  t.trace.processors = 8;
  const Nodes nodes = *nodes_for(t.file, t.trace);
  ASSERT_EQ(nodes.size(), 3u);
  EXPECT_EQ(nodes[0].cpu_milli, 3000);
  EXPECT_EQ(nodes[1].cpu_milli, 3000);
  EXPECT_EQ(nodes[2].cpu_milli, 2000);
  t.trace.processors = 2;
  EXPECT_EQ(nodes_for(t.file, t.trace).error().message,
            "test: its MaxNodes is 3 and its MaxProcs 2; a node has one processor at least");
}

TEST(Platform, TwoNodesOfOneNameAreRefused) {
  TestTrace t;
  t.add(0, 1, 1);
  const auto refusal = [&](const std::string& nodes) {
    const auto file = spec::parse_platform_file("nodes:\n" + nodes, "p.yaml");
    const auto state = build_state(*file, "p.yaml", *nodes_for(*file, t.trace), t.trace);
    return state ? "" : state.error().message;
  };
  EXPECT_EQ(refusal("  - {count: 2, name: n, cpu: 1}\n  - {count: 2, name: m, cpu: 1}\n"), "");
  EXPECT_EQ(
      refusal("  - {name: n, cpu: 1}\n  - {name: m, cpu: 1}\n  - {name: n, cpu: 8}\n"),
      "p.yaml:2:3: two nodes are called \"n\": one of entry 1 of nodes {count: 1, name: n} and "
      "one of entry 3 of nodes {count: 1, name: n}; give one of these entries another name");
  EXPECT_EQ(
      refusal("  - {count: 12, name: n, cpu: 1}\n  - {count: 2, name: n1, cpu: 1}\n"),
      "p.yaml:2:3: two nodes are called \"n11\": one of entry 1 of nodes {count: 12, name: n} "
      "and one of entry 2 of nodes {count: 2, name: n1}; give one of these entries another "
      "name");
}

// A quarter of 16 GiB, and three of them rounded: what was one of so many still is.
TEST(Platform, APartByMemoryIsWhatItWasWhereTheMemoryIsNotKnown) {
  for (const auto& [mib, share] : std::vector<std::pair<int64_t, int32_t>>{
           {4096, 250}, {3072, 188}, {10'000, 611}, {5461, 334}, {81'920, 1000}}) {
    TestTrace t;
    t.add(0, 1, 100).wishes = 1;
    t.trace.jobs[0].tasks = 8;
    t.trace.wishes.push_back({.devices = {{"gpu", "", 1, {}, share, mib << 20}}});
    t.file.nodes = {{"n", 1, 8000, 0, {{"gpu", 1}}}};
    t.nodes = *nodes_for(t.file, t.trace);
    const Seconds began = starts(t.run());
    EXPECT_EQ(std::count(began.begin(), began.end(), 0), 1000 / share) << mib << " MiB";
  }
}

}  // namespace
}  // namespace atl::simulate
