// Snapshots, what they let go of, and how loading copes with bad ones.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "journal/home.h"
#include "journal/snapshot_file.h"
#include "journal/sqlite.h"
#include "journal/sqlite_journal.h"
#include "journal/testing.h"
#include "journal/verify.h"

namespace atl::journal {
namespace {

class Compaction : public testing::Test {
 protected:
  Compaction() { world.found(); }

  void commit_jobs(int n) {
    for (int i = 0; i < n; ++i) {
      world.submit("job");
      must(journal->commit(world.take()));
    }
  }
  void compact() {
    while (must(journal->compact_some())) {
    }
  }
  void reopen() {
    journal.reset();
    journal = must(SqliteJournal::open(home));
  }
  void damage(uint64_t sequence) {
    std::fstream file(snapshot_path(home, sequence),
                      std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(60);
    file << "damage";
  }

  const TempDir dir;
  const std::string home = dir / "home";
  World world;
  std::unique_ptr<SqliteJournal> journal = must(SqliteJournal::open(home));
};

TEST_F(Compaction, LoadingStartsFromTheNewestSnapshot) {
  commit_jobs(5);
  EXPECT_EQ(must(make_snapshot(home)), 5u);
  commit_jobs(2);
  reopen();
  const Loaded loaded = must(journal->load());
  EXPECT_EQ(loaded.replayed, 2u);
  EXPECT_EQ(loaded.sequence, 7u);
  EXPECT_TRUE(loaded.state == world.state);
}

TEST_F(Compaction, ASnapshotThatIsUpToDateIsNotWrittenAgain) {
  commit_jobs(5);
  must(make_snapshot(home));
  const auto written = std::filesystem::last_write_time(snapshot_path(home, 5));
  EXPECT_EQ(must(make_snapshot(home)), 5u);
  EXPECT_EQ(std::filesystem::last_write_time(snapshot_path(home, 5)), written);
}

TEST_F(Compaction, TheTwoNewestSnapshotsAreKeptAndTheJournalReachesTheOlder) {
  for (int i = 0; i < 3; ++i) {
    commit_jobs(300);
    must(make_snapshot(home));
  }
  EXPECT_EQ(list_snapshots(home), (std::vector<uint64_t>{900, 600}));
  EXPECT_TRUE(must(journal->compact_some())) << "600 commits go in pieces";
  compact();
  EXPECT_EQ(must(journal->read(600, 1)).at(0).sequence, 601u);
  const auto gone = journal->read(599, 1);
  ASSERT_FALSE(gone);
  EXPECT_EQ(gone.error().code, ErrorCode::not_found);
  commit_jobs(1);
  reopen();
  EXPECT_TRUE(must(journal->load()).state == world.state);
}

TEST_F(Compaction, WhatPeopleAskedForIsKeptAsLongAsHistory) {
  const JobId job = world.submit("job");
  must(journal->commit(world.take()));
  world.happen(core::JobHeld{job});
  world.batch.events.back().by = UserId{1};
  must(journal->commit(world.take()));
  EXPECT_TRUE(must(journal->audit(0, 10)).commits.empty()) << "read() still has it";
  for (int i = 0; i < 2; ++i) {
    commit_jobs(5);
    must(make_snapshot(home));
  }
  compact();
  reopen();
  const Audit audit = must(journal->audit(0, 10));
  EXPECT_EQ(audit.whole_from, 8u);
  EXPECT_EQ(must(journal->read(audit.whole_from - 1, 1)).at(0).sequence, audit.whole_from);
  ASSERT_FALSE(audit.commits.empty());
  const Committed& kept = audit.commits.back();
  EXPECT_EQ(kept.sequence, 2u);
  ASSERT_EQ(kept.events.size(), 1u);
  EXPECT_EQ(kept.events[0].by, UserId{1});
  EXPECT_TRUE(std::holds_alternative<core::JobHeld>(kept.events[0].body));
  EXPECT_TRUE(must(journal->audit(2, 10)).commits.empty());
  EXPECT_TRUE(must(examine(home)).problems.empty());
  must(must(Database::open(database_path(home), {}))
           ->must("UPDATE audit SET events = events || x'00' WHERE seq = 2"));
  EXPECT_NE(must(examine(home)).problems.at(0).find("audit record of commit 2 is damaged"),
            std::string::npos);
  must(journal->prune(Time{INT64_MAX}, 1000));
  EXPECT_TRUE(must(journal->audit(0, 10)).commits.empty());
}

TEST_F(Compaction, OneSnapshotAloneLetsGoOfNothing) {
  commit_jobs(5);
  must(make_snapshot(home));
  compact();
  EXPECT_EQ(must(journal->read(0, 1)).size(), 1u);
}

TEST_F(Compaction, ADamagedSnapshotFallsBackToTheOneBefore) {
  commit_jobs(5);
  must(make_snapshot(home));
  commit_jobs(5);
  must(make_snapshot(home));
  compact();
  commit_jobs(1);
  damage(10);
  reopen();
  const Loaded loaded = must(journal->load());
  EXPECT_EQ(loaded.replayed, 6u);
  EXPECT_NE(loaded.warning.find("10.snap is damaged"), std::string::npos) << loaded.warning;
  EXPECT_TRUE(loaded.state == world.state);
}

TEST_F(Compaction, TwoDamagedSnapshotsAreAnErrorThatNamesBoth) {
  commit_jobs(5);
  must(make_snapshot(home));
  commit_jobs(5);
  must(make_snapshot(home));
  compact();
  damage(5);
  damage(10);
  const auto loaded = journal->load();
  ASSERT_FALSE(loaded);
  EXPECT_NE(loaded.error().message.find("Snapshot 10"), std::string::npos)
      << loaded.error().message;
  EXPECT_NE(loaded.error().message.find("Snapshot 5"), std::string::npos);
  EXPECT_NE(loaded.error().message.find("restore"), std::string::npos);
}

TEST_F(Compaction, TheDoctorFindsWhatIsDamaged) {
  commit_jobs(5);
  must(make_snapshot(home));
  Health health = must(examine(home));
  EXPECT_EQ(health.problems, std::vector<std::string>{});
  EXPECT_EQ(health.last, 5u);
  EXPECT_EQ(health.identity, journal->identity());
  damage(5);
  journal.reset();
  must(
      must(Database::open(database_path(home), {}))
          ->must("UPDATE blobs SET bytes = x'00'; UPDATE journal SET bytes = x'00' WHERE seq = 3"));
  health = must(examine(home));
  ASSERT_EQ(health.problems.size(), 3u);
  EXPECT_NE(health.problems[0].find("commit 3"), std::string::npos) << health.problems[0];
  EXPECT_NE(
      health.problems[0].find("commits 1 to 2 are whole, and of the 2 behind it 2 can be read"),
      std::string::npos)
      << health.problems[0];
  EXPECT_NE(health.problems[1].find("payload 1"), std::string::npos) << health.problems[1];
  EXPECT_NE(health.problems[2].find("5.snap"), std::string::npos) << health.problems[2];
}

TEST_F(Compaction, SnapshotsOfAnotherInstallationAreNotUsedAndCostNothing) {
  commit_jobs(5);
  World other;
  {
    auto stranger = must(SqliteJournal::open(dir / "stranger"));
    other.user = {2};
    other.found();
    for (int i = 0; i < 5; ++i) {
      other.submit("foreign");
      must(stranger->commit(other.take()));
      must(make_snapshot(dir / "stranger"));
    }
  }
  std::filesystem::copy(dir / "stranger/snapshots", home + "/snapshots");
  compact();
  EXPECT_TRUE(must(journal->load()).state == world.state);
}

TEST_F(Compaction, WhatAKilledSnapshotProcessLeftIsRemoved) {
  std::filesystem::create_directories(home + "/snapshots");
  std::ofstream(home + "/snapshots/999999999.partial") << "half";
  commit_jobs(1);
  must(make_snapshot(home));
  EXPECT_FALSE(std::filesystem::exists(home + "/snapshots/999999999.partial"));
}

TEST_F(Compaction, ASnapshotIsDueAfterEnoughCommits) {
  EXPECT_FALSE(journal->snapshot_due());
  world.submit("big");
  std::get<core::JobSubmitted>(world.batch.events.back().body).labels = {
      {"k", std::string(20 << 20, 'x')}};
  must(journal->commit(world.take()));
  EXPECT_TRUE(journal->snapshot_due());
  must(make_snapshot(home));
  compact();
  EXPECT_FALSE(journal->snapshot_due());
}

}  // namespace
}  // namespace atl::journal
