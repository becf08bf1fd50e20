// Things going wrong on the real warden: whatever is killed, nothing keeps running and nothing ends
// untold.
#include <dirent.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <functional>

#include "site/local/files.h"
#include "site/local/ledger.h"
#include "site/local/local_fixture.h"
#include "site/local/process_tree.h"
#include "site/local/remains.h"

namespace atl::site {
namespace {

std::vector<pid_t> processes_with(const std::string& entry) {
  std::vector<pid_t> found;
  DIR* dir = ::opendir("/proc");
  while (const dirent* one = dir ? ::readdir(dir) : nullptr) {
    const std::string environ =
        read_file(std::string("/proc/") + one->d_name + "/environ").value_or("");
    if (environ.find(entry) != std::string::npos) found.push_back(::atoi(one->d_name));
  }
  if (dir) ::closedir(dir);
  return found;
}

bool eventually(const std::function<bool()>& happened) {
  for (int i = 0; i < 1000 && !happened(); ++i) ::usleep(20000);
  return happened();
}

class Faults : public testing::WithParamInterface<bool>, public LocalFixture {
 protected:
  void SetUp() override { make_place(GetParam()); }
  // Of this place's jobs only: others may run on the machine.
  std::vector<pid_t> task_processes_of(const std::string& entry) {
    const std::vector<pid_t> ours = task_processes();
    std::vector<pid_t> found = processes_with(entry);
    std::erase_if(
        found, [&](pid_t pid) { return std::find(ours.begin(), ours.end(), pid) == ours.end(); });
    return found;
  }
  std::vector<pid_t> task_processes() {
    return processes_with(std::string(kMarkerVariable) + "=" + place_->installation());
  }
  // The warden is the parent of the keeper, which is the parent of the task.
  pid_t warden() {
    const std::string list = read_file(place_->home() + "/site/local/keepers").value_or("");
    return parent(::atoi(list.c_str()));
  }
  pid_t parent(pid_t pid) {
    const std::string status = read_file("/proc/" + std::to_string(pid) + "/status").value_or("");
    const size_t at = status.find("PPid:");
    return at == std::string::npos ? 0 : ::atoi(status.c_str() + at + 5);
  }
};

TEST_P(Faults, AKilledWardenLosesItsTasksAndLeavesNone) {
  std::vector<AttemptId> ids;
  for (int i = 0; i < 5; ++i)
    ids.push_back(start(shell("sleep 1000 & setsid sleep 1000 & sleep 1000")));
  for (const AttemptId id : ids) ASSERT_TRUE(seen_->wait_started(id));
  EXPECT_TRUE(eventually([&] { return task_processes().size() >= 15; }));
  ::kill(warden(), SIGKILL);
  for (const AttemptId id : ids) {
    ASSERT_TRUE(seen_->wait_ended(id));
    EXPECT_EQ(seen_->result(id).cause, core::EndCause::lost);
  }
  EXPECT_TRUE(task_processes().empty());
  EXPECT_EQ(run(shell("echo again")).exit_code, 0);
}

TEST_P(Faults, KillingWardenAndKeepersAtOnceLeavesNoOrphan) {
  const AttemptId id = start(shell("setsid sleep 1000 & sleep 1000"));
  ASSERT_TRUE(seen_->wait_started(id));
  ::usleep(50000);
  const pid_t top = warden();
  std::vector<pid_t> all = {top};
  for (const pid_t pid : descendants(top)) {
    if (parent(pid) == top) all.push_back(pid);
  }
  for (const pid_t pid : all) ::kill(pid, SIGSTOP);
  for (const pid_t pid : all) ::kill(pid, SIGKILL);
  ASSERT_TRUE(seen_->wait_ended(id));
  EXPECT_EQ(seen_->result(id).cause, core::EndCause::lost);
  EXPECT_TRUE(task_processes().empty());
}

TEST_P(Faults, AKilledKeeperLosesOneTaskOnly) {
  const AttemptId lost = start(shell("setsid sleep 1000 & sleep 1000"));
  const AttemptId other = start(shell("sleep 1.5"));
  ASSERT_TRUE(seen_->wait_started(lost));
  ASSERT_TRUE(seen_->wait_started(other));
  pid_t keeper = 0;
  ASSERT_TRUE(eventually([&] {
    for (const pid_t pid : task_processes_of("ATOLL_JOB_ID=1")) {
      if (parent(parent(pid)) == warden()) keeper = parent(pid);
    }
    return keeper > 1;
  }));
  ::kill(keeper, SIGKILL);
  ASSERT_TRUE(seen_->wait_ended(lost));
  EXPECT_EQ(seen_->result(lost).cause, core::EndCause::lost);
  EXPECT_TRUE(task_processes_of("ATOLL_JOB_ID=1").empty());
  ASSERT_TRUE(seen_->wait_ended(other));
  EXPECT_EQ(seen_->result(other).exit_code, 0);
}

TEST_P(Faults, ADaemonisedChildEndsWithItsTask) {
  const core::AttemptResult result = run(shell(
      "(setsid sh -c 'exec >/dev/null 2>&1; sleep 1000 & sleep 1000' &) ; sleep 0.1; exit 3"));
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_EQ(result.cause, core::EndCause::exited);
  EXPECT_TRUE(task_processes().empty());
}

TEST_P(Faults, AForkBombIsBoundedAndEnds) {
  StartOrder bomb = shell("bomb() { bomb | bomb & }; bomb; sleep 0.5; echo over");
  bomb.payload.processes_max = 40;
  if (!GetParam()) bomb.uid = 65534;  // rlimits bind only accounts other than root
  bomb.payload.directory = "/";
  bomb.wall = seconds(2);
  const core::AttemptResult result = run(std::move(bomb));
  EXPECT_TRUE(task_processes().empty());
  EXPECT_NE(result.cause, core::EndCause::lost);
  EXPECT_EQ(run(shell("echo fine")).exit_code, 0);
  EXPECT_EQ(output(last_), "fine\n");
}

TEST_P(Faults, AMemoryHogIsEnded) {
  StartOrder hog =
      order({.argv = {"python3", "-c", "x=[]\nwhile True: x.append(bytearray(1<<20))"}});
  hog.resources.memory_bytes = 64 << 20;
  const core::AttemptResult result = run(std::move(hog));
  if (GetParam()) {
    EXPECT_EQ(result.cause, core::EndCause::memory) << result.exit_code;
    EXPECT_EQ(result.message, "used more than its 64Mi of memory");
    EXPECT_EQ(result.signal, SIGKILL);
    EXPECT_GE(result.usage.memory_peak_bytes, 60 << 20);
  } else {
    EXPECT_NE(result.exit_code, 0);  // a MemoryError of its own
  }
  EXPECT_EQ(run(shell("exit 1")).cause, core::EndCause::exited);
}

TEST_P(Faults, WhatIgnoresSigtermIsKilledAfterTheGrace) {
  StartOrder one = shell("trap '' TERM; echo ready; while :; do sleep 0.1; done");
  one.wall = milliseconds(1500);  // enough for a slow machine to set its trap
  one.grace = milliseconds(400);
  const int64_t begin = monotonic_us();
  const core::AttemptResult result = run(std::move(one));
  EXPECT_EQ(result.cause, core::EndCause::wall_time);
  EXPECT_EQ(result.signal, SIGKILL);
  EXPECT_GE(monotonic_us() - begin, 1900000);
}

TEST_P(Faults, SigtermReachesTheWholeTreeEvenWhenStopped) {
  const AttemptId id =
      start(shell("sh -c 'trap \"echo child; exit\" TERM; kill -STOP $$; while :; do sleep 0.05; "
                  "done' & trap 'wait; echo parent; exit 9' TERM; sleep 0.3; echo ready; wait"));
  for (int i = 0; i < 100 && output(id) != "ready\n"; ++i) ::usleep(20000);
  ::usleep(100000);
  driver_->stop({{id, seconds(10)}});
  ASSERT_TRUE(seen_->wait_ended(id, 8));
  EXPECT_NE(output(id).find("child"), std::string::npos) << output(id);
  EXPECT_EQ(seen_->result(id).cause, core::EndCause::stopped);
}

TEST_P(Faults, AKilledServerFindsItsWorkAgain) {
  // The driver lives in a process of its own, which is killed with tasks running.
  driver_.reset();
  const LocalOptions options = place_->options();
  const pid_t server = ::fork();
  if (server == 0) {
    Recorder seen;
    auto* driver = new LocalDriver(options);
    driver->adopt({}, seen.sink());
    seen.wait_probed();
    driver->start({shell("sleep 1; echo done"), shell("exit 6")});
    seen.wait_started({JobId{1}, 0, 1});
    seen.wait_ended({JobId{2}, 0, 1});
    ::kill(::getpid(), SIGKILL);
  }
  ::waitpid(server, nullptr, 0);
  const AttemptId first{JobId{1}, 0, 1}, second{JobId{2}, 0, 1};
  open_driver(options, {first, second});
  ASSERT_TRUE(seen_->wait_ended(second));
  EXPECT_EQ(seen_->result(second).exit_code, 6);
  ASSERT_TRUE(seen_->wait_ended(first));
  EXPECT_EQ(seen_->result(first).exit_code, 0);
  EXPECT_EQ(output(first), "done\n");
}

TEST_P(Faults, AFullDiskForLogsChangesNoResult) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs mount";
  const std::string logs = place_->home() + "/site/local/logs";
  std::filesystem::create_directories(logs);
  if (::mount("tmpfs", logs.c_str(), "tmpfs", 0, "size=64k") != 0) GTEST_SKIP() << "needs mount";
  const core::AttemptResult result = run(order({.argv = {"head", "-c", "3000000", "/dev/zero"}}));
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.stdout_bytes, 3000000);
  EXPECT_LE(output(last_).size(), 65536u);
  driver_->shutdown();
  driver_.reset();
  ::umount(logs.c_str());
}

