// Things that go wrong at the n-th write, on a full disk and by a killed process.
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <random>

#include "journal/faulty_vfs.h"
#include "journal/home.h"
#include "journal/snapshot_file.h"
#include "journal/sqlite_journal.h"
#include "journal/testing.h"

namespace atl::journal {
namespace {

namespace fs = std::filesystem;

using Script = std::vector<Batch>;  // commits to make, in order

Script make_script(int commits) {
  Script script;
  World world;
  world.found();
  for (int i = 0; i < commits; ++i) {
    for (int k = 0; k < 20; ++k) {
      world.submit("job", std::string(500, static_cast<char>('a' + i % 26)));
    }
    if (i > 0) world.run({static_cast<uint64_t>(i) * 20});
    script.push_back(world.take());
  }
  return script;
}

core::State state_after(const Script& script, uint64_t commits) {
  core::State state;
  for (uint64_t i = 0; i < commits && i < script.size(); ++i) {
    for (const core::Event& event : script[i].events) core::apply(state, event);
  }
  return state;
}

// What a machine would find after the process died now: the files as they are, without the shared
// memory.
void copy_as_crashed(const std::string& home, const std::string& to) {
  fs::remove_all(to);
  fs::create_directories(to);
  for (const char* name : {"/atoll.db", "/atoll.db-wal"}) {
    if (fs::exists(home + name)) fs::copy_file(home + name, to + name);
  }
}

uint64_t state_in(const std::string& home, const Script& script) {
  auto journal = must(SqliteJournal::open(home));
  const Loaded loaded = must(journal->load());
  EXPECT_LE(loaded.sequence, script.size());
  EXPECT_TRUE(loaded.state == state_after(script, loaded.sequence))
      << "not the state after " << loaded.sequence;
  EXPECT_EQ(must(journal->history().count()), loaded.sequence > 1 ? loaded.sequence - 1 : 0);
  return loaded.sequence;
}

// Runs the script with the n-th operation failing; true when the fault was reached.
bool run_with_fault(const Script& script, int64_t n, bool for_good) {
  const TempDir dir;
  SqliteOptions options{.vfs = faulty_vfs()};
  auto journal = must(SqliteJournal::open(dir / "home", options));
  fault_plan().arm(n, for_good);
  uint64_t acknowledged = 0;
  bool failed = false;
  while (acknowledged < script.size() && !failed) {
    const auto committed = journal->commit(script[acknowledged]);
    failed = !committed;
    if (committed)
      acknowledged = *committed;
    else
      EXPECT_EQ(committed.error().code, ErrorCode::unavailable) << committed.error().message;
  }
  copy_as_crashed(dir / "home", dir / "crashed");
  const bool reached = fault_plan().operations >= n;
  fault_plan().disarm();
  const uint64_t found = state_in(dir / "crashed", script);
  EXPECT_GE(found, acknowledged);
  EXPECT_LE(found, acknowledged + (for_good ? 1 : 0)) << "operation " << n;
  EXPECT_TRUE(must(journal->load()).state == state_after(script, acknowledged))
      << "operation " << n;
  must(journal->trial_write());
  for (; acknowledged < script.size(); ++acknowledged) {
    must(journal->commit(script[acknowledged]));
  }
  journal.reset();
  EXPECT_EQ(state_in(dir / "home", script), script.size());
  return reached;
}

TEST(Faults, AnOperationThatFailsOnceLosesOnlyTheCommitItFailed) {
  const Script script = make_script(4);
  int64_t n = 1;
  while (run_with_fault(script, n, false)) ++n;
  EXPECT_GT(n, 20);
}

// When nothing can be written any more, the last commit may be whole on disk although its sync was
// reported as failed.
TEST(Faults, ADiskThatFailsForGoodKeepsEverythingAcknowledged) {
  const Script script = make_script(4);
  int64_t n = 1;
  while (run_with_fault(script, n, true)) ++n;
  EXPECT_GT(n, 20);
}

class Mount {
 public:
  Mount(const std::string& path, const char* options) : path_(path) {
    fs::create_directories(path);
    mounted_ = mount("atoll", path.c_str(), "tmpfs", 0, options) == 0;
  }
  ~Mount() {
    if (mounted_) umount2(path_.c_str(), MNT_DETACH);
  }
  explicit operator bool() const { return mounted_; }

