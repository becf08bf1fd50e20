// What a task on this machine sees, and what is told of it afterwards.
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

#include "site/local/environment.h"
#include "site/local/local_fixture.h"
#include "site/local/process_tree.h"

namespace atl::site {
namespace {

class Local : public LocalFixture {};

TEST_F(Local, RunsInACleanEnvironment) {
  ::setenv("LEAKED_FROM_SERVER", "1", 1);
  StartOrder one = order({.argv = {"env"}, .env = {{"MINE", "a b"}}});
  one.resources.cpu_milli = 2500;
  ASSERT_EQ(run(std::move(one)).exit_code, 0);
  const std::string env = "\n" + output(last_);
  for (const char* line : {"\nHOME=/root\n", "\nUSER=root\n", "\nMINE=a b\n", "\nATOLL_JOB_ID=1\n",
                           "\nATOLL_ATTEMPT=1\n", "\nATOLL_JOB_NAME=job\n",
                           "\nATOLL_NAMESPACE=default\n", "\nOMP_NUM_THREADS=2\n"}) {
    EXPECT_NE(env.find(line), std::string::npos) << line;
  }
  EXPECT_EQ(env.find("LEAKED"), std::string::npos);
  EXPECT_EQ(env.find("ATOLL_ARRAY_INDEX"), std::string::npos);
  EXPECT_EQ(env.find("ATOLL_RESUMED"), std::string::npos);
  EXPECT_EQ(env.find("CUDA"), std::string::npos);
}

TEST_F(Local, InheritsNothing) {
  ASSERT_EQ(run(shell("ls /proc/self/fd | wc -l; umask; grep -E 'Sig(Blk|Ign|Cgt)' "
                      "/proc/self/status; ps -o sid= -p $$; echo $$"))
                .exit_code,
            0);
  const std::string text = output(last_);
  EXPECT_TRUE(text.starts_with("4\n0022\n")) << text;  // three and the one ls has open
  EXPECT_NE(text.find("SigBlk:\t0000000000000000"), std::string::npos) << text;
  EXPECT_NE(text.find("SigIgn:\t0000000000000000"), std::string::npos) << text;
}

TEST_F(Local, EndsLikeAShellWhenTheCommandCannotRun) {
  EXPECT_EQ(run(order({.argv = {"no-such-command-xyz"}})).exit_code, 127);
  EXPECT_EQ(output(last_, LogStream::err), "atoll: no-such-command-xyz: command not found\n");
  EXPECT_EQ(run(order({.argv = {"/etc/passwd"}})).exit_code, 126);
  EXPECT_EQ(run(order({.script = "#!/no/such/interpreter\n"})).exit_code, 126);
  EXPECT_EQ(output(last_, LogStream::err).find("interpreter") == std::string::npos, false);
}

TEST_F(Local, ASandboxEndsLikeAShellToo) {
  const std::string work = place_->home() + "/work";
  std::filesystem::create_directories(work);
  std::filesystem::permissions(work, std::filesystem::perms::all);
  std::ofstream(work + "/plain") << "x";
  std::ofstream(work + "/odd") << "#!/no/such/interpreter\n";
  std::ofstream(work + "/good") << "#!/bin/sh\nexit 3\n";
  std::filesystem::create_symlink(place_->home() + "/elsewhere", work + "/away");
  std::ofstream(place_->home() + "/elsewhere") << "#!/bin/sh\nexit 3\n";
  for (const char* name : {"/odd", "/good", "/../elsewhere"})
    std::filesystem::permissions(work + name, std::filesystem::perms(0755));
  const auto said = [&](core::Payload payload) {
    payload.directory = work;
    payload.isolation = core::Isolation::sandbox;
    const core::AttemptResult result = run(order(std::move(payload)));
    return std::to_string(result.exit_code) + " " + output(last_, LogStream::err);
  };
  EXPECT_EQ(said({.argv = {"no-such-command-xyz"}}),
            "127 atoll: no-such-command-xyz: command not found\n");
  EXPECT_EQ(said({.argv = {"cd"}}), "127 atoll: cd: command not found\n");
  EXPECT_EQ(said({.argv = {"./none"}}), "127 atoll: ./none: command not found\n");
  EXPECT_EQ(said({.argv = {"./away"}}), "127 atoll: ./away: command not found\n");
  EXPECT_EQ(said({.argv = {"/etc/passwd"}}), "126 atoll: /etc/passwd: Permission denied\n");
  EXPECT_EQ(said({.argv = {"./plain"}}), "126 atoll: ./plain: Permission denied\n");
  EXPECT_EQ(said({.argv = {"/usr"}}), "126 atoll: /usr: Permission denied\n");
  EXPECT_EQ(said({.argv = {"./odd"}}), "126 atoll: ./odd: its interpreter was not found\n");
  EXPECT_EQ(said({.argv = {"./good"}}), "3 ");
  EXPECT_EQ(said({.argv = {"good"}, .env = {{"PATH", work}}}), "3 ");
  EXPECT_EQ(said({.argv = {"plain"}, .env = {{"PATH", work}}}),
            "126 atoll: plain: Permission denied\n");
  EXPECT_EQ(said({.script = "#!/usr/bin/env sh\nexit 4\n"}), "4 ");
  EXPECT_TRUE(said({.script = "#!/no/such/interpreter\n"}).starts_with("126 atoll: "));
}

TEST_F(Local, ASandboxOfAFoundCommandCostsNoShell) {
  core::Payload payload{.argv = {"cat", "/proc/self/stat"}, .isolation = core::Isolation::sandbox};
  Launch launch{.payload = payload, .job_dir = place_->home()};
  launch.account.uid = ::geteuid();
  const auto wrapped = wrap_in_sandbox(launch, payload.argv);
  EXPECT_EQ(std::ranges::find(wrapped, "/bin/sh"), wrapped.end());
}

TEST_F(Local, SaysPreciselyWhyItCannotStart) {
  core::AttemptResult result = run(order({.argv = {"true"}, .directory = "/no/such/dir"}));
  EXPECT_EQ(result.cause, core::EndCause::start_error);
  EXPECT_NE(result.message.find("\"/no/such/dir\": No such file or directory"), std::string::npos)
      << result.message;
  result = run(order({.argv = {"true"}, .venv = "/tmp"}));
  EXPECT_EQ(result.cause, core::EndCause::start_error);
  EXPECT_NE(result.message.find("bin/python"), std::string::npos);
  result = run(order({.argv = {"true"}, .stdin_file = "/no/such/file"}));
  EXPECT_EQ(result.cause, core::EndCause::start_error);
  result = run(order({}));
  EXPECT_EQ(result.cause, core::EndCause::start_error);
}

TEST_F(Local, RunsScriptsWithArgumentsAndStdin) {
  EXPECT_EQ(run(order({.script = "echo $1 $2; cat", .args = {"a", "b c"}, .stdin_text = "in\n"}))
                .exit_code,
            0);
  EXPECT_EQ(output(last_), "a b c\nin\n");
  EXPECT_EQ(run(order({.script = "#!/bin/sh -e\nfalse\necho no"})).exit_code, 1);
  EXPECT_EQ(run(order({.argv = {"cat"}})).exit_code, 0);  // stdin is empty
  EXPECT_EQ(output(last_), "");
}

TEST_F(Local, ActivatesAPythonEnvironment) {
  const std::string venv = place_->home() + "/venv";
  std::filesystem::create_directories(venv + "/bin");
  std::filesystem::create_symlink("/bin/true", venv + "/bin/python");
  run(order({.argv = {"sh", "-c", "echo $VIRTUAL_ENV; command -v python"}, .venv = venv}));
  EXPECT_EQ(output(last_), venv + "\n" + venv + "/bin/python\n");
}

TEST_F(Local, KeepsTheCheckpointForTheNextAttempt) {
  StartOrder first =
      shell("echo 7 > $ATOLL_CHECKPOINT_DIR/epoch; touch $ATOLL_CHECKPOINT_NOTE; exit 85");
  StartOrder second = shell("cat $ATOLL_CHECKPOINT_DIR/epoch; echo $ATOLL_RESUMED");
  second.attempt = first.attempt;
  second.attempt.attempt = 2;
  second.resumed = true;
  const core::AttemptResult result = run(std::move(first));
  EXPECT_EQ(result.exit_code, 85);
  EXPECT_TRUE(result.checkpointed);
  EXPECT_TRUE(std::filesystem::exists(driver_->job_directory(last_.job) + "/epoch"));
  EXPECT_FALSE(run(std::move(second)).checkpointed);
  EXPECT_EQ(output(last_), "7\n1\n");
  driver_->purge(last_.job);
  EXPECT_FALSE(std::filesystem::exists(driver_->job_directory(last_.job)));
  EXPECT_EQ(output(last_), "");
}

TEST_F(Local, LeavesNoFilesBehindSilentTasks) {
  std::vector<StartOrder> orders;
  for (int i = 0; i < 50; ++i) orders.push_back(order({.argv = {"true"}}));
  driver_->start(std::move(orders));
  ASSERT_TRUE(seen_->wait_ended(size_t{50}));
  int files = 0;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(place_->home() + "/jobs")) {
    files += entry.path().filename().string()[0] != '.' &&
             entry.path().parent_path().filename() != "jobs";
  }
  EXPECT_EQ(files, 0);
  EXPECT_FALSE(std::filesystem::exists(place_->home() + "/site/local/logs"));
}

TEST_F(Local, ArrayTasksShareFewFiles) {
  std::vector<StartOrder> orders;
  for (uint32_t i = 0; i < 200; ++i) {
    StartOrder one = shell(
        "printf 'task %s\\n' $ATOLL_ARRAY_INDEX; echo e$ATOLL_ARRAY_INDEX >&2; pwd >/dev/null; ls "
        "-d $ATOLL_CHECKPOINT_DIR");
    one.attempt = {JobId{1000}, i, 1};
    one.array = true;
    orders.push_back(std::move(one));
  }
  driver_->start(std::move(orders));
  ASSERT_TRUE(seen_->wait_ended(size_t{200}));
  for (uint32_t i = 0; i < 200; ++i) {
    const std::string index = std::to_string(i);
    EXPECT_EQ(output({JobId{1000}, i, 1}),
              "task " + index + "\n" + driver_->job_directory(JobId{1000}) + "/" + index + "\n");
    EXPECT_EQ(output({JobId{1000}, i, 1}, LogStream::err), "e" + index + "\n");
  }
  EXPECT_EQ(driver_->logs({JobId{1000}, 7, 1}, LogStream::out, 5, 2)->bytes, "7\n");
}

TEST_F(Local, ReadsTheLogOfARunningArrayTask) {
  StartOrder one = shell("echo one; sleep 0.3; echo two; sleep 60");
  one.attempt = {JobId{5}, 3, 1};
  one.array = true;
  const AttemptId id = start(std::move(one));
  ASSERT_TRUE(seen_->wait_started(id));
  for (int i = 0; i < 100 && output(id) != "one\ntwo\n"; ++i) ::usleep(50000);
  EXPECT_EQ(output(id), "one\ntwo\n");
}

TEST_F(Local, WhatARunningTaskUsesIsReadableSoon) {
  for (const bool array : {false, true}) {
    StartOrder one = shell("while :; do :; done");
    one.attempt = {JobId{array ? 7u : 6u}, array ? 4u : 0u, 1};
    one.array = array;
    const AttemptId id = start(std::move(one));
    ASSERT_TRUE(seen_->wait_started(id));
    const auto points = [&] {
      const Result<Timeline> samples = driver_->samples(id);
      return samples ? samples->points.size() : 0;
    };
    for (int i = 0; i < 60 && points() < 1; ++i) ::usleep(50000);
    EXPECT_GE(points(), 1u) << "within three seconds";
    for (int i = 0; i < 100 && points() < 4; ++i) ::usleep(50000);
    EXPECT_GE(points(), 4u) << "within eight";
    driver_->stop({{id, Duration{0}}});
    ASSERT_TRUE(seen_->wait_ended(id, 10));
    EXPECT_GE(points(), 4u) << "and after the end";
    EXPECT_GT(driver_->samples(id)->points.back().cpu.us, 500000);
  }
  for (const auto& entry :
       std::filesystem::directory_iterator(place_->home() + "/site/local/logs/0/7.array")) {
    EXPECT_NE(entry.path().extension(), ".use");
  }
}

TEST_F(Local, AScriptForSlurmFindsItsVariables) {
  StartOrder one = order({.script = "#!/bin/sh\n\n#SBATCH --time=1\nenv | grep ^SLURM_ | sort\n",
                          .env = {{"SLURM_JOB_NAME", "mine"}}});
  one.attempt = {JobId{9}, 3, 1};
  one.array = true;
  one.resources.cpu_milli = 2000;
  run(std::move(one));
  EXPECT_EQ(output(last_),
            "SLURM_ARRAY_JOB_ID=9\nSLURM_ARRAY_TASK_ID=3\nSLURM_CPUS_PER_TASK=2\nSLURM_JOB_ID=9\n"
            "SLURM_JOB_NAME=mine\nSLURM_SUBMIT_DIR=/tmp\n");
  run(order({.script = "#!/bin/sh\nenv | grep ^SLURM_\n#SBATCH --time=1\n"}));
  EXPECT_EQ(output(last_), "");
}

TEST_F(Local, BinaryOutputStaysIntact) {
  run(shell("i=0; while [ $i -lt 256 ]; do printf \"\\\\$(printf %o $i)\"; i=$((i+1)); done"));
  std::string bytes;
  for (int i = 0; i < 256; ++i) bytes += static_cast<char>(i);
  EXPECT_EQ(output(last_), bytes);
}

TEST_F(Local, HugeOutputIsCutWithAMarker) {
  core::AttemptResult result =
      run(order({.argv = {"head", "-c", "5000000", "/dev/zero"}, .log_bytes_max = 1000}));
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.stdout_bytes, 5000000);
  EXPECT_EQ(output(last_),
            std::string(1000, '\0') + "\n[atoll: 4999000 of 5000000 bytes were dropped here]\n");
}