class FullLedger : public LocalFixture {
 protected:
  void SetUp() override {
    place_ = std::make_unique<LocalPlace>();
    std::filesystem::create_directories(directory());
    mounted_ = ::mount("tmpfs", directory().c_str(), "tmpfs", 0, "size=512k") == 0;
    if (!mounted_) GTEST_SKIP() << "needs a file system of its own: " << std::strerror(errno);
    LocalOptions options = place_->options();
    options.warden_idle_exit = seconds(1);
    open_driver(options);
  }
  void TearDown() override {
    std::filesystem::remove(filler());
    if (mounted_) {
      if (!driver_) open_driver(place_->options());
      driver_->shutdown();
      driver_.reset();
      EXPECT_EQ(::umount2(directory().c_str(), MNT_DETACH), 0);
    }
    place_.reset();
  }
  std::string directory() const { return place_->home() + "/site/local"; }
  std::string filler() const { return directory() + "/filler"; }

  void fill_disk() {
    std::ofstream out(filler(), std::ios::binary);
    const std::string page(4096, 'x');
    while (out.write(page.data(), 4096).flush()) {
    }
  }
  // How many attempts have no result in the file, by a copy: opening a ledger writes it.
  size_t without_result() {
    const std::string copy = place_->home() + "/ledger-copy";
    std::filesystem::copy_file(directory() + "/ledger", copy,
                               std::filesystem::copy_options::overwrite_existing);
    Ledger ledger;
    EXPECT_TRUE(ledger.open(copy, "boot").has_value());
    size_t count = 0;
    for (const auto& [attempt, result] : ledger.known()) count += !result;
    return count;
  }
  template <class Ready>
  bool eventually(Ready ready) {
    for (int i = 0; i < 2000 && !ready(); ++i) ::usleep(10000);
    return ready();
  }
  bool mounted_ = false;
};

