// The ssh site on real hosts: what the contract does not say.
#include <fcntl.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "base/overloaded.h"
#include "site/remote/host_files.h"
#include "site/ssh/ssh_driver.h"
#include "site/ssh/ssh_place.h"

namespace atl::site {
namespace {

std::string text_of(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// A driver on hosts, what it reports, and in which order attempts were unreachable.
class SshSite : public testing::Test {
 protected:
  void start_hosts(std::vector<std::string> specs) {
    place_ = std::make_unique<SshPlace>(std::move(specs));
    options_ = place_->options();
  }
  void adopt(std::vector<AttemptId> expected = {}) {
    seen_ = std::make_unique<Recorder>();
    away_ = back_ = 0;
    driver_ = std::make_unique<SshDriver>(options_);
    driver_->adopt(std::move(expected), [this, into = seen_->sink()](core::Report report) {
      if (const auto* r = std::get_if<core::AttemptUnreachable>(&report))
        ++(r->unreachable ? away_ : back_);
      into(std::move(report));
    });
    ASSERT_TRUE(seen_->wait_probed(40));
  }
  void TearDown() override {
    if (driver_) driver_->close();
    driver_.reset();
    place_.reset();
  }
  static StartOrder order(uint64_t job, core::Payload payload, std::string host = "h1") {
    StartOrder start{.attempt = {JobId{job}, 0, 1},
                     .name = "job",
                     .ns = "default",
                     .grace = seconds(5),
                     .payload = std::move(payload)};
    start.placement.node = std::move(host);
    return start;
  }
  template <class Ready>
  static bool eventually(Ready ready, int seconds_max = 60) {
    for (int i = 0; i < seconds_max * 20; ++i) {
      if (ready()) return true;
      ::usleep(50000);
    }
    return false;
  }
  std::string log(AttemptId id) {
    const Result<LogChunk> chunk = driver_->logs(id, LogStream::out, 0, 1 << 20);
    return chunk ? chunk->bytes : "error: " + chunk.error().message;
  }
  // Runs it and gives what it wrote.
  std::string said(uint64_t job, core::Payload payload, std::string host = "h1") {
    const AttemptId id{JobId{job}, 0, 1};
    driver_->start({order(job, std::move(payload), std::move(host))});
    if (!seen_->wait_ended(id, 60)) return "it did not end";
    const core::AttemptResult result = seen_->result(id);
    if (result.cause != core::EndCause::exited || result.exit_code != 0)
      return std::string(enum_name(result.cause)) + " " + std::to_string(result.exit_code) + " " +
             result.message;
    return log(id);
  }

  std::unique_ptr<SshPlace> place_;
  SshOptions options_;
  std::unique_ptr<SshDriver> driver_;
  std::unique_ptr<Recorder> seen_;
  std::atomic<int> away_ = 0, back_ = 0;
};

TEST_F(SshSite, SeveralHostsAreNodesAndWorkRunsWhereItWasPlaced) {
  start_hosts({"h1", "h2", "h3"});
  adopt();
  ASSERT_TRUE(eventually([&] { return seen_->site().nodes.size() == 3; }));
  EXPECT_EQ(seen_->site().nodes[1].name, "h2");
  EXPECT_GT(seen_->site().nodes[1].memory_bytes, 0);
  EXPECT_EQ(said(1, {.argv = {"hostname"}, .directory = "/"}, "h2"), "h2\n");
  EXPECT_EQ(said(2, {.argv = {"hostname"}, .directory = "/"}, "h3"), "h3\n");
}

TEST_F(SshSite, ATaskSeesWhatALocalOneSees) {
  start_hosts({"h1"});
  adopt();
  core::Payload payload = SshPlace::shell(
      "test -d \"$ATOLL_JOB_DIR\" && test -d \"$ATOLL_CHECKPOINT_DIR\" && echo $ATOLL_JOB_ID "
      "$ATOLL_ATTEMPT $ATOLL_NAMESPACE \"$QUOTED\" && cat");
  payload.env["QUOTED"] = "it's \"so\"\n$HOME";
  payload.stdin_text = "in\n";
  EXPECT_EQ(said(7, payload), "7 1 default it's \"so\"\n$HOME\nin\n");
  const core::Payload script{.script = "#!/usr/bin/env python3\nimport sys\nprint(sys.argv[1:])\n",
                             .args = {"a b", "c"}};
  EXPECT_EQ(said(8, script), "['a b', 'c']\n");
  const core::Payload missing{.argv = {"no-such-program"}, .directory = "/"};
  EXPECT_EQ(said(9, missing), "exited 127 ");
  EXPECT_EQ(driver_->logs({JobId{9}, 0, 1}, LogStream::err, 0, 100)->bytes,
            "atoll: no-such-program: command not found\n");
  const std::string nowhere = said(10, {.argv = {"true"}, .directory = "/no/where"});
  EXPECT_EQ(nowhere.find("start_error"), 0u) << nowhere;
  EXPECT_NE(nowhere.find("/no/where cannot be entered on h1"), std::string::npos) << nowhere;
}

TEST_F(SshSite, UsageIsMeasured) {
  start_hosts({"h1"});
  adopt();
  const AttemptId id{JobId{1}, 0, 1};
  driver_->start(
      {order(1, {.argv = {"python3", "-c",
                          "import time\nx = bytearray(64 << 20)\nt = time.process_time()\n"
                          "while time.process_time() < t + 0.6: pass\ntime.sleep(1)"},
                 .directory = "/"})});
  ASSERT_TRUE(seen_->wait_ended(id, 60));
  EXPECT_EQ(seen_->result(id).exit_code, 0);
  EXPECT_GT(seen_->result(id).usage.memory_peak_bytes, 64 << 20);
  EXPECT_GT(seen_->result(id).usage.cpu.us, 500000);
}

TEST_F(SshSite, NothingOfAnAttemptOutlivesItsEnd) {
  start_hosts({"h1"});
  adopt();
  EXPECT_EQ(said(1, SshPlace::shell("(setsid sleep 4711 &) ; sleep 0.2")), "");
  EXPECT_EQ(said(2, SshPlace::shell("ps aux | grep -c '[s]leep 4711'; true")), "0\n");
}

TEST_F(SshSite, FilesComeBackBeforeTheEndIsTold) {
  start_hosts({"h1"});
  adopt();
  const std::string jobs = place_->home() + "/site/lab/jobs/";
  EXPECT_EQ(driver_->job_directory(JobId{1}), jobs + "1");
  std::filesystem::create_directories(jobs + "1");
  std::ofstream(jobs + "1/input") << "given";
  EXPECT_EQ(
      said(1, SshPlace::shell("cd $ATOLL_JOB_DIR; cat input; mkdir -p outputs/a; echo 42 > "
                              "outputs/n; echo x > 'outputs/a/b c'; ln -s /etc/passwd outputs/l")),
      "given");
  EXPECT_EQ(text_of(jobs + "1/outputs/n"), "42\n");
  EXPECT_EQ(text_of(jobs + "1/outputs/a/b c"), "x\n");
  EXPECT_FALSE(std::filesystem::exists(jobs + "1/outputs/l")) << "links stay where they are";
  driver_->purge(JobId{1});
  EXPECT_FALSE(std::filesystem::exists(jobs + "1"));
  EXPECT_FALSE(std::filesystem::exists(place_->host_home("h1") + "/.atoll/test-1/jobs/1"));
}

TEST_F(SshSite, LargeFilesGoOnWhereTheyWereCut) {
  start_hosts({"h1"});
  const std::string from = place_->home() + "/from", to = place_->home() + "/to";
  std::filesystem::create_directories(from + "/d");
  std::string bytes(20 << 20, '\0');
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i * i >> 7);
  std::ofstream(from + "/d/large") << bytes;
  for (int i = 0; i < 700; ++i) std::ofstream(from + "/f" + std::to_string(i)) << i;
  SshShell shell({.host = "h1", .config = options_.ssh_config});
  const std::string there = "/root/files";
  Result<Transferred> put = put_files(shell, from, there);
  ASSERT_TRUE(put.has_value()) << put.error().message;
  EXPECT_EQ(put->files, 701u);
  EXPECT_EQ(put_files(shell, from, there)->files, 0u) << "it is all there";
  // The first piece is here already, as after a cut.
  std::filesystem::create_directories(to);
  SshShell cut({.host = "h1", .config = options_.ssh_config});
  std::thread cutter([&] {
    eventually([&] {
      for (const auto& entry : std::filesystem::directory_iterator(to)) {
        if (entry.path().filename().string().starts_with(".part-")) return true;
      }
      return false;
    });
    cut.interrupt();
  });
  static_cast<void>(get_files(cut, there, to));
  cutter.join();
  Result<Transferred> got = get_files(shell, there, to);
  ASSERT_TRUE(got.has_value()) << got.error().message;
  EXPECT_LE(got->files, 701u);
  EXPECT_TRUE(text_of(to + "/d/large") == bytes);
  EXPECT_EQ(text_of(to + "/f699"), "699");
  EXPECT_EQ(get_files(shell, there, to)->files, 0u);
}

TEST_F(SshSite, ACutIsUnreachableThenHealedNothingLostNothingTwice) {
  start_hosts({"h1", "h2"});
  adopt();
  const AttemptId cut{JobId{1}, 0, 1}, other{JobId{2}, 0, 1}, ordered{JobId{3}, 0, 1};
  const std::string count = place_->home() + "/count";
  driver_->start({order(1, SshPlace::shell("echo x >> " + count + "; sleep 4")),
                  order(2, SshPlace::shell("sleep 1"), "h2")});
  ASSERT_TRUE(seen_->wait_started(cut, 30));
  place_->order("cut", "h1");
  driver_->start({order(3, SshPlace::shell("echo y >> " + count))});
  ASSERT_TRUE(eventually([&] { return away_ >= 1; }, 90));
  EXPECT_FALSE(driver_->node_trouble()["h1"].empty());
  ASSERT_TRUE(seen_->wait_ended(other, 30)) << "another host is none of its business";
  EXPECT_EQ(seen_->ends(cut), 0u);
  place_->order("heal", "h1");
  ASSERT_TRUE(seen_->wait_ended(cut, 60));
  ASSERT_TRUE(seen_->wait_ended(ordered, 60));
  EXPECT_EQ(seen_->result(cut).exit_code, 0);
  EXPECT_EQ(seen_->result(cut).cause, core::EndCause::exited);
  EXPECT_EQ(seen_->result(ordered).exit_code, 0);
  EXPECT_EQ(text_of(count), "x\ny\n");
}

TEST_F(SshSite, TheConnectionIsOpenedAgainWhenItsProcessIsKilled) {
  start_hosts({"h1"});
  adopt();
  const AttemptId id{JobId{1}, 0, 1};
  driver_->start({order(1, SshPlace::shell("sleep 3"))});
  ASSERT_TRUE(seen_->wait_started(id, 30));
  const std::string path = driver_->control_path("h1");
  for (int i = 0; i < 3; ++i) {
    const std::string kill = "pgrep -f 'ControlPat[h]=" + path + " .*-fN' | xargs kill -9";
    EXPECT_EQ(std::system(kill.c_str()), 0) << "there was no connection to kill";
    ::usleep(500000);
  }
  ASSERT_TRUE(seen_->wait_ended(id, 60));
  EXPECT_EQ(seen_->result(id).exit_code, 0);
  EXPECT_EQ(seen_->starts(id), 1u);
}

TEST_F(SshSite, AHostThatLostItsPowerLosesWhatItRan) {
  start_hosts({"h1"});
  adopt();
  const AttemptId id{JobId{1}, 0, 1};
  driver_->start({order(1, SshPlace::shell("sleep 100"))});
  ASSERT_TRUE(seen_->wait_started(id, 30));
  place_->order("kill", "h1");
  ASSERT_TRUE(eventually([&] { return away_ >= 1; }));
  EXPECT_EQ(seen_->ends(id), 0u);
  place_->order("boot", "h1");
  ASSERT_TRUE(seen_->wait_ended(id, 60));
  EXPECT_EQ(seen_->result(id).cause, core::EndCause::lost);
}

TEST_F(SshSite, AKilledWrapperLosesItsAttemptAndLeavesNothing) {
  start_hosts({"h1"});
  adopt();
  const AttemptId id{JobId{1}, 0, 1};
  driver_->start({order(1, SshPlace::shell("(setsid sleep 4712 &) ; sleep 100"))});
  ASSERT_TRUE(seen_->wait_started(id, 30));
  EXPECT_EQ(said(2, SshPlace::shell(
                        "read pid rest <$HOME/.atoll/test-1/attempts/1.0.1/run/pid; kill -9 $pid")),
            "");
  ASSERT_TRUE(seen_->wait_ended(id, 30));
  EXPECT_EQ(seen_->result(id).cause, core::EndCause::lost);
  EXPECT_EQ(said(3, SshPlace::shell("ps aux | grep -c '[s]leep 4712'; true")), "0\n");
}

TEST_F(SshSite, AnOrderThatIsRepeatedByTheNextServerRunsOnce) {
  start_hosts({"h1"});
  adopt();
  const AttemptId id{JobId{1}, 0, 1};
  const std::string count = place_->home() + "/count";
  StartOrder start = order(1, SshPlace::shell("echo x >> " + count + "; sleep 2"));
  driver_->start({start});
  ASSERT_TRUE(eventually([&] { return text_of(count) == "x\n"; }));
  driver_->close();
  start.repeated = true;
  start.placed = {INT64_MAX / 2};
  adopt({id});
  driver_->start({start});
  ASSERT_TRUE(seen_->wait_ended(id, 60));
  EXPECT_EQ(seen_->result(id).exit_code, 0);
  EXPECT_EQ(text_of(count), "x\n");
}

TEST_F(SshSite, ExecRunsInThePlaceOfAnAttempt) {
  start_hosts({"h1"});
  adopt();
  const AttemptId id{JobId{1}, 0, 1};
  core::Payload payload = SshPlace::shell("sleep 100");
  payload.env["COLOUR"] = "blue";
  payload.directory = "/usr";
  driver_->start({order(1, payload)});
  ASSERT_TRUE(seen_->wait_started(id, 30));
  const Result<ExecResult> ran =
      driver_->exec({.attempt = id,
                     .argv = {"sh", "-c", "echo $COLOUR; pwd; cat; exit 4"},
                     .stdin_text = "in\n"});
  ASSERT_TRUE(ran.has_value()) << ran.error().message;
  EXPECT_EQ(ran->out, "blue\n/usr\nin\n");
  EXPECT_EQ(ran->exit_code, 4);
  driver_->stop({{.attempt = id, .grace = seconds(1)}});
  ASSERT_TRUE(seen_->wait_ended(id, 30));
  EXPECT_EQ(driver_->exec({.attempt = id, .argv = {"true"}}).error().code, ErrorCode::conflict);
}

TEST_F(SshSite, ALeaseThatRanOutEndsItThereAndIsToldHere) {
  start_hosts({"h1"});
  options_.lease = seconds(6);
  options_.lease_margin = seconds(4);
  adopt();
  const AttemptId id{JobId{1}, 0, 1};
  const std::string beat = place_->home() + "/beat";
  driver_->start(
      {order(1, SshPlace::shell("while :; do date +%s > " + beat + "; sleep 0.2; done"))});
  ASSERT_TRUE(seen_->wait_started(id, 30));
  place_->order("cut", "h1");
  ASSERT_TRUE(seen_->wait_ended(id, 120));
  EXPECT_EQ(seen_->result(id).cause, core::EndCause::lost);
  const std::string last = text_of(beat);
  ::usleep(1500000);
  EXPECT_EQ(text_of(beat), last) << "it still runs when a second attempt may begin";
  place_->order("heal", "h1");
  EXPECT_EQ(said(2, SshPlace::shell("echo here")), "here\n");
  EXPECT_EQ(seen_->ends(id), 1u);
}

TEST_F(SshSite, AServerThatComesBackWhileTheHostIsAwayFindsItsWork) {
  start_hosts({"h1"});
  adopt();
  const AttemptId id{JobId{1}, 0, 1};
  driver_->start({order(1, SshPlace::shell("sleep 2; echo done"))});
  ASSERT_TRUE(seen_->wait_started(id, 30));
  place_->order("cut", "h1");
  driver_->close();
  adopt({id});
  EXPECT_EQ(seen_->site().nodes.size(), 1u) << "its capacity is remembered";
  ASSERT_TRUE(eventually([&] { return away_ == 1; }));
  place_->order("heal", "h1");
  ASSERT_TRUE(seen_->wait_ended(id, 60));
  EXPECT_EQ(seen_->result(id).exit_code, 0);
  EXPECT_EQ(log(id), "done\n");
}

}  // namespace
}  // namespace atl::site
