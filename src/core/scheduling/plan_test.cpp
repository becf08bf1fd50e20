// When the first in line gets its room, beside what is reserved for a time to come.
#include "core/scheduling/plan.h"

#include "core/scheduling/explain.h"
#include "core/test_world.h"

namespace atl::core {
namespace {

struct Ahead : TestWorld, testing::Test {
  Ahead() {
    run(Request{admin(), CreateNamespace{"course", ""}});
    now = Time{hours(24 * 365).us};
  }
  void reserve(int64_t cores, int64_t in_hours = 24) {
    CreateReservation command;
    command.name = "lesson";
    command.from = now + hours(in_hours);
    command.until = command.from + hours(2);
    command.namespaces = {"course"};
    command.count = 1;
    command.each.cpu_milli = cores * 1000;
    run(Request{admin(), std::move(command)});
  }
  JobId start(int64_t cores, Duration wall, Tier tier = Tier::batch, uint32_t gang = 0) {
    SubmitJob one = job(cores * 1000);
    one.terms.wall = wall;
    one.terms.grace = {};
    one.terms.tier = tier;
    one.terms.gang = gang;
    if (gang > 0) {
      one.array = true;
      one.indices = IntervalSet({0, gang - 1});
    }
    const JobId id = submit(one);
    settle();
    return id;
  }
  bool runs(JobId id) const { return state.jobs.at(id).placed > 0; }
  Time starts_by(JobId id) const { return scheduling::explain(state, state.jobs.at(id)).starts_by; }
};

TEST_F(Ahead, TheFirstInLineMayRunBeforeAReservation) {
  nodes({node("n", 8)});
  reserve(1);
  start(6, hours(1));
  const JobId head = start(8, hours(1));
  EXPECT_EQ(starts_by(head), now + hours(1));
  EXPECT_FALSE(runs(start(2, hours(10)))) << "it would delay the first in line";
  EXPECT_TRUE(runs(start(2, minutes(30)))) << "it would not";
}

TEST_F(Ahead, OneThatWouldNotBeGoneInTimeComesAfterIt) {
  nodes({node("n", 8)});
  reserve(1);
  start(6, hours(1));
  EXPECT_EQ(starts_by(start(8, hours(24))), now + hours(26));
  EXPECT_TRUE(runs(start(2, hours(10)))) << "it is gone before";
}

// Their room is counted for the reservation when they have ended, and is free until then.
TEST_F(Ahead, WhatEndsBeforeItIsFreeMeanwhile) {
  nodes({node("n", 8)});
  start(6, hours(1));
  reserve(8);
  EXPECT_EQ(starts_by(start(8, hours(2))), now + hours(1));
  EXPECT_FALSE(runs(start(2, hours(10))));
}

TEST_F(Ahead, AGangIsCountedBeforeItToo) {
  nodes({node("m", 4), node("n", 4)});
  reserve(4);
  start(3, hours(1));
  start(3, hours(2));
  const JobId head = start(2, hours(1), Tier::batch, 4);
  EXPECT_EQ(starts_by(head), now + hours(2));
  EXPECT_FALSE(runs(start(1, hours(10))));
}

TEST_F(Ahead, OthersYieldToOneThatIsGoneBeforeIt) {
  nodes({node("n", 8)});
  reserve(8);
  const JobId cheap = start(8, {}, Tier::opportunistic);
  const auto stops = [&] {
    return std::holds_alternative<TaskStop>(state.jobs.at(cheap).tasks.at(0).state);
  };
  const JobId long_one = start(8, hours(25));
  EXPECT_FALSE(stops()) << "it would not be gone";
  run(Request{admin(), CancelJob{long_one, {}, {}}});
  start(8, hours(23));
  EXPECT_TRUE(stops());
}

}  // namespace
}  // namespace atl::core