TEST_F(FullLedger, ResultsAreKeptUntilTheyCanBeWritten) {
  const std::string gate = place_->home() + "/gate";
  std::vector<AttemptId> ids;
  for (int i = 0; i < 8; ++i) {
    ids.push_back(start(shell("while [ ! -e " + gate + " ]; do sleep 0.02; done; exit 7")));
  }
  for (const AttemptId id : ids) ASSERT_TRUE(seen_->wait_started(id));
  // A file has its last page already: eight results must not fit into what is left of it.
  while (std::filesystem::file_size(directory() + "/ledger") % 4096 < 3800) {
    ASSERT_EQ(run(order({.argv = {"true"}})).exit_code, 0);
  }
  fill_disk();
  const auto warden = static_cast<int>(driver_->warden_pid());
  driver_.reset();
  std::ofstream(gate) << "";
  const std::string mark = std::string(kMarkerVariable) + "=" + place_->installation();
  ASSERT_TRUE(eventually([&] { return processes_with(mark).empty(); }));
  // Longer than a warden without work stays: one that left would take the results along.
  for (int i = 0; i < 80 && process_start(warden) != 0; ++i) ::usleep(100000);
  ASSERT_NE(process_start(warden), 0u);
  ASSERT_GT(without_result(), 0u) << "the disk was not full";
  std::filesystem::remove(filler());
  ASSERT_TRUE(eventually([&] { return without_result() == 0; }));
  ::kill(warden, SIGKILL);
  open_driver(place_->options(), ids);
  for (const AttemptId id : ids) {
    ASSERT_TRUE(seen_->wait_ended(id));
    EXPECT_EQ(seen_->result(id).exit_code, 7);
    EXPECT_EQ(seen_->result(id).cause, core::EndCause::exited);
  }
}

