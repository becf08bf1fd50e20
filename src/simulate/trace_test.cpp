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
  if (trace) return "";
  const std::string& message = trace.error().message;
  return message.substr(0, message.find(" (--skip-broken leaves such lines out)"));
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
                          "3 70 -1 0 4 -1 -1 4 60 -1 5 1 1 -1 -1 -1 -1 -1\n"
                          "4 70 -1 0 0 -1 -1 -1 60 -1 0 1 1 -1 -1 -1 -1 -1\n");
  ASSERT_TRUE(trace) << trace.error().message;
  EXPECT_EQ(trace->jobs.size(), 1u);
  EXPECT_EQ(trace->without_run, 3u);
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

TEST(Swf, HowToGoOnIsSaidWithABrokenLine) {
  EXPECT_EQ(read("1 2\n").error().message,
            "trace.swf:1: it has 2 fields; a line has 18 numbers, with -1 for what is unknown "
            "(--skip-broken leaves such lines out)");
}

TEST(Traces, ThatAreNoneAreToldFromBrokenOnes) {
  EXPECT_EQ(read("\x1f\x8b\x08").error().message,
            "trace.swf: it is compressed; write `zcat FILE | atoll simulate --trace -`");
  EXPECT_EQ(read("\n[\n{}]", {.skip_broken = true}).error().message,
            "trace.swf: it is one JSON document; a trace has an object on each line, as -o jsonl "
            "writes them");
}

TEST(Swf, AnEmptyTraceIsRefused) {
  EXPECT_EQ(refusal(kHeader),
            "trace.swf: there is no job in it; `atoll simulate generate` writes a trace");
  EXPECT_EQ(refusal("2 70 -1 -1 4 -1 -1 4 60 -1 5 1 1 -1 -1 -1 -1 -1\n"),
            "trace.swf: no job in it has run; jobs without a run time: 1, broken lines: 0");
  EXPECT_EQ(
      read("x\ny\n", {.skip_broken = true}).error().message,
      "trace.swf: no job in it has run; jobs without a run time: 0, broken lines: 2, the first: "
      "trace.swf:1: field 1 (job number) is \"x\"; write a whole number, or -1 when it is unknown");
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
  EXPECT_EQ(trace->run_of(job, 2), hours(1)) << "a server ended it at its limit";
  EXPECT_EQ(trace->wishes.at(job.wishes), (Wishes{{}, {}, -3, 0, 3}));
}

TEST(History, AGangIsAllTasksOfItsJob) {
  const std::string begin = R"({"submitted":"2026-11-15T12:00:00Z",)";
  const auto trace = read(begin + R"("run":60,"gang":4})");
  ASSERT_TRUE(trace) << trace.error().message;
  EXPECT_EQ(trace->jobs.at(0).tasks, 4u);
  EXPECT_EQ(trace->wishes.at(trace->jobs.at(0).wishes).gang, 4u);
  EXPECT_EQ(read(begin + R"("runs":[1,2],"gang":2})")->jobs.at(0).tasks, 2u);
  EXPECT_EQ(refusal(begin + R"("run":60,"gang":4,"tasks":8})"),
            "trace.swf:1: gang is 4, and tasks is 8; a gang is all tasks of its job: leave tasks "
            "out");
  EXPECT_EQ(refusal(begin + R"("runs":[1,2,3],"gang":4})"),
            "trace.swf:1: runs has 3 run times, and gang is 4; write one for each task, or `run` "
            "when all run alike");
}

TEST(History, EachTaskHasItsRunTimeOrAllHaveOne) {
  const std::string begin = R"({"submitted":"2026-11-15T12:00:00Z","runs":[1,2,3],"tasks":)";
  EXPECT_EQ(read(begin + "3}")->jobs.at(0).tasks, 3u);
  EXPECT_EQ(refusal(begin + "5}"),
            "trace.swf:1: runs has 3 run times, and tasks is 5; write one for each task, or `run` "
            "when all run alike");
  EXPECT_EQ(read(begin + R"({"total":5}})")->jobs.at(0).tasks, 3u) << "two have never run";
  EXPECT_NE(refusal(begin + R"({"total":2}})"), "");
}

