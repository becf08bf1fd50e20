#include "core/workflow/workflow.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace atl::core::workflow {
namespace {

using Needs = std::vector<std::vector<Need>>;

struct Course {
  explicit Course(Needs all) : needs(std::move(all)) {
    for (const auto& each : needs) {
      NewStep step;
      step.name = "s" + std::to_string(flow.steps.size());
      step.needs = each;
      add_step(flow, step);
    }
  }

  void end(uint32_t step, StepState how) {
    const auto fallen = fallen_with(flow, {{step, how, step}});
    advance(flow, step, how);
    for (const Fallen& each : fallen) advance(flow, each.step, each.how);
  }
  StepState of(uint32_t step) const { return flow.steps[step].state; }

  Needs needs;
  Workflow flow;
};

TEST(Workflow, AStepIsReadyWhenAllThatItNeedsHasEndedWell) {
  Course run({{}, {{0}}, {{0}}, {{1}, {2}}});
  EXPECT_EQ(run.flow.ready, (std::set<uint32_t>{0}));
  run.end(0, StepState::succeeded);
  EXPECT_EQ(run.flow.ready, (std::set<uint32_t>{1, 2}));
  run.end(2, StepState::succeeded);
  EXPECT_EQ(run.of(3), StepState::waiting);
  run.end(1, StepState::succeeded);
  EXPECT_EQ(run.of(3), StepState::ready);
}

TEST(Workflow, AFailureStopsWhatNeedsItAndNothingElse) {
  Course run({{}, {{0}}, {{1}}, {}, {{3}}});
  run.end(0, StepState::failed);
  EXPECT_EQ(run.of(1), StepState::blocked);
  EXPECT_EQ(run.of(2), StepState::blocked);
  EXPECT_EQ(run.of(3), StepState::ready);
  EXPECT_EQ(run.of(4), StepState::waiting);
}

TEST(Workflow, WhoPutsUpWithAFailureRuns) {
  // 2 tidies up whatever becomes of 1, which does not run behind the failure of 0.
  Course run({{}, {{0}}, {{1, true, false}}});
  run.end(0, StepState::failed);
  EXPECT_EQ(run.of(1), StepState::blocked);
  EXPECT_EQ(run.of(2), StepState::ready);
  EXPECT_FALSE(tolerated(run.flow, 0));
  EXPECT_TRUE(tolerated(run.flow, 1));
}

TEST(Workflow, ASkippedStepIsNoFailure) {
  Course run({{}, {{0, true, false}}, {{0, false, true}}});
  run.end(0, StepState::skipped);
  EXPECT_EQ(run.of(1), StepState::skipped);
  EXPECT_EQ(run.of(2), StepState::ready);
}

TEST(Workflow, AStepMayBeAddedBehindOneThatHasEnded) {
  Course run({{}});
  run.end(0, StepState::succeeded);
  NewStep late;
  late.name = "late";
  late.needs = {{0}};
  add_step(run.flow, late);
  EXPECT_EQ(run.of(1), StepState::ready);
}

TEST(Workflow, WhatIsReopenedIsWaitedForAgain) {
  // 2 was content with the failure of 0, and waits for it again once that is to run once more.
  Course run({{}, {}, {{0, true, false}, {1}}, {{0}}});
  run.end(0, StepState::failed);
  EXPECT_EQ(run.of(3), StepState::blocked);
  IntervalSet again;
  again.add(0);
  again.add(3);
  reopen(run.flow, again);
  EXPECT_EQ(run.of(0), StepState::ready);
  EXPECT_EQ(run.of(3), StepState::waiting);
  run.end(0, StepState::succeeded);
  EXPECT_EQ(run.of(2), StepState::waiting);
  run.end(1, StepState::succeeded);
  EXPECT_EQ(run.of(2), StepState::ready);
  EXPECT_EQ(run.of(3), StepState::ready);
}

// Whatever the graph and the ends: each step ends once, none starts before its needs allow it, none
// is left behind, and what is derived is what would be rebuilt.
TEST(Workflow, NothingHangsAndNothingStartsTooSoon) {
  for (uint32_t seed = 0; seed < 500; ++seed) {
    std::mt19937 random(seed);
    Needs needs(1 + random() % 40);
    for (uint32_t i = 1; i < needs.size(); ++i) {
      for (uint32_t k = 0; k < i; ++k) {
        if (random() % 8 == 0) needs[i].push_back({k, random() % 4 == 0, random() % 4 == 0});
      }
    }
    Course run(needs);
    while (!run.flow.ready.empty()) {
      auto at = run.flow.ready.begin();
      std::advance(at, random() % run.flow.ready.size());
      const uint32_t step = *at;
      for (const Need& need : needs[step]) {
        const StepState how = run.of(need.step);
        ASSERT_TRUE(ended(how)) << "seed " << seed;
        ASSERT_TRUE(how == StepState::succeeded ||
                    (how == StepState::skipped ? need.can_skip : need.can_fail))
            << "seed " << seed;
      }
      advance(run.flow, step, StepState::running);
      const uint32_t chance = random() % 10;
      run.end(step, chance < 7   ? StepState::succeeded
                    : chance < 8 ? StepState::skipped
                    : chance < 9 ? StepState::cancelled
                                 : StepState::failed);
      Workflow rebuilt = run.flow;
      index(rebuilt);
      ASSERT_EQ(rebuilt, run.flow);
    }
    EXPECT_TRUE(std::all_of(run.flow.steps.begin(), run.flow.steps.end(),
                            [](const Step& step) { return ended(step.state); }))
        << "seed " << seed;
  }
}

}  // namespace
}  // namespace atl::core::workflow