TEST_F(FullLedger, ResultsAreToldAndNewWorkIsRefusedMeanwhile) {
  const std::string gate = place_->home() + "/gate";
  const AttemptId id = start(shell("while [ ! -e " + gate + " ]; do sleep 0.02; done; exit 7"));
  ASSERT_TRUE(seen_->wait_started(id));
  fill_disk();
  core::AttemptResult refused;
  for (int i = 0; i < 200 && refused.cause != core::EndCause::start_error; ++i) {
    refused = run(order({.argv = {"true"}}));
  }
  EXPECT_EQ(refused.cause, core::EndCause::start_error);
  EXPECT_NE(refused.message.find("disk full"), std::string::npos) << refused.message;
  std::ofstream(gate) << "";
  ASSERT_TRUE(seen_->wait_ended(id));
  EXPECT_EQ(seen_->result(id).exit_code, 7);
  std::filesystem::remove(filler());
  EXPECT_EQ(run(shell("exit 3")).exit_code, 3);
}

TEST_F(LocalFixture, WhenMemoryRunsOutTheTaskGoesBeforeItsKeeper) {
  run(shell("cat /proc/self/oom_score_adj; sleep 0.2; cat /proc/$PPID/oom_score_adj"));
  EXPECT_EQ(output(last_), "200\n" + read_file("/proc/self/oom_score_adj").value_or(""));
}

TEST_F(LocalFixture, NobodyIsBlamedForTheMemoryOfTheOneBefore) {
  if (seen_->site().abilities[0] == "rlimits") GTEST_SKIP() << "no control groups here";
  for (int i = 0; i < 8; ++i) {  // as often as it takes to fill every slot
    StartOrder hog = order({.argv = {"sh", "-c", "head -c 200000000 /dev/zero | tail; exit 0"}});
    hog.resources.memory_bytes = 32 << 20;
    EXPECT_EQ(run(std::move(hog)).exit_code, 0);
    const core::AttemptResult next = run(order({.argv = {"sh", "-c", "exit 3"}}));
    EXPECT_EQ(next.cause, core::EndCause::exited) << next.message;
  }
}

TEST_F(LocalFixture, AGroupThatWasRemovedIsMadeAgain) {
  if (seen_->site().abilities[0] == "rlimits") GTEST_SKIP() << "no control groups here";
  std::ifstream list(place_->home() + "/site/local/cgroups");
  int removed = 0;
  for (std::string line; std::getline(list, line);) removed += ::rmdir(line.c_str()) == 0;
  ASSERT_GT(removed, 0);
  StartOrder hog =
      order({.argv = {"python3", "-c", "x=[]\nwhile True: x.append(bytearray(1<<20))"}});
  hog.resources.memory_bytes = 64 << 20;
  hog.wall = seconds(30);
  EXPECT_EQ(run(std::move(hog)).cause, core::EndCause::memory);
}

