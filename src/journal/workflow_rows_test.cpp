// What both journals promise about workflows.
#include "journal/workflow_rows.h"

#include <gtest/gtest.h>
#include <sqlite3.h>

#include "journal/home.h"
#include "journal/memory_journal.h"
#include "journal/sqlite_journal.h"
#include "journal/testing.h"

namespace atl::journal {
namespace {

using core::Outcome;
using core::StepState;

struct FlowsOnDisk {
  TempDir dir;
  std::unique_ptr<SqliteJournal> opened = must(SqliteJournal::open(dir / "home"));
  SqliteJournal& journal = *opened;
};
struct FlowsInMemory {
  MemoryJournal journal;
};

core::StepTally tally_of(StepState state, uint32_t count) {
  core::StepTally tally{};
  tally[static_cast<size_t>(state)] = count;
  return tally;
}

template <class Kind>
class WorkflowHistory : public testing::Test {
 protected:
  WorkflowHistory() { world.found(); }
  void commit() { must(kind.journal.commit(world.take())); }
  History& history() { return kind.journal.history(); }
  Digest blob(const std::string& bytes) {
    world.batch.blobs.push_back(make_blob(bytes));
    return world.batch.blobs.back().digest;
  }

  // Steps `first` and `second`, which needs it; both run a script, `second` has a recipe.
  WorkflowId submit(const std::string& name, const std::string& files = "file") {
    const WorkflowId id{world.state.counters.workflow + 1};
    core::WorkflowSubmitted flow{id, world.ns, world.user, name};
    flow.files = blob(files);
    flow.document = "{\"set\":{}}";
    flow.parallel_max = 3;
    world.happen(flow);
    core::StepsAdded added{id, 0, {}, {}};
    added.kinds.resize(1);
    added.kinds[0].terms.resources.cpu_milli = 1000;
    added.kinds[0].labels = {{"model", "t5"}};
    added.steps.resize(2);
    added.steps[0].name = "first";
    added.steps[0].payload = blob("script of first");
    added.steps[1].name = "second";
    added.steps[1].payload = blob("script of second");
    added.steps[1].recipe = blob("recipe of second");
    added.steps[1].needs = {{0, true, false}};
    world.happen(added);
    world.happen(core::WorkflowSealed{id});
    return id;
  }
  JobId start(core::StepRef of) {
    core::JobSubmitted job;
    job.id = {world.state.counters.job + 1};
    job.ns = world.ns;
    job.user = world.user;
    job.name = world.state.workflows.at(of.workflow).steps[of.step].name;
    job.payload = world.state.workflows.at(of.workflow).steps[of.step].payload;
    job.indices = IntervalSet({0, 0});
    job.of = of;
    world.happen(job);
    return job.id;
  }
  void end(WorkflowId id, uint32_t step, StepState how, const std::string& cache = "") {
    core::StepsEnded ended{id, IntervalSet({step, step}), how, "why", "{\"n\":1}", {}, {}};
    if (!cache.empty()) ended.cache = make_blob(cache).digest;
    world.happen(ended);
  }
  // Both steps run and succeed, and so does all of it.
  WorkflowId whole(const std::string& name, const std::string& files = "file",
                   const std::string& cache = "") {
    const WorkflowId id = submit(name, files);
    for (uint32_t step : {0u, 1u}) {
      world.run(start({id, step}));
      end(id, step, StepState::succeeded, step == 1 ? cache : "");
    }
    world.happen(
        core::WorkflowEnded{id, Outcome::succeeded, "", tally_of(StepState::succeeded, 2)});
    return id;
  }
  std::vector<uint64_t> ids(const WorkflowFilter& filter, WorkflowId before = {}) {
    std::vector<uint64_t> found;
    for (const KeptWorkflow& each : must(history().workflows(filter, before, 100)))
      found.push_back(each.id.value);
    return found;
  }

