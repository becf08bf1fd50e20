// What people may ask of workflows, what they are refused, and what becomes of late answers.
#include <gtest/gtest.h>

#include <algorithm>

#include "core/limits.h"
#include "core/test_world.h"

namespace atl::core {
namespace {

NewStep step(std::string name, std::vector<Need> needs = {}) {
  NewStep step;
  step.name = std::move(name);
  step.needs = std::move(needs);
  return step;
}

class FlowWorld : public TestWorld {
 public:
  FlowWorld() {
    nodes({node("n1", 4)});
    run(Request{admin(), CreateUser{"bob", false, {}}});
    run(Request{admin(), CreateUser{"eve", false, {}}});
    run(Request{admin(), SetMember{"lab", "bob", Role::member}});
  }

  static SubmitWorkflow flow(std::vector<NewStep> steps) {
    SubmitWorkflow flow;
    flow.ns = "lab";
    flow.name = "flow";
    flow.kinds = {StepKind{TestWorld::job().terms, {}}};
    flow.steps = std::move(steps);
    return flow;
  }
  WorkflowId begin(SubmitWorkflow flow, Actor actor = admin()) {
    run(Request{actor, std::move(flow)});
    settle();
    return WorkflowId{state.counters.workflow};
  }
  AddSteps more(WorkflowId id, std::vector<NewStep> steps) {
    AddSteps add;
    add.id = id;
    add.kinds = {StepKind{TestWorld::job().terms, {}}};
    add.steps = std::move(steps);
    return add;
  }
  const Workflow& of(WorkflowId id = WorkflowId{1}) const { return state.workflows.at(id); }
  StepState how(uint32_t number) const { return of().steps[number].state; }
  // The job of the step runs and ends.
  void finish(uint32_t number, int exit_code = 0) {
    const JobId job = of().steps[number].job;
    run(Report{AttemptStarted{{job, 0, 1}, now}});
    AttemptResult result;
    result.exit_code = exit_code;
    run(Report{AttemptEnded{{job, 0, 1}, result}});
    settle();
  }
  Error refusal(Command command, Actor actor = admin()) {
    const auto events = attempt(Request{actor, std::move(command)});
    EXPECT_FALSE(events.has_value());
    return events ? Error{} : events.error();
  }
  void refuses(Command command, ErrorCode code, const std::string& field, const std::string& what,
               Actor actor = admin()) {
    const Error error = refusal(std::move(command), actor);
    EXPECT_EQ(error.code, code) << error.message;
    EXPECT_EQ(error.field, field) << error.message;
    EXPECT_NE(error.message.find(what), std::string::npos) << error.message;
  }
  static Actor bob() { return {UserId{2}, false, {}}; }
  static Actor eve() { return {UserId{3}, false, {}}; }
};

TEST(DecideWorkflow, AWorkflowThatMakesNoSenseIsRefused) {
  FlowWorld world;
  using enum ErrorCode;
  const auto refuses = [&](SubmitWorkflow flow, ErrorCode code, const char* field,
                           const char* what) { world.refuses(std::move(flow), code, field, what); };
  refuses(FlowWorld::flow({}), invalid, "steps", "needs steps");
  refuses(FlowWorld::flow({step("")}), invalid, "steps[0].name", "needs a name");
  refuses(FlowWorld::flow({step("a\tb")}), invalid, "steps[0].name", "");
  refuses(FlowWorld::flow({step("a"), step("a")}), conflict, "steps[1].name", "already");
  refuses(FlowWorld::flow({step("a", {{0}})}), invalid, "steps[0].needs", "not before it");
  refuses(FlowWorld::flow({step("a"), step("b", {{2}})}), invalid, "steps[1].needs",
          "not before it");
  SubmitWorkflow kind = FlowWorld::flow({step("a")});
  kind.steps[0].kind = 1;
  refuses(kind, invalid, "steps[0].kind", "of no kind");
  SubmitWorkflow none = FlowWorld::flow({step("a")});
  none.steps[0].indices = {};
  refuses(none, invalid, "steps[0].for_each", "0 tasks");
  SubmitWorkflow many = FlowWorld::flow({step("a")});
  many.steps[0].indices = IntervalSet({0, kArraySizeMax});
  refuses(many, invalid, "steps[0].for_each", "10000001 tasks");
  SubmitWorkflow name = FlowWorld::flow({step("a")});
  name.name = "a\nb";
  refuses(name, invalid, "name", "");
  refuses(FlowWorld::flow(std::vector<NewStep>(kStepsBatchMax + 1, step("a"))), invalid, "steps",
          "2000 steps");
  EXPECT_TRUE(world.state.workflows.empty());
}

TEST(DecideWorkflow, NeedsBeyondTheirBoundAreRefused) {
  FlowWorld world;
  SubmitWorkflow flow = FlowWorld::flow({step("a"), step("b")});
  flow.steps[1].needs.assign(kStepNeedsMax + 1, Need{0});
  world.refuses(std::move(flow), ErrorCode::invalid, "steps[1].needs", "100000 others");
}

TEST(DecideWorkflow, ItsKindsAreJudgedAsJobsAre) {
  FlowWorld world;
  SubmitWorkflow flow = FlowWorld::flow({step("a")});
  flow.kinds[0].terms.resources.cpu_milli = 0;
  EXPECT_EQ(world.refusal(flow).code, ErrorCode::invalid);
  flow.kinds[0].terms.resources.cpu_milli = 64'000;
  EXPECT_EQ(world.refusal(flow).code, ErrorCode::infeasible);
  flow.keep = true;
  world.begin(flow);
  EXPECT_EQ(world.how(0), StepState::running);
}

TEST(DecideWorkflow, AGangHasTheTasksThatItIsMadeOf) {
  FlowWorld world;
  SubmitWorkflow flow = FlowWorld::flow({step("a")});
  flow.kinds[0].terms.gang = 3;
  world.refuses(flow, ErrorCode::invalid, "steps[0].for_each", "gang");
  flow.steps[0].indices = IntervalSet({0, 2});
  flow.steps[0].array = true;
  world.begin(flow);
  EXPECT_EQ(world.how(0), StepState::running);
}

TEST(DecideWorkflow, WhatIsPreparedAsNoGangHasFailed) {
  FlowWorld world;
  SubmitWorkflow flow = FlowWorld::flow({step("a"), step("b")});
  flow.kinds.push_back(flow.kinds[0]);
  flow.kinds[1].terms.gang = 3;
  flow.steps[0].kind = 1;
  flow.steps[0].prepared = true;
  const WorkflowId id = world.begin(flow);
  StepPrepared prepared;
  prepared.step = {id, 0};
  prepared.opening = world.of().steps[0].opening;
  world.run(Report{prepared});
  EXPECT_EQ(world.how(0), StepState::failed);
}

TEST(DecideWorkflow, AnAddedStepOfNoKindIsRefusedWhateverItsNumber) {
  FlowWorld world;
  const WorkflowId id = world.begin(FlowWorld::flow({step("a")}));
  AddSteps add = world.more(id, {step("b")});
  for (const uint32_t kind : {1u, UINT32_MAX}) {  // the last one would come round to the first
    add.steps[0].kind = kind;
    world.refuses(add, ErrorCode::invalid, "steps[0].kind", "is of no kind");
  }
}

TEST(DecideWorkflow, AnEndedOneIsRetriedOnlyWhereThereIsRoom) {
  FlowWorld world;
  RetryWorkflow retry{WorkflowId{1}, {}, Workflow{}};
  retry.ended->id = {1};
  retry.ended->ns = NamespaceId{1};
  retry.ended->user = UserId{1};
  for (uint64_t i = 2; i < kWorkflowsMax + 2; ++i)
    world.state.workflows[WorkflowId{i}].ns = NamespaceId{1};
  world.refuses(retry, ErrorCode::exhausted, "", "10000 workflows are under way");
}

TEST(DecideWorkflow, OnlyWhoMayAsks) {
  FlowWorld world;
  using enum ErrorCode;
  EXPECT_EQ(world.refusal(FlowWorld::flow({step("a")}), FlowWorld::eve()).code, not_found);
  SubmitWorkflow elsewhere = FlowWorld::flow({step("a")});
  elsewhere.ns = "nowhere";
  EXPECT_EQ(world.refusal(elsewhere).code, not_found);
  const WorkflowId id = world.begin(FlowWorld::flow({step("a"), step("b", {{0}})}));
  // Bob sees it and it is not his; Eve does not even see it.
  world.refuses(CancelWorkflow{id}, forbidden, "id", "another user", FlowWorld::bob());
  world.refuses(PauseWorkflow{id}, forbidden, "id", "another user", FlowWorld::bob());
  world.refuses(RetryWorkflow{id, {}, {}}, forbidden, "id", "another user", FlowWorld::bob());
  world.refuses(world.more(id, {step("c")}), forbidden, "id", "another user", FlowWorld::bob());
  world.refuses(CancelWorkflow{id}, not_found, "id", "no workflow 1", FlowWorld::eve());
  for (const Command& command :
       {Command{CancelWorkflow{WorkflowId{9}}}, Command{PauseWorkflow{WorkflowId{9}}},
        Command{RetryWorkflow{WorkflowId{9}, {}, {}}}, Command{world.more(WorkflowId{9}, {})}})
    world.refuses(command, not_found, "id", "no workflow 9");
}

TEST(DecideWorkflow, StepsAreAddedOnlyWhereTheyCanRun) {
  FlowWorld world;
  using enum ErrorCode;
  const WorkflowId id = world.begin(FlowWorld::flow({step("a"), step("b"), step("c", {{0}})}));
  world.finish(0, 1);
  AddSteps add = world.more(id, {step("d", {{0}})});
  world.refuses(add, conflict, "steps[0].needs", R"(needs "a", which has ended as failed)");
  add.steps[0].needs = {{2}};
  world.refuses(add, conflict, "steps[0].needs", R"(needs "c", which has ended as blocked)");
  add.steps[0] = step("a");
  world.refuses(add, conflict, "steps[0].name", "already");
  add.steps[0] = step("d");
  add.needs = {{{"nobody", Need{}}}};
  world.refuses(add, invalid, "steps[0].needs", R"(needs "nobody", which is no step before it)");
  add.steps[0].kind = 1;
  add.needs.clear();
  world.refuses(add, invalid, "steps[0].kind", "of no kind");
  add.steps[0].kind = 0;
  add.needs = {{{"a", Need{0, true, false}}}};
  world.run(Request{TestWorld::admin(), add});
  world.settle();
  EXPECT_EQ(world.how(3), StepState::running);
  world.run(Request{TestWorld::admin(), CancelWorkflow{id}});
  world.refuses(world.more(id, {step("e")}), conflict, "id", "is being cancelled");
}

TEST(DecideWorkflow, RetryNamesWhatItCannotRunAgain) {
  FlowWorld world;
  using enum ErrorCode;
  const WorkflowId id =
      world.begin(FlowWorld::flow({step("a"), step("b"), step("c", {{0, true, false}})}));
  world.refuses(RetryWorkflow{id, {}, {}}, conflict, "id", "has failed or was cancelled");
  world.refuses(RetryWorkflow{id, {"x"}, {}}, not_found, "steps", R"(no step "x")");
  world.refuses(RetryWorkflow{id, {"b"}, {}}, conflict, "steps", R"("b" has not ended)");
  world.finish(0, 1);
  ASSERT_EQ(world.how(2), StepState::running);
  world.refuses(RetryWorkflow{id, {"a"}, {}}, conflict, "steps",
                R"("c", which needs "a", is under way)");
}

// A step that is blocked cannot run without what it needs: that runs again with it.
TEST(DecideWorkflow, RetryOfABlockedStepRunsWhatKeptItFromRunning) {
  FlowWorld world;
  const WorkflowId id = world.begin(FlowWorld::flow({step("a"), step("b", {{0}}), step("c")}));
  world.finish(0, 1);
  ASSERT_EQ(world.how(1), StepState::blocked);
  world.run(Request{TestWorld::admin(), RetryWorkflow{id, {"b"}, {}}});
  world.settle();
  EXPECT_EQ(world.how(0), StepState::running);
  EXPECT_EQ(world.how(1), StepState::waiting);
  world.finish(0);
  EXPECT_EQ(world.how(1), StepState::running);
}

// `c` fell with the failure of `a`, and would have been skipped with `b` in any case.
TEST(DecideWorkflow, RetryDoesNotWaitForOneThatWasSkipped) {
  FlowWorld world;
  SubmitWorkflow flow = FlowWorld::flow({step("a"), step("b"), step("c", {{0}, {1}}), step("d")});
  flow.steps[1].prepared = true;
  const WorkflowId id = world.begin(flow);
  world.finish(0, 1);
  StepPrepared skip;
  skip.step = {id, 1};
  skip.result = StepPrepared::Result::skip;
  skip.message = "its condition does not hold";
  skip.opening = world.of().steps[1].opening;
  world.run(Report{skip});
  ASSERT_EQ(world.how(2), StepState::blocked);
  world.run(Request{TestWorld::admin(), RetryWorkflow{id, {}, {}}});
  world.settle();
  EXPECT_EQ(world.how(1), StepState::preparing);
  EXPECT_TRUE(world.run(Report{skip}).empty());  // it answers to what was asked before
  skip.opening = world.of().steps[1].opening;
  world.run(Report{skip});
  world.finish(0);
  EXPECT_EQ(world.how(2), StepState::skipped);
  world.finish(3);
  EXPECT_TRUE(world.state.workflows.empty());
}

TEST(DecideWorkflow, OneThatIsCancelledBeforeAllOfItIsThereEndsAtOnce) {
  FlowWorld world;
  SubmitWorkflow flow = FlowWorld::flow({step("a")});
  flow.sealed = false;
  const WorkflowId id = world.begin(flow);
  EXPECT_EQ(world.how(0), StepState::ready);
  world.run(Request{TestWorld::admin(), CancelWorkflow{id}});
  world.settle();
  EXPECT_TRUE(world.state.workflows.empty());
}

TEST(DecideWorkflow, OneThatIsNeverSealedEndsWithAllItsSteps) {
  FlowWorld world;
  SubmitWorkflow flow = FlowWorld::flow({step("a"), step("b", {{0}})});
  flow.sealed = false;
  world.begin(flow);
  world.now = world.now + kUnsealedMax;
  Events seen;
  for (Events more = world.run(Tick{}); !more.empty(); more = world.run(Tick{}))
    seen.insert(seen.end(), more.begin(), more.end());
  const auto& end = std::get<WorkflowEnded>(seen.back().body);
  EXPECT_EQ(end.outcome, Outcome::cancelled);
  EXPECT_EQ(end.message, "not all of its steps arrived");
  EXPECT_EQ(end.tally[static_cast<size_t>(StepState::cancelled)], 2u);
  EXPECT_TRUE(std::ranges::any_of(seen, [](const Event& event) {
    const auto* steps = std::get_if<StepsEnded>(&event.body);
    return steps && steps->steps == IntervalSet({0, 1});
  }));
}

TEST(DecideWorkflow, LateAnswersChangeNothing) {
  FlowWorld world;
  SubmitWorkflow flow = FlowWorld::flow({step("a"), step("z")});
  flow.steps[0].prepared = flow.steps[0].collected = true;
  const WorkflowId id = world.begin(flow);
  StepPrepared prepared;
  prepared.step = {id, 0};
  prepared.opening = world.of().steps[0].opening;
  EXPECT_FALSE(world.run(Report{prepared}).empty());
  EXPECT_TRUE(world.run(Report{prepared}).empty());
  world.settle();
  StepCollected collected{{id, 0}, world.of().steps[0].job};
  EXPECT_TRUE(world.run(Report{collected}).empty());
  world.finish(0);
  ASSERT_EQ(world.how(0), StepState::collecting);
  EXPECT_TRUE(world.run(Report{collected}).empty());
  collected.opening = world.of().steps[0].opening;
  StepCollected other = collected;
  other.job = JobId{77};
  EXPECT_TRUE(world.run(Report{other}).empty());
  EXPECT_FALSE(world.run(Report{collected}).empty());
  EXPECT_EQ(world.how(0), StepState::succeeded);
  prepared.step = {WorkflowId{9}, 0};
  EXPECT_TRUE(world.run(Report{prepared}).empty());
  prepared.step = {id, 9};
  EXPECT_TRUE(world.run(Report{prepared}).empty());
}

// After a crash nobody knows whether they were carried out.
TEST(DecideWorkflow, WhatIsPreparedAndCollectedIsAskedForAgain) {
  FlowWorld world;
  SubmitWorkflow flow = FlowWorld::flow({step("a"), step("b")});
  flow.steps[0].prepared = flow.steps[1].collected = true;
  const WorkflowId id = world.begin(flow);
  world.finish(1);
  const Effects again = pending_steps(world.state);
  ASSERT_EQ(again.size(), 2u);
  EXPECT_EQ(std::get<PrepareStep>(again[0]).step, (StepRef{id, 0}));
  EXPECT_EQ(std::get<CollectStep>(again[1]).job, world.of().steps[1].job);
}

TEST(DecideWorkflow, ANamespaceWithAWorkflowStays) {
  FlowWorld world;
  SubmitWorkflow flow = FlowWorld::flow({step("a")});
  flow.paused = true;
  world.begin(flow);
  world.refuses(DeleteNamespace{"lab"}, ErrorCode::conflict, "name", "1 workflows");
}

TEST(DecideWorkflow, AJobOfAStepIsNotRequeuedByHand) {
  FlowWorld world;
  world.begin(FlowWorld::flow({step("a"), step("b")}));
  const JobId job = world.of().steps[0].job;
  world.finish(0, 1);
  JobReopened ended;
  ended.job.id = job;
  ended.job.ns = NamespaceId{1};
  ended.job.user = UserId{1};
  ended.job.of = {WorkflowId{1}, 0};
  ended.job.indices = IntervalSet({0, 0});
  world.refuses(RequeueJob{job, {}, ended}, ErrorCode::conflict, "id", "a step of workflow 1");
}

// Two workflows are advanced by one tick, and what is being prepared will be a job soon.
TEST(DecideWorkflow, TheQuotaOfJobsIsSharedByWorkflows) {
  FlowWorld world;
  Quota quota;
  quota.queued = 1;
  world.run(Request{TestWorld::admin(), SetQuota{"lab", quota}});
  SubmitWorkflow flow = FlowWorld::flow({step("a"), step("b")});
  world.run(Request{TestWorld::admin(), flow});
  world.run(Request{TestWorld::admin(), flow});
  world.settle();
  EXPECT_EQ(world.state.jobs.size(), 1u);
  quota.queued = 3;
  world.run(Request{TestWorld::admin(), SetQuota{"lab", quota}});
  for (NewStep& each : flow.steps) each.prepared = true;
  world.run(Request{TestWorld::admin(), CancelWorkflow{WorkflowId{1}}});
  world.run(Request{TestWorld::admin(), CancelWorkflow{WorkflowId{2}}});
  world.begin(flow);
  world.begin(flow);
  uint64_t preparing = 0;
  for (const auto& [id, each] : world.state.workflows)
    preparing += each.count(StepState::preparing);
  EXPECT_EQ(preparing + world.state.jobs.size(), 3u);
}

TEST(DecideWorkflow, AsManyAsAllowedAreUnderWayAndTheQuotaOfJobsHolds) {
  FlowWorld world;
  SubmitWorkflow flow = FlowWorld::flow({step("a"), step("b"), step("c")});
  flow.parallel_max = 2;
  world.begin(flow);
  EXPECT_EQ(world.of().under_way, 2u);
  Quota quota;
  quota.queued = 2;
  world.run(Request{TestWorld::admin(), SetQuota{"lab", quota}});
  world.begin(FlowWorld::flow({step("a")}));
  EXPECT_EQ(world.of(WorkflowId{2}).under_way, 0u);
  world.run(Request{TestWorld::admin(), SetQuota{"lab", {}}});
  world.settle();
  EXPECT_EQ(world.of(WorkflowId{2}).under_way, 1u);
}

}  // namespace
}  // namespace atl::core