// A server without rights: no control groups, no other accounts; subreapers and rlimits still hold.
int serve_as_nobody(const LocalOptions& options) {
  if (::setgid(65534) != 0 || ::setuid(65534) != 0) return 10;
  Recorder seen;
  LocalDriver driver(options);
  driver.adopt({}, seen.sink());
  if (!seen.wait_probed()) return 11;
  std::optional<uint32_t> account;
  const auto run = [&](uint64_t job, const std::string& text, int64_t memory) {
    const AttemptId id{JobId{job}, 0, 1};
    driver.start({{.attempt = id,
                   .uid = account,
                   .resources = {.memory_bytes = memory},
                   .wall = seconds(10),
                   .grace = seconds(1),
                   .payload = {.argv = {"sh", "-c", text}, .directory = "/"}}});
    seen.wait_ended(id);
    return seen.result(id);
  };
  if (seen.site().abilities.at(0) != "rlimits") return 12;
  if (run(1, "id -u; (setsid sleep 1000 &); exit 4", 0).exit_code != 4) return 13;
  if (driver.logs({JobId{1}, 0, 1}, LogStream::out, 0, 100)->bytes != "65534\n") return 14;
  if (!processes_with(std::string(kMarkerVariable) + "=" + options.installation).empty()) return 15;
  if (run(2, "python3 -c 'x=bytearray(200<<20)'", 100 << 20).exit_code != 1) return 16;
  account = 65534;
  if (run(3, "exit 5", 0).exit_code != 5) return 17;
  for (const uint32_t other : {0u, 1u}) {
    account = other;
    const core::AttemptResult refused = run(4 + other, "exit 5", 0);
    if (refused.cause != core::EndCause::start_error) return 18;
    const std::string words = "cannot run work as " + std::to_string(other);
    if (refused.message.find(words) == std::string::npos) return 19;
  }
  driver.shutdown();
  return 0;
}

TEST_P(Faults, WorksWithoutRights) {
  if (::geteuid() != 0) GTEST_SKIP() << "this is how the other tests run then";
  LocalOptions options = place_->options();
  options.home += "/nobody";
  options.installation += "-nobody";
  options.cgroups = true;  // asked for, and not permitted
  options.warden = place_->home() + "/atoll-warden";
  std::filesystem::copy_file(default_warden_program(), options.warden);
  std::filesystem::create_directories(options.home);
  ASSERT_EQ(::chown(options.home.c_str(), 65534, 65534), 0);
  driver_.reset();
  const pid_t server = ::fork();
  if (server == 0) ::_exit(serve_as_nobody(options));
  int status = 0;
  ::waitpid(server, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_TRUE(task_processes().empty());
}

TEST_P(Faults, RandomKillsLoseNothingSilently) {
  std::vector<AttemptId> ids;
  for (int round = 0; round < 6; ++round) {
    std::vector<StartOrder> orders;
    for (int i = 0; i < 15; ++i) {
      orders.push_back(shell("echo x >> " + place_->home() + "/ran-$ATOLL_JOB_ID; sleep 0.0" +
                             std::to_string(i % 10)));
      ids.push_back(orders.back().attempt);
    }
    driver_->start(std::move(orders));
    ::usleep(static_cast<useconds_t>(20000 * round));
    if (const pid_t pid = warden(); pid > 1) ::kill(pid, SIGKILL);
  }
  ASSERT_TRUE(seen_->wait_ended(ids.size(), 60));
  for (const AttemptId id : ids) {
    EXPECT_EQ(seen_->ends(id), 1u);
    const std::string ran =
        read_file(place_->home() + "/ran-" + std::to_string(id.job.value)).value_or("");
    EXPECT_LE(ran.size(), 2u) << "ran twice";
    if (seen_->result(id).cause == core::EndCause::exited)
      EXPECT_EQ(ran, "x\n");
    else
      EXPECT_EQ(seen_->result(id).cause, core::EndCause::lost);
  }
  EXPECT_TRUE(task_processes().empty());
}

INSTANTIATE_TEST_SUITE_P(Limits, Faults, testing::Bool(),
                         [](const testing::TestParamInfo<bool>& info) {
                           return info.param ? "cgroups" : "rlimits";
                         });

}  // namespace
}  // namespace atl::site
