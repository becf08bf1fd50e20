#include "core/workflow/graph.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace atl::core::workflow {
namespace {

struct Course {
  explicit Course(std::vector<std::vector<Need>> all)
      : needs(std::move(all)), graph(needs), steps(begin(graph)) {}

  void end(uint32_t step, StepState how) {
    const auto fallen = fallen_with(graph, steps, step, how);
    advance(graph, steps, step, how);
    for (const Fallen& each : fallen) advance(graph, steps, each.step, each.how);
  }
  StepState of(uint32_t step) const { return steps.states[step]; }

  std::vector<std::vector<Need>> needs;
  Graph graph;
  Steps steps;
};

TEST(WorkflowGraph, AStepIsReadyWhenAllThatItNeedsHasEndedWell) {
  Course run({{}, {{0}}, {{0}}, {{1}, {2}}});
  EXPECT_EQ(run.steps.ready, (std::set<uint32_t>{0}));
  run.end(0, StepState::succeeded);
  EXPECT_EQ(run.steps.ready, (std::set<uint32_t>{1, 2}));
  run.end(2, StepState::succeeded);
  EXPECT_EQ(run.of(3), StepState::waiting);
  run.end(1, StepState::succeeded);
  EXPECT_EQ(run.of(3), StepState::ready);
}

TEST(WorkflowGraph, AFailureStopsWhatNeedsItAndNothingElse) {
  Course run({{}, {{0}}, {{1}}, {}, {{3}}});
  run.end(0, StepState::failed);
  EXPECT_EQ(run.of(1), StepState::blocked);
  EXPECT_EQ(run.of(2), StepState::blocked);
  EXPECT_EQ(run.of(3), StepState::ready);
  EXPECT_EQ(run.of(4), StepState::waiting);
}

TEST(WorkflowGraph, WhoPutsUpWithAFailureRuns) {
  // 2 tidies up whatever becomes of 1, which does not run behind the failure of 0.
  Course run({{}, {{0}}, {{1, true, false}}});
  run.end(0, StepState::failed);
  EXPECT_EQ(run.of(1), StepState::blocked);
  EXPECT_EQ(run.of(2), StepState::ready);
}

TEST(WorkflowGraph, ASkippedStepIsNoFailure) {
  Course run({{}, {{0, true, false}}, {{0, false, true}}});
  run.end(0, StepState::skipped);
  EXPECT_EQ(run.of(1), StepState::skipped);
  EXPECT_EQ(run.of(2), StepState::ready);
}

// Whatever the graph and the ends: each step ends once, none starts before its needs allow it, and
// none is left behind.
TEST(WorkflowGraph, NothingHangsAndNothingStartsTooSoon) {
  for (uint32_t seed = 0; seed < 500; ++seed) {
    std::mt19937 random(seed);
    std::vector<std::vector<Need>> needs(1 + random() % 40);
    for (uint32_t i = 1; i < needs.size(); ++i) {
      for (uint32_t k = 0; k < i; ++k) {
        if (random() % 8 == 0) needs[i].push_back({k, random() % 4 == 0, random() % 4 == 0});
      }
    }
    Course run(needs);
    while (!run.steps.ready.empty()) {
      auto at = run.steps.ready.begin();
      std::advance(at, random() % run.steps.ready.size());
      const uint32_t step = *at;
      for (const Need& need : needs[step]) {
        const StepState how = run.of(need.step);
        ASSERT_TRUE(ended(how)) << "seed " << seed;
        ASSERT_TRUE(how == StepState::succeeded ||
                    (how == StepState::skipped ? need.can_skip : need.can_fail))
            << "seed " << seed;
      }
      advance(run.graph, run.steps, step, StepState::started);
      const uint32_t chance = random() % 10;
      run.end(step, chance < 7   ? StepState::succeeded
                    : chance < 8 ? StepState::skipped
                    : chance < 9 ? StepState::cancelled
                                 : StepState::failed);
    }
    EXPECT_TRUE(std::all_of(run.steps.states.begin(), run.steps.states.end(), ended))
        << "seed " << seed;
    uint32_t sum = 0;
    for (size_t state = static_cast<size_t>(StepState::succeeded); state < kStepStates; ++state)
      sum += run.steps.tally[state];
    EXPECT_EQ(sum, needs.size());
  }
}

}  // namespace
}  // namespace atl::core::workflow