 private:
  std::string path_;
  bool mounted_ = false;
};

TEST(Faults, AFullFileSystemRefusesAndGoesOnWhenSpaceReturns) {
  const TempDir dir;
  const Mount mount(dir / "small", "size=6m");
  if (!mount) GTEST_SKIP() << "mounting a tmpfs is not permitted here";
  const Script script = make_script(40);
  auto journal = must(SqliteJournal::open(dir / "small/home"));
  uint64_t done = must(journal->commit(script[0]));
  {
    std::ofstream filler(dir / "small/filler");
    while (filler << std::string(4096, 'x') << std::flush) {
    }
  }
  Result<uint64_t> refused = 0;
  while (refused && done < 40) {
    refused = journal->commit(script[done]);
    if (refused) done = *refused;
  }
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::unavailable);
  EXPECT_NE(refused.error().message.find("full"), std::string::npos) << refused.error().message;
  EXPECT_FALSE(journal->trial_write());
  EXPECT_TRUE(must(journal->load()).state == state_after(script, done));
  fs::remove(dir / "small/filler");
  must(journal->trial_write());
  EXPECT_EQ(must(journal->commit(script[done])), done + 1);
  journal.reset();
  EXPECT_EQ(state_in(dir / "small/home", script), done + 1);
}

TEST(Faults, AReadOnlyFileSystemIsRefusedInThoseWords) {
  const TempDir dir;
  const Mount mount_point(dir / "fixed", "size=6m");
  if (!mount_point) GTEST_SKIP() << "mounting a tmpfs is not permitted here";
  fs::create_directory(dir / "fixed/home");
  ASSERT_EQ(mount("atoll", (dir / "fixed").c_str(), "tmpfs", MS_REMOUNT | MS_RDONLY, nullptr), 0);
  const auto journal = SqliteJournal::open(dir / "fixed/home");
  ASSERT_FALSE(journal);
  EXPECT_EQ(journal.error().code, ErrorCode::unavailable);
  EXPECT_NE(journal.error().message.find("Read-only file system"), std::string::npos)
      << journal.error().message;
}

// The child: commits as fast as it can and reports each acknowledged number.
[[noreturn]] void commit_and_report(const std::string& home, const Script& script, int pipe) {
  auto journal = SqliteJournal::open(home, {.checkpoint_pages = 20});
  if (!journal) _exit(1);
  const auto loaded = (*journal)->load();
  if (!loaded) _exit(2);
  for (uint64_t next = loaded->sequence; next < script.size(); ++next) {
    const auto committed = (*journal)->commit(script[next]);
    if (!committed || write(pipe, &*committed, sizeof *committed) != sizeof *committed) _exit(3);
  }
  _exit(0);
}

// Starts the child, lets it acknowledge a commit, kills it a moment later; returns the last number
// it reported.
uint64_t run_and_kill(const std::string& home, const Script& script, useconds_t moment) {
  int ends[2];
  EXPECT_EQ(pipe(ends), 0);
  const pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    commit_and_report(home, script, ends[1]);
  }
  close(ends[1]);
  uint64_t acknowledged = 0;
  bool more = read(ends[0], &acknowledged, sizeof acknowledged) == sizeof acknowledged;
  usleep(moment);
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  while (more) more = read(ends[0], &acknowledged, sizeof acknowledged) == sizeof acknowledged;
  close(ends[0]);
  return acknowledged;
}

TEST(Faults, AProcessKilledAtAnyMomentLosesNothingAcknowledged) {
  const TempDir dir;
  const Script script = make_script(200);
  std::mt19937 random(7);
  uint64_t found = 0;
  for (int round = 0; round < 50 && found < script.size(); ++round) {
    const uint64_t acknowledged = run_and_kill(dir / "home", script, random() % 3000);
    EXPECT_GT(acknowledged, found);
    found = state_in(dir / "home", script);
    EXPECT_GE(found, acknowledged);
    EXPECT_LE(found, acknowledged + 1);
    if (round % 5 == 4) must(make_snapshot(dir / "home"));
  }
}

}  // namespace
}  // namespace atl::journal
