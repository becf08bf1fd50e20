#include "core/scheduling/rank.h"

#include "core/test_world.h"

namespace atl::core::scheduling {
namespace {

std::vector<uint64_t> order(const State& state) {
  const auto all = candidates(state);
  Ranking ranking(all);
  std::vector<uint64_t> ids;
  while (const Cursor* best = ranking.best()) {
    ids.push_back(best->head().value);
    ranking.advance();
  }
  return ids;
}

TEST(Rank, PriorityThenArrivalInsideANamespace) {
  TestWorld world;
  world.nodes({node("n1", 8)});
  for (const int priority : {0, 5, 0, 9, 5}) {
    SubmitJob job = TestWorld::job(priority == 5 ? 500 : 1000);
    job.terms.priority = priority;
    world.submit(job);
  }
  EXPECT_EQ(order(world.state), (std::vector<uint64_t>{4, 2, 5, 1, 3}));
}

TEST(Rank, BetweenNamespacesTheNextJobThatCameFirst) {
  TestWorld world;
  world.nodes({node("n1", 8)});
  world.run(Request{TestWorld::admin(), CreateNamespace{"other", ""}});
  for (const char* ns : {"lab", "other", "lab", "other"}) {
    SubmitJob job = TestWorld::job();
    job.ns = ns;
    job.terms.priority = job.ns == "other" ? 100 : 0;
    world.submit(job);
  }
  EXPECT_EQ(order(world.state), (std::vector<uint64_t>{1, 2, 3, 4}))
      << "a priority counts only at home";
}

TEST(Rank, DroppingAGroupLeavesTheOthers) {
  TestWorld world;
  world.nodes({node("n1", 8)});
  for (const int64_t cpus : {1000, 1000, 500}) world.submit(TestWorld::job(cpus));
  const auto all = candidates(world.state);
  Ranking ranking(all);
  ranking.drop();
  ASSERT_NE(ranking.best(), nullptr);
  EXPECT_EQ(ranking.best()->head(), JobId{3});
  ranking.advance();
  EXPECT_EQ(ranking.best(), nullptr);
}

}  // namespace
}  // namespace atl::core::scheduling
