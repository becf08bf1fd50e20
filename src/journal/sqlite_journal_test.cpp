#include "journal/sqlite_journal.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "journal/home.h"
#include "journal/schema.h"
#include "journal/snapshot_file.h"
#include "journal/sqlite.h"
#include "journal/testing.h"

namespace atl::journal {
namespace {

std::unique_ptr<SqliteJournal> open(const std::string& home) {
  return must(SqliteJournal::open(home));
}

// Changes a database that nobody holds open.
void tamper(const std::string& home, const char* sql) {
  auto database = must(Database::open(database_path(home), {}));
  must(database->must(sql));
}

// Commits `n` batches of one job each after the founding one.
void commit_jobs(SqliteJournal& journal, World& world, int n) {
  if (world.state.users.empty()) world.found();
  for (int i = 0; i < n; ++i) {
    world.submit("job");
    must(journal.commit(world.take()));
  }
}

TEST(SqliteJournal, WhatWasCommittedIsLoadedAgain) {
  const TempDir dir;
  World world;
  {
    auto journal = open(dir / "home");
    commit_jobs(*journal, world, 5);
    world.run({2});
    EXPECT_EQ(must(journal->commit(world.take())), 6u);
  }
  auto journal = open(dir / "home");
  const Loaded loaded = must(journal->load());
  EXPECT_EQ(loaded.sequence, 6u);
  EXPECT_EQ(loaded.replayed, 6u);
  EXPECT_TRUE(loaded.state == world.state);
}

TEST(SqliteJournal, CommitsGoOnWithoutALoadInBetween) {
  const TempDir dir;
  World world;
  for (int i = 0; i < 3; ++i) {
    auto journal = open(dir / "home");
    commit_jobs(*journal, world, 2);
  }
  EXPECT_TRUE(must(open(dir / "home")->load()).state == world.state);
}

TEST(SqliteJournal, AnEmptyBatchCostsNothing) {
  const TempDir dir;
  auto journal = open(dir.path());
  EXPECT_EQ(must(journal->commit({})), 0u);
}

TEST(SqliteJournal, ReadGivesCommitsInOrder) {
  const TempDir dir;
  auto journal = open(dir.path());
  World world;
  commit_jobs(*journal, world, 5);
  const auto commits = must(journal->read(2, 2));
  ASSERT_EQ(commits.size(), 2u);
  EXPECT_EQ(commits[0].sequence, 3u);
  EXPECT_EQ(std::get<core::JobSubmitted>(commits[1].events.at(0).body).id, JobId{4});
  EXPECT_TRUE(must(journal->read(5, 10)).empty());
}

TEST(SqliteJournal, TheInstallationKeepsItsIdentity) {
  const TempDir dir;
  const Identity first = open(dir / "a")->identity();
  EXPECT_EQ(open(dir / "a")->identity(), first);
  EXPECT_EQ(first.epoch, 1u);
  EXPECT_EQ(first.installation.size(), 16u);
  EXPECT_NE(open(dir / "b")->identity().installation, first.installation);
}

TEST(SqliteJournal, ASecondServerIsRefusedAndToldWhoHoldsTheHome) {
  const TempDir dir;
  auto journal = open(dir.path());
  const auto second = SqliteJournal::open(dir.path());
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, ErrorCode::conflict);
  EXPECT_NE(second.error().message.find("process " + std::to_string(getpid())), std::string::npos)
      << second.error().message;
}

TEST(SqliteJournal, WhatADeadServerWasStartingKeepsTheHomeOnlyForAMoment) {
  const TempDir dir;
  const pid_t server = fork();
  if (server == 0) {
    const auto held = take_home(dir.path());
    if (fork() == 0) usleep(300'000);  // a child between fork and exec
    _exit(held ? 0 : 1);
  }
  int status = -1;
  waitpid(server, &status, 0);
  ASSERT_EQ(status, 0);
  EXPECT_TRUE(SqliteJournal::open(dir.path()));
}

TEST(SqliteJournal, AFileThatIsNoDatabaseIsRefusedUntouched) {
  const TempDir dir;
  std::ofstream(database_path(dir.path())) << std::string(5000, 'x');
  const auto journal = SqliteJournal::open(dir.path());
  ASSERT_FALSE(journal);
  EXPECT_EQ(journal.error().code, ErrorCode::invalid) << journal.error().message;
  EXPECT_EQ(std::filesystem::file_size(database_path(dir.path())), 5000u);
}

TEST(SqliteJournal, ADatabaseOfAnotherProgramIsRefused) {
  const TempDir dir;
  must(
      must(Database::open(database_path(dir.path()), {.create = true}))->must("CREATE TABLE t(x)"));
  const auto journal = SqliteJournal::open(dir.path());
  ASSERT_FALSE(journal);
  EXPECT_NE(journal.error().message.find("not a database of Atoll"), std::string::npos);
}

TEST(SqliteJournal, ANewerFormatIsRefusedWithBothNumbers) {
  const TempDir dir;
  open(dir.path());
  tamper(dir.path(), "UPDATE meta SET value = 99 WHERE key = 'format'");
  const auto journal = SqliteJournal::open(dir.path());
  ASSERT_FALSE(journal);
  EXPECT_NE(journal.error().message.find("format 99 and this program reads up to " +
                                         std::to_string(kFormat)),
            std::string::npos)
      << journal.error().message;
}

TEST(SqliteJournal, AHomeThatIsAFileIsRefused) {
  const TempDir dir;
  std::ofstream(dir / "file") << "x";
  const auto journal = SqliteJournal::open(dir / "file");
  ASSERT_FALSE(journal);
  EXPECT_EQ(journal.error().code, ErrorCode::unavailable);
}

TEST(SqliteJournal, AnUnwritableHomeIsRefused) {
  if (getuid() != 0) GTEST_SKIP() << "needs root to become somebody without rights";
  const TempDir dir;
  std::filesystem::create_directory(dir / "home");
  const pid_t child = fork();
  if (child == 0) {
    if (setuid(65534) != 0) _exit(2);
    const auto journal = SqliteJournal::open(dir / "home");
    const bool precise = !journal && journal.error().code == ErrorCode::unavailable &&
                         journal.error().message.find("Permission denied") != std::string::npos;
    _exit(precise ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

TEST(SqliteJournal, ADamagedCommitStopsTheLoadAndIsNamed) {
  const TempDir dir;
  World world;
  commit_jobs(*open(dir.path()), world, 5);
  tamper(dir.path(),
         "UPDATE journal SET bytes = substr(bytes, 1, 30) || x'ff' || substr(bytes, 32) WHERE seq "
         "= 4");
  const auto loaded = open(dir.path())->load();
  ASSERT_FALSE(loaded);
  EXPECT_NE(loaded.error().message.find("commit 4"), std::string::npos) << loaded.error().message;
  EXPECT_NE(loaded.error().message.find("restore"), std::string::npos);
}

TEST(SqliteJournal, AMissingCommitStopsTheLoad) {
  const TempDir dir;
  World world;
  commit_jobs(*open(dir.path()), world, 5);
  tamper(dir.path(), "DELETE FROM journal WHERE seq = 3");
  const auto loaded = open(dir.path())->load();
  ASSERT_FALSE(loaded);
  EXPECT_NE(loaded.error().message.find("commit 3 in the journal is damaged: it is missing"),
            std::string::npos)
      << loaded.error().message;
}

TEST(SqliteJournal, ACommitOfAnotherJournalIsNoticed) {
  const TempDir dir;
  World world;
  commit_jobs(*open(dir / "a"), world, 5);
  World other;
  other.user = {2};
  commit_jobs(*open(dir / "b"), other, 5);
  tamper(dir / "a", ("ATTACH '" + dir.path() +
                     "/b/atoll.db' AS b; UPDATE journal SET bytes = "
                     "(SELECT bytes FROM b.journal WHERE seq = 4) WHERE seq = 4")
                        .c_str());
  const auto loaded = open(dir / "a")->load();
  ASSERT_FALSE(loaded);
  EXPECT_NE(loaded.error().message.find("does not continue"), std::string::npos)
      << loaded.error().message;
}

TEST(SqliteJournal, PayloadsAreFoundByJobAndEqualOnesAreStoredOnce) {
  const TempDir dir;
  {
    auto journal = open(dir.path());
    World world;
    world.found();
    for (int i = 0; i < 10; ++i) world.submit("job", i % 2 ? "odd" : "even");
    must(journal->commit(world.take()));
    world.submit("job", "even");
    must(journal->commit(world.take()));
    EXPECT_EQ(must(journal->payload({2})), "odd");
    EXPECT_EQ(must(journal->history().payload({11})), "even");
    EXPECT_EQ(journal->payload({12}).error().code, ErrorCode::not_found);
  }
  auto database = must(Database::open(database_path(dir.path()), {}));
  EXPECT_EQ(must(database->number("SELECT count(*) FROM blobs")), 2);
  EXPECT_EQ(must(database->number("SELECT sum(refs) FROM blobs")), 11);
}

TEST(SqliteJournal, BlobsMayComeInAnyOrder) {
  const TempDir dir;
  auto journal = open(dir.path());
  World world;
  world.found();
  for (int i = 0; i < 10; ++i) world.submit("job", std::to_string(i));
  std::reverse(world.batch.blobs.begin(), world.batch.blobs.end());
  must(journal->commit(world.take()));
  for (uint64_t i = 0; i < 10; ++i) EXPECT_EQ(must(journal->payload({i + 1})), std::to_string(i));
}

TEST(SqliteJournal, APayloadWithoutBytesRefusesTheWholeBatch) {
  const TempDir dir;
  auto journal = open(dir.path());
  World world;
  world.found();
  world.submit("job");
  world.batch.blobs.clear();
  EXPECT_FALSE(journal->commit(world.take()));
  EXPECT_TRUE(must(journal->load()).state == core::State{});
}

}  // namespace
}  // namespace atl::journal