  Kind kind;
  World world;
};
using FlowKinds = testing::Types<FlowsOnDisk, FlowsInMemory>;
TYPED_TEST_SUITE(WorkflowHistory, FlowKinds);

TYPED_TEST(WorkflowHistory, ALiveOneIsKeptAsItWasAskedFor) {
  const WorkflowId id = this->submit("flow");
  const Time submitted = this->world.batch.events[this->world.batch.events.size() - 3].at;
  this->commit();
  const KeptWorkflow kept = must(this->history().workflow(id));
  EXPECT_EQ(kept.name, "flow");
  EXPECT_EQ(kept.version, 1u);
  EXPECT_EQ(kept.submitted, submitted);
  EXPECT_EQ(kept.document, "{\"set\":{}}");
  EXPECT_EQ(kept.parallel_max, 3u);
  EXPECT_FALSE(kept.outcome);
  EXPECT_FALSE(kept.ended);
  EXPECT_EQ(must(this->history().workflow_files(id)), "file");
  EXPECT_EQ(this->history().workflow({9}).error().code, ErrorCode::not_found);
  EXPECT_EQ(this->history().workflow_files({9}).error().code, ErrorCode::not_found);
}

TYPED_TEST(WorkflowHistory, StepsAreKeptWithTheirKindsAndWhatTheyRun) {
  const WorkflowId id = this->submit("flow");
  this->commit();
  const auto steps = must(this->history().steps(id, 0, 10));
  ASSERT_EQ(steps.size(), 2u);
  EXPECT_EQ(steps[1].number, 1u);
  EXPECT_EQ(steps[1].step.name, "second");
  EXPECT_EQ(steps[1].step.needs, (std::vector<core::Need>{{0, true, false}}));
  EXPECT_FALSE(steps[1].state);
  const auto kinds = must(this->history().step_kinds(id));
  ASSERT_EQ(kinds.size(), 1u);
  EXPECT_EQ(kinds[0].labels, (core::Labels{{"model", "t5"}}));
  EXPECT_EQ(must(this->history().step_bytes({id, 0}, false)), "script of first");
  EXPECT_EQ(must(this->history().step_bytes({id, 1}, true)), "recipe of second");
  EXPECT_FALSE(this->history().step_bytes({id, 0}, true));
  EXPECT_FALSE(this->history().step_bytes({id, 7}, false));
  EXPECT_EQ(must(this->history().steps(id, 1, 10)).size(), 1u);
  EXPECT_EQ(must(this->history().steps(id, 0, 1)).size(), 1u);
  EXPECT_TRUE(must(this->history().steps({9}, 0, 10)).empty());
}

TYPED_TEST(WorkflowHistory, StepsThatAreAddedLaterFollow) {
  const WorkflowId id = this->submit("flow");
  this->commit();
  core::StepsAdded more{id, 2, {}, {}};
  more.kinds.resize(1);
  more.kinds[0].labels = {{"late", "yes"}};
  more.steps.resize(1);
  more.steps[0].name = "third";
  more.steps[0].kind = 1;
  this->world.happen(more);
  this->commit();
  EXPECT_EQ(must(this->history().steps(id, 0, 10)).back().step.name, "third");
  EXPECT_EQ(must(this->history().step_kinds(id)).back().labels, (core::Labels{{"late", "yes"}}));
}

// After a restart the writer knows no blob: it finds the step's.
TYPED_TEST(WorkflowHistory, AJobRunsWhatItsStepWasAddedWith) {
  const WorkflowId id = this->submit("flow");
  this->commit();
  if constexpr (std::is_same_v<TypeParam, FlowsOnDisk>) {
    this->kind.opened.reset();
    this->kind.opened = must(SqliteJournal::open(this->kind.dir / "home"));
    must(this->kind.opened->load());
    SqliteJournal& journal = *this->kind.opened;
    const JobId job = this->start({id, 0});
    must(journal.commit(this->world.take()));
    EXPECT_EQ(must(journal.payload(job)), "script of first");
  } else {
    const JobId job = this->start({id, 0});
    this->commit();
    EXPECT_EQ(must(this->history().payload(job)), "script of first");
  }
}

TYPED_TEST(WorkflowHistory, AnEndedOneIsKeptWithHowItEnded) {
  const WorkflowId id = this->submit("flow");
  const JobId job = this->start({id, 0});
  this->world.run(job, Outcome::failed);
  core::StepsEnded failed{id, IntervalSet({0, 0}), StepState::failed, "exit code 3", {}, {}, {},
                          job};
  this->world.happen(failed);
  const Time when = this->world.state.now;
  this->world.happen(
      core::StepsEnded{id, IntervalSet({1, 1}), StepState::blocked, "needs first", {}, {}, {}, {}});
  core::StepTally tally{};
  tally[static_cast<size_t>(StepState::failed)] = tally[static_cast<size_t>(StepState::blocked)] =
      1;
  this->world.happen(core::WorkflowEnded{id, Outcome::failed, "step first", tally});
  this->commit();
  const KeptWorkflow kept = must(this->history().workflow(id));
  EXPECT_EQ(kept.outcome, Outcome::failed);
  EXPECT_EQ(kept.message, "step first");
  EXPECT_EQ(kept.tally, tally);
  EXPECT_EQ(kept.ended, this->world.state.now);
  const auto steps = must(this->history().steps(id, 0, 10));
  EXPECT_EQ(steps[0].state, StepState::failed);
  EXPECT_EQ(steps[0].job, job);
  EXPECT_EQ(steps[0].ended, when);
  EXPECT_EQ(steps[0].message, "exit code 3");
  EXPECT_EQ(steps[1].state, StepState::blocked);
  EXPECT_EQ(steps[1].job, JobId{});
}

TYPED_TEST(WorkflowHistory, WhatIsReopenedIsAsIfItHadNeverRun) {
  const WorkflowId id = this->submit("flow");
  this->world.run(this->start({id, 0}));
  this->end(id, 0, StepState::succeeded);
  core::StepsEnded reused{id, IntervalSet({1, 1}), StepState::succeeded, "", "{\"n\":2}", {id, 1},
                          {}};
  this->world.happen(reused);
  this->commit();
  EXPECT_EQ(must(this->history().steps(id, 1, 1))[0].reused, (core::StepRef{id, 1}));
  core::Workflow was = this->world.state.workflows.at(id);
  this->world.happen(
      core::WorkflowEnded{id, Outcome::succeeded, "done", tally_of(StepState::succeeded, 2)});
  this->world.happen(core::WorkflowReopened{was});
  this->world.happen(core::StepsReopened{id, IntervalSet({0, 1})});
  this->commit();
  const KeptWorkflow kept = must(this->history().workflow(id));
  EXPECT_FALSE(kept.outcome);
  EXPECT_FALSE(kept.ended);
  EXPECT_EQ(kept.message, "");
  for (const KeptStep& step : must(this->history().steps(id, 0, 10))) {
    EXPECT_FALSE(step.state);
    EXPECT_FALSE(step.ended);
    EXPECT_EQ(step.job, JobId{});
    EXPECT_EQ(step.message + step.outputs, "");
    EXPECT_EQ(step.reused, core::StepRef{});
  }
}

TYPED_TEST(WorkflowHistory, PagesGoFromTheNewestDownAndFilter) {
  this->submit("alpha");
  this->world.ns = {2};
  this->submit("beta");
  this->world.user = {2};
  this->submit("alphabet");
  this->commit();
  using Ids = std::vector<uint64_t>;
  EXPECT_EQ(this->ids({}), (Ids{3, 2, 1}));
  EXPECT_EQ(this->ids({}, WorkflowId{3}), (Ids{2, 1}));
  EXPECT_EQ(this->ids({.ns = NamespaceId{2}}), (Ids{3, 2}));
  EXPECT_EQ(this->ids({.visible = {{1}}}), Ids{1});
  EXPECT_EQ(this->ids({.user = UserId{2}}), Ids{3});
  EXPECT_EQ(this->ids({.name = "alpha"}), (Ids{3, 1}));
  EXPECT_EQ(must(this->history().workflows({}, {}, 2)).size(), 2u);
}

TYPED_TEST(WorkflowHistory, TheSameFilesAreTheSameVersion) {
  this->submit("flow", "one");
  this->submit("flow", "two");
  this->commit();
  const WorkflowId again = this->submit("flow", "one");
  const WorkflowId other = this->submit("other", "two");
  this->commit();
  EXPECT_EQ(must(this->history().workflow(again)).version, 1u);
  EXPECT_EQ(must(this->history().workflow(other)).version, 1u);
  EXPECT_EQ(must(this->history().workflow_files(again)), "one");
  const auto versions = must(this->history().versions({1}, "flow"));
  ASSERT_EQ(versions.size(), 2u);
  EXPECT_EQ(versions[0].version, 2u);
  EXPECT_EQ(versions[0].digest, make_blob("two").digest);
  EXPECT_EQ(versions[1].version, 1u);
  EXPECT_TRUE(must(this->history().versions({2}, "flow")).empty());
}

TYPED_TEST(WorkflowHistory, ASuccessIsFoundByItsKeyInItsNamespace) {
  const Digest key = make_blob("key").digest;
  EXPECT_EQ(must(this->history().cached({1}, key)), std::nullopt);
  const WorkflowId old = this->whole("flow", "file", "key");
  this->commit();
  EXPECT_EQ(must(this->history().cached({1}, key)), (core::StepRef{old, 1}));
  EXPECT_EQ(must(this->history().cached({2}, key)), std::nullopt);
  const WorkflowId fresh = this->whole("flow", "file", "key");
  this->commit();
  EXPECT_EQ(must(this->history().cached({1}, key)), (core::StepRef{fresh, 1}));
  // A failure is not kept for others.
  const WorkflowId bad = this->submit("flow");
  this->world.run(this->start({bad, 0}));
  this->end(bad, 0, StepState::failed, "bad key");
  this->commit();
  EXPECT_EQ(must(this->history().cached({1}, make_blob("bad key").digest)), std::nullopt);
}

TYPED_TEST(WorkflowHistory, PruningTakesOldWorkflowsAndNothingElse) {
  const WorkflowId old = this->whole("old", "old file", "old key");
  const Time cut = this->world.state.now + seconds(1);
  const WorkflowId young = this->whole("young", "file", "key");
  const WorkflowId live = this->submit("live");
  this->commit();
  must(this->kind.journal.prune(cut, 100));
  EXPECT_EQ(this->history().workflow(old).error().code, ErrorCode::not_found);
  EXPECT_TRUE(must(this->history().steps(old, 0, 10)).empty());
  EXPECT_TRUE(must(this->history().step_kinds(old)).empty());
  EXPECT_EQ(must(this->history().cached({1}, make_blob("old key").digest)), std::nullopt);
  EXPECT_EQ(must(this->history().versions({1}, "old")).size(), 1u);
  EXPECT_EQ(must(this->history().cached({1}, make_blob("key").digest)), (core::StepRef{young, 1}));
  EXPECT_EQ(must(this->history().step_bytes({young, 0}, false)), "script of first");
  must(this->kind.journal.prune(Time{INT64_MAX}, 100));
  EXPECT_FALSE(this->history().workflow(young));
  EXPECT_EQ(must(this->history().steps(live, 0, 10)).size(), 2u);
  EXPECT_EQ(must(this->history().step_bytes({live, 1}, true)), "recipe of second");
  EXPECT_TRUE(must(this->kind.journal.load()).state == this->world.state);
}

// What runs again is not old, however long ago it ended for the first time.
TYPED_TEST(WorkflowHistory, AReopenedOneIsNotPruned) {
  const WorkflowId id = this->submit("flow");
  this->world.run(this->start({id, 0}));
  this->end(id, 0, StepState::succeeded);
  this->end(id, 1, StepState::skipped);
  core::Workflow was = this->world.state.workflows.at(id);
  this->world.happen(
      core::WorkflowEnded{id, Outcome::succeeded, "", tally_of(StepState::succeeded, 2)});
  this->world.happen(core::WorkflowReopened{was});
  this->world.happen(core::StepsReopened{id, IntervalSet({1, 1})});
  this->commit();
  must(this->kind.journal.prune(Time{INT64_MAX}, 100));
  EXPECT_TRUE(this->history().workflow(id));
  EXPECT_EQ(must(this->history().steps(id, 0, 10)).size(), 2u);
  EXPECT_TRUE(must(this->kind.journal.load()).state == this->world.state);
}

TYPED_TEST(WorkflowHistory, WhatJobsOfAQueueLeftIsKeptWithTheirItems) {
  const QueueId queue{1};
  World& world = this->world;
  world.happen(core::QueueSet{queue, world.ns, "urls", {}, false});
  world.happen(core::ItemsPut{queue, ItemId{1}, {{3}}, {}});
  world.happen(core::WorkflowSubmitted{{1}, world.ns, world.user, "flow"});
  core::StepsAdded added{{1}, 0, {core::StepKind{}}, std::vector<core::NewStep>(1)};
  added.steps[0].name = "work";
  added.steps[0].prepared = true;
  added.steps[0].feed = {"urls", 1, 1, 2, false};
  world.happen(added);
  world.happen(core::WorkflowSealed{{1}});
  const core::StepRef step{{1}, 0};
  world.happen(core::StepPreparing{step, 1});
  const Blob script = make_blob("script");
  world.batch.blobs.push_back(script);
  world.happen(core::StepFeeding{step, queue, script.digest});
  this->commit();
  // What is run is found again in later commits, without its bytes.
  for (const uint64_t lease : {1u, 2u}) {
    const std::vector<core::ItemRange> items{{ItemId{2 * lease - 1}, ItemId{lease == 1 ? 2u : 3u}}};
    core::JobSubmitted job;
    job.id = {lease};
    job.ns = world.ns;
    job.user = world.user;
    job.payload = script.digest;
    job.indices = IntervalSet({0, 0});
    job.of = step;
    job.lease = {lease};
    world.happen(core::ItemsLeased{queue, {lease}, {}, "work", items, job.id});
    world.happen(job);
    this->commit();
    EXPECT_EQ(must(this->kind.journal.payload(job.id)), "script");
    world.happen(core::FedJobEnded{step, job.id, items, items[0].count(), 0, 0, "{\"n\":1}"});
    world.happen(core::ItemsFinished{queue, {lease}, items});
    world.run(job.id);
    this->commit();
  }
  const auto rows = must(this->history().fed_outputs(step, {}, 10));
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].items, "1-2");
  EXPECT_EQ(rows[1].items, "3");
  EXPECT_EQ(rows[1].outputs, "{\"n\":1}");
  EXPECT_EQ(must(this->history().fed_outputs(step, rows[0].job, 10)).size(), 1u);
  EXPECT_TRUE(must(this->kind.journal.load()).state == world.state);
  core::StepsEnded ended{{1}, IntervalSet({0, 0}), StepState::succeeded, "", "", {}, {}, {2}, {}};
  ended.use = {Time{7}, 2, {Time{8}, Time{9}, seconds(3), 100, 1, 2, 55}};
  world.happen(ended);
  this->commit();
  EXPECT_EQ(must(this->history().steps({1}, 0, 1)).at(0).use, ended.use);
  world.happen(core::StepsReopened{{1}, IntervalSet({0, 0})});
  this->commit();
  EXPECT_EQ(must(this->history().steps({1}, 0, 1)).at(0).use, core::FeedUse{});
  this->end({1}, 0, StepState::succeeded);
  world.happen(core::WorkflowEnded{{1}, Outcome::succeeded, "", tally_of(StepState::succeeded, 1)});
  this->commit();
  must(this->kind.journal.prune(Time{INT64_MAX}, 100));
  EXPECT_TRUE(must(this->history().fed_outputs(step, {}, 10)).empty());
}

