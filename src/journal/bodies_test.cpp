// Bodies of items: durable with the event that names them, gone with the one that drops them.
#include <gtest/gtest.h>
#include <sqlite3.h>

#include "journal/home.h"
#include "journal/memory_journal.h"
#include "journal/sqlite_journal.h"
#include "journal/testing.h"

namespace atl::journal {
namespace {

constexpr QueueId kQueue{1};

Batch put(World& world, const std::vector<std::string>& bodies) {
  world.happen(core::QueueSet{kQueue, world.ns, "q", {}, false});
  const ItemId first{world.state.queues.at(kQueue).last.value + 1};
  world.happen(
      core::ItemsPut{kQueue, first, {{static_cast<uint32_t>(bodies.size()), 0, {}, "", 0}}, {}});
  Batch batch = world.take();
  for (size_t i = 0; i < bodies.size(); ++i)
    batch.bodies.push_back({kQueue, ItemId{first.value + i}, bodies[i]});
  return batch;
}

Batch finish(World& world, ItemId first, ItemId last) {
  world.happen(core::ItemsLeased{kQueue, LeaseId{1}, {}, "", {{first, last}}});
  world.happen(core::ItemsFinished{kQueue, LeaseId{1}, {{first, last}}});
  return world.take();
}

void check_life(Journal& journal, History& history) {
  World world;
  world.found();
  must(journal.commit(world.take()));
  must(journal.commit(put(world, {"a", std::string("\0\xff", 2), ""})));
  const std::vector<ItemId> all{{1}, {2}, {3}, {4}};
  const std::map<ItemId, std::string> expected{
      {ItemId{1}, "a"}, {ItemId{2}, std::string("\0\xff", 2)}, {ItemId{3}, ""}};
  EXPECT_EQ(must(history.bodies(kQueue, all)), expected);
  EXPECT_TRUE(must(history.bodies(QueueId{2}, all)).empty());
  must(journal.commit(finish(world, ItemId{1}, ItemId{2})));
  EXPECT_EQ(must(history.bodies(kQueue, all)).size(), 1u);
  const Loaded loaded = must(journal.load());
  EXPECT_EQ(loaded.state, world.state);
  // What is put and done in one commit leaves nothing.
  Batch both = put(world, {"b"});
  Batch end = finish(world, ItemId{4}, ItemId{4});
  both.events.insert(both.events.end(), end.events.begin(), end.events.end());
  both.archive = end.archive;
  must(journal.commit(both));
  EXPECT_EQ(must(history.bodies(kQueue, all)).size(), 1u);
}

TEST(Bodies, LiveAsLongAsTheirItemsInSqlite) {
  const TempDir dir;
  auto journal = must(SqliteJournal::open(dir.path()));
  check_life(*journal, journal->history());
}

TEST(Bodies, LiveAsLongAsTheirItemsInMemory) {
  MemoryJournal journal;
  check_life(journal, journal);
}

TEST(Bodies, AreNotThereAfterACommitThatFailed) {
  MemoryJournal journal;
  World world;
  world.found();
  must(journal.commit(world.take()));
  journal.fail_commit(1);
  EXPECT_FALSE(journal.commit(put(world, {"a"})));
  EXPECT_TRUE(must(journal.bodies(kQueue, {{1}})).empty());
}

TEST(Bodies, AJournalFromBeforeQueuesGetsTheirTable) {
  const TempDir dir;
  must(SqliteJournal::open(dir.path()));
  sqlite3* database = nullptr;
  ASSERT_EQ(sqlite3_open(database_path(dir.path()).c_str(), &database), SQLITE_OK);
  ASSERT_EQ(
      sqlite3_exec(
          database,
          "DROP TABLE item_bodies; DROP TABLE workflows; DROP TABLE steps; DROP TABLE step_kinds; "
          "DROP TABLE versions; DROP TABLE cached; DROP TABLE fed_outputs; UPDATE meta SET value = "
          "1 WHERE key = 'format'",
          nullptr, nullptr, nullptr),
      SQLITE_OK);
  sqlite3_close(database);
  auto journal = must(SqliteJournal::open(dir.path()));
  check_life(*journal, journal->history());
}

TEST(Bodies, TheDailyWorkOnItemsIsNotAudited) {
  const core::Event work{Time{1}, UserId{1}, core::ItemsFinished{}};
  const core::Event purge{Time{1}, UserId{1}, core::ItemsRemoved{}};
  EXPECT_EQ(asked_for({work, purge}), (core::Events{purge}));
}

}  // namespace
}  // namespace atl::journal