TEST(History, ALimitThatIsTooShortIsRaisedAndOneThatAServerKeptIsNot) {
  const std::string begin = R"({"submitted":"2026-11-15T12:00:00Z","grace":10,)";
  const auto written = read(begin + R"("run":100,"time":60})");
  EXPECT_EQ(written->jobs.at(0).run, seconds(100));
  EXPECT_EQ(written->jobs.at(0).wall, seconds(90)) << "the grace comes behind it";
  const std::string span = R"("started":"2026-11-15T12:00:00Z","ended":"2026-11-15T12:01:)";
  const auto kept = read(begin + span + R"(08Z","time_seconds":60})");
  EXPECT_EQ(kept->jobs.at(0).run, seconds(68)) << "it used some of its grace";
  EXPECT_EQ(kept->jobs.at(0).wall, seconds(60));
  const auto noticed_late = read(begin + span + R"(55Z","time_seconds":60})");
  EXPECT_EQ(noticed_late->jobs.at(0).run, seconds(70));
  EXPECT_EQ(noticed_late->jobs.at(0).wall, seconds(60));
}

TEST(History, ASliceIsThePartThatItsNameTells) {
  const auto share = [](const std::string& members) {
    const auto trace = read(R"({"submitted":"2026-11-15T12:00:00Z","run":1,)" + members + "}");
    if (!trace) return -1;
    return trace->wishes.at(trace->jobs.at(0).wishes).devices.at(0).share_milli;
  };
  EXPECT_EQ(share(R"("devices":["gpu:1g.5gb"])"), 125);
  EXPECT_EQ(share(R"("devices":["gpu:a100:2g.10gb:2"])"), 250);
  EXPECT_EQ(share(R"("devices":["gpu:3g.20gb"])"), 500);
  EXPECT_EQ(share(R"("devices":["gpu:4g.20gb"])"), 500);
  EXPECT_EQ(share(R"("devices":["gpu:7g.40gb"])"), 1000);
  EXPECT_EQ(share(R"("device_requests":[{"slice":"1g.5gb"}])"), 125);
  EXPECT_EQ(share(R"("device_requests":[{"slice":"small","share":0.25}])"), 250);
  EXPECT_EQ(
      refusal(R"({"submitted":"2026-11-15T12:00:00Z","device_requests":[{"slice":"small"}]})"),
      "trace.swf:1: slice \"small\" does not tell what part of a device it is; write it as "
      "\"device_requests\": [{\"kind\": \"gpu\", \"slice\": \"small\", \"share\": 0.25}]");
}

TEST(History, OlderListsTellOfPartsInWords) {
  const auto trace = read(R"({"submitted":"2026-11-15T12:00:00Z","run":1,)"
                          R"("devices":["fpga:1","gpu:a100|any:0.25 x 2","gpu:v100:1g.5gb"]})");
  ASSERT_TRUE(trace) << trace.error().message;
  const auto& devices = trace->wishes.at(trace->jobs.at(0).wishes).devices;
  EXPECT_EQ(devices, (std::vector<core::DeviceRequest>{{"fpga", "", 1},
                                                       {"gpu", "a100", 2, {""}, 250},
                                                       {"gpu", "v100", 1, {}, 125, 0, "1g.5gb"}}));
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
  EXPECT_EQ(refusal(R"({"submitted":"2026-11-15T12:00:00Z","runs":[1],"run":1})"),
            "trace.swf:1: run and runs exclude each other; write one of them");
  EXPECT_EQ(refusal(R"({"submitted":"2026-11-15T12:00:00Z","run":1,"cpu":4})"),
            "trace.swf:1: cpu is not known here; write cpus");
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
  EXPECT_EQ(parse_tiers("0=batch,0=service").error().message, "queue 0 is there twice");
}

TEST(Tiers, OfQueuesThatNoJobIsInAreTold) {
  const auto trace = read(kLine);
  using core::Tier;
  EXPECT_EQ(tiers_without_jobs(*trace, {}), "");
  EXPECT_EQ(tiers_without_jobs(*trace, {{2, Tier::service}}), "");
  EXPECT_EQ(tiers_without_jobs(*trace, {{2, Tier::service}, {8, Tier::batch}, {9, Tier::batch}}),
            "--tiers: no job of the trace is in queue 8, 9; its queues are 2");
  const auto history = read(R"({"submitted":"2026-11-15T12:00:00Z","run":1})");
  EXPECT_EQ(tiers_without_jobs(*history, {{2, Tier::service}}),
            "--tiers changes nothing: the lines of this trace name their tiers themselves");
}

}  // namespace
}  // namespace atl::simulate
