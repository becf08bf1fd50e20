// Nobody is stopped in vain: who is told to make room makes it for one that then starts there.
#include "core/scheduling/explain.h"
#include "core/scheduling/yield.h"
#include "core/test_random_world.h"

namespace atl::core::scheduling {
namespace {

SubmitJob job_of(Tier tier, int64_t cpu_milli, const std::string& ns = "lab") {
  SubmitJob job = TestWorld::job(cpu_milli);
  job.terms.tier = tier;
  job.terms.grace = {};
  job.ns = ns;
  return job;
}

class InVain : public ::testing::Test {
 protected:
  size_t stopping() const { return world.attempts<TaskStop>().size(); }
  uint32_t placed(JobId id) const { return world.state.jobs.at(id).placed; }
  Explanation why(JobId id) const {
    return explain(world.state, world.state.jobs.at(id), true, world.now);
  }
  RandomWorld world{1};
};

// It yields to the first in line too: that one waits for the rest of the node, which is known to
// come free, and not for another on which nobody can tell.
TEST_F(InVain, TheFirstInLineWaitsWhereItWouldWithoutThoseWhoYieldToIt) {
  const int64_t gib = 1 << 30;
  world.nodes({node("a", 4, 4 * gib)});
  SubmitJob timed = job_of(Tier::batch, 2000);
  timed.terms.wall = hours(1);
  const JobId ends = world.submit(timed);
  world.submit(job_of(Tier::opportunistic, 1000));
  world.start_all();
  world.nodes({node("a", 4, 4 * gib), node("b", 4, gib)});
  SubmitJob endless = job_of(Tier::batch, 2000);
  endless.terms.resources.memory_bytes = gib;
  SubmitJob full = job_of(Tier::batch, 1000);  // leaves the first node no room for the endless one
  full.terms.wall = minutes(1);
  const JobId filler = world.submit(full);
  world.start_all();
  world.submit(endless);
  world.start_all();
  world.end({filler, 0, 1});

  const JobId head = world.submit(job_of(Tier::interactive, 4000));
  SubmitJob next = job_of(Tier::batch, 2000);
  next.terms.resources.memory_bytes = 2 * gib;
  const JobId id = world.submit(next);
  world.settle();
  EXPECT_EQ(stopping(), 0u) << "the head of the line would get the room";
  EXPECT_EQ(placed(id), 0u);

  world.now = world.now + hours(1);
  world.end({ends, 0, 1});
  world.settle();
  EXPECT_EQ(stopping(), 1u) << "now that it helps";
  world.end_stopping();
  world.settle();
  EXPECT_EQ(placed(head), 1u);
}

// One before it waits for room alone: what yields would give up its place in the quota to that one
// as well. So it keeps its room, and who comes after would not have any.
TEST_F(InVain, AQuotaThatOthersWouldFreeLetsNobodyPass) {
  NodeCapacity small = node("small", 1);
  small.cpu_milli = 100;
  world.nodes({small});
  Quota two;
  two.running = 2;
  world.run(Request{TestWorld::admin(), SetCohort{"all", {}, {}, two, {}}});
  world.run(Request{TestWorld::admin(), SetStake{"lab", "all", {}, {}}});
  world.submit(job_of(Tier::opportunistic, 100));
  world.start_all();
  world.nodes({node("n", 4), small});
  const JobId running = world.submit(job_of(Tier::batch, 3000));
  world.start_all();

  const JobId head = world.submit(job_of(Tier::interactive, 4000));
  const JobId next = world.submit(job_of(Tier::batch, 900));
  world.settle();
  EXPECT_EQ(stopping(), 0u) << "the head of the line would keep the room";
  EXPECT_EQ(why(next).block.obstacle, Obstacle::quota);

  world.end({running, 0, 1});
  world.settle();
  EXPECT_EQ(placed(head), 1u);
}

// Some of the gang have room, and none of it starts before all have: what they will have counts
// when those that stop have ended, not beside them.
TEST_F(InVain, AGangThatWaitsForOthersToStopCountsOnceInItsQuota) {
  world.nodes({node("b", 2)});
  for (int i = 0; i < 2; ++i) world.submit(job_of(Tier::opportunistic, 1000));
  world.start_all();
  world.nodes({node("a", 2), node("b", 2), node("c", 1)});
  Quota three;
  three.running = 3;
  world.run(Request{TestWorld::admin(), SetQuota{"lab", three}});
  SubmitJob both = job_of(Tier::batch, 2000);
  both.array = true;
  both.indices = IntervalSet({0, 1});
  both.terms.gang = 2;
  const JobId gang = world.submit(both);
  world.settle();
  EXPECT_EQ(stopping(), 2u);
  const JobId one = world.submit(job_of(Tier::batch, 1000));
  world.settle();
  EXPECT_EQ(placed(one), 1u) << why(one).sentence;
  world.end_stopping();
  world.settle();
  EXPECT_EQ(placed(gang), 2u);
}

// A request for any model takes nothing of the one whose quota another is about to need.
TEST_F(InVain, AModelsQuotaThatIsBeingFreedIsForWhomItIsFreed) {
  world.nodes({node("large", 4, 1 << 30, 1)});
  world.run(Request{TestWorld::admin(), CreateNamespace{"bio", ""}});
  SubmitJob cheap = job_of(Tier::opportunistic, 1000, "bio");
  cheap.terms.resources.devices = {{"gpu", "a100", 1}};
  world.submit(cheap);
  world.start_all();
  world.nodes({node("large", 4, 1 << 30, 1), node("small", 1, 1 << 30, 1)});
  Quota one;
  one.devices["gpu:a100"] = 1;
  world.run(Request{TestWorld::admin(), SetQuota{"lab", one}});
  SubmitJob named = job_of(Tier::batch, 4000);
  named.terms.resources.devices = {{"gpu", "a100", 1}};
  const JobId first = world.submit(named);
  SubmitJob any = job_of(Tier::batch, 1000);
  any.terms.resources.devices = {{"gpu", "", 1}};
  const JobId second = world.submit(any);
  world.settle();
  EXPECT_EQ(stopping(), 1u);
  EXPECT_EQ(placed(second), 0u);
  EXPECT_EQ(why(second).block.obstacle, Obstacle::claimed) << why(second).sentence;
  EXPECT_EQ(why(second).waits_for, std::vector{first});
  world.end_stopping();
  world.settle();
  EXPECT_EQ(placed(first), 1u);
}

}  // namespace
}  // namespace atl::core::scheduling
