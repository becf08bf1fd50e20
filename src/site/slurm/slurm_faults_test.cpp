// What goes wrong on a real cluster: daemons that are killed, jobs that are touched behind Atoll's
// back, answers that are lost.
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/overloaded.h"
#include "site/slurm/job_name.h"
#include "site/slurm/slurm_engine.h"

namespace atl::site {
namespace {

class SlurmFaults : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override { place_ = std::make_unique<SlurmPlace>(GetParam()); }
  void TearDown() override {
    driver_.reset();
    place_.reset();
  }

  void open(SlurmOptions options, std::vector<AttemptId> expected = {}) {
    driver_.reset();
    seen_ = std::make_unique<Recorder>();
    driver_ = std::make_unique<SlurmDriver>(std::move(options));
    driver_->adopt(std::move(expected), [this, sink = seen_->sink()](core::Report report) {
      if (const auto* news = std::get_if<core::AttemptUnreachable>(&report)) {
        if (news->unreachable) ++unreachable_;
        if (!news->unreachable) ++reachable_;
      }
      sink(std::move(report));
    });
    ASSERT_TRUE(seen_->wait_probed(60));
  }
  void open() { open(place_->options()); }

  StartOrder order(const std::string& text) {
    return {.attempt = {JobId{next_job_++}, 0, 1},
            .name = "job",
            .ns = "default",
            .grace = seconds(5),
            .payload = {.argv = {"sh", "-c", text}, .directory = "/"}};
  }
  AttemptId start(StartOrder one) {
    const AttemptId id = one.attempt;
    driver_->start({std::move(one)});
    return id;
  }
  // How it ended, and that it did so once.
  core::AttemptResult end_of(AttemptId id, int patience = 90) {
    EXPECT_TRUE(seen_->wait_ended(id, patience)) << driver_->trouble();
    EXPECT_EQ(seen_->ends(id), 1u);
    last_ = seen_->result(id).message;
    return seen_->result(id);
  }
  core::AttemptResult run(StartOrder one) { return end_of(start(std::move(one))); }

  // Once it has written down that it runs the job; else nodes end what it does not know again.
  void kill_controller(AttemptId id) {
    const std::string state = place_->engine().folder() + "/state/job_state";
    EXPECT_TRUE(place_->engine().await("grep -aqF '" + name_of(id) + "' " + state + " && echo kept",
                                       "kept"));
    ::sleep(6);
    place_->engine().order("kill slurmctld");
  }
  std::string show() {
    return place_->engine().shell("squeue -t all | tail -n 5; sinfo -N -o '%N %t %E'; ls -l " +
                                  place_->options().directory + "/attempts/*");
  }
  std::string job_of(AttemptId id) {
    return place_->engine().shell("squeue -h --states=all -o '%A %j' | grep ' " + name_of(id) +
                                  "$' | cut -d' ' -f1");
  }
  std::string name_of(AttemptId id) { return slurm_job_name(place_->installation(), id); }
  std::string jobs_of_name(AttemptId id) {
    return place_->engine().shell("squeue -h --states=all -o '%j' | grep -c '^" + name_of(id) +
                                  "$'");
  }

