#include "core/scheduling/filter.h"

#include "core/test_world.h"

namespace atl::core::scheduling {
namespace {

Terms terms(int64_t cpu_milli, uint32_t gpus = 0) {
  Terms t;
  t.resources.cpu_milli = cpu_milli;
  if (gpus > 0) t.resources.devices = {{"gpu", "a100", gpus}};
  return t;
}

TEST(Filter, EachQuotaCountsWhatIsInUsePlusWhatIsAsked) {
  TestWorld world;
  world.nodes({node("n1", 8, 1 << 30, 4)});
  Quota quota;
  quota.cpu_milli = 2000;
  quota.devices = {{"gpu:a100", 1}};
  world.run(Request{TestWorld::admin(), SetQuota{"lab", quota}});
  const NamespaceId lab{1};
  EXPECT_FALSE(over_quota(look(world.state, world.now), lab, terms(2000)));
  EXPECT_EQ(over_quota(look(world.state, world.now), lab, terms(2001)),
            (Block{Obstacle::quota, "cpu", 2001, 0, 2000, "namespace lab"}));
  EXPECT_EQ(over_quota(look(world.state, world.now), lab, terms(1000, 2)),
            (Block{Obstacle::quota, "gpu:a100", 2000, 0, 1000, "namespace lab"}));
}

TEST(Filter, PlacementsOfTheSameRoundCount) {
  TestWorld world;
  world.nodes({node("n1", 8)});
  Quota quota;
  quota.running = 1;
  world.run(Request{TestWorld::admin(), SetQuota{"lab", quota}});
  const JobId id = world.submit(TestWorld::job());
  World seen = look(world.state, world.now);
  const Job& job = world.state.jobs.at(id);
  EXPECT_FALSE(over_quota(seen, job.ns, terms(1000)));
  take(seen, job, world.state.terms_of(job), Placement{SiteId{1}, "n1", {}}, 0);
  EXPECT_TRUE(over_quota(seen, job.ns, terms(1000)));
}

TEST(Filter, AnArrayKeepsToItsOwnLimit) {
  TestWorld world;
  world.nodes({node("n1", 8)});
  SubmitJob array = TestWorld::job();
  array.array = true;
  array.indices = IntervalSet({1, 10});
  array.terms.parallel_max = 3;
  const JobId id = world.submit(array);
  world.settle();
  EXPECT_EQ(world.state.jobs.at(id).placed, 3u);
  const auto block =
      over_array_limit(look(world.state, world.now), world.state.jobs.at(id), array.terms);
  ASSERT_TRUE(block);
  EXPECT_EQ(block->limit, 3);
}

}  // namespace
}  // namespace atl::core::scheduling
