// What both journals promise about ended things.
#include <gtest/gtest.h>

#include "journal/home.h"
#include "journal/memory_journal.h"
#include "journal/sqlite.h"
#include "journal/sqlite_journal.h"
#include "journal/testing.h"

namespace atl::journal {
namespace {

struct OnDisk {
  TempDir dir;
  std::unique_ptr<SqliteJournal> opened = must(SqliteJournal::open(dir / "home"));
  SqliteJournal& journal = *opened;
};
struct InMemory {
  MemoryJournal journal;
};

template <class Kind>
class HistoryOf : public testing::Test {
 protected:
  HistoryOf() { world.found(); }
  void commit() { must(kind.journal.commit(world.take())); }
  History& history() { return kind.journal.history(); }

  JobId ended_job(const std::string& name, core::Outcome outcome = core::Outcome::succeeded) {
    const JobId id = world.submit(name, "payload of " + name);
    world.run(id, outcome);
    return id;
  }
  std::vector<uint64_t> ids(const EndedFilter& filter, JobId before = {}, size_t max = 100) {
    std::vector<uint64_t> found;
    for (const EndedJob& job : must(history().jobs(filter, before, max)))
      found.push_back(job.job.id.value);
    return found;
  }

  Kind kind;
  World world;
};
using Kinds = testing::Types<OnDisk, InMemory>;
TYPED_TEST_SUITE(HistoryOf, Kinds);

TYPED_TEST(HistoryOf, AnEndedJobIsFoundAsItWas) {
  const JobId id = this->ended_job("done", core::Outcome::failed);
  const auto archived = std::get<core::ArchiveJob>(this->world.batch.archive.back());
  this->commit();
  const EndedJob job = must(this->history().job(id));
  EXPECT_TRUE(job.job == archived.job);
  EXPECT_EQ(job.terms, archived.terms);
  EXPECT_EQ(job.outcome, core::Outcome::failed);
  EXPECT_EQ(job.ended, archived.ended);
  EXPECT_EQ(must(this->history().count()), 1u);
  EXPECT_EQ(must(this->history().payload(id)), "payload of done");
  EXPECT_EQ(this->history().job({99}).error().code, ErrorCode::not_found);
}

TYPED_TEST(HistoryOf, PagesGoFromTheNewestDown) {
  for (int i = 0; i < 10; ++i) this->ended_job("job");
  this->commit();
  EXPECT_EQ(this->ids({}, {}, 3), (std::vector<uint64_t>{10, 9, 8}));
  EXPECT_EQ(this->ids({}, {8}, 3), (std::vector<uint64_t>{7, 6, 5}));
  EXPECT_EQ(this->ids({}, {1}, 3), std::vector<uint64_t>{});
}

TYPED_TEST(HistoryOf, FiltersByEverythingThatPeopleAskFor) {
  this->ended_job("alpha");
  this->world.ns = {2};
  this->world.user = {2};
  this->ended_job("beta", core::Outcome::failed);
  this->world.labels = {{"model", "t5"}, {"run", "a"}};
  this->ended_job("alphabet");
  const Time before_last = this->world.state.now;
  this->world.ns = {1};
  this->ended_job("gamma", core::Outcome::cancelled);
  this->commit();
  using Ids = std::vector<uint64_t>;
  EXPECT_EQ(this->ids({.ns = NamespaceId{2}}), (Ids{3, 2}));
  EXPECT_EQ(this->ids({.visible = {{1}}}), (Ids{4, 1}));
  EXPECT_EQ(this->ids({.visible = {{2}, {1}}}), (Ids{4, 3, 2, 1}));
  EXPECT_EQ(this->ids({.visible = {{2}, {1}}}, {4}, 2), (Ids{3, 2}));
  EXPECT_EQ(this->ids({.visible = std::vector<NamespaceId>(40, NamespaceId{1})}), (Ids{4, 1}));
  EXPECT_EQ(this->ids({.user = UserId{2}}), (Ids{4, 3, 2}));
  EXPECT_EQ(this->ids({.outcome = core::Outcome::failed}), Ids{2});
  EXPECT_EQ(this->ids({.outcome = core::Outcome::succeeded}), (Ids{3, 1}));
  EXPECT_EQ(this->ids({.name = "alpha"}), (Ids{3, 1}));
  EXPECT_EQ(this->ids({.labels = {{"run", "a"}}}), (Ids{4, 3}));
  EXPECT_EQ(this->ids({.labels = {{"run", "b"}}}), Ids{});
  EXPECT_EQ(this->ids({.ended_after = before_last}), Ids{4});
  EXPECT_EQ(this->ids({.ns = NamespaceId{2}, .visible = {{1}}}), Ids{});
  EXPECT_EQ(this->ids({.ns = NamespaceId{2},
                       .user = UserId{2},
                       .outcome = core::Outcome::failed,
                       .name = "et"}),
            Ids{2});
}

TYPED_TEST(HistoryOf, AttemptsComeInOrderAndInPages) {
  core::JobSubmitted array;
  array.id = {1};
  array.ns = {1};
  array.user = {1};
  array.array = true;
  array.indices = IntervalSet({0, 4});
  this->world.happen(array);
  for (uint32_t index : {3u, 1u, 0u, 4u}) {
    for (uint32_t attempt : {1u, 2u}) {
      const AttemptId id{{1}, index, attempt};
      this->world.happen(core::TaskPlaced{.attempt = id, .placement = {.site = {1}, .node = "n1"}});
      if (attempt == 1)
        this->world.happen(core::TaskRetried{.attempt = id});
      else
        this->world.happen(core::TaskEnded{.attempt = id});
    }
  }
  this->commit();
  const auto first = must(this->history().attempts({1}, {}, 3));
  ASSERT_EQ(first.size(), 3u);
  EXPECT_EQ(first[0].attempt, (AttemptId{{1}, 0, 1}));
  EXPECT_TRUE(first[0].retried);
  EXPECT_EQ(first[2].attempt, (AttemptId{{1}, 1, 1}));
  const auto rest = must(this->history().attempts({1}, first[2].attempt, 100));
  ASSERT_EQ(rest.size(), 5u);
  EXPECT_EQ(rest[0].attempt, (AttemptId{{1}, 1, 2}));
  EXPECT_EQ(rest[4].attempt, (AttemptId{{1}, 4, 2}));
  EXPECT_EQ(must(this->history().last_attempt({1}, 4))->attempt, (AttemptId{{1}, 4, 2}));
  EXPECT_FALSE(must(this->history().last_attempt({1}, 5)));
  EXPECT_FALSE(must(this->history().last_attempt({2}, 0)));
}

TYPED_TEST(HistoryOf, AKeyFindsItsJob) {
  const JobId id = this->world.submit("job", "payload", "key");
  this->commit();
  EXPECT_EQ(must(this->history().job_for_key({1}, "key")), id);
  EXPECT_EQ(must(this->history().job_for_key({2}, "key")), std::nullopt);
}

TYPED_TEST(HistoryOf, AReopenedJobLeavesHistoryAndKeepsItsAttemptsAndPayload) {
  const JobId id = this->ended_job("again");
  const core::JobSubmitted submitted =
      std::get<core::JobSubmitted>(this->world.batch.events[7].body);
  this->commit();
  this->world.happen(
      core::JobReopened{.job = submitted, .submitted = {5}, .attempts = {1}, .tally = {}});
  this->commit();
  EXPECT_FALSE(this->history().job(id));
  EXPECT_EQ(must(this->history().count()), 0u);
  EXPECT_EQ(must(this->history().attempts(id, {}, 10)).size(), 1u);
  EXPECT_EQ(must(this->history().payload(id)), "payload of again");
}

TYPED_TEST(HistoryOf, PruningTakesEverythingAboutOldJobsAndNothingElse) {
  const JobId keyed = this->world.submit("old", "shared", "key");
  this->world.run(keyed);
  const Time cut = this->world.state.now + seconds(1);
  const JobId young = this->world.submit("young", "shared");
  this->world.run(young);
  const JobId live = this->world.submit("live", "shared");
  this->commit();
  EXPECT_EQ(must(this->kind.journal.prune(cut, 100)), std::vector<JobId>{keyed});
  EXPECT_FALSE(this->history().job(keyed));
  EXPECT_FALSE(this->history().payload(keyed));
  EXPECT_TRUE(must(this->history().attempts(keyed, {}, 10)).empty());
  EXPECT_EQ(must(this->history().job_for_key({1}, "key")), std::nullopt);
  EXPECT_EQ(must(this->history().payload(young)), "shared");
  EXPECT_EQ(must(this->kind.journal.prune(Time{INT64_MAX}, 100)), std::vector<JobId>{young});
  EXPECT_EQ(must(this->history().payload(live)), "shared");
  EXPECT_EQ(must(this->history().count()), 0u);
  EXPECT_TRUE(must(this->kind.journal.load()).state == this->world.state);
}

TYPED_TEST(HistoryOf, APrunedPayloadIsStoredAnewWhenItComesAgain) {
  this->ended_job("once");
  this->commit();
  must(this->kind.journal.prune(Time{INT64_MAX}, 100));
  const JobId again = this->world.submit("twice", "payload of once");
  this->commit();
  EXPECT_EQ(must(this->history().payload(again)), "payload of once");
}

TEST(Retention, AJobOfManyAttemptsIsPrunedInPieces) {
  OnDisk disk;
  World world;
  world.found();
  core::JobSubmitted array;
  array.id = {1};
  array.ns = {1};
  array.user = {1};
  array.array = true;
  array.indices = IntervalSet({0, 99});
  world.happen(array);
  for (uint32_t index = 0; index < 100; ++index) {
    world.happen(
        core::TaskPlaced{.attempt = {{1}, index, 1}, .placement = {.site = {1}, .node = "n1"}});
    world.happen(core::TaskEnded{.attempt = {{1}, index, 1}});
  }
  world.happen(core::JobEnded{.id = {1}});
  must(disk.journal.commit(world.take()));
  int calls = 1;
  while (must(disk.journal.prune(Time{INT64_MAX}, 30)).empty()) ++calls;
  EXPECT_EQ(calls, 4);
  EXPECT_TRUE(must(disk.journal.history().attempts({1}, {}, 10)).empty());
}

}  // namespace
}  // namespace atl::journal
