#include "simulate/trace.h"

#include <gtest/gtest.h>

#include <sstream>

namespace atl::simulate {
namespace {

Result<Trace> read(const std::string& text, const ReadOptions& options = {}) {
  std::istringstream stream(text);
  return read_trace(stream, "trace.swf", options);
}

std::string refusal(const std::string& text) {
  const auto trace = read(text);
  return trace ? "" : trace.error().message;
}

constexpr const char* kHeader =
    "; Computer: a test\n"
    ";   UnixStartTime:  1000000000\n"
    "; MaxNodes: 4\n"
    "; MaxProcs: 128\n";
//                              no submit wait run procs cpu mem req  time mem st user group
constexpr const char* kLine = "1 60 5 100 4 -1 -1 8 3600 1024 1 17 3 -1 2 -1 -1 -1\n";

TEST(Swf, ReadsTheHeaderAndEveryFieldItUses) {
  const auto trace =
      read(std::string(kHeader) + "\n" + kLine, {.tiers = {{2, core::Tier::service}}});
  ASSERT_TRUE(trace) << trace.error().message;
  EXPECT_EQ(trace->begin, Time{1'000'000'000'000'000});
  EXPECT_EQ(trace->nodes, 4u);
  EXPECT_EQ(trace->processors, 128u);
  ASSERT_EQ(trace->jobs.size(), 1u);
  const TraceJob& job = trace->jobs[0];
  EXPECT_EQ(job.submit, seconds(60));
  EXPECT_EQ(job.run, seconds(100));
  EXPECT_EQ(job.wall, hours(1));
  EXPECT_EQ(job.cpu_milli, 8000u);
  EXPECT_EQ(job.memory_bytes, 8 << 20);
  EXPECT_EQ(job.tier, core::Tier::service);
  EXPECT_EQ(trace->users, std::vector<std::string>{"u17"});
  EXPECT_EQ(trace->namespaces, std::vector<std::string>{"g3"});
}

TEST(Swf, UnknownFieldsHaveDefaults) {
  const auto trace = read("1 0 -1 10 2 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1\r\n");
  ASSERT_TRUE(trace) << trace.error().message;
  EXPECT_EQ(trace->jobs[0].cpu_milli, 2000u);
  EXPECT_EQ(trace->jobs[0].wall, Duration{});
  EXPECT_EQ(trace->jobs[0].tier, core::Tier::batch);
  EXPECT_EQ(trace->users[0], "nobody");
  EXPECT_EQ(trace->namespaces[0], "default");
  EXPECT_TRUE(trace->begin);
}

TEST(Swf, ALimitIsNeverShorterThanTheRunWas) {
  const auto trace = read("1 0 -1 100 2 -1 -1 -1 60 -1 1 1 1 -1 -1 -1 -1 -1\n");
  EXPECT_EQ(trace->jobs[0].wall, seconds(100));
}

TEST(Swf, JobsComeInTheOrderOfTheirSubmission) {
  const auto trace = read(
      "1 50 -1 10 1 -1 -1 1 -1 -1 1 1 1 -1 -1 -1 -1 -1\n"
      "2 20 -1 11 1 -1 -1 1 -1 -1 1 1 1 -1 -1 -1 -1 -1\n"
      "3 20 -1 12 1 -1 -1 1 -1 -1 1 1 1 -1 -1 -1 -1 -1\n");
  ASSERT_TRUE(trace);
  EXPECT_EQ(trace->jobs[0].run, seconds(11));
  EXPECT_EQ(trace->jobs[1].run, seconds(12));
  EXPECT_EQ(trace->jobs[2].run, seconds(10));
}

TEST(Swf, JobsThatNeverRanAreCounted) {
  const auto trace = read(std::string(kLine) +
                          "2 70 -1 -1 4 -1 -1 4 60 -1 5 1 1 -1 -1 -1 -1 -1\n"
                          "3 70 -1 0 4 -1 -1 4 60 -1 5 1 1 -1 -1 -1 -1 -1\n");
  ASSERT_TRUE(trace);
  EXPECT_EQ(trace->jobs.size(), 1u);
  EXPECT_EQ(trace->without_run, 2u);
}

TEST(Swf, ABrokenLineIsRefusedWithItsNumberAndWhatToWrite) {
  const std::string good = std::string(kHeader) + kLine;
  EXPECT_EQ(refusal(good + "2 60 5\n"),
            "trace.swf:6: it has 3 fields; a line has 18 numbers, with -1 for what is unknown");
  EXPECT_EQ(refusal(good + "2 60 5 abc 4 -1 -1 8 3600 1024 1 17 3 -1 2 -1 -1 -1\n"),
            "trace.swf:6: field 4 (run time) is \"abc\"; write a whole number, or -1 when it is "
            "unknown");
  EXPECT_EQ(refusal(good + "2 -1 5 100 4 -1 -1 8 3600 1024 1 17 3 -1 2 -1 -1 -1\n"),
            "trace.swf:6: field 2 (submit time) is -1; write the seconds since the trace began");
  EXPECT_EQ(refusal(good + "2 60 5 100 -1 -1 -1 -1 3600 1024 1 17 3 -1 2 -1 -1 -1\n"),
            "trace.swf:6: field 5 (allocated processors) and field 8 (requested processors) are "
            "both unknown; write at least 1 in one of them");
  EXPECT_EQ(refusal(good + "2 60 5 100 4 -1 -1 8 3600 1024 1 17 3 -1 2 -1 -1 -1 9\n"),
            "trace.swf:6: it has more than 18 fields: \"9\" is left over");
  EXPECT_EQ(refusal(good + "2 60 5 99999999999 4 -1 -1 8 3600 1024 1 17 3 -1 2 -1 -1 -1\n"),
            "trace.swf:6: field 4 (run time) is 99999999999; it may be at most 3162240000");
}

TEST(Swf, BrokenLinesCanBeSkippedAndAreCounted) {
  const auto trace = read(std::string(kLine) + "rubbish\n2 x\n", {.skip_broken = true});
  ASSERT_TRUE(trace) << trace.error().message;
  EXPECT_EQ(trace->jobs.size(), 1u);
  EXPECT_EQ(trace->broken, 2u);
  EXPECT_EQ(trace->first_broken,
            "trace.swf:2: field 1 (job number) is \"rubbish\"; write a whole number, or -1 when it "
            "is unknown");
}

TEST(Swf, AnEmptyTraceIsRefused) {
  EXPECT_EQ(refusal(kHeader),
            "trace.swf: there is no job in it; `atoll simulate generate` writes a trace");
  EXPECT_EQ(refusal("2 70 -1 -1 4 -1 -1 4 60 -1 5 1 1 -1 -1 -1 -1 -1\n"),
            "trace.swf: no job in it has run: 1 have no run time, 0 are broken");
}

TEST(History, ReadsWhatPsWrites) {
  const auto trace = read(
      R"({"id":"7","name":"x","namespace":"bio","user":"ada","state":"ended","outcome":"succeeded",)"
      R"("cpus":0.5,"memory_bytes":1048576,"devices":["gpu:a100:2"],"priority":0,)"
      R"("submitted":"2026-11-15T12:00:00Z","started":"2026-11-15T12:01:00Z",)"
      R"("ended":"2026-11-15T12:03:00Z","array":false,"tasks":null,"time":"2h","tier":"service"})"
      "\n");
  ASSERT_TRUE(trace) << trace.error().message;
  const TraceJob& job = trace->jobs.at(0);
  EXPECT_EQ(trace->begin + job.submit, *parse_time("2026-11-15T12:00:00Z"));
  EXPECT_EQ(job.run, minutes(2));
  EXPECT_EQ(job.wall, hours(2));
  EXPECT_EQ(job.cpu_milli, 500u);
  EXPECT_EQ(job.tier, core::Tier::service);
  EXPECT_EQ(trace->wishes.at(job.wishes).devices,
            (std::vector<core::DeviceRequest>{{"gpu", "a100", 2}}));
  EXPECT_FALSE(trace->spreads);
  EXPECT_EQ(trace->namespaces.at(job.ns), "bio");
}

TEST(History, AnArrayNeedsTheRunTimeOfItsTasks) {
  const std::string begin = R"({"submitted":"2026-11-15T12:00:00Z","tasks":{"total":20},)";
  const auto trace = read(begin + "\"run\":90}\n" + begin +
                          R"("started":"2026-11-15T12:00:00Z","ended":"2026-11-15T13:00:00Z"})");
  ASSERT_TRUE(trace) << trace.error().message;
  EXPECT_EQ(trace->jobs.size(), 1u);
  EXPECT_EQ(trace->tasks(), 20u);
  EXPECT_EQ(trace->without_run, 1u);
}

TEST(History, AnArrayMayTellOfEachOfItsTasks) {
  const auto trace =
      read(R"({"submitted":"2026-11-15T12:00:00Z","tasks":{"total":20},"runs":[90, 0.25, 7000],)"
           R"("time_seconds":3600,"gang":20,"grace_seconds":0,"priority":-3})");
  ASSERT_TRUE(trace) << trace.error().message;
  const TraceJob& job = trace->jobs.at(0);
  EXPECT_EQ(job.tasks, 3u) << "those that have run";
  EXPECT_EQ(trace->run_of(job, 0), seconds(90));
  EXPECT_EQ(trace->run_of(job, 1), Duration{250'000});
  EXPECT_EQ(trace->run_of(job, 2), hours(1)) << "it was ended at its wall-time";
  EXPECT_EQ(trace->wishes.at(job.wishes), (Wishes{{}, {}, -3, 0, 3}));
}

TEST(History, OlderListsTellOfPartsInWords) {
  const auto trace = read(R"({"submitted":"2026-11-15T12:00:00Z","run":1,)"
                          R"("devices":["fpga:1","gpu:a100|any:0.25 x 2","gpu:v100:1g.5gb"]})");
  ASSERT_TRUE(trace) << trace.error().message;
  const auto& devices = trace->wishes.at(trace->jobs.at(0).wishes).devices;
  EXPECT_EQ(devices, (std::vector<core::DeviceRequest>{{"fpga", "", 1},
                                                       {"gpu", "a100", 2, {""}, 250},
                                                       {"gpu", "v100", 1, {}, 1000, 0, "1g.5gb"}}));
}

TEST(History, TellsOfTheMachineToo) {
  const std::string machine = R"({"machine":{"name":"local/n1","cpus":4,"memory_bytes":1024,)"
                              R"("devices":[{"kind":"gpu","model":"a100","memory_bytes":99}]}})"
                              "\n";
  const std::string job = R"({"submitted":"2026-11-15T12:00:00Z","run":1,"node":"n1"})";
  const auto trace = read(machine + job);
  ASSERT_TRUE(trace) << trace.error().message;
  EXPECT_EQ(trace->jobs.size(), 1u);
  EXPECT_EQ(trace->machine, (std::vector<core::NodeCapacity>{
                                {"local/n1", 4000, 1024, {{"gpu0", "gpu", "a100", 99, true}}}}));
  EXPECT_EQ(refusal(machine + machine + job), "trace.swf:2: machine \"local/n1\" is there twice");
  EXPECT_EQ(refusal(R"({"machine":{"cpus":4}})"), "trace.swf:1: machine has no name");
}

TEST(History, ABrokenLineIsRefusedWithItsNumberAndWhatToWrite) {
  EXPECT_EQ(refusal("{\"user\":\"ada\"}\n"),
            "trace.swf:1: submitted is missing; write when, such as \"2026-11-15T21:23:31Z\"");
  EXPECT_EQ(refusal(R"({"submitted":"2026-11-15T12:00:00Z","tier":"vip"})"),
            "trace.swf:1: tier must be interactive, service, batch or opportunistic");
  EXPECT_TRUE(refusal(R"({"submitted":"2026-11-15T12:00:00Z","devices":["gpu::2"]})")
                  .starts_with("trace.swf:1: \"gpu::2\" is not a device: write KIND, KIND:COUNT"));
  EXPECT_EQ(refusal(R"({"submitted":"2026-11-15T12:00:00Z","cpus":0})"),
            "trace.swf:1: cpus must be a number between 0.001 and 4000000");
  EXPECT_EQ(refusal(R"({"submitted":"2026-11-15T12:00:00Z","runs":[1,"soon"]})"),
            "trace.swf:1: runs must be a list of seconds, one for each task");
  EXPECT_NE(refusal("{]\n").find("trace.swf:1: it is no JSON object"), std::string::npos);
}

TEST(Tiers, AreNamedByQueue) {
  const auto tiers = parse_tiers("0=interactive,3=opportunistic");
  ASSERT_TRUE(tiers);
  EXPECT_EQ(tiers->at(3), core::Tier::opportunistic);
  EXPECT_EQ(parse_tiers("0=vip").error().message,
            "\"vip\" is no tier: interactive, service, batch and opportunistic are; write "
            "QUEUE=TIER, such as 0=interactive,3=opportunistic");
  EXPECT_FALSE(parse_tiers("interactive"));
}

}  // namespace
}  // namespace atl::simulate
