#include "core/scheduling/rank.h"

#include "core/test_world.h"

namespace atl::core::scheduling {
namespace {

std::vector<uint64_t> order(const State& state, Time now) {
  const World world = look(state, now);
  Counting counting(world);
  Ranking ranking(counting, Tier::batch);
  std::vector<uint64_t> ids;
  while (const auto best = ranking.best()) {
    ids.push_back(best->job.value);
    ranking.advance();
  }
  return ids;
}

TEST(Rank, PriorityThenArrivalOfOneUser) {
  TestWorld world;
  world.nodes({node("n1", 8)});
  for (const int priority : {0, 5, 0, 9, 5}) {
    SubmitJob job = TestWorld::job(priority == 5 ? 500 : 1000);
    job.terms.priority = priority;
    world.submit(job);
  }
  EXPECT_EQ(order(world.state, world.now), (std::vector<uint64_t>{4, 2, 5, 1, 3}));
}

TEST(Rank, WaitingOutweighsPriority) {
  TestWorld world;
  world.nodes({node("n1", 8)});
  world.submit(TestWorld::job());
  for (const int hour : {1, 2, 3}) {
    world.now = Time{1} + hours(hour) + seconds(hour == 3);
    SubmitJob job = TestWorld::job();
    job.terms.priority = 3;
    world.submit(job);
  }
  EXPECT_EQ(order(world.state, world.now), (std::vector<uint64_t>{2, 3, 1, 4}))
      << "three steps of priority are worth three hours";
}

TEST(Rank, AmongEqualNamespacesTheNextJobThatCameFirst) {
  TestWorld world;
  world.nodes({node("n1", 8)});
  world.run(Request{TestWorld::admin(), CreateNamespace{"other", ""}});
  for (const char* ns : {"other", "lab", "other", "lab"}) {
    SubmitJob job = TestWorld::job();
    job.ns = ns;
    world.submit(job);
  }
  EXPECT_EQ(order(world.state, world.now), (std::vector<uint64_t>{1, 2, 3, 4}));
}

TEST(Rank, AQueueThatIsDroppedLeavesTheOthers) {
  TestWorld world;
  world.nodes({node("n1", 8)});
  for (const int64_t cpus : {1000, 1000, 500}) world.submit(TestWorld::job(cpus));
  World seen = look(world.state, world.now);
  Counting counting(seen);
  Ranking ranking(counting, Tier::batch);
  ASSERT_TRUE(ranking.best());
  ranking.drop();
  ASSERT_TRUE(ranking.best());
  EXPECT_EQ(ranking.best()->job, JobId{3});
  seen.full.insert(ranking.best()->shape);
  EXPECT_FALSE(ranking.best());
}

TEST(Rank, WhoHasLessForTheirWeightGoesFirst) {
  TestWorld world;
  world.nodes({node("n1", 12)});
  world.run(Request{TestWorld::admin(), CreateNamespace{"other", ""}});
  world.run(Request{TestWorld::admin(), SetStake{"other", {}, 3000, {}}});
  for (int i = 0; i < 12; ++i) {
    for (const char* ns : {"lab", "other"}) {
      SubmitJob job = TestWorld::job();
      job.ns = ns;
      world.submit(job);
    }
  }
  world.settle();
  EXPECT_EQ(world.state.namespace_named("lab")->in_use.cpu_milli, 3000);
  EXPECT_EQ(world.state.namespace_named("other")->in_use.cpu_milli, 9000);
}

}  // namespace
}  // namespace atl::core::scheduling
