#include "core/scheduling/explain.h"

#include <random>

#include "core/scheduling/line.h"
#include "core/test_random_world.h"

namespace atl::core::scheduling {
namespace {

TEST(Explain, EveryWaitingJobHasATrueReason) {
  // Random worlds: whatever the reason says, lifting exactly that obstacle must let something of
  // the job start, or name another obstacle; and no reason is `turn` once the ticks have settled.
  std::mt19937 random(11);
  for (int round = 0; round < 300; ++round) {
    TestWorld world;
    world.nodes(
        {node("n1", 1 + random() % 4, 1 << 30, random() % 3), node("n2", 1 + random() % 2)});
    Quota quota;
    if (random() % 2) quota.cpu_milli = static_cast<int64_t>(500 * (1 + random() % 6));
    if (random() % 3 == 0) quota.running = 1 + random() % 3;
    world.run(Request{TestWorld::admin(), SetQuota{"lab", quota}});
    for (int i = 0; i < 12; ++i) {
      SubmitJob job = TestWorld::job(static_cast<int64_t>(500 * (1 + random() % 4)));
      job.keep = true;
      job.held = random() % 6 == 0;
      if (random() % 4 == 0)
        job.terms.resources.devices = {{"gpu", "", 1 + static_cast<uint32_t>(random() % 2)}};
      if (random() % 4 == 0) {
        job.array = true;
        job.indices = IntervalSet({1, 5});
        job.terms.parallel_max = random() % 3;
      }
      world.submit(job);
    }
    world.settle();
    for (const auto& [id, job] : world.state.jobs) {
      if (job.waiting.empty()) continue;
      const Explanation why = explain(world.state, job);
      ASSERT_NE(why.block.obstacle, Obstacle::turn) << why.sentence;
      ASSERT_FALSE(why.sentence.empty());
      TestWorld lifted;
      lifted.state = world.state;
      switch (why.block.obstacle) {
        case Obstacle::quota:
          lifted.run(Request{TestWorld::admin(), SetQuota{"lab", {}}});
          break;
        case Obstacle::capacity:
        case Obstacle::infeasible: {
          NodeCapacity huge = node("huge", 1000, int64_t{1} << 40, 100);
          lifted.nodes({node("n1", 4), node("n2", 2), huge});
          break;
        }
        case Obstacle::held:
          lifted.run(Request{TestWorld::admin(), ReleaseJob{id}});
          break;
        default:
          continue;
      }
      const uint64_t waiting = job.waiting.size();
      lifted.settle();
      const Job& after = lifted.state.jobs.at(id);
      const bool started = after.waiting.size() < waiting;
      ASSERT_TRUE(started || explain(lifted.state, after).block.obstacle != why.block.obstacle)
          << why.sentence;
    }
  }
}

// Once nothing is left to decide it is nobody's turn, and who stands behind another stands behind
// one that waits. Some make room for others, on one site of two, within what the calendar leaves.
TEST(Explain, NobodyIsToldThatItIsTheirTurnWhenItIsNot) {
  const std::vector<std::string> names{"lab", "bio"};
  int behind = 0;
  for (uint32_t seed = 1; seed <= 1000; ++seed) {
    RandomWorld world(seed);
    world.draw_nodes(2);
    world.run(Request{TestWorld::admin(), AddSite{"far", "simulated"}});
    world.run(Report{SiteProbed{"far", {{node("m", world.draw(1, 6), int64_t{4} << 30, 1)}, {}}}});
    world.run(Request{TestWorld::admin(), CreateNamespace{"bio", ""}});
    if (world.one_in(3)) world.draw_namespaces(names);
    Quota limit;
    if (world.one_in(2)) limit.cpu_milli = 1000 * world.draw(1, 6);
    if (world.one_in(3)) limit.devices[world.one_in(2) ? "gpu" : "gpu:a100"] = 1;
    limit.running = static_cast<uint64_t>(world.draw(1, 4));
    world.run(Request{TestWorld::admin(),
                      SetCalendarEntry{{"days", Tier::batch, 127, 0, 24 * 60, {}, limit}}});
    const auto submit = [&](Tier tier) {
      SubmitJob job = world.draw_job(names);
      job.terms.tier = tier;
      if (world.one_in(2)) job.terms.site = world.one_in(2) ? "far" : "local";
      if (world.one_in(5)) world.draw_gang(job);
      if (world.one_in(2)) world.draw_wall(job);
      world.submit(job);
    };
    for (int i = world.draw(1, 5); i > 0; --i) submit(Tier::opportunistic);
    world.start_all();
    for (int i = world.draw(2, 6); i > 0; --i)
      submit(world.one_in(4) ? Tier::service : Tier::batch);
    world.start_all();
    for (const auto& [id, job] : world.state.jobs) {
      if (!job.ready()) continue;
      const Explanation why = explain(world.state, job, true, world.now);
      EXPECT_NE(why.block.obstacle, Obstacle::turn) << "job " << id.value << ", seed " << seed;
      if (why.block.obstacle != Obstacle::claimed) continue;
      ++behind;
      ASSERT_EQ(why.waits_for.size(), 1u) << "seed " << seed;
      EXPECT_TRUE(world.state.jobs.at(why.waits_for[0]).ready()) << "seed " << seed;
    }
  }
  EXPECT_GT(behind, 80);
}

TEST(Explain, OneInLineIsNotSaidToPause) {
  TestWorld world;
  world.run(Report{SiteProbed{"local", {{node("n1", 1)}, {kLineAbility}}}});
  for (int i = 0; i < 3; ++i) world.submit(TestWorld::job());
  world.settle();
  world.run(Report{AttemptEnded{{JobId{1}, 0, 1}, {}}});
  world.settle();
  const Explanation why = explain(world.state, world.state.jobs.at(JobId{3}));
  EXPECT_EQ(why.block.obstacle, Obstacle::in_line);
  EXPECT_EQ(why.sentence, "next in line: it starts when a task of job 2 ends on n1");
}

TEST(Explain, WhatAQuotaNeverAllowsIsSaidSo) {
  TestWorld world;
  world.nodes({node("n1", 4)});
  Quota quota;
  quota.cpu_milli = 1000;
  world.run(Request{TestWorld::admin(), SetQuota{"lab", quota}});
  SubmitJob job = TestWorld::job(2000);
  job.keep = true;
  const JobId id = world.submit(job);
  world.settle();
  EXPECT_EQ(explain(world.state, world.state.jobs.at(id)).sentence,
            "asks for 2 cores, more than the quota of namespace lab ever allows: 1; position 1");
}

TEST(Explain, SpeaksOfTheNodeWhereLeastIsMissing) {
  TestWorld world;
  world.nodes({node("n1", 4), node("n2", 4)});
  world.submit(TestWorld::job(4000));
  world.submit(TestWorld::job(2000));
  const JobId id = world.submit(TestWorld::job(3000));
  world.settle();
  const Explanation why = explain(world.state, world.state.jobs.at(id));
  EXPECT_EQ(why.block.in_use, 2000);
  ASSERT_EQ(why.held_by.size(), 1u);
  EXPECT_EQ(why.held_by[0].amount, 2000) << "those on other nodes have nothing of it";
  EXPECT_EQ(why.sentence,
            "waiting for 3 cores on one node: 2 of 4 in use on n2, where least is missing "
            "(lab has 2); position 1");
}

TEST(Explain, OfNodesThatLackTheSameTheFirstToHaveIt) {
  TestWorld world;
  world.nodes({node("n1", 4), node("n2", 4)});
  SubmitJob job = TestWorld::job(3000);
  job.terms.grace = {};
  for (const int64_t time : {4, 1}) {
    job.terms.wall = hours(time);
    world.submit(job);
  }
  const JobId id = world.submit(TestWorld::job(2000));
  world.settle();
  const Explanation why = explain(world.state, world.state.jobs.at(id));
  EXPECT_EQ(why.block.holder, "local/n2") << why.sentence;
  EXPECT_EQ(why.starts_by, world.now + hours(1));
}

TEST(Explain, WhatNoNodeCouldHoldIsNoMatterOfAQuota) {
  TestWorld world;
  world.nodes({node("n1", 4)});
  Quota quota;
  quota.cpu_milli = 8000;
  world.run(Request{TestWorld::admin(), SetQuota{"lab", quota}});
  world.submit(TestWorld::job(4000));
  SubmitJob large = TestWorld::job(6000);
  large.keep = true;
  const JobId id = world.submit(large);
  world.settle();
  const Explanation why = explain(world.state, world.state.jobs.at(id));
  EXPECT_EQ(why.block.obstacle, Obstacle::infeasible) << why.sentence;
  ASSERT_TRUE(why.nearest);
  EXPECT_EQ(why.nearest->change, "--cpus 4");
}

// What the first members would have nobody has.
TEST(Explain, AGangAsksForAllOfIt) {
  TestWorld world;
  world.nodes({node("n1", 8)});
  world.submit(TestWorld::job(3000));
  SubmitJob gang = TestWorld::job(2000);
  gang.array = true;
  gang.indices = IntervalSet({0, 2});
  gang.terms.gang = 3;
  const JobId id = world.submit(gang);
  world.settle();
  EXPECT_EQ(explain(world.state, world.state.jobs.at(id)).sentence,
            "its 3 members start together and 2 would have room: waiting for 6 cores for 3 "
            "members: 3 of 8 in use (lab has 3); position 1");
  Quota quota;
  quota.cpu_milli = 7000;
  world.run(Request{TestWorld::admin(), SetQuota{"lab", quota}});
  EXPECT_EQ(explain(world.state, world.state.jobs.at(id)).sentence,
            "its 3 members start together and 2 would have room: waiting for 6 cores for 3 members "
            "within the quota of namespace lab: 3 of 7 in use (lab has 3); position 1");
  quota.cpu_milli = 5000;
  world.run(Request{TestWorld::admin(), SetQuota{"lab", quota}});
  EXPECT_EQ(explain(world.state, world.state.jobs.at(id)).sentence,
            "its 3 members start together and 1 would have room: asks for 6 cores for 3 members, "
            "more than the quota of namespace lab ever allows: 5 (lab has 3); position 1");
}

TEST(Explain, OtherModelsDoNotCount) {
  TestWorld world;
  NodeCapacity mixed = node("n", 8, 1 << 30, 3);
  mixed.devices[1].model = mixed.devices[2].model = "v100";
  world.nodes({mixed});
  SubmitJob job = TestWorld::job();
  job.terms.resources.devices = {{"gpu", "a100", 1}, {"gpu", "v100", 1}};
  world.submit(job);
  const JobId id = world.submit(job);
  world.settle();
  const Explanation why = explain(world.state, world.state.jobs.at(id));
  EXPECT_EQ(why.sentence, "waiting for 1 gpu:a100: 1 of 1 in use (lab has 1); position 1");
}

TEST(Explain, FreeByIsWhenEnoughOfItIsFree) {
  TestWorld world;
  world.nodes({node("n", 8)});
  for (const int64_t hour : {1, 2, 3}) {
    SubmitJob job = TestWorld::job(2000);
    job.terms.wall = hours(hour);
    job.terms.grace = {};
    world.submit(job);
  }
  world.settle();
  const JobId id = world.submit(TestWorld::job(5000));
  world.settle();
  const std::string sentence = explain(world.state, world.state.jobs.at(id)).sentence;
  EXPECT_NE(sentence.find("enough free by 1970-01-01T02:00:01Z at the latest"), std::string::npos)
      << sentence;
}

TEST(Explain, PartsOfDevicesAreCalledWhatTheyAre) {
  TestWorld world;
  NodeCapacity shared = node("n", 8, 1 << 30, 1);
  shared.devices[0].memory_bytes = int64_t{16} << 30;
  shared.devices[0].share_step_milli = 1;
  NodeCapacity cut = node("m", 8, 1 << 30, 1, "h100");
  cut.devices[0].slots = 2;
  cut.devices[0].profiles = {{"1g.5gb", 1, {0, 1}}};
  world.nodes({shared, cut});
  const auto waits = [&](DeviceRequest request) {
    SubmitJob job = TestWorld::job();
    job.terms.resources.devices = {std::move(request)};
    for (int i = 0; i < 2; ++i) world.submit(job);
    const JobId id = world.submit(job);
    world.settle();
    return explain(world.state, world.state.jobs.at(id)).sentence;
  };
  DeviceRequest memory{"gpu", "a100", 1};
  memory.memory_bytes = int64_t{8} << 30;
  EXPECT_EQ(waits(memory),
            "waiting for 8Gi of gpu:a100: 1 of 1 devices in use (lab has 1); position 1");
  DeviceRequest slice{"gpu", "", 1};
  slice.profile = "1g.5gb";
  EXPECT_EQ(waits(slice),
            "waiting for a slice 1g.5gb of gpu: 1 of 1 devices in use (lab has 1); position 2");
}

TEST(Explain, AGangIsToldAllThatHasToComeBack) {
  TestWorld world;
  world.nodes({node("n1", 2), node("n2", 2), node("n3", 2)});
  for (const char* name : {"n1", "n2"})
    world.run(Request{TestWorld::admin(), DrainNode{"local", name, true}});
  SubmitJob gang = TestWorld::job(2000);
  gang.array = true;
  gang.indices = IntervalSet({0, 2});
  gang.terms.gang = 3;
  const JobId id = world.submit(gang);
  world.settle();
  const std::string sentence = explain(world.state, world.state.jobs.at(id)).sentence;
  EXPECT_NE(sentence.find("waiting for nodes n1 and n2, which are draining: `atoll node undrain "
                          "n1`, `atoll node undrain n2` let them start work again"),
            std::string::npos)
      << sentence;
}

TEST(Explain, OneTaskOfAnArray) {
  TestWorld world;
  world.nodes({node("n", 1)});
  SubmitJob job = TestWorld::job();
  job.array = true;
  job.indices = IntervalSet({0, 3});
  job.terms.retry.max = 1;
  job.terms.retry.backoff = minutes(1);
  const JobId id = world.submit(job);
  world.settle();
  AttemptResult failed;
  failed.exit_code = 1;
  world.run(Report{AttemptEnded{{id, 0, 1}, failed}});
  world.settle();
  Glance glance(world.state, world.now);
  const Job& waits = world.state.jobs.at(id);
  EXPECT_EQ(explain(glance, waits, true, 0).block.obstacle, Obstacle::backoff);
  EXPECT_EQ(explain(glance, waits, true, 2).block.obstacle, Obstacle::capacity);
}

TEST(Explain, OfAModelNoMoreIsAskedThanOthersLeave) {
  TestWorld world;
  NodeCapacity mixed = node("n", 4, 1 << 30, 2);
  mixed.devices[1].model = "v100";
  world.nodes({mixed});
  Quota quota;
  quota.devices["gpu:a100"] = 0;
  world.run(Request{TestWorld::admin(), SetQuota{"lab", quota}});
  SubmitJob job = TestWorld::job();
  job.terms.resources.devices = {{"gpu", "", 2}};
  const JobId id = world.submit(job);
  world.settle();
  const Block block = explain(world.state, world.state.jobs.at(id)).block;
  EXPECT_EQ(block.obstacle, Obstacle::quota);
  EXPECT_EQ(block.asked, 1000) << "the other is a v100";
}

// The calendar counts what somebody will have for whom others stop, on whatever node that is.
TEST(Explain, WhatTheCalendarLeavesMayBeKeptForAnother) {
  TestWorld world;
  world.nodes({node("n", 2)});
  world.run(Request{TestWorld::admin(), AddSite{"other", "simulated"}});
  world.run(Report{SiteProbed{"other", {{node("m", 4)}, {}}}});
  Quota three;
  three.cpu_milli = 3000;
  world.run(Request{TestWorld::admin(),
                    SetCalendarEntry{{"days", Tier::batch, 127, 0, 24 * 60, {}, three}}});
  const auto submit = [&](Tier tier, std::string site) {
    SubmitJob job = TestWorld::job(2000);
    job.terms.tier = tier;
    job.terms.site = std::move(site);
    return world.submit(job);
  };
  submit(Tier::opportunistic, "local");
  world.settle();
  const JobId first = submit(Tier::batch, "local");
  const JobId second = submit(Tier::batch, "other");
  world.settle();
  ASSERT_EQ(world.state.jobs.at(second).placed, 0u);
  const Explanation why = explain(world.state, world.state.jobs.at(second));
  EXPECT_EQ(why.block.obstacle, Obstacle::claimed);
  EXPECT_EQ(why.waits_for, std::vector{first});
  EXPECT_EQ(why.sentence,
            "waiting behind job 2, for which others make room within what the calendar leaves "
            "batch work at this time (entry days); position 2");
  world.run(Request{TestWorld::admin(), HoldJob{first}});
  world.settle();
  EXPECT_EQ(world.state.jobs.at(second).placed, 1u);
}

TEST(Explain, SaysWhatHowMuchAndWhere) {
  TestWorld world;
  world.nodes({node("n1", 2)});
  world.submit(TestWorld::job(1500));
  const JobId id = world.submit(TestWorld::job(1000));
  world.settle();
  EXPECT_EQ(explain(world.state, world.state.jobs.at(id)).sentence,
            "waiting for 1 core: 1.5 of 2 in use (lab has 1.5); position 1");
}

}  // namespace
}  // namespace atl::core::scheduling
