#include "site/slurm/batch_script.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "site/slurm/verdict.h"

namespace atl::site {
namespace {

StartOrder order() {
  return {.attempt = {JobId{1}, 0, 1},
          .resources = {.cpu_milli = 1500, .memory_bytes = (int64_t{2} << 30) + 1},
          .wall = minutes(90),
          .grace = seconds(30)};
}

SlurmOptions rivanna() {
  SlurmOptions options;
  options.choice = {.partition = "standard", .account = "bii"};
  options.accelerators["a100"] = {.partition = "gpu", .gres = "gpu:a100"};
  options.accelerators["a100-dgx"] = {
      .partition = "bii-gpu", .gres = "gpu:a100", .reservation = "bi_fox_dgx"};
  options.accelerators["a100-pod"] = {
      .partition = "gpu", .gres = "gpu:a100", .constraint = "gpupod"};
  return options;
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(BatchScript, AsksForWhatTheTaskNeeds) {
  BatchRequest request = *request_for(order(), rivanna(), {});
  request.name = "atoll-x-1.0.1";
  EXPECT_EQ(request.cpus, 2);
  EXPECT_EQ(request.memory_mib, 2049);
  EXPECT_EQ(request.minutes, 92);  // wall, grace and a minute for Slurm's own clock
  EXPECT_EQ(request.signal_before, 30);
  const std::string script = *batch_script(kBatchTemplate, request, "exec true");
  EXPECT_EQ(script,
            "#!/bin/sh\n#SBATCH --partition=standard\n#SBATCH --account=bii\n#SBATCH --mem=2049M\n"
            "#SBATCH --time=92\n#SBATCH --nodes=1\n#SBATCH --ntasks-per-node=1\n"
            "#SBATCH --cpus-per-task=2\nexec true\n");
}

TEST(BatchScript, WhatAtollReliesOnIsOnTheCommandLine) {
  BatchRequest request = *request_for(order(), {}, {});
  request.name = "atoll-x-1.0.1";
  const std::vector<std::string> arguments = sbatch_arguments(request, "/home/u/run");
  for (const char* wanted : {"--parsable", "--no-requeue", "--job-name=atoll-x-1.0.1",
                             "--signal=B:TERM@30", "--chdir=/home/u/run"})
    EXPECT_TRUE(std::count(arguments.begin(), arguments.end(), wanted)) << wanted;
}

TEST(BatchScript, AnAcceleratorChoosesItsPlace) {
  StartOrder asked = order();
  asked.resources.devices = {{.kind = "gpu", .model = "a100-dgx", .count = 2}};
  const BatchRequest dgx = *request_for(asked, rivanna(), {});
  EXPECT_EQ(dgx.choice.partition, "bii-gpu");
  EXPECT_EQ(dgx.choice.reservation, "bi_fox_dgx");
  EXPECT_EQ(dgx.choice.account, "bii");
  EXPECT_EQ(dgx.gres, "gpu:a100:2");
  asked.resources.devices[0].model = "a100-pod";
  EXPECT_EQ(request_for(asked, rivanna(), {})->choice.constraint, "gpupod");
  asked.resources.devices[0].model = "v100";
  EXPECT_EQ(request_for(asked, rivanna(), {})->choice.partition, "standard");
  EXPECT_EQ(request_for(asked, rivanna(), {})->gres, "gpu:v100:2");
}

TEST(BatchScript, WhatWasPlacedIsMoreExactThanWhatWasAsked) {
  StartOrder asked = order();
  asked.resources.devices = {{.kind = "gpu", .count = 2}};
  asked.placement.devices = {{.kind = "gpu", .model = "a100"}, {.kind = "gpu", .model = "a100"}};
  EXPECT_EQ(request_for(asked, rivanna(), {})->gres, "gpu:a100:2");
  EXPECT_EQ(request_for(asked, rivanna(), {})->choice.partition, "gpu");
}

TEST(BatchScript, PartsOfDevicesAreRefused) {
  StartOrder asked = order();
  asked.resources.devices = {{.kind = "gpu", .model = "a100", .count = 1, .share_milli = 250}};
  const auto request = request_for(asked, rivanna(), {});
  ASSERT_FALSE(request.has_value());
  EXPECT_TRUE(has(request.error().message, "whole devices"));
}

TEST(BatchScript, AGangIsRefused) {
  StartOrder asked = order();
  asked.gang = 2;
  EXPECT_TRUE(has(request_for(asked, {}, {}).error().message, "one allocation"));
}

TEST(BatchScript, AWallTimeWithinThePartitionsLimitStaysWithinIt) {
  StartOrder asked = order();
  asked.wall = minutes(10);
  EXPECT_EQ(request_for(asked, {}, minutes(10))->minutes, 10);
  EXPECT_EQ(request_for(asked, {}, minutes(60))->minutes, 12);
  asked.wall = minutes(11);
  const auto refused = request_for(asked, {}, minutes(10));
  ASSERT_FALSE(refused.has_value());
  EXPECT_TRUE(has(refused.error().message, "longer than the 10m")) << refused.error().message;
  asked.wall = {};
  EXPECT_EQ(request_for(asked, {}, minutes(10))->minutes, 0);
}

TEST(BatchScript, TheNodeIsAskedForOnlyWhenAtollPlaces) {
  StartOrder asked = order();
  asked.placement.node = "n7";
  EXPECT_EQ(request_for(asked, {}, {})->nodelist, "");
  EXPECT_EQ(request_for(asked, {.placement = SlurmPlacement::atoll}, {})->nodelist, "n7");
}

TEST(BatchScript, ValuesCannotBeMoreThanOneWord) {
  for (const char* odd : {"a b", "a\n#SBATCH --uid=0", "$(id)", "a;b", "`id`", "a'b"}) {
    SlurmOptions options;
    options.choice.partition = odd;
    const auto request = request_for(order(), options, {});
    ASSERT_FALSE(request.has_value()) << odd;
    EXPECT_EQ(request.error().field, "partition");
  }
}

TEST(BatchTemplate, MayBeChanged) {
  BatchRequest request = *request_for(order(), rivanna(), {});
  const auto script = batch_script(
      "#!/bin/bash -l\n{slurm.sbatch}\nmodule load cuda # ${HOME} {x}\necho {slurm.partition}\n"
      "{slurm.run}\n",
      request, "exec sh run");
  ASSERT_TRUE(script.has_value());
  EXPECT_TRUE(has(*script, "\nmodule load cuda # ${HOME} {x}\necho standard\nexec sh run\n"));
}

TEST(BatchTemplate, ErrorsSayWhereAndWhat) {
  EXPECT_TRUE(has(check_template("echo").error().message, "begin with #!"));
  EXPECT_TRUE(has(check_template("#!/bin/sh\n{slurm.run}\n").error().message, "{slurm.sbatch}"));
  EXPECT_TRUE(has(check_template("#!/bin/sh\n{slurm.sbatch}\n").error().message, "{slurm.run}"));
  const auto wrong = check_template("#!/bin/sh\n{slurm.sbatch}\n{slurm.queue}\n{slurm.run}\n");
  ASSERT_FALSE(wrong.has_value());
  EXPECT_TRUE(has(wrong.error().message, "line 3")) << wrong.error().message;
  EXPECT_TRUE(has(wrong.error().message, "partition"));
  EXPECT_FALSE(check_template("#!/bin/sh\r\n{slurm.sbatch}\n{slurm.run}\n").has_value());
  EXPECT_FALSE(check_template("#!/bin/sh\n{slurm.sbatch}\n{slurm.run} {slurm.ope").has_value());
}

struct Case {
  const char* state;
  core::EndCause cause;
  const char* says;
};

TEST(SlurmVerdict, EachEndIsToldApart) {
  for (const Case& one :
       {Case{"TIMEOUT", core::EndCause::wall_time, "time limit"},
        Case{"OUT_OF_MEMORY", core::EndCause::memory, "memory"},
        Case{"NODE_FAIL", core::EndCause::lost, "node n1 failed"},
        Case{"PREEMPTED", core::EndCause::lost, "preempted"},
        Case{"CANCELLED", core::EndCause::signalled, "cancelled in Slurm by account 1000"},
        Case{"COMPLETED", core::EndCause::exited, ""},
        Case{"FAILED", core::EndCause::exited, "failed"},
        Case{"SOMETHING_NEW", core::EndCause::lost, "SOMETHING_NEW"}}) {
    const core::AttemptResult result = verdict_of({.id = 5,
                                                   .state = one.state,
                                                   .exit_code = 3,
                                                   .started = {1000},
                                                   .ended = {2000},
                                                   .nodes = "n1",
                                                   .cancelled_by = "1000"});
    EXPECT_EQ(result.cause, one.cause) << one.state;
    EXPECT_TRUE(has(result.message, one.says)) << result.message;
    EXPECT_EQ(result.usage.ended, Time{2000});
  }
}

TEST(SlurmVerdict, AWrappersResultIsExplainedAndNotReplaced) {
  const JobRecord timed{.id = 5, .state = "TIMEOUT", .nodes = "n1"};
  core::AttemptResult killed{.cause = core::EndCause::signalled, .signal = 15};
  explain_end(timed, false, killed);
  EXPECT_EQ(killed.cause, core::EndCause::wall_time);
  core::AttemptResult ended{.cause = core::EndCause::exited, .exit_code = 85};
  explain_end(timed, false, ended);
  EXPECT_EQ(ended.exit_code, 85);
  EXPECT_EQ(ended.cause, core::EndCause::exited);
  core::AttemptResult stopped{.cause = core::EndCause::stopped};
  explain_end({.state = "CANCELLED"}, true, stopped);
  EXPECT_EQ(stopped.cause, core::EndCause::stopped);
}

TEST(SlurmVerdict, WhatWillNeverStartIsTold) {
  const auto why = never_starts({.state = "PENDING", .reason = "PartitionTimeLimit"});
  ASSERT_TRUE(why.has_value());
  EXPECT_TRUE(has(*why, "ask for less time"));
  for (const char* passing : {"", "Resources", "Priority", "PartitionDown", "ReqNodeNotAvail",
                              "QOSMaxJobsPerUserLimit", "JobHeldAdmin", "Licenses", "BeginTime"})
    EXPECT_FALSE(never_starts({.state = "PENDING", .reason = passing}).has_value()) << passing;
}

TEST(SlurmVerdict, RefusalsSayWhatToChange) {
  const auto failure = submit_failure(
      "sbatch: error: invalid partition specified: nope\nsbatch: error: Batch job submission "
      "failed: "
      "Invalid partition name specified\n");
  EXPECT_EQ(failure.kind, Refusal::refused);
  EXPECT_TRUE(has(failure.message, "set `partition`")) << failure.message;
  EXPECT_TRUE(has(failure.message, "nope"));
  EXPECT_EQ(submit_failure("sbatch: error: Batch job submission failed: Invalid account or "
                           "account/partition combination specified")
                .kind,
            Refusal::refused);
  for (const char* passing :
       {"sbatch: error: Batch job submission failed: Unable to contact slurm controller (connect "
        "failure)",
        "sbatch: error: Slurm temporarily unable to accept job, sleeping and retrying",
        "sbatch: error: Batch job submission failed: Socket timed out on send/recv operation", ""})
    EXPECT_EQ(submit_failure(passing).kind, Refusal::later) << passing;
}

TEST(SlurmVerdict, Phases) {
  EXPECT_EQ(phase_of("PENDING"), Phase::waiting);
  EXPECT_EQ(phase_of("RUNNING"), Phase::running);
  EXPECT_EQ(phase_of("COMPLETING"), Phase::running);
  EXPECT_EQ(phase_of("NODE_FAIL"), Phase::over);
}

}  // namespace
}  // namespace atl::site
