// Workflows that know of each other, and those whose time is over.
#include <gtest/gtest.h>

#include "core/test_world.h"

namespace atl::core {
namespace {

class LaneWorld : public TestWorld {
 public:
  LaneWorld() { nodes({node("n1", 4)}); }

  static SubmitWorkflow flow(Overlap overlap) {
    SubmitWorkflow flow;
    flow.ns = "lab";
    flow.name = "flow";
    flow.kinds = {StepKind{TestWorld::job().terms, {}}};
    flow.steps.resize(1);
    flow.steps[0].name = "a";
    flow.lane = "nightly";
    flow.overlap = overlap;
    return flow;
  }
  WorkflowId begin(const SubmitWorkflow& flow) {
    run(Request{admin(), flow});
    settle();
    return WorkflowId{state.counters.workflow};
  }
  bool started(WorkflowId id) const { return state.workflows.at(id).count(StepState::running) > 0; }
  void finish(WorkflowId id) {
    const JobId job = state.workflows.at(id).steps[0].job;
    run(Report{AttemptStarted{{job, 0, 1}, now}});
    run(Report{AttemptEnded{{job, 0, 1}, {}}});
    settle();
  }
};

TEST(Lane, OneThatWaitsStartsWhenThoseBeforeItHaveEnded) {
  LaneWorld world;
  const WorkflowId first = world.begin(LaneWorld::flow(Overlap::wait));
  const WorkflowId second = world.begin(LaneWorld::flow(Overlap::wait));
  const WorkflowId third = world.begin(LaneWorld::flow(Overlap::wait));
  EXPECT_TRUE(world.started(first));
  EXPECT_TRUE(workflow::held(world.state.workflows.at(second)));
  EXPECT_FALSE(world.started(second));
  world.finish(first);
  EXPECT_TRUE(world.started(second));
  EXPECT_FALSE(world.started(third));
  world.run(Request{LaneWorld::admin(), CancelWorkflow{third}});
  world.settle();
  EXPECT_FALSE(world.state.workflow(third)) << "one that is held can be cancelled";
}

TEST(Lane, AnotherOneIsRefusedOrGoesItsOwnWay) {
  LaneWorld world;
  const WorkflowId first = world.begin(LaneWorld::flow(Overlap::refuse));
  const auto refused = world.attempt(Request{LaneWorld::admin(), LaneWorld::flow(Overlap::refuse)});
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, ErrorCode::conflict);
  EXPECT_TRUE(world.started(world.begin(LaneWorld::flow(Overlap::allow))));
  EXPECT_TRUE(world.started(first));
}

TEST(Lane, OneThatReplacesStartsWhenTheOthersHaveEnded) {
  LaneWorld world;
  const WorkflowId first = world.begin(LaneWorld::flow(Overlap::replace));
  const JobId job = world.state.workflows.at(first).steps[0].job;
  world.run(Report{AttemptStarted{{job, 0, 1}, world.now}});
  const WorkflowId second = world.begin(LaneWorld::flow(Overlap::replace));
  EXPECT_TRUE(world.state.workflows.at(first).cancelled);
  EXPECT_EQ(world.state.workflows.at(first).stopped, "workflow 2 took its place");
  EXPECT_FALSE(world.started(second)) << "the first one's task still runs";
  world.run(Report{AttemptEnded{{job, 0, 1}, {}}});
  world.settle();
  EXPECT_FALSE(world.state.workflow(first));
  EXPECT_TRUE(world.started(second));
}

TEST(Lane, OneWhoseTimeIsOverHasFailed) {
  LaneWorld world;
  SubmitWorkflow flow = LaneWorld::flow(Overlap::wait);
  flow.time_limit = minutes(5);
  const WorkflowId first = world.begin(flow);
  const WorkflowId second = world.begin(flow);
  EXPECT_EQ(next_timer(world.state, world.now), world.state.workflows.at(first).until);
  world.now = world.now + minutes(4);
  world.finish(first);
  world.now = world.now + minutes(4);
  world.settle();
  EXPECT_TRUE(world.started(second)) << "waiting for others does not count";
  world.now = world.now + minutes(2);
  world.settle();
  const Workflow& late = world.state.workflows.at(second);
  EXPECT_TRUE(late.cancelled && late.overran);
  EXPECT_EQ(late.stopped, "it took longer than 5m");
  EXPECT_EQ(broken_invariant(world.state), "");
}

TEST(Lane, ATimeThatMakesNoSenseIsRefused) {
  LaneWorld world;
  SubmitWorkflow flow = LaneWorld::flow(Overlap::wait);
  flow.time_limit = hours(24 * 400);
  const auto refused = world.attempt(Request{LaneWorld::admin(), flow});
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().field, "time_limit");
}

}  // namespace
}  // namespace atl::core
