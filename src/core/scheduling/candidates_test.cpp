#include "core/scheduling/candidates.h"

#include "core/test_world.h"

namespace atl::core::scheduling {
namespace {

TEST(Candidates, EqualTermsAreOneCandidateHoweverManyJobs) {
  TestWorld world;
  world.nodes({node("n1", 1)});
  for (int i = 0; i < 50; ++i) world.submit(TestWorld::job(1000));
  for (int i = 0; i < 50; ++i) world.submit(TestWorld::job(500));
  const auto found = candidates(world.state);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].jobs->size() + found[1].jobs->size(), 100u);
}

TEST(Candidates, HeldJobsAndThoseWithDependenciesAreNone) {
  TestWorld world;
  world.nodes({node("n1", 1)});
  SubmitJob held = TestWorld::job();
  held.held = true;
  const JobId id = world.submit(held);
  SubmitJob after = TestWorld::job();
  after.dependencies = {{id, DependencyKind::after_end, {}}};
  world.submit(after);
  EXPECT_TRUE(candidates(world.state).empty());
  world.run(Request{TestWorld::admin(), ReleaseJob{id}});
  EXPECT_EQ(candidates(world.state).size(), 1u);
}

}  // namespace
}  // namespace atl::core::scheduling