  std::unique_ptr<SlurmPlace> place_;
  std::unique_ptr<Recorder> seen_;
  std::unique_ptr<SlurmDriver> driver_;
  std::atomic<int> unreachable_ = 0;
  std::atomic<int> reachable_ = 0;
  uint64_t next_job_ = 1;
  std::string last_;
};

#define EXPECT_SAYS(result, words) \
  EXPECT_NE((result).message.find(words), std::string::npos) << (result).message

TEST_P(SlurmFaults, SubmitPollAndCancel) {
  open();
  EXPECT_EQ(seen_->site().nodes.size(), 3u);
  EXPECT_EQ(seen_->site().nodes.at(1).devices.size(), 4u);
  EXPECT_EQ(run(order("echo hello; exit 3")).exit_code, 3);
  const AttemptId id = start(order("sleep 60"));
  ASSERT_TRUE(seen_->wait_started(id));
  driver_->stop({{id, seconds(1)}});
  EXPECT_EQ(end_of(id).cause, core::EndCause::stopped);
}

TEST_P(SlurmFaults, AScancelBehindOurBackIsTold) {
  open();
  const AttemptId id = start(order("sleep 60"));
  ASSERT_TRUE(seen_->wait_started(id));
  place_->engine().shell("scancel " + job_of(id));
  const core::AttemptResult result = end_of(id);
  EXPECT_EQ(result.cause, core::EndCause::signalled);
  EXPECT_SAYS(result, "cancelled in Slurm");
}

TEST_P(SlurmFaults, ARequeueBehindOurBackRunsNothingTwice) {
  open();
  const std::string mark = place_->options().home + "/runs-of-it";
  const AttemptId id = start(order("echo x >>" + mark + "; sleep 60"));
  ASSERT_TRUE(seen_->wait_started(id));
  const std::string job = job_of(id);
  place_->engine().shell("scontrol update jobid=" + job + " requeue=1; scontrol requeue " + job);
  const core::AttemptResult result = end_of(id);
  EXPECT_EQ(result.cause, core::EndCause::lost);
  EXPECT_SAYS(result, "put back");
  ASSERT_TRUE(place_->engine().await("squeue -h -t pending,running,completing -j " + job, ""));
  EXPECT_EQ(std::filesystem::file_size(mark), 2u);
}

TEST_P(SlurmFaults, AnUnknownPartitionSaysWhatToChange) {
  SlurmOptions options = place_->options();
  options.choice.partition = "nosuch";
  open(options);
  const core::AttemptResult result = run(order("true"));
  EXPECT_EQ(result.cause, core::EndCause::start_error);
  EXPECT_SAYS(result, "set `partition` of the site");
}

TEST_P(SlurmFaults, AnUnknownAccountSaysWhatToChange) {
  SlurmOptions options = place_->options();
  options.choice.account = "nosuch";
  open(options);
  const core::AttemptResult result = run(order("true"));
  EXPECT_EQ(result.cause, core::EndCause::start_error);
  EXPECT_SAYS(result, "set `account` of the site");
}

TEST_P(SlurmFaults, ALimitBeyondThePartitionsIsTold) {
  SlurmOptions options = place_->options();
  options.choice.partition = "short";
  open(options);
  StartOrder longer = order("true");
  longer.wall = hours(5);
  const core::AttemptResult result = run(std::move(longer));
  EXPECT_EQ(result.cause, core::EndCause::start_error);
  EXPECT_SAYS(result, "ask for less time");
}

TEST_P(SlurmFaults, DevicesComeFromSlurm) {
  SlurmOptions options = place_->options();
  options.accelerators["a100"] = {.partition = "gpu", .gres = "gpu:a100"};
  open(options);
  StartOrder asks = order("echo $CUDA_VISIBLE_DEVICES $SLURM_JOB_PARTITION");
  asks.resources.devices = {{.kind = "gpu", .model = "a100", .count = 2}};
  const AttemptId id = start(std::move(asks));
  EXPECT_EQ(end_of(id).exit_code, 0);
  EXPECT_EQ(driver_->logs(id, LogStream::out, 0, 100)->bytes, "0,1 gpu\n");
}

TEST_P(SlurmFaults, PreemptionByOtherWorkIsALoss) {
  SlurmOptions options = place_->options();
  options.choice.partition = "low";
  open(options);
  const AttemptId id = start(order("sleep 60"));
  ASSERT_TRUE(seen_->wait_started(id));
  place_->engine().shell("sbatch -p high -o /dev/null --wrap 'sleep 1'");
  const core::AttemptResult result = end_of(id);
  EXPECT_EQ(result.cause, core::EndCause::lost);
  EXPECT_SAYS(result, "preempted");
}

TEST_P(SlurmFaults, MemoryBeyondTheLimitIsTold) {
  open();
  StartOrder greedy = order("(head -c 300000000 /dev/zero; sleep 60) | tail");
  greedy.resources.memory_bytes = 64 << 20;
  EXPECT_EQ(run(std::move(greedy)).cause, core::EndCause::memory);
}

// sbatch accepts the job and says nothing of it: what a cut connection looks like.
TEST_P(SlurmFaults, ALostAnswerIsFoundByItsName) {
  const std::string doubles = place_->options().home + "/doubles";
  std::filesystem::create_directories(doubles);
  std::ofstream(doubles + "/sbatch")
      << "#!/bin/sh\n"
      << place_->engine().bin() << "/sbatch \"$@\" >/dev/null\n"
      << "echo 'sbatch: error: Socket timed out on send/recv operation' >&2\n"
      << "exit 1\n";
  ::chmod((doubles + "/sbatch").c_str(), 0755);
  for (const char* name : {"squeue", "sacct", "scontrol", "sinfo", "scancel"})
    std::filesystem::create_symlink(place_->engine().bin() + "/" + name, doubles + "/" + name);
  SlurmOptions options = place_->options();
  options.bin = doubles;
  open(options);
  const std::string mark = place_->options().home + "/runs-of-it";
  const AttemptId id = start(order("echo x >>" + mark + "; exit 4"));
  EXPECT_EQ(end_of(id).exit_code, 4);
  EXPECT_EQ(jobs_of_name(id), "1");
  EXPECT_EQ(std::filesystem::file_size(mark), 2u);
}

// What Slurm is like when parts of it are away does not change from one release to the next, and
// takes it minutes to show.
class SlurmOutages : public SlurmFaults {};

TEST_P(SlurmOutages, AKilledControllerLosesNothing) {
  open();
  const AttemptId lasts = start(order("sleep 75; exit 6")), ends = start(order("sleep 15; exit 5"));
  ASSERT_TRUE(seen_->wait_started(lasts, 60)) << driver_->trouble() << show();
  ASSERT_TRUE(seen_->wait_started(ends));
  kill_controller(lasts);
  EXPECT_EQ(end_of(ends).exit_code, 5);  // its run directory tells
  const AttemptId waits = start(order("exit 7"));
  for (int i = 0; i < 600 && unreachable_ == 0; ++i) ::usleep(100000);
  EXPECT_EQ(unreachable_, 1);
  EXPECT_FALSE(driver_->trouble().empty());
  place_->engine().order("start slurmctld");
  EXPECT_EQ(end_of(waits).exit_code, 7) << last_;
  EXPECT_EQ(end_of(lasts).exit_code, 6) << last_;
  EXPECT_EQ(reachable_, 1);
  EXPECT_EQ(jobs_of_name(waits), "1");
}

TEST_P(SlurmOutages, AClusterThatIsAwayAtTheStartIsWaitedFor) {
  open();
  const AttemptId id = start(order("sleep 45; exit 9"));
  ASSERT_TRUE(seen_->wait_started(id, 60)) << driver_->trouble() << show();
  kill_controller(id);
  open(place_->options(), {id});
  EXPECT_TRUE(seen_->site().nodes.empty());
  place_->engine().order("start slurmctld");
  EXPECT_EQ(end_of(id).exit_code, 9) << last_;
  EXPECT_EQ(unreachable_, 1);
  for (int i = 0; i < 600 && seen_->site().nodes.size() < 3; ++i) ::usleep(100000);
  EXPECT_EQ(seen_->site().nodes.size(), 3u);
}

TEST_P(SlurmOutages, ANodeThatFailsLosesItsWork) {
  SlurmOptions options = place_->options();
  options.choice.partition = "gpu";
  open(options);
  const AttemptId id = start(order("sleep 100"));
  ASSERT_TRUE(seen_->wait_started(id));
  place_->engine().order("kill n2");
  const core::AttemptResult result = end_of(id, 120);
  EXPECT_EQ(result.cause, core::EndCause::lost);
  EXPECT_SAYS(result, "node n2 failed");
  place_->engine().order("start n2");
  EXPECT_TRUE(place_->engine().await("sinfo -h -n n2 -p gpu -o %t", "idle"));
}

INSTANTIATE_TEST_SUITE_P(Version, SlurmOutages, testing::Values("22.05"),
                         [](const testing::TestParamInfo<const char*>&) { return "slurm_22_05"; });
INSTANTIATE_TEST_SUITE_P(Version, SlurmFaults, testing::Values("22.05", "24.11"),
                         [](const testing::TestParamInfo<const char*>& info) {
                           return info.param == std::string("22.05") ? "slurm_22_05"
                                                                     : "slurm_24_11";
                         });

}  // namespace
}  // namespace atl::site