TEST_F(Local, AccountsForWhatWasUsed) {
  StartOrder one =
      order({.argv = {"python3", "-c",
                      "import time,subprocess\nx=bytearray(80<<20)\nend=time.time()+1.6\n"
                      "while time.time()<end: pass"}});
  one.resources.cpu_milli = 1000;
  const core::AttemptResult result = run(std::move(one));
  ASSERT_EQ(result.exit_code, 0);
  EXPECT_GT(result.usage.memory_peak_bytes, 80 << 20);
  EXPECT_LT(result.usage.memory_peak_bytes, 160 << 20);
  EXPECT_GT(result.usage.cpu.us, 100000);
  EXPECT_GE((result.usage.ended - result.usage.started).us, 1500000);
  const Result<Timeline> samples = driver_->samples(last_);
  ASSERT_TRUE(samples.has_value()) << samples.error().message;
  ASSERT_GE(samples->points.size(), 1u);
  EXPECT_GT(samples->points[0].memory_bytes, 60 << 20);
}

TEST_F(Local, ThePeakIsThatOfAllProcessesTogether) {
  if (seen_->site().abilities[0] == "rlimits") GTEST_SKIP() << "no control groups here";
  // Four children hold 40 MiB each until all of them do.
  const core::AttemptResult many = run(order({.argv = {"python3", "-c", R"(
import os
told, tell = os.pipe()
held, hold = os.pipe()
for i in range(4):
    if os.fork() == 0:
        x = bytearray(b'x') * (40 << 20)
        os.close(hold)
        os.write(tell, b'.')
        os.read(held, 1)
        os._exit(0)
for i in range(4): os.read(told, 1)
os.close(hold)
for i in range(4): os.wait()
)"}}));
  ASSERT_EQ(many.exit_code, 0) << output(last_, LogStream::err);
  EXPECT_GT(many.usage.memory_peak_bytes, 160 << 20);
  EXPECT_LT(many.usage.memory_peak_bytes, 260 << 20);
  // The same slot counts anew for the next task.
  EXPECT_LT(run(order({.argv = {"true"}})).usage.memory_peak_bytes, 30 << 20);
}

TEST_F(Local, ThePeakIsWithoutThePageCache) {
  struct statfs where;
  ASSERT_EQ(::statfs(place_->home().c_str(), &where), 0);
  if (where.f_type == TMPFS_MAGIC) GTEST_SKIP() << "files in /tmp are memory here";
  const std::string file = place_->home() + "/big";
  const core::AttemptResult copies = run(shell("head -c 150000000 /dev/zero > " + file));
  ASSERT_EQ(copies.exit_code, 0);
  EXPECT_LT(copies.usage.memory_peak_bytes, 60 << 20);
}

TEST_F(Local, CpuLimitHolds) {
  if (seen_->site().abilities[0] == "rlimits") GTEST_SKIP() << "no control groups here";
  StartOrder one = shell("timeout 1 sh -c 'while :; do :; done'");
  one.resources.cpu_milli = 200;
  const core::AttemptResult result = run(std::move(one));
  EXPECT_LT(result.usage.cpu.us, 450000);
}

TEST_F(Local, GivesExactlyTheDevicesItWasGiven) {
  LocalOptions options = place_->options();
  options.devices = {{.unit = "gpu0", .kind = "gpu", .model = "a100", .simulated = true},
                     {.unit = "gpu1", .kind = "gpu", .model = "a100", .simulated = true}};
  open_driver(options);
  EXPECT_EQ(seen_->site().nodes[0].devices.size(), 2u);
  StartOrder one =
      shell("echo $CUDA_VISIBLE_DEVICES $NVIDIA_VISIBLE_DEVICES $ROCR_VISIBLE_DEVICES");
  one.placement.devices = {{.unit = "gpu1", .kind = "gpu", .model = "a100"}};
  run(std::move(one));
  EXPECT_EQ(output(last_), "1 1 1\n");
  run(shell("echo \"[$CUDA_VISIBLE_DEVICES]\" $NVIDIA_VISIBLE_DEVICES"));
  EXPECT_EQ(output(last_), "[] void\n");
}

TEST_F(Local, RunsUnderTheSubmittersAccount) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root may";
  StartOrder one = order({.script = "id -un; echo $HOME $USER; id -Gn; touch "
                                    "$ATOLL_CHECKPOINT_DIR/x && stat -c %U $ATOLL_CHECKPOINT_DIR/x",
                          .directory = "/"});
  one.uid = 65534;
  EXPECT_EQ(run(std::move(one)).exit_code, 0) << output(last_, LogStream::err);
  EXPECT_EQ(output(last_), "nobody\n/nonexistent nobody\nnogroup\nnobody\n");
  StartOrder locked = order({.argv = {"true"}, .directory = "/root"});
  locked.uid = 65534;
  const core::AttemptResult result = run(std::move(locked));
  EXPECT_EQ(result.cause, core::EndCause::start_error);
  EXPECT_NE(result.message.find("Permission denied"), std::string::npos);
  StartOrder homeless = shell("id -u");
  homeless.uid.reset();
  homeless.user = "eve";
  const core::AttemptResult refused = run(std::move(homeless));
  EXPECT_EQ(refused.cause, core::EndCause::start_error) << "root's account is for nobody else";
  EXPECT_NE(refused.message.find("atoll user account eve UID"), std::string::npos)
      << refused.message;
  StartOrder nobody_at_all = shell("true");
  nobody_at_all.uid = 4000000;
  EXPECT_EQ(run(std::move(nobody_at_all)).cause, core::EndCause::start_error);
}

TEST_F(Local, ExecJoinsARunningTask) {
  const AttemptId id =
      start(order({.argv = {"sleep", "60"}, .env = {{"HERE", "yes"}}, .directory = "/usr"}));
  ASSERT_TRUE(seen_->wait_started(id));
  Result<ExecResult> result =
      driver_->exec({.attempt = id,
                     .argv = {"sh", "-c", "pwd; echo $HERE; cat; echo oops >&2; exit 4"},
                     .stdin_text = "in"});
  ASSERT_TRUE(result.has_value()) << result.error().message;
  EXPECT_EQ(result->out, "/usr\nyes\nin");
  EXPECT_EQ(result->err, "oops\n");
  EXPECT_EQ(result->exit_code, 4);
  EXPECT_EQ(driver_->exec({.attempt = id, .argv = {"no-such-xyz"}})->exit_code, 127);
  EXPECT_EQ(driver_->exec({.attempt = id, .argv = {"sleep", "60"}, .timeout = milliseconds(200)})
                .error()
                .code,
            ErrorCode::timeout);
  EXPECT_FALSE(driver_->exec({.attempt = {JobId{77}, 0, 1}, .argv = {"true"}}).has_value());
  EXPECT_EQ(
      driver_->exec({.attempt = id, .argv = {"head", "-c", "3000000", "/dev/zero"}})->out.size() >>
          20,
      1u);
}

TEST_F(Local, SandboxShowsOnlyWhatWasDeclared) {
  const std::string work = place_->home() + "/work";
  std::filesystem::create_directories(work);
  std::ofstream("/tmp/atoll-outside-" + place_->installation()) << "x";
  core::Payload payload{
      .argv = {"sh", "-c",
               "ls /tmp | wc -l; echo made > file; touch $ATOLL_CHECKPOINT_DIR/c && echo ckpt; "
               "mount -o remount,rw,bind /usr 2>/dev/null; "
               "touch /usr/x 2>/dev/null || echo read-only; ls /proc | grep -c '^[0-9]'; ls " +
                   place_->home() + "; sleep 60"},
      .directory = work,
      .isolation = core::Isolation::sandbox,
      .network = false};
  for (const bool as_nobody : {false, true}) {
    std::filesystem::permissions(work, std::filesystem::perms::all);
    std::filesystem::remove(work + "/file");
    StartOrder one = order(payload);
    if (as_nobody) one.uid = 65534;
    const AttemptId id = start(std::move(one));
    ASSERT_TRUE(seen_->wait_started(id));
    for (int i = 0; i < 100 && output(id).find("work") == std::string::npos; ++i) ::usleep(50000);
    const std::string text = output(id);
    // Beside our own home, /tmp is empty: it is there as the place of the bound directories.
    EXPECT_TRUE(text.starts_with("1\nckpt\nread-only\n")) << text << output(id, LogStream::err);
    EXPECT_EQ(text.find("site"), std::string::npos) << text;
    EXPECT_TRUE(std::filesystem::exists(work + "/file"));
    const Result<ExecResult> inside = driver_->exec(
        {.attempt = id,
         .argv = {"sh", "-c",
                  "pwd; ls /proc | grep -c '^[0-9]'; ls /sys/class/net 2>/dev/null | wc -l"}});
    ASSERT_TRUE(inside.has_value()) << inside.error().message;
    EXPECT_TRUE(inside->out.starts_with(work + "\n")) << inside->out << inside->err;
    driver_->stop({{id, seconds(5)}});
    ASSERT_TRUE(seen_->wait_ended(id, 10));
    EXPECT_EQ(seen_->result(id).exit_code, 143);
  }
  std::filesystem::remove("/tmp/atoll-outside-" + place_->installation());
}

TEST_F(Local, ASandboxKeepsItsOwnTmpAndTheSystemReadOnly) {
  const std::string outside = "/tmp/atoll-outside-" + place_->installation();
  std::ofstream(outside) << "x";
  const auto look = [&](const std::string& directory) {
    run(order({.argv = {"sh", "-c",
                        "pwd; test -e " + outside + " && echo seen; touch here-" +
                            place_->installation() + " 2>/dev/null && echo written"},
               .directory = directory,
               .isolation = core::Isolation::sandbox}));
    return output(last_);
  };
  EXPECT_EQ(look("/tmp"), "/tmp\nwritten\n") << "its own /tmp, though it was submitted from there";
  EXPECT_EQ(look("/"), "/\nwritten\n") << "a root that is its own";
  EXPECT_EQ(look("/etc"), "/etc\n");
  EXPECT_FALSE(std::filesystem::exists("/tmp/here-" + place_->installation()));
  EXPECT_FALSE(std::filesystem::exists("/here-" + place_->installation()));
  for (const char* path : {"/tmp", "/", "/usr/lib", "/tmp/../etc"}) {
    core::Payload payload{.argv = {"true"}, .isolation = core::Isolation::sandbox};
    payload.writable = {path};
    const core::AttemptResult result = run(order(std::move(payload)));
    EXPECT_EQ(result.cause, core::EndCause::start_error) << path;
    EXPECT_NE(result.message.find("cannot be made writable"), std::string::npos) << result.message;
  }
  std::filesystem::remove(outside);
}

TEST_F(Local, AnOrderFromBeforeTheBootIsLost) {
  StartOrder one = shell("true");
  one.repeated = true;
  one.placed = Time{1000000};
  EXPECT_EQ(run(std::move(one)).cause, core::EndCause::lost);
}

}  // namespace
}  // namespace atl::site
