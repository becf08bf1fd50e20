// Work that starts together or not at all.
#include <random>

#include "core/scheduling/explain.h"
#include "core/test_world.h"

namespace atl::core {
namespace {

SubmitJob gang(uint32_t members, int64_t cpu_milli = 1000, Tier tier = Tier::batch) {
  SubmitJob job = TestWorld::job(cpu_milli);
  job.array = true;
  job.indices = IntervalSet({0, members - 1});
  job.terms.gang = members;
  job.terms.tier = tier;
  return job;
}
SubmitJob timed(SubmitJob job, Duration wall) {
  job.terms.wall = wall;
  job.terms.grace = {};
  return job;
}
uint32_t placed(const TestWorld& world, JobId id) { return world.state.jobs.at(id).placed; }

AttemptResult exit_code(int32_t code) {
  AttemptResult result;
  result.exit_code = code;
  return result;
}
AttemptResult stopped() {
  AttemptResult result;
  result.cause = EndCause::stopped;
  return result;
}
void end(TestWorld& world, JobId id, uint32_t index, const AttemptResult& result) {
  const uint32_t attempt = world.state.jobs.at(id).tasks.at(index).attempt;
  world.run(Report{AttemptEnded{{id, index, attempt}, result}});
}
void end_stopping(TestWorld& world, JobId id) {
  for (const auto& [index, task] : LazyMap<uint32_t, Task>(world.state.jobs.at(id).tasks)) {
    if (std::holds_alternative<TaskStop>(task.state)) end(world, id, index, stopped());
  }
}

TEST(Gang, AllMembersStartOrNone) {
  TestWorld world;
  world.nodes({node("a", 2), node("b", 2)});
  const JobId first = world.submit(gang(3));
  world.settle();
  EXPECT_EQ(placed(world, first), 3u);
  const JobId second = world.submit(gang(2));
  world.settle();
  EXPECT_EQ(placed(world, second), 0u) << "one core is free";
  const auto why = scheduling::explain(world.state, world.state.jobs.at(second));
  EXPECT_NE(why.sentence.find("its 2 members start together and 1 would have room"),
            std::string::npos)
      << why.sentence;
}

TEST(Gang, EveryMemberKnowsWhereTheFirstOneIs) {
  TestWorld world;
  world.nodes({node("a", 1), node("b", 1)});
  world.effects.clear();
  world.submit(gang(2));
  world.settle();
  std::vector<std::string> leaders, nodes;
  for (const Effect& effect : world.effects) {
    if (const auto* start = std::get_if<StartAttempt>(&effect)) {
      leaders.push_back(start->leader);
      nodes.push_back(start->placement.node);
    }
  }
  ASSERT_EQ(nodes.size(), 2u);
  EXPECT_NE(nodes[0], nodes[1]);
  EXPECT_EQ(leaders, std::vector<std::string>(2, nodes[0]));
}

TEST(Gang, ItsQuotaCountsAllMembers) {
  TestWorld world;
  world.nodes({node("a", 8)});
  Quota quota;
  quota.cpu_milli = 3000;
  world.run(Request{TestWorld::admin(), SetQuota{"lab", quota}});
  SubmitJob kept = gang(4);
  kept.keep = true;
  const JobId four = world.submit(kept);
  const JobId three = world.submit(gang(3));
  world.settle();
  EXPECT_EQ(placed(world, four), 0u);
  EXPECT_EQ(placed(world, three), 3u);
}

TEST(Gang, AWaitingGangIsNotPassedForEver) {
  TestWorld world;
  world.nodes({node("a", 2), node("b", 2)});
  const JobId running = world.submit(timed(TestWorld::job(2000), hours(1)));
  world.settle();
  const JobId waiting = world.submit(timed(gang(2, 2000), hours(1)));
  const JobId long_one = world.submit(timed(TestWorld::job(2000), hours(2)));
  const JobId short_one = world.submit(timed(TestWorld::job(2000), minutes(30)));
  world.settle();
  EXPECT_EQ(placed(world, waiting), 0u);
  EXPECT_EQ(placed(world, long_one), 0u) << "it would delay the gang";
  EXPECT_EQ(placed(world, short_one), 1u) << "it ends before";
  end(world, short_one, 0, exit_code(0));
  end(world, running, 0, exit_code(0));
  world.settle();
  EXPECT_EQ(placed(world, waiting), 2u);
}

TEST(Gang, OneThatFailsTakesTheOthersWithIt) {
  TestWorld world;
  world.nodes({node("a", 4)});
  const JobId id = world.submit(gang(3));
  world.settle();
  end(world, id, 1, exit_code(7));
  EXPECT_TRUE(std::holds_alternative<TaskStop>(world.state.jobs.at(id).tasks.at(0).state));
  end_stopping(world, id);
  EXPECT_FALSE(world.state.jobs.count(id));
}

TEST(Gang, IsTriedAgainAsAWhole) {
  TestWorld world;
  world.nodes({node("a", 4)});
  SubmitJob job = gang(3);
  job.terms.retry.max = 1;
  job.terms.retry.backoff = seconds(5);
  const JobId id = world.submit(job);
  world.settle();
  end(world, id, 1, exit_code(7));
  world.settle();
  EXPECT_EQ(placed(world, id), 2u) << "they still have their grace";
  end(world, id, 0, exit_code(0));  // it happened to be done: it comes back all the same
  end_stopping(world, id);
  world.settle();
  EXPECT_EQ(placed(world, id), 0u) << "one pauses before its next attempt";
  world.now = world.now + seconds(6);
  world.settle();
  EXPECT_EQ(placed(world, id), 3u);
  for (uint32_t i = 0; i < 3; ++i) end(world, id, i, exit_code(0));
  EXPECT_FALSE(world.state.jobs.count(id));
}

TEST(Gang, AfterOneHasEndedNobodyIsTriedAgain) {
  TestWorld world;
  world.nodes({node("a", 4)});
  SubmitJob job = gang(3);
  job.terms.retry.max = 5;
  const JobId id = world.submit(job);
  world.settle();
  end(world, id, 0, exit_code(0));
  end(world, id, 1, exit_code(7));
  end_stopping(world, id);
  EXPECT_FALSE(world.state.jobs.count(id)) << "without the first member the rest cannot run";
}

TEST(Gang, OthersMakeRoomForAllOfIt) {
  TestWorld world;
  world.nodes({node("a", 2), node("b", 2)});
  std::vector<JobId> cheap;
  for (int i = 0; i < 3; ++i)
    cheap.push_back(world.submit([] {
      SubmitJob job = TestWorld::job();
      job.terms.tier = Tier::opportunistic;
      return job;
    }()));
  world.settle();
  const JobId id = world.submit(gang(3));
  world.settle();
  EXPECT_EQ(placed(world, id), 0u);
  const auto is_stopping = [&](JobId job) {
    return std::holds_alternative<TaskStop>(world.state.jobs.at(job).tasks.at(0).state);
  };
  EXPECT_EQ(std::count_if(cheap.begin(), cheap.end(), is_stopping), 2) << "one core was free";
  world.settle();
  EXPECT_EQ(std::count_if(cheap.begin(), cheap.end(), is_stopping), 2) << "nobody is asked twice";
  for (const JobId each : cheap) {
    if (is_stopping(each)) end(world, each, 0, stopped());
  }
  world.settle();
  EXPECT_EQ(placed(world, id), 3u);
}

TEST(Gang, YieldsAsAWholeAndComesBackAsAWhole) {
  TestWorld world;
  world.nodes({node("a", 2), node("b", 2)});
  const JobId id = world.submit(gang(4, 1000, Tier::opportunistic));
  world.settle();
  EXPECT_EQ(placed(world, id), 4u);
  SubmitJob urgent = TestWorld::job();
  urgent.terms.tier = Tier::interactive;
  const JobId other = world.submit(urgent);
  world.settle();
  for (const auto& [index, task] : world.state.jobs.at(id).tasks)
    EXPECT_TRUE(std::holds_alternative<TaskStop>(task.state)) << index;
  end_stopping(world, id);
  world.settle();
  EXPECT_EQ(placed(world, other), 1u);
  EXPECT_EQ(placed(world, id), 0u);
  end(world, other, 0, exit_code(0));
  world.settle();
  EXPECT_EQ(placed(world, id), 4u);
}

TEST(Gang, WhatNeverFitsIsRefused) {
  TestWorld world;
  world.nodes({node("a", 2), node("b", 3)});
  const auto refusal = [&](SubmitJob job) {
    const auto events = world.attempt(Request{TestWorld::admin(), SubmitJobs{{job}}});
    return events ? "" : events.error().message;
  };
  EXPECT_NE(refusal(gang(3, 2000)).find("the largest that fits has 2 members"), std::string::npos);
  SubmitJob uneven = gang(3);
  uneven.terms.gang = 4;
  EXPECT_NE(refusal(uneven).find("or write 0-3"), std::string::npos);
  SubmitJob limited = gang(2);
  limited.terms.parallel_max = 1;
  EXPECT_NE(refusal(limited).find("run at once"), std::string::npos);
}

TEST(Gang, ItsReasonIsWhatAllMembersWaitFor) {
  TestWorld world;
  world.nodes({node("a", 4)});
  SubmitJob job = gang(3);
  job.terms.retry.max = 1;
  job.terms.retry.backoff = seconds(5);
  const JobId id = world.submit(job);
  world.settle();
  const auto word = [&] {
    return scheduling::explain(world.state, world.state.jobs.at(id)).block.obstacle;
  };
  world.run(Request{TestWorld::admin(), RequeueJob{id, {}, {}}});
  end(world, id, 0, stopped());
  EXPECT_EQ(word(), scheduling::Obstacle::members) << "two have their grace";
  end_stopping(world, id);
  world.settle();
  end(world, id, 1, exit_code(7));
  end_stopping(world, id);
  EXPECT_EQ(word(), scheduling::Obstacle::backoff) << "one pauses, the others wait with it";
  world.now = world.now + seconds(6);
  world.nodes({node("a", 2)});
  world.settle();
  EXPECT_EQ(word(), scheduling::Obstacle::infeasible) << "there is no room for three any more";
}

TEST(Gang, MembersAreNotCancelledOneByOne) {
  TestWorld world;
  world.nodes({node("a", 4)});
  const JobId id = world.submit(gang(2));
  world.settle();
  EXPECT_FALSE(world.attempt(Request{TestWorld::admin(), CancelJob{id, 1, {}}}));
  world.run(Request{TestWorld::admin(), CancelJob{id, {}, {}}});
  end_stopping(world, id);
  EXPECT_FALSE(world.state.jobs.count(id));
}

// Never half-started, and two gangs that could each have a half do not wait for each other.
TEST(Gang, HoldsInManySmallWorlds) {
  for (uint32_t seed = 1; seed <= 500; ++seed) {
    std::mt19937 random(seed);
    const auto draw = [&](int low, int high) {
      return low + static_cast<int>(random() % static_cast<uint32_t>(high - low + 1));
    };
    TestWorld world;
    std::vector<NodeCapacity> nodes;
    for (int i = 0; i < draw(1, 3); ++i) nodes.push_back(node("n" + std::to_string(i), draw(1, 4)));
    world.nodes(nodes);
    for (int i = 0; i < 8; ++i) {
      SubmitJob job = draw(0, 2) ? gang(static_cast<uint32_t>(draw(1, 4)), draw(1, 2) * 1000,
                                        draw(0, 3) ? Tier::batch : Tier::opportunistic)
                                 : TestWorld::job();
      (void)world.attempt(Request{TestWorld::admin(), SubmitJobs{{job}}});
    }
    for (int step = 0; step < 200 && !world.state.jobs.empty(); ++step) {
      world.settle();
      std::vector<std::pair<JobId, uint32_t>> running;
      for (const auto& [id, job] : world.state.jobs) {
        uint32_t members = 0;
        bool stops = false;
        for (const auto& [index, task] : job.tasks) {
          running.emplace_back(id, index);
          ++members;
          stops |= std::holds_alternative<TaskStop>(task.state);
        }
        uint32_t ended = 0;
        for (const uint32_t each : job.tally) ended += each;
        if (job.gang && members > 0 && !stops) {
          EXPECT_EQ(members + ended, world.state.terms_of(job).gang)
              << "half-started, seed " << seed;
        }
      }
      ASSERT_FALSE(running.empty()) << "they wait for each other, seed " << seed;
      const auto [id, index] = running[random() % running.size()];
      const bool stops =
          std::holds_alternative<TaskStop>(world.state.jobs.at(id).tasks.at(index).state);
      end(world, id, index, stops ? stopped() : exit_code(0));
    }
    EXPECT_TRUE(world.state.jobs.empty()) << "seed " << seed;
  }
}

// What it is sure of does for the first member alone, and with what it may borrow for both.
TEST(Gang, MembersMayBorrowDevicesOfAnotherModel) {
  TestWorld world;
  NodeCapacity mixed = node("n", 8, 1 << 30, 4);
  mixed.devices[2].model = mixed.devices[3].model = "h100";
  world.nodes({mixed});
  world.run(Request{TestWorld::admin(), SetCohort{"all", {}, {}, {}, {}}});
  Quota none;
  none.devices["gpu:a100"] = 0;
  world.run(Request{TestWorld::admin(), SetQuota{"lab", none}});
  world.run(Request{TestWorld::admin(), CreateNamespace{"lender", ""}});
  Quota two;
  two.devices["gpu:a100"] = 2;
  world.run(Request{TestWorld::admin(), SetQuota{"lender", two}});
  for (const char* name : {"lab", "lender"})
    world.run(Request{TestWorld::admin(), SetStake{name, "all", {}, {}}});
  SubmitJob job = TestWorld::job();
  job.terms.gang = 2;
  job.indices = IntervalSet({0, 1});
  job.array = true;
  job.terms.resources.devices = {{"gpu", "a100", 1, {"h100"}}, {"gpu", "h100", 1}};
  const JobId gang = world.submit(job);
  world.settle();
  EXPECT_EQ(world.state.jobs.at(gang).placed, 2u);
}

// One model is limited, so the first member would take two of the other: for the next there is
// none.
TEST(Gang, ALimitOfOneModelIsItsReasonAndNobodyElses) {
  TestWorld world;
  NodeCapacity mixed = node("n", 8, 1 << 30, 4);
  mixed.devices[2].model = mixed.devices[3].model = "h100";
  world.nodes({mixed});
  Quota none;
  none.devices["gpu:a100"] = 0;
  world.run(Request{TestWorld::admin(), SetQuota{"lab", none}});
  world.run(Request{TestWorld::admin(), CreateNamespace{"other", ""}});
  SubmitJob job = gang(2);
  job.keep = true;
  job.terms.resources.devices = {{"gpu", "a100", 1, {"h100"}}, {"gpu", "h100", 1}};
  const JobId limited = world.submit(job);
  world.settle();
  const auto why = scheduling::explain(world.state, world.state.jobs.at(limited), true).block;
  EXPECT_EQ(why.obstacle, scheduling::Obstacle::quota);
  EXPECT_EQ(why.resource, "gpu:a100");
  EXPECT_EQ(why.asked, 2000) << "one for each member";
  job.ns = "other";
  const JobId unlimited = world.submit(job);
  world.settle();
  EXPECT_EQ(placed(world, unlimited), 2u) << "no room is kept for one that lacks something else";
}

}  // namespace
}  // namespace atl::core
