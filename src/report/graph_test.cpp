#include "report/graph.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "report/test_runs.h"

namespace atl::report {
namespace {

TEST(Text, BoxesAndArrowsFromTopToBottom) {
  EXPECT_EQ(to_text(run_of({{"fetch", {}}, {"train", {0}}})),
            "┌─────────────┐\n"
            "│ ✓ fetch  1m │\n"
            "└──────┬──────┘\n"
            "       │\n"
            "       ▼\n"
            "┌─────────────┐\n"
            "│ ✓ train  1m │\n"
            "└─────────────┘\n");
}

TEST(Text, AsciiIsAsciiWhateverTheNamesAre) {
  WorkflowRun run = run_of({{"größe 東京", {}}, {"b", {0}}});
  run.steps[1].state = StepState::failed;
  for (const WorkflowRun& each : {run, hostile_run(), fan_out(100)}) {
    const std::string text = to_text(each, {.width = 70, .ascii = true});
    EXPECT_TRUE(std::all_of(text.begin(), text.end(), [](char c) {
      return c == '\n' || (c >= 0x20 && c < 0x7f);
    })) << text;
  }
  EXPECT_TRUE(has(to_text(run, {.ascii = true}), "X b"));
}

TEST(Text, WhatIsTooWideIsAListByLevel) {
  EXPECT_TRUE(has(to_text(fan_out(30)), "level 2\n  ✓ work[0]  1m  ← split\n"));
}

TEST(Text, ColoursAreOnlyThereWhenAskedFor) {
  EXPECT_FALSE(has(to_text(connect_run()), "\x1b"));
  EXPECT_TRUE(has(to_text(connect_run(), {.color = true}), "\x1b[31m✗ plot"));
  EXPECT_FALSE(has(to_text(hostile_run(), {.width = 200}), "\x1b"));
}

TEST(Text, ARunWithoutStepsSaysSo) { EXPECT_EQ(to_text(run_of({})), "No steps yet.\n"); }

TEST(Dot, NamesAreQuoted) {
  const std::string dot = to_dot(run_of({{"a\"b\\N\n", {}}, {"c", {0}}}));
  EXPECT_TRUE(has(dot, R"(label="✓ a\"b\\N\\n\nsucceeded, 1m")")) << dot;
  EXPECT_TRUE(has(dot, "n0 -> n1\n"));
}

TEST(Dot, ANeedThatMayFailIsDashed) {
  WorkflowRun run = run_of({{"a", {}}, {"b", {0}}});
  run.steps[1].needs[0].can_fail = true;
  EXPECT_TRUE(has(to_dot(run), "n0 -> n1 [style=dashed]"));
}

TEST(Svg, AStateIsAMarkAndAWordAndAColour) {
  const std::string svg = to_svg(connect_run());
  EXPECT_TRUE(has(svg, "<g class=\"failed\"><title>plot: failed, exit code 1</title>"));
  EXPECT_TRUE(has(svg, ">✗ plot</text>"));
  EXPECT_TRUE(has(svg, ">failed, 1m</text>"));
  EXPECT_TRUE(has(svg, "prefers-color-scheme:dark"));
}

TEST(Svg, NothingOfAUserIsMarkup) {
  const std::string svg = to_svg(hostile_run());
  EXPECT_FALSE(has(svg, "<script"));
  EXPECT_FALSE(has(svg, "<img"));
  EXPECT_FALSE(has(svg, "onload"));
  EXPECT_FALSE(has(svg, "\xff"));
}

TEST(Svg, ColourAndShapeOfTheFileAreTaken) {
  WorkflowRun run = run_of({{"a", {}}});
  run.steps[0].label = "one\ntwo";
  run.steps[0].color = "#ffcc00";
  run.steps[0].shape = "ellipse";
  const std::string svg = to_svg(run);
  EXPECT_TRUE(has(svg, "<ellipse class=\"n\""));
  EXPECT_TRUE(has(svg, "style=\"fill:#ffcc00\""));
  EXPECT_TRUE(has(svg, ">two</text>"));
}

TEST(Svg, WhatCannotBeDrawnIsSaid) {
  std::vector<std::pair<std::string, std::vector<uint32_t>>> steps;
  for (uint32_t i = 0; i < 2000; ++i)
    steps.push_back(
        {"s" + std::to_string(i), i ? std::vector<uint32_t>{i - 1} : std::vector<uint32_t>{}});
  EXPECT_TRUE(has(to_svg(run_of(steps)), "2000 steps are too many to draw"));
}

}  // namespace
}  // namespace atl::report
