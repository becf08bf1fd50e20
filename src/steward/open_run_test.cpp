// Runs of schedules, as they are made of what was kept.
#include <gtest/gtest.h>

#include "core/limits.h"
#include "spec/workflow/program.h"
#include "steward/schedules.h"

namespace atl::steward {
namespace {

core::OpenRun order_of(const std::string& file, spec::Program program = {}) {
  program.files = std::map<std::string, std::string>{{"flow.yaml", file}};
  core::OpenRun order;
  order.id = ScheduleId{3};
  order.revision = 2;
  order.number = 7;
  order.schedule = "nightly";
  order.program = spec::to_json(program);
  return order;
}

core::RunPlanned planned(const core::OpenRun& order) {
  const auto answers = open_run(order);
  EXPECT_EQ(answers.size(), 1u);
  return std::get<core::RunPlanned>(answers.at(0).report);
}

constexpr const char* kFlow =
    "params: {day: {required: true}, rate: {type: integer, default: 1}}\n"
    "steps: {a: {run: \"echo {params.day} {params.rate}\"}}\n";

TEST(OpenRun, ARunIsMadeOfWhatWasKept) {
  spec::Program program;
  program.set = std::map<std::string, std::string>{{"day", "monday"}};
  program.name = "report";
  const core::RunPlanned run = planned(order_of(kFlow, program));
  EXPECT_EQ(run.error, "");
  EXPECT_EQ(run.id, ScheduleId{3});
  EXPECT_EQ(run.revision, 2u);
  EXPECT_EQ(run.number, 7u);
  EXPECT_EQ(run.run.name, "report");
  EXPECT_TRUE(run.run.sealed);
  EXPECT_EQ(run.run.steps.size(), 1u);
  EXPECT_NE(run.run.document.find("\"day\":\"monday\""), std::string::npos) << run.run.document;
}

TEST(OpenRun, TheTimeGoesIntoAParameter) {
  spec::Program program;
  program.time_param = "day";
  core::OpenRun order = order_of(kFlow, program);
  order.at = *parse_time("2026-11-17T06:00:00Z");
  EXPECT_NE(planned(order).run.document.find("\"day\":\"2026-11-17T06:00:00Z\""),
            std::string::npos);
  order.at = {};
  EXPECT_NE(planned(order).error.find("day"), std::string::npos)
      << "run by hand it has no time, and the parameter is required";
}

TEST(OpenRun, ABodyGoesIntoOneParameterOrIntoThoseOfItsMembers) {
  spec::Program program;
  program.body_param = "day";
  core::OpenRun order = order_of(kFlow, program);
  order.body = "/data/a.nc";
  EXPECT_NE(planned(order).run.document.find("\"day\":\"/data/a.nc\""), std::string::npos);

  program = {};
  program.body_fields = true;
  order = order_of(kFlow, program);
  order.body = R"({"day":"tuesday","rate":5,"other":{"left":"out"}})";
  const std::string document = planned(order).run.document;
  EXPECT_NE(document.find("\"day\":\"tuesday\",\"rate\":\"5\""), std::string::npos) << document;
  for (const auto& [body, why] : {std::pair("[1]", "is no JSON object"), std::pair("{", "JSON"),
                                  std::pair(R"({"day":["a"]})", "is no text, number or truth"),
                                  std::pair(R"({"day":"x","rate":"fast"})", "rate")}) {
    order.body = body;
    EXPECT_NE(planned(order).error.find(why), std::string::npos) << planned(order).error;
  }
}

TEST(OpenRun, AFileThatNoLongerReadsIsAnErrorThatSaysWhere) {
  const core::RunPlanned run = planned(order_of("steps: {a: {rum: x}}"));
  EXPECT_NE(run.error.find("flow.yaml:1"), std::string::npos) << run.error;
  EXPECT_TRUE(run.run.steps.empty());
  core::OpenRun order;
  order.program = "{";
  EXPECT_NE(planned(order).error, "");
}

TEST(OpenRun, ManyStepsComeInParts) {
  std::string file = "steps:\n";
  const size_t count = core::kStepsBatchMax + 10;
  for (size_t i = 0; i < count; ++i) file += "  s" + std::to_string(i) + ": {run: x}\n";
  const auto answers = open_run(order_of(file));
  ASSERT_EQ(answers.size(), 2u);
  const auto& first = std::get<core::RunPlanned>(answers[0].report);
  const auto& rest = std::get<core::RunSteps>(answers[1].report);
  EXPECT_FALSE(first.run.sealed);
  EXPECT_TRUE(rest.steps.seal);
  EXPECT_EQ(rest.number, 7u);
  EXPECT_EQ(first.run.steps.size() + rest.steps.steps.size(), count);
}

TEST(Times, AreThoseBehindTheOneAskedFor) {
  core::TimeSchedule order{
      ScheduleId{3}, 2, "0 6 * * *", false, "Europe/Berlin", *parse_time("2026-11-17T05:00:00Z")};
  const core::ScheduleTimes times = times_of(order);
  ASSERT_EQ(times.times.size(), core::kTimesKept);
  EXPECT_EQ(format_time(times.times[0]), "2026-11-18T05:00:00Z");
  EXPECT_EQ(times.after, order.after);
  order.calendar = true;
  order.timing = "2026-01-01 06:00";
  EXPECT_TRUE(times_of(order).times.empty());
}

}  // namespace
}  // namespace atl::steward
