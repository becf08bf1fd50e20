#include "core/scheduling/candidates.h"

#include "core/test_world.h"

namespace atl::core::scheduling {
namespace {

TEST(Candidates, HeldJobsAndThoseWithDependenciesAreNone) {
  TestWorld world;
  world.nodes({node("n1", 1)});
  SubmitJob held = TestWorld::job();
  held.held = true;
  const JobId id = world.submit(held);
  SubmitJob after = TestWorld::job();
  after.dependencies = {{id, DependencyKind::after_end, {}}};
  world.submit(after);
  EXPECT_TRUE(candidates(look(world.state, world.now), Tier::batch).empty());
  world.run(Request{TestWorld::admin(), ReleaseJob{id}});
  EXPECT_EQ(candidates(look(world.state, world.now), Tier::batch).size(), 1u);
  EXPECT_TRUE(candidates(look(world.state, world.now), Tier::interactive).empty());
}

TEST(Candidates, ANamespaceThatHasUsedUpItsQuotaIsNone) {
  TestWorld world;
  world.nodes({node("n1", 8)});
  Quota quota;
  quota.cpu_milli = 2000;
  world.run(Request{TestWorld::admin(), SetQuota{"lab", quota}});
  for (int i = 0; i < 4; ++i) world.submit(TestWorld::job(1000));
  EXPECT_EQ(candidates(look(world.state, world.now), Tier::batch).size(), 1u);
  world.settle();
  EXPECT_TRUE(candidates(look(world.state, world.now), Tier::batch).empty());
}

TEST(Candidates, JobsOfOneShapeAreOneQueueWhateverElseTheyAskFor) {
  TestWorld world;
  world.nodes({node("n1", 1)});
  for (int i = 1; i <= 60; ++i) {
    SubmitJob job = TestWorld::job(1000);
    job.terms.wall = minutes(60 + i);
    job.terms.priority = i % 3;
    world.submit(job);
  }
  const auto found = candidates(look(world.state, world.now), Tier::batch);
  ASSERT_EQ(found.size(), 1u);
  ASSERT_EQ(found[0].users->size(), 1u);
  EXPECT_LE(found[0].users->begin()->second.size(), 5u) << "four steps before the time doubles";
}

}  // namespace
}  // namespace atl::core::scheduling
