#include "report/drawing.h"

#include <gtest/gtest.h>

#include "report/limits.h"
#include "report/test_runs.h"

namespace atl::report {
namespace {

using Steps = std::vector<std::pair<std::string, std::vector<uint32_t>>>;

TEST(Drawing, FewStepsAreDrawnOneByOne) {
  const Drawing drawing = plan_drawing(connect_run(), kNodesMax);
  EXPECT_EQ(drawing.boxes.size(), 5U);
  EXPECT_EQ(drawing.arrows.size(), 5U);
  EXPECT_EQ(drawing.note, "");
}

TEST(Drawing, AFanOutBecomesOneBox) {
  WorkflowRun run = fan_out(1000);
  run.steps[5].state = StepState::failed;
  const Drawing drawing = plan_drawing(run, kNodesMax);
  ASSERT_EQ(drawing.boxes.size(), 3U);
  EXPECT_EQ(drawing.boxes[1].name, "work[0] … ×1000");
  EXPECT_EQ(drawing.boxes[1].state, StepState::failed);
  EXPECT_EQ(describe(drawing.boxes[1].tally), "1 failed, 999 succeeded");
  EXPECT_EQ(drawing.arrows, (std::vector<Arrow>{{0, 1, false}, {1, 2, false}}));
  EXPECT_NE(drawing.note.find("1002 steps in 3 boxes"), std::string::npos);
}

TEST(Drawing, ChainsSideBySideAreJoined) {
  Steps steps{{"begin", {}}};
  for (uint32_t i = 0; i < 300; ++i) {
    const auto first = static_cast<uint32_t>(steps.size());
    steps.push_back({"get-" + std::to_string(i), {0}});
    steps.push_back({"use-" + std::to_string(i), {first}});
  }
  const Drawing drawing = plan_drawing(run_of(steps), kNodesMax);
  ASSERT_EQ(drawing.boxes.size(), 3U);
  EXPECT_EQ(drawing.arrows, (std::vector<Arrow>{{0, 1, false}, {1, 2, false}}));
}

TEST(Drawing, NamesTellStepsApartWhenThatIsEnough) {
  Steps steps{{"begin", {}}};
  for (uint32_t i = 0; i < 500; ++i)
    steps.push_back({(i % 2 ? "left" : "right") + std::to_string(i), {0}});
  EXPECT_EQ(plan_drawing(run_of(steps), kNodesMax).boxes.size(), 3U);
  for (uint32_t i = 0; i < 500; ++i) {
    std::string letters;
    for (uint32_t n = i + 1; n > 0; n /= 26) letters += static_cast<char>('a' + n % 26);
    steps[i + 1].first = letters;
  }
  EXPECT_EQ(plan_drawing(run_of(steps), kNodesMax).boxes.size(), 2U);
}

TEST(Drawing, NeedsThatLeadNowhereAreLeftOut) {
  WorkflowRun run = run_of({{"a", {0, 9}}, {"b", {2}}, {"c", {1}}});  // itself, nobody, a ring
  const Drawing drawing = plan_drawing(run, kNodesMax);
  EXPECT_EQ(drawing.boxes.size(), 3U);
  EXPECT_EQ(drawing.arrows, (std::vector<Arrow>{{1, 2, false}, {2, 1, false}}));
}

TEST(Drawing, TooManyUnlikeStepsAreOnlyCounted) {
  Steps steps{{"s0", {}}};
  for (uint32_t i = 1; i < 1000; ++i) steps.push_back({"s" + std::to_string(i), {i - 1}});
  const Drawing drawing = plan_drawing(run_of(steps), kNodesMax);
  EXPECT_FALSE(drawing.drawable);
  EXPECT_NE(drawing.note.find("1000 steps are too many to draw"), std::string::npos);
}

TEST(Spans, AreOfTheStatesAStepWasIn) {
  WorkflowRun run = run_of({{"a", {}}, {"b", {0}}});
  const Spans spans = spans_of(run.steps[1], run);
  EXPECT_EQ(spans.waited, seconds(62));
  EXPECT_EQ(spans.queued, seconds(2));
  EXPECT_EQ(spans.ran, minutes(1));
}

TEST(Spans, GoOnUntilNow) {
  WorkflowRun run = run_of({{"a", {}}, {"b", {0}}});
  run.ended = {};
  run.as_of = run.steps[0].started + seconds(10);
  run.steps[0].state = StepState::running;
  run.steps[0].ended = {};
  run.steps[1].state = StepState::waiting;
  run.steps[1].ready = run.steps[1].submitted = run.steps[1].started = run.steps[1].ended = {};
  EXPECT_EQ(spans_of(run.steps[0], run).ran, seconds(10));
  EXPECT_EQ(spans_of(run.steps[1], run).waited, seconds(12));
  EXPECT_EQ(spans_of(run.steps[1], run).ran, Duration{});
}

}  // namespace
}  // namespace atl::report
