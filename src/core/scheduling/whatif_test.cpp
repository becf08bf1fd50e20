#include "core/scheduling/whatif.h"

#include "core/forecast.h"
#include "core/test_random_world.h"

namespace atl::core::scheduling {
namespace {

std::vector<std::string> changes(const Explanation& why) {
  std::vector<std::string> all;
  for (const Alternative& each : why.alternatives) all.push_back(each.change);
  return all;
}
bool offers(const Explanation& why, const std::string& change) {
  const auto all = changes(why);
  return std::find(all.begin(), all.end(), change) != all.end();
}

SubmitJob timed(int64_t cpu_milli, Duration wall) {
  SubmitJob job = TestWorld::job(cpu_milli);
  job.terms.wall = wall;
  job.terms.grace = {};
  return job;
}

TEST(WhatIf, SmallerRequestsThatWouldStartNow) {
  TestWorld world;
  world.nodes({node("n", 8, 1ll << 33, 2)});
  SubmitJob first = timed(5000, hours(1));
  first.terms.resources.memory_bytes = 1ll << 32;
  first.terms.resources.devices = {{"gpu", "a100", 1}};
  world.submit(first);
  world.settle();
  SubmitJob job = TestWorld::job(4000);
  const JobId cores = world.submit(job);
  world.settle();
  const auto why = explain(world.state, world.state.jobs.at(cores));
  EXPECT_TRUE(offers(why, "--cpus 3")) << testing::PrintToString(changes(why));
  EXPECT_EQ(why.starts_by, world.now + hours(1)) << "when the other has ended at the latest";
  world.run(Request{TestWorld::admin(), CancelJob{cores, {}, {}}});
  job = TestWorld::job(1000);
  job.terms.resources.devices = {{"gpu", "a100", 2}};
  const JobId gpus = world.submit(job);
  world.settle();
  EXPECT_TRUE(offers(explain(world.state, world.state.jobs.at(gpus)), "--gpus a100:1"));
}

TEST(WhatIf, WhoHasItIsSaid) {
  TestWorld world;
  world.nodes({node("n", 4, 1 << 30, 2)});
  world.run(Request{TestWorld::admin(), CreateNamespace{"chem", ""}});
  SubmitJob other = timed(1000, hours(2));
  other.ns = "chem";
  other.terms.resources.devices = {{"gpu", "", 2}};
  world.submit(other);
  world.settle();
  SubmitJob job = TestWorld::job(1000);
  job.terms.resources.devices = {{"gpu", "a100", 1}};
  const JobId id = world.submit(job);
  world.settle();
  const auto why = explain(world.state, world.state.jobs.at(id));
  ASSERT_EQ(why.held_by.size(), 1u);
  EXPECT_EQ(world.state.namespaces.at(why.held_by[0].ns).name, "chem");
  EXPECT_EQ(why.held_by[0].amount, 2000);
  EXPECT_EQ(why.held_by[0].until, world.now + hours(2));
  EXPECT_NE(why.sentence.find("waiting for 1 gpu:a100: 2 of 2 in use (chem has 2; enough free by"),
            std::string::npos)
      << why.sentence;
}

TEST(WhatIf, AShorterTimeFitsBeforeSomebodyElsesRoom) {
  TestWorld world;
  world.nodes({node("n", 4)});
  world.submit(timed(2000, hours(1)));
  world.settle();
  world.submit(timed(4000, hours(1)));  // waits for all of it, from an hour from now
  const JobId id = world.submit(timed(2000, hours(3)));
  world.settle();
  const auto why = explain(world.state, world.state.jobs.at(id));
  EXPECT_TRUE(offers(why, "--time 1h")) << testing::PrintToString(changes(why));
}

TEST(WhatIf, DevicesAreWrittenAsTheyWereTried) {
  TestWorld world;
  world.nodes({node("n", 8, int64_t{8} << 30, 2, "a100"), node("m", 8, int64_t{8} << 30, 1, "t4")});
  SubmitJob job = timed(1000, hours(1));
  job.terms.resources.devices = {{"gpu", "a100", 2}};
  world.submit(job);
  world.settle();
  job.terms.resources.devices = {{"gpu", "a100", 2, {"t4"}}};
  const JobId id = world.submit(job);
  world.settle();
  const auto why = explain(world.state, world.state.jobs.at(id));
  EXPECT_TRUE(offers(why, "--gpus 'a100|t4:1'")) << testing::PrintToString(changes(why));
}

TEST(WhatIf, TheNearestIsOffered) {
  TestWorld world;
  world.nodes({node("n", 8)});
  SubmitJob cheap = timed(6000, {});
  cheap.terms.tier = Tier::opportunistic;
  world.submit(cheap);
  world.submit(timed(2000, hours(1)));
  world.settle();
  SubmitJob gang = TestWorld::job(3000);
  gang.array = true;
  gang.indices = IntervalSet({0, 2});
  gang.terms.gang = 3;
  gang.keep = true;
  const JobId id = world.submit(gang);
  world.settle();
  const auto why = explain(world.state, world.state.jobs.at(id));
  EXPECT_TRUE(offers(why, "--gang 2")) << testing::PrintToString(changes(why));
}

TEST(WhatIf, SeveralPartsOfADevice) {
  TestWorld world;
  NodeCapacity one = node("n", 8, 1ll << 33, 1);
  one.devices[0].share_step_milli = 1;
  world.nodes({one});
  SubmitJob part = TestWorld::job(1000);
  part.terms.resources.devices = {{.kind = "gpu", .count = 2, .share_milli = 250}};
  world.submit(part);
  world.settle();
  part.terms.resources.devices[0].count = 4;
  const JobId id = world.submit(part);
  world.settle();
  const auto why = explain(world.state, world.state.jobs.at(id));
  EXPECT_TRUE(offers(why, "--gpus 0.25:2")) << testing::PrintToString(changes(why));
}

// What its tasks have got cannot be changed any more.
TEST(WhatIf, NothingForAnArrayThatHasBegun) {
  TestWorld world;
  world.nodes({node("n", 4)});
  SubmitJob array = timed(3000, hours(1));
  array.array = true;
  array.indices = IntervalSet({0, 9});
  array.terms.parallel_max = 1;
  const JobId id = world.submit(array);
  world.settle();
  const auto why = explain(world.state, world.state.jobs.at(id));
  EXPECT_EQ(why.block.obstacle, Obstacle::array_limit);
  EXPECT_TRUE(changes(why).empty()) << testing::PrintToString(changes(why));
  EXPECT_TRUE(why.sooner.empty());
  EXPECT_EQ(why.starts_by, Time{}) << "not for want of room";
}

TEST(WhatIf, WhatAQuotaLeaves) {
  TestWorld world;
  world.nodes({node("n", 8, int64_t{8} << 30, 4)});
  Quota quota;
  quota.cpu_milli = 4000;
  quota.devices["gpu"] = 2;
  world.run(Request{TestWorld::admin(), SetQuota{"lab", quota}});
  SubmitJob job = TestWorld::job(2500);
  job.terms.resources.devices = {{"gpu", "a100", 1}};
  world.submit(job);
  world.settle();
  const JobId cores = world.submit(TestWorld::job(2000));
  world.settle();
  EXPECT_TRUE(offers(explain(world.state, world.state.jobs.at(cores)), "--cpus 1"));
  job.terms.resources.cpu_milli = 1000;
  job.terms.resources.devices = {{"gpu", "a100", 2}};
  world.run(Request{TestWorld::admin(), CancelJob{cores, {}, {}}});
  const JobId gpus = world.submit(job);
  world.settle();
  EXPECT_TRUE(offers(explain(world.state, world.state.jobs.at(gpus)), "--gpus a100:1"));
  job.terms.resources.cpu_milli = 3000;
  world.run(Request{TestWorld::admin(), CancelJob{gpus, {}, {}}});
  const JobId both = world.submit(job);
  world.settle();
  EXPECT_TRUE(offers(explain(world.state, world.state.jobs.at(both)), "--cpus 1 --gpus a100:1"));
}

TEST(WhatIf, OfWhatIsInfeasibleTheNearestThatIsNot) {
  TestWorld world;
  world.nodes({node("n", 4)});
  world.submit(timed(3000, hours(1)));
  world.settle();
  SubmitJob job = TestWorld::job(64'000);
  job.keep = true;
  const JobId id = world.submit(job);
  world.settle();
  const auto why = explain(world.state, world.state.jobs.at(id));
  EXPECT_TRUE(offers(why, "--cpus 1")) << testing::PrintToString(changes(why));
  ASSERT_TRUE(why.nearest);
  EXPECT_EQ(why.nearest->change, "--cpus 4");
  EXPECT_EQ(why.nearest->starts, world.now + hours(1));
}

TEST(WhatIf, OthersYieldToAnotherTier) {
  TestWorld world;
  world.nodes({node("n", 4)});
  SubmitJob job = timed(1000, hours(1));
  job.terms.tier = Tier::opportunistic;
  for (int i = 0; i < 4; ++i) world.submit(job);
  world.settle();
  job.terms.resources.cpu_milli = 2000;
  const JobId id = world.submit(job);
  world.settle();
  const auto why = explain(world.state, world.state.jobs.at(id));
  ASSERT_EQ(changes(why), std::vector<std::string>{"--tier batch"});
  EXPECT_EQ(why.alternatives[0].yields, 2u);
}

TEST(WhatIf, OthersYieldToASmallerRequest) {
  TestWorld world;
  world.nodes({node("n", 4)});
  SubmitJob job = timed(2000, hours(1));
  world.submit(job);
  job.terms.tier = Tier::opportunistic;
  world.submit(job);
  world.settle();
  const JobId id = world.submit(timed(4000, hours(1)));
  world.settle();
  const auto why = explain(world.state, world.state.jobs.at(id));
  ASSERT_TRUE(offers(why, "--cpus 2")) << testing::PrintToString(changes(why));
  EXPECT_EQ(why.alternatives[0].yields, 1u);
}

TEST(WhatIf, PartsOfADevice) {
  TestWorld world;
  NodeCapacity one = node("n", 8, 1 << 30, 1);
  one.devices[0].memory_bytes = int64_t{16} << 30;
  one.devices[0].share_step_milli = 1;
  world.nodes({one});
  SubmitJob job = timed(1000, hours(1));
  job.terms.resources.devices = {{"gpu", "", 1}};
  job.terms.resources.devices[0].share_milli = 500;
  world.submit(job);
  world.settle();
  const auto waits = [&](int32_t share, int64_t memory) {
    job.terms.resources.devices[0].share_milli = share;
    job.terms.resources.devices[0].memory_bytes = memory;
    const JobId id = world.submit(job);
    world.settle();
    const auto why = explain(world.state, world.state.jobs.at(id));
    world.run(Request{TestWorld::admin(), CancelJob{id, {}, {}}});
    return why;
  };
  EXPECT_TRUE(offers(waits(kWholeDevice, 0), "--gpus 0.5"));
  EXPECT_TRUE(offers(waits(600, 0), "--gpus 0.3"));
  EXPECT_TRUE(offers(waits(kWholeDevice, int64_t{12} << 30), "--gpus 6Gi"));
}

TEST(WhatIf, HalfTheTimeIsLeftToARunAhead) {
  TestWorld world;
  world.nodes({node("n", 4)});
  world.submit(timed(4000, hours(1)));
  world.settle();
  const JobId id = world.submit(timed(4000, hours(3)));
  world.settle();
  const auto why = explain(world.state, world.state.jobs.at(id));
  ASSERT_EQ(why.sooner.size(), 2u);
  EXPECT_EQ(why.sooner[0].change, "--time 1h30m");
  EXPECT_FALSE(why.sooner[0].starts);
}

// Every change that is offered starts at once when it is made, or as soon as those have made room
// that are said to, and nothing is offered to one that starts anyway.
class WhatIfProperty : public testing::Test {
 protected:
  // The job again, with that change.
  static JobId changed(RandomWorld& world, const Job& job, const Alternative& each) {
    world.run(Request{TestWorld::admin(), CancelJob{job.id, {}, {}}});
    SubmitJob again = TestWorld::job();
    again.ns = world.state.namespaces.at(job.ns).name;
    again.terms = each.terms;
    again.keep = true;
    again.array = each.terms.gang > 0;
    again.indices = IntervalSet({0, each.terms.gang > 0 ? each.terms.gang - 1 : 0});
    return world.submit(again);
  }
  static uint32_t placed(const RandomWorld& world, JobId id) {
    return world.state.jobs.at(id).placed;
  }
  // Those who stop for the job.
  static uint32_t stopping_for(const RandomWorld& world, JobId id) {
    uint32_t count = 0;
    for (const auto& [site, each] : world.state.sites) {
      for (const auto& [name, node] : each.nodes) {
        for (const auto& [task, holder] : node.holders)
          count += holder.stopping && holder.beneficiary == id;
      }
    }
    return count;
  }
  void check(RandomWorld world, const Job& job, const Alternative& each, const std::string& where) {
    const JobId id = changed(world, job, each);
    const uint32_t members = std::max(1u, each.terms.gang);
    if (each.yields == 0) {
      world.settle();
      EXPECT_EQ(placed(world, id), members) << each.change << where;
      return;
    }
    world.run(Tick{});
    EXPECT_EQ(stopping_for(world, id), each.yields) << each.change << where;
    world.end_stopping();
    world.settle();
    EXPECT_EQ(placed(world, id), members) << each.change << where;
  }
  int offered = 0, by_yielding = 0, tiers = 0, nearest = 0;
};

TEST_F(WhatIfProperty, WhatIsOfferedIsTrue) {
  const std::vector<std::string> names{"lab", "bio", "chem"};
  for (uint32_t seed = 1; seed <= 500; ++seed) {
    RandomWorld world(seed);
    world.draw_nodes(3, 8);
    world.draw_namespaces(names);
    for (int i = 0; i < 10; ++i) {
      SubmitJob job = world.draw_job(names);
      if (world.one_in(4)) world.draw_gang(job);
      if (world.one_in(2)) world.draw_wall(job);
      if (world.one_in(8)) job.terms.resources.cpu_milli *= 4;
      world.submit(job);
      if (world.one_in(3)) world.start_all();
    }
    world.start_all();
    world.end_stopping();
    world.start_all();
    const State before = world.state;
    for (const auto& [id, job] : before.jobs) {
      if (!job.ready()) continue;
      const std::string where =
          ", seed " + std::to_string(seed) + ", job " + std::to_string(id.value);
      Explanation why = explain(before, job, false, world.now);
      if (!has_placed(job)) confirm(before, world.now, job, why, {});
      for (const Alternative& each : why.alternatives) {
        ++offered;
        by_yielding += each.yields > 0;
        tiers += each.terms.tier != before.terms_of(job).tier;
        check(world, job, each, where);
      }
      if (!why.nearest) continue;
      ++nearest;
      RandomWorld empty = world;
      const JobId made = changed(empty, job, *why.nearest);
      empty.hold_all_but(made);
      empty.start_all();
      empty.end_stopping();
      for (const AttemptId attempt : empty.attempts<TaskRunning>()) {
        if (attempt.job != made) empty.end(attempt);
      }
      empty.settle();
      EXPECT_GT(placed(empty, made), 0u) << why.nearest->change << where;
    }
  }
  EXPECT_GT(offered, 1000);
  EXPECT_GT(by_yielding, 50);
  EXPECT_GT(tiers, 50);
  EXPECT_GT(nearest, 50);
}

}  // namespace
}  // namespace atl::core::scheduling
