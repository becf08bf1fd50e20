#include "journal/backup.h"

#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <thread>

#include "journal/home.h"
#include "journal/snapshot_file.h"
#include "journal/sqlite.h"
#include "journal/sqlite_journal.h"
#include "journal/testing.h"

namespace atl::journal {
namespace {

namespace fs = std::filesystem;

class Backup : public testing::Test {
 protected:
  Backup() { world.found(); }
  void commit_jobs(int n) {
    for (int i = 0; i < n; ++i) {
      const JobId id = world.submit("job", "payload " + std::to_string(i));
      if (i % 2) world.run(id);
      must(journal->commit(world.take()));
    }
  }
  // Changes the backup as a bad disk would.
  void tamper(const char* sql) { must(must(Database::open(file, {}))->must(sql)); }
  void expect_refused(const std::string& why) {
    const auto restored = restore(file, dir / "copy");
    ASSERT_FALSE(restored);
    EXPECT_NE(restored.error().message.find(why), std::string::npos) << restored.error().message;
    EXPECT_EQ(restored.error().message.find("restoring.db"), std::string::npos)
        << restored.error().message;
    EXPECT_TRUE(fs::is_empty(dir / "copy")) << "nothing is left of a refused restore";
  }

  const TempDir dir;
  const std::string home = dir / "home";
  const std::string file = dir / "backup";
  World world;
  std::unique_ptr<SqliteJournal> journal = must(SqliteJournal::open(home));
};

TEST_F(Backup, ARestoredCopyHasEverythingAndAnotherEpoch) {
  commit_jobs(10);
  must(make_snapshot(home));
  commit_jobs(10);
  must(make_snapshot(home));
  while (must(journal->compact_some())) {
  }
  commit_jobs(3);
  must(backup(home, file));
  const core::State then = world.state;
  commit_jobs(5);
  must(restore(file, dir / "copy"));
  auto copy = must(SqliteJournal::open(dir / "copy"));
  const Loaded loaded = must(copy->load());
  EXPECT_TRUE(loaded.state == then);
  EXPECT_EQ(loaded.replayed, 3u) << "the newest snapshot came along";
  EXPECT_EQ(copy->identity().installation, journal->identity().installation);
  EXPECT_EQ(copy->identity().epoch, 2u);
  EXPECT_EQ(must(copy->history().count()), 11u);
  EXPECT_EQ(must(copy->payload({1})), "payload 0");
  world.state = then;
  world.submit("after");
  must(copy->commit(world.take()));
  EXPECT_TRUE(must(copy->load()).state == world.state);
}

TEST_F(Backup, WorksBeforeThereIsASnapshot) {
  commit_jobs(3);
  must(backup(home, file));
  must(restore(file, dir / "copy"));
  EXPECT_TRUE(must(must(SqliteJournal::open(dir / "copy"))->load()).state == world.state);
}

TEST_F(Backup, DoesNotOverwrite) {
  std::ofstream(file) << "precious";
  EXPECT_EQ(backup(home, file).error().code, ErrorCode::conflict);
  EXPECT_EQ(fs::file_size(file), 8u);
}

TEST_F(Backup, IntoADirectoryThatIsNotThereLeavesNothing) {
  EXPECT_FALSE(backup(home, dir / "no/such/file"));
}

TEST_F(Backup, RestoreRefusesAHomeInUse) {
  commit_jobs(1);
  must(backup(home, file));
  const auto restored = restore(file, home);
  ASSERT_FALSE(restored);
  EXPECT_EQ(restored.error().code, ErrorCode::conflict);
}

TEST_F(Backup, RestoreLetsTheConfigurationStay) {
  commit_jobs(1);
  must(backup(home, file));
  fs::create_directory(dir / "copy");
  std::ofstream(dir / "copy/atoll.yaml") << "listen: none\n";
  must(restore(file, dir / "copy"));
  EXPECT_TRUE(fs::exists(dir / "copy/atoll.yaml"));
}

TEST_F(Backup, ADamagedCommitIsFoundBeforeAnythingIsRestored) {
  commit_jobs(5);
  must(backup(home, file));
  tamper(
      "UPDATE journal SET bytes = substr(bytes, 1, 40) || x'00' || substr(bytes, 42) WHERE seq = "
      "3");
  expect_refused("commit 3");
}

TEST_F(Backup, ADamagedSnapshotIsFoundBeforeAnythingIsRestored) {
  commit_jobs(5);
  must(make_snapshot(home));
  must(backup(home, file));
  tamper("UPDATE snapshot SET bytes = substr(bytes, 1, 60) || x'00' || substr(bytes, 62)");
  expect_refused("chunk");
}

TEST_F(Backup, ADamagedPayloadIsFoundBeforeAnythingIsRestored) {
  commit_jobs(5);
  must(backup(home, file));
  tamper("UPDATE blobs SET bytes = x'00' WHERE id = 2");
  expect_refused("payload 2");
}

TEST_F(Backup, AFileOfAnotherKindIsRefused) {
  std::ofstream(file) << std::string(10000, 'x');
  expect_refused("not a database of Atoll");
  journal.reset();
  fs::remove(file);
  fs::copy_file(database_path(home), file);
  expect_refused("not a backup");
}

TEST_F(Backup, AFileThatOnlyLooksLikeOursIsRefused) {
  must(must(Database::open(file, {.create = true}))
           ->must("PRAGMA application_id=1096044364; CREATE TABLE other(x)"));
  expect_refused("no such table");
}

// Run under the thread sanitizer: readers, a snapshot and backups beside the writer.
TEST_F(Backup, AndHistoryAndSnapshotsGoOnBesideCommits) {
  std::atomic<bool> stop = false;
  std::thread reader([&] {
    uint64_t last = 0;
    while (!stop) {
      const auto page = must(journal->history().jobs({}, {}, 10));
      const uint64_t newest = page.empty() ? 0 : page[0].job.id.value;
      EXPECT_GE(newest, last);
      last = newest;
    }
  });
  std::thread keeper([&] {
    int i = 0;
    do {
      must(make_snapshot(home));
      must(backup(home, dir / ("backup" + std::to_string(i++))));
    } while (!stop);
  });
  for (int i = 0; i < 20; ++i) {
    commit_jobs(20);
    must(journal->compact_some());
  }
  stop = true;
  reader.join();
  keeper.join();
  must(restore(dir / "backup0", dir / "copy"));
  must(must(SqliteJournal::open(dir / "copy"))->load());
  EXPECT_TRUE(must(journal->load()).state == world.state);
}

}  // namespace
}  // namespace atl::journal
