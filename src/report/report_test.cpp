#include "report/report.h"

#include <gtest/gtest.h>

#include "report/limits.h"
#include "report/plots.h"
#include "report/step_table.h"
#include "report/test_runs.h"

namespace atl::report {
namespace {

size_t count(const std::string& text, std::string_view part) {
  size_t n = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
  return n;
}

TEST(Report, SaysHowItEndedAndHowToRepeatIt) {
  const std::string page = to_html(connect_run());
  EXPECT_TRUE(has(page, "<title>connect: failed</title>"));
  EXPECT_TRUE(has(page, "✗ failed</span>: step plot failed: exit code 1"));
  EXPECT_TRUE(has(page, "atoll run workflow.yaml --set threshold=250 --set years=1980-2018"));
}

TEST(Report, TheTableHasTheColumnsOfTableI) {
  const std::string table = step_table(connect_run());
  for (const char* cell : {">37m<", ">40s<", ">14<", ">42<", ">70%<", ">50<", ">225GiB<",
                           ">180GiB<", ">229.1GiB<", ">861 Wh<", ">228 kWh<", "local/node-2"})
    EXPECT_TRUE(has(table, cell)) << cell;
}

TEST(Report, WhatIsNotKnownIsADash) {
  EXPECT_TRUE(has(step_table(run_of({{"a", {}}})), "<td class=\"num\" data-v=\"\">–</td>"));
}

TEST(Report, ShowsTheEndsOfLogsWithoutTheirColours) {
  const std::string page = to_html(connect_run());
  EXPECT_TRUE(has(page, "<pre>Traceback\n  File &quot;plot.py&quot;, line 3\n"));
  EXPECT_FALSE(has(page, "[31m"));
}

TEST(Report, NothingOfAUserIsMarkup) {
  const std::string page = to_html(hostile_run());
  EXPECT_EQ(count(page, "<script"), 1U);  // ours
  EXPECT_EQ(count(page, "<img"), 0U);
  EXPECT_EQ(count(page, "</pre>"), count(page, "<pre>"));
  EXPECT_FALSE(has(page, "\xff"));
  EXPECT_FALSE(has(page, "\x1b"));
}

TEST(Report, AsksNothingOfOtherPlaces) {
  const std::string page = to_html(hostile_run());
  EXPECT_TRUE(has(page, "default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-"));
  for (const char* words : {"src=\"", "<link", "@import", "url(http"})
    EXPECT_FALSE(has(page, words));
}

TEST(Report, StaysSmallWithManyStepsAndLongLogs) {
  WorkflowRun run = fan_out(10'000);
  for (StepRun& step : run.steps) step.log_end_out = std::string(20'000, '\x01');
  run.steps[9'000].state = StepState::failed;
  const std::string page = to_html(run);
  EXPECT_LT(page.size(), size_t{8} << 20);
  EXPECT_TRUE(has(page, "2000 of 10002 steps"));
  EXPECT_TRUE(has(page, "work[8999]"));  // failed ones are not left out
}

TEST(Report, OfARunThatHasNotBegunIsWhole) {
  WorkflowRun run;
  run.state = "running";
  EXPECT_TRUE(has(to_html(run), "</body></html>"));
  run.steps.resize(3);
  EXPECT_TRUE(has(to_html(run), "3 waiting"));
}

TEST(Plots, CountOnlyWhatRanAtTheSameMoment) {
  // Two after each other at a time scale where both share a pixel.
  WorkflowRun run = run_of({{"a", {}}, {"b", {0}}, {"long", {1}}});
  run.steps[2].ended = run.ended = run.as_of = kBegin + hours(1000);
  EXPECT_FALSE(has(plot_concurrency(run), ">2</text>"));
}

TEST(Plots, TheTimelineIsBounded) {
  EXPECT_TRUE(has(plot_gantt(fan_out(5000)), "Timeline: 200 of 5002 steps"));
}

TEST(CommandToRepeat, QuotesForTheShell) {
  WorkflowRun run = run_of({});
  run.params = {{"a", "x y"}, {"b", "it's"}, {"c", ""}};
  EXPECT_EQ(command_to_repeat(run),
            "atoll run workflow.yaml --set 'a=x y' --set 'b=it'\\''s' --set c=");
}

}  // namespace
}  // namespace atl::report