TEST(WorkflowRows, StepsFromBeforeFormat4HaveNoUse) {
  const TempDir dir;
  World world;
  {
    auto journal = must(SqliteJournal::open(dir.path()));
    world.found();
    world.happen(core::WorkflowSubmitted{{1}, world.ns, world.user, "flow"});
    core::StepsAdded added{{1}, 0, {core::StepKind{}}, std::vector<core::NewStep>(1)};
    added.steps[0].name = "work";
    world.happen(added);
    must(journal->commit(world.take()));
  }
  sqlite3* database = nullptr;
  ASSERT_EQ(sqlite3_open(database_path(dir.path()).c_str(), &database), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(database,
                         "ALTER TABLE steps DROP COLUMN use; UPDATE meta SET value = 3 WHERE key = "
                         "'format'",
                         nullptr, nullptr, nullptr),
            SQLITE_OK);
  sqlite3_close(database);
  auto journal = must(SqliteJournal::open(dir.path()));
  const auto steps = must(journal->history().steps({1}, 0, 1));
  ASSERT_EQ(steps.size(), 1u);
  EXPECT_EQ(steps[0].step.name, "work");
  EXPECT_EQ(steps[0].use, core::FeedUse{});
  world.happen(
      core::StepsEnded{{1}, IntervalSet({0, 0}), StepState::failed, "", "", {}, {}, {}, {}});
  must(journal->commit(world.take()));
}

TEST(Retention, AWorkflowOfManyStepsIsPrunedInPieces) {
  FlowsOnDisk disk;
  World world;
  world.found();
  world.happen(core::WorkflowSubmitted{{1}, {1}, {1}, "flow"});
  core::StepsAdded added{{1}, 0, {core::StepKind{}}, std::vector<core::NewStep>(100)};
  for (core::NewStep& step : added.steps)
    step.name = "s" + std::to_string(&step - added.steps.data());
  world.happen(added);
  world.happen(core::StepsEnded{{1}, IntervalSet({0, 99}), StepState::cancelled, "", "", {}, {}});
  world.happen(
      core::WorkflowEnded{{1}, Outcome::cancelled, "", tally_of(StepState::cancelled, 100)});
  must(disk.journal.commit(world.take()));
  int calls = 0;
  while (disk.journal.history().workflow({1})) {
    must(disk.journal.prune(Time{INT64_MAX}, 30));
    ASSERT_LT(++calls, 10);
  }
  EXPECT_EQ(calls, 4);
  EXPECT_TRUE(must(disk.journal.history().steps({1}, 0, 10)).empty());
}

}  // namespace
}  // namespace atl::journal
