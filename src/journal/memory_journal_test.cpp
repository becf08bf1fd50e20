#include "journal/memory_journal.h"

#include <gtest/gtest.h>

#include "journal/testing.h"

namespace atl::journal {
namespace {

class Memory : public testing::Test {
 protected:
  Memory() {
    world.found();
    must(journal.commit(world.take()));
    durable = world.state;
    world.submit("job");
  }
  core::State loaded() { return must(journal.load()).state; }

  MemoryJournal journal;
  World world;
  core::State durable;  // before the job that waits in the world's batch
};

TEST_F(Memory, ARefusedCommitLeavesNothing) {
  journal.fail_commit(1);
  const auto refused = journal.commit(world.batch);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::unavailable);
  journal.crash(true);
  EXPECT_TRUE(loaded() == durable);
  EXPECT_EQ(must(journal.commit(world.take())), 2u);
  EXPECT_TRUE(loaded() == world.state);
}

TEST_F(Memory, ADoubtfulCommitIsThereAfterACrashOrNot) {
  for (const bool keep : {false, true}) {
    MemoryJournal copy = journal;
    copy.fail_commit(1, MemoryJournal::Fault::doubtful);
    EXPECT_FALSE(copy.commit(world.batch));
    EXPECT_TRUE(must(copy.load()).state == durable);
    copy.crash(keep);
    EXPECT_TRUE(must(copy.load()).state == (keep ? world.state : durable));
  }
}

TEST_F(Memory, AWriteThatSucceedsEndsTheDoubt) {
  journal.fail_commit(1, MemoryJournal::Fault::doubtful);
  EXPECT_FALSE(journal.commit(world.batch));
  must(journal.trial_write());
  journal.crash(true);
  EXPECT_TRUE(loaded() == durable);
}

TEST_F(Memory, AFullDiskRefusesUntilThereIsSpace) {
  journal.set_full(true);
  EXPECT_FALSE(journal.commit(world.batch));
  EXPECT_FALSE(journal.trial_write());
  journal.set_full(false);
  must(journal.trial_write());
  must(journal.commit(world.take()));
  EXPECT_TRUE(loaded() == world.state);
}

TEST_F(Memory, ASnapshotStandsForTheCommitsItCovers) {
  must(journal.commit(world.take()));
  must(journal.snapshot());
  EXPECT_EQ(must(journal.load()).replayed, 0u);
  EXPECT_EQ(journal.read(0, 10).error().code, ErrorCode::not_found);
  EXPECT_TRUE(must(journal.read(2, 10)).empty());
  world.submit("later");
  must(journal.commit(world.take()));
  EXPECT_EQ(must(journal.read(2, 10)).size(), 1u);
  EXPECT_TRUE(loaded() == world.state);
}

}  // namespace
}  // namespace atl::journal
