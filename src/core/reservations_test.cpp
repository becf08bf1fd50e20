// Room that is kept for a time.
#include "core/scheduling/explain.h"
#include "core/test_world.h"

namespace atl::core {
namespace {

struct Lab : TestWorld {
  Lab() {
    run(Request{admin(), CreateNamespace{"course", ""}});
    now = Time{hours(24 * 365).us};
  }
  CreateReservation asks(int64_t from_hours, int64_t until_hours, uint32_t count = 1,
                         int64_t cpu_milli = 4000) const {
    CreateReservation command;
    command.name = "tuesday";
    command.from = now + hours(from_hours);
    command.until = now + hours(until_hours);
    command.namespaces = {"course"};
    command.count = count;
    command.each.cpu_milli = cpu_milli;
    return command;
  }
  void reserve(CreateReservation command) { run(Request{admin(), std::move(command)}); }
  std::string refusal(CreateReservation command) {
    const auto events = attempt(Request{admin(), std::move(command)});
    return events ? "" : events.error().message;
  }
  JobId start(const std::string& ns, Duration wall, int64_t cpu_milli = 4000,
              Tier tier = Tier::batch) {
    SubmitJob one = job(cpu_milli);
    one.ns = ns;
    one.terms.wall = wall;
    one.terms.grace = {};
    one.terms.tier = tier;
    const JobId id = submit(one);
    settle();
    return id;
  }
  bool runs(JobId id) const { return state.jobs.at(id).placed > 0; }
};

TEST(Reservation, OthersMayUseTheRoomUntilItBegins) {
  Lab lab;
  lab.nodes({node("n", 4)});
  lab.reserve(lab.asks(2, 4));
  const JobId long_one = lab.start("lab", hours(3));
  EXPECT_FALSE(lab.runs(long_one));
  const auto why = scheduling::explain(lab.state, lab.state.jobs.at(long_one));
  EXPECT_EQ(why.block.obstacle, scheduling::Obstacle::reserved) << why.sentence;
  EXPECT_NE(why.sentence.find("tuesday"), std::string::npos) << why.sentence;
  const JobId endless = lab.start("lab", {});
  EXPECT_FALSE(lab.runs(endless)) << "nobody knows when it ends";
  const JobId short_one = lab.start("lab", hours(1));
  EXPECT_TRUE(lab.runs(short_one));
}

TEST(Reservation, WhileItLastsOnlyThoseItIsForHaveTheRoom) {
  Lab lab;
  lab.nodes({node("n", 6)});
  lab.reserve(lab.asks(1, 3));
  EXPECT_EQ(next_timer(lab.state, lab.now), lab.now + hours(1));
  lab.now = lab.now + hours(1);
  EXPECT_EQ(next_timer(lab.state, lab.now), lab.now + hours(2));
  const JobId beside = lab.start("lab", {}, 2000);
  EXPECT_TRUE(lab.runs(beside)) << "beside it there is room";
  const JobId other = lab.start("lab", {}, 4000);
  EXPECT_FALSE(lab.runs(other));
  const JobId student = lab.start("course", {}, 3000);
  EXPECT_TRUE(lab.runs(student));
  const JobId late = lab.start("course", {}, 2000);
  EXPECT_FALSE(lab.runs(late)) << "one core of it is left";
  const JobId last = lab.start("course", {}, 1000);
  EXPECT_TRUE(lab.runs(last));
}

TEST(Reservation, ItsEndGivesTheRoomBack) {
  Lab lab;
  lab.nodes({node("n", 4)});
  lab.reserve(lab.asks(1, 3));
  lab.now = lab.now + hours(2);
  const JobId other = lab.start("lab", {});
  EXPECT_FALSE(lab.runs(other));
  lab.now = lab.now + hours(1);
  lab.settle();
  EXPECT_TRUE(lab.state.reservations.empty());
  EXPECT_TRUE(lab.runs(other));
}

TEST(Reservation, CancellingItDoesTheSame) {
  Lab lab;
  lab.nodes({node("n", 4)});
  lab.reserve(lab.asks(1, 3));
  const JobId other = lab.start("lab", {});
  EXPECT_FALSE(lab.runs(other));
  lab.run(Request{TestWorld::admin(), CancelReservation{"tuesday"}});
  lab.settle();
  EXPECT_TRUE(lab.runs(other));
  EXPECT_FALSE(lab.attempt(Request{TestWorld::admin(), CancelReservation{"tuesday"}}));
}

TEST(Reservation, WorkThatYieldsMayStayUntilTheRoomIsWanted) {
  Lab lab;
  lab.nodes({node("n", 4)});
  lab.reserve(lab.asks(1, 3));
  const JobId cheap = lab.start("lab", {}, 4000, Tier::opportunistic);
  EXPECT_TRUE(lab.runs(cheap));
  lab.now = lab.now + hours(1);
  const JobId student = lab.start("course", {});
  EXPECT_FALSE(lab.runs(student));
  EXPECT_TRUE(std::holds_alternative<TaskStop>(lab.state.jobs.at(cheap).tasks.at(0).state));
  AttemptResult result;
  result.cause = EndCause::stopped;
  lab.run(Report{AttemptEnded{{cheap, 0, 1}, result}});
  lab.settle();
  EXPECT_TRUE(lab.runs(student));
  EXPECT_FALSE(lab.runs(cheap));
}

TEST(Reservation, DevicesAreReservedByUnit) {
  Lab lab;
  lab.nodes({node("n", 8, 1 << 30, 2)});
  CreateReservation command = lab.asks(0, 2, 1, 1000);
  command.each.devices = {{"gpu", "", 1}};
  lab.reserve(command);
  SubmitJob two = TestWorld::job();
  two.terms.resources.devices = {{"gpu", "", 2}};
  const JobId both = lab.submit(two);
  lab.settle();
  EXPECT_FALSE(lab.runs(both));
  lab.run(Request{TestWorld::admin(), CancelJob{both, {}, {}}});
  two.terms.resources.devices = {{"gpu", "", 1}};
  const JobId one = lab.submit(two);
  lab.settle();
  EXPECT_TRUE(lab.runs(one));
  two.ns = "course";
  const JobId student = lab.submit(two);
  lab.settle();
  EXPECT_TRUE(lab.runs(student));
}

TEST(Reservation, WholeNodesAreThoseThatAreFreeThenIfPossible) {
  Lab lab;
  lab.nodes({node("a", 4), node("b", 4)});
  SubmitJob endless = TestWorld::job(1000);
  lab.submit(endless);
  lab.settle();
  CreateReservation command = lab.asks(1, 2);
  command.whole_nodes = true;
  lab.reserve(command);
  const Reservation& made = lab.state.reservations.begin()->second;
  ASSERT_EQ(made.parts.size(), 1u);
  EXPECT_EQ(made.parts[0].node, "b");
  EXPECT_EQ(made.parts[0].cpu_milli, 4000);
}

TEST(Reservation, BadOnesAreRefusedWithTheReason) {
  Lab lab;
  lab.nodes({node("n", 8)});
  const auto has = [](const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos ? "" : text + " lacks " + part;
  };
  EXPECT_EQ(has(lab.refusal(lab.asks(-3, -1)), "in the past"), "");
  EXPECT_EQ(has(lab.refusal(lab.asks(-1, 2)), "the earliest is now"), "");
  EXPECT_EQ(has(lab.refusal(lab.asks(3, 2)), "ends before it begins"), "");
  EXPECT_EQ(has(lab.refusal(lab.asks(2, 2)), "ends when it begins"), "");
  EXPECT_EQ(has(lab.refusal(lab.asks(1, 2, 1, 0)), "how many cores? say cpus"), "");
  EXPECT_EQ(has(lab.refusal(lab.asks(1, 2, 1, 9000)), "the nearest that fits is 8 cpus"), "");
  CreateReservation elsewhere = lab.asks(1, 2);
  elsewhere.site = "moon";
  EXPECT_EQ(has(lab.refusal(elsewhere), "there is no site \"moon\"; the sites are local"), "");
  EXPECT_EQ(has(lab.refusal(lab.asks(1, 2, 3)), "only 2 of 3"), "");
  EXPECT_EQ(has(lab.refusal(lab.asks(1, 2, 3)), "no more in service: ask for fewer"), "");
  lab.reserve(lab.asks(1, 3, 1, 6000));
  CreateReservation over = lab.asks(2, 4);
  EXPECT_EQ(has(lab.refusal(over), "already"), "");
  over.name = "wednesday";
  EXPECT_EQ(has(lab.refusal(over), "beside the reservations of that time: tuesday"), "");
  over.from = lab.now + hours(3);
  EXPECT_EQ(lab.refusal(over), "") << "one after the other is no conflict";
  CreateReservation nobody = lab.asks(5, 6);
  nobody.name = "x";
  nobody.namespaces = {};
  EXPECT_EQ(has(lab.refusal(nobody), "for whom?"), "");
  nobody.namespaces = {"nowhere"};
  EXPECT_EQ(has(lab.refusal(nobody), "nowhere"), "");
}

TEST(Reservation, WhatSomebodyHasOfItCountsOnce) {
  Lab lab;
  lab.nodes({node("n", 8)});
  lab.reserve(lab.asks(0, 3, 2, 4000));  // two parts, both on the only node
  const JobId student = lab.start("course", {});
  EXPECT_TRUE(lab.runs(student));
  const JobId other = lab.start("lab", {}, 1000);
  EXPECT_FALSE(lab.runs(other)) << "the second part is still reserved";
}

TEST(Reservation, RoomThatComesFreeServesOneOfThem) {
  Lab lab;
  lab.run(Request{TestWorld::admin(), CreateNamespace{"school", ""}});
  lab.nodes({node("n", 8)});
  EXPECT_TRUE(lab.runs(lab.start("lab", hours(1))));
  lab.reserve(lab.asks(2, 4));
  CreateReservation second = lab.asks(2, 4);
  second.name = "other";
  second.namespaces = {"school"};
  lab.reserve(second);
  EXPECT_FALSE(lab.runs(lab.start("lab", {})));
}

TEST(Reservation, WorkOfItsOwnThatEndsBeforeIsNotCountedTwice) {
  Lab lab;
  lab.nodes({node("n", 12)});
  lab.reserve(lab.asks(2, 4, 1, 8000));
  EXPECT_TRUE(lab.runs(lab.start("course", hours(1))));
  EXPECT_TRUE(lab.runs(lab.start("lab", {})));
  EXPECT_FALSE(lab.runs(lab.start("lab", {}))) << "then there were four cores for the eight";
}

TEST(Reservation, AnothersWantOfRoomDoesNotCloseItToThoseItIsFor) {
  Lab lab;
  lab.nodes({node("n", 4)});
  lab.reserve(lab.asks(0, 3));
  const JobId other = lab.start("lab", {});
  const JobId student = lab.start("course", {});  // asks for the same, and comes after
  EXPECT_FALSE(lab.runs(other));
  EXPECT_TRUE(lab.runs(student));
}

TEST(Reservation, AShareOfAReservedDeviceLeavesTheRestReserved) {
  Lab lab;
  NodeCapacity shared = node("n", 8, 1 << 30, 1);
  shared.devices[0].share_step_milli = 100;
  lab.nodes({shared});
  CreateReservation command = lab.asks(0, 2, 1, 1000);
  command.each.devices = {{"gpu", "", 1}};
  lab.reserve(command);
  SubmitJob half = TestWorld::job();
  half.terms.resources.devices = {{"gpu", "", 1, {}, 500}};
  half.ns = "course";
  const JobId student = lab.submit(half);
  half.ns = "lab";
  const JobId other = lab.submit(half);
  lab.settle();
  EXPECT_TRUE(lab.runs(student));
  EXPECT_FALSE(lab.runs(other));
}

// Of several parts on one node each counts once when their holder goes.
TEST(Reservation, NobodyYieldsForMoreThanTheyHave) {
  Lab lab;
  lab.nodes({node("n", 4)});
  CreateReservation command = lab.asks(0, 2, 3, 500);
  lab.reserve(command);
  const JobId cheap = lab.start("course", {}, 2500, Tier::opportunistic);
  EXPECT_TRUE(lab.runs(cheap));
  SubmitJob gang = TestWorld::job(3000);
  gang.ns = "course";
  gang.terms.gang = 2;
  gang.array = true;
  gang.indices = IntervalSet({0, 1});
  gang.keep = true;
  lab.submit(gang);
  lab.settle();
  EXPECT_FALSE(std::holds_alternative<TaskStop>(lab.state.jobs.at(cheap).tasks.at(0).state));
}

// A device of which somebody still has a slice cannot be shared, reserved or not.
TEST(Reservation, NobodyYieldsForADeviceThatAnotherHasASliceOf) {
  Lab lab;
  NodeCapacity cut = node("n", 4, 1 << 30, 1);
  cut.devices[0].share_step_milli = 100;
  cut.devices[0].slots = 2;
  cut.devices[0].profiles = {{"half", 1, {0, 1}, 0}};
  lab.nodes({cut});
  const auto part = [](const char* ns, DeviceRequest request) {
    SubmitJob one = TestWorld::job();
    one.ns = ns;
    one.terms.resources.devices = {std::move(request)};
    return one;
  };
  DeviceRequest slice{"gpu", "", 1};
  slice.profile = "half";
  lab.submit(part("lab", slice));
  lab.settle();
  CreateReservation command = lab.asks(0, 2, 1);
  command.whole_nodes = true;
  command.each.devices = {{"gpu", "", 1}};
  lab.reserve(command);
  const JobId cheap = lab.start("course", {}, 3000, Tier::opportunistic);
  EXPECT_TRUE(lab.runs(cheap));
  lab.submit(part("course", {"gpu", "", 1, {}, 500}));
  lab.settle();
  EXPECT_FALSE(std::holds_alternative<TaskStop>(lab.state.jobs.at(cheap).tasks.at(0).state));
}

TEST(Reservation, NobodyYieldsRoomThatWouldThenBeReserved) {
  Lab lab;
  lab.nodes({node("n", 4)});
  lab.reserve(lab.asks(2, 4));
  const JobId cheap = lab.start("course", {}, 4000, Tier::opportunistic);
  EXPECT_TRUE(lab.runs(cheap));
  lab.start("lab", {});
  EXPECT_FALSE(std::holds_alternative<TaskStop>(lab.state.jobs.at(cheap).tasks.at(0).state));
}

// Else it would be stopped for those who fit beside it, come back, and be stopped again.
TEST(Reservation, WorkThatYieldsThereLeavesTheRestToOthers) {
  Lab lab;
  lab.nodes({node("n", 6)});
  lab.reserve(lab.asks(2, 4));
  const JobId cheap = lab.start("lab", {}, 4000, Tier::opportunistic);
  EXPECT_TRUE(lab.runs(cheap));
  EXPECT_TRUE(lab.runs(lab.start("lab", {}, 2000)));
  EXPECT_FALSE(std::holds_alternative<TaskStop>(lab.state.jobs.at(cheap).tasks.at(0).state));
}

TEST(Reservation, OfWhatYieldsTheReservedPartIsNotForOthers) {
  Lab lab;
  lab.nodes({node("n", 8)});
  lab.reserve(lab.asks(2, 4));
  const JobId cheap = lab.start("lab", {}, 6000, Tier::opportunistic);
  const auto stops = [&] {
    return std::holds_alternative<TaskStop>(lab.state.jobs.at(cheap).tasks.at(0).state);
  };
  const JobId large = lab.start("lab", {}, 5000);
  EXPECT_FALSE(stops()) << "with it gone there would be four";
  lab.run(Request{TestWorld::admin(), CancelJob{large, {}, {}}});
  lab.start("lab", {}, 4000);
  EXPECT_TRUE(stops());
}

TEST(Reservation, OneAfterTheOtherUseTheSameRoom) {
  Lab lab;
  lab.nodes({node("n", 4)});
  lab.reserve(lab.asks(2, 4, 1, 3000));
  CreateReservation next = lab.asks(4, 6, 1, 3000);
  next.name = "wednesday";
  lab.reserve(next);
  EXPECT_TRUE(lab.runs(lab.start("lab", {}, 1000))) << "beside them there is room";
  const JobId endless = lab.start("lab", {}, 1000);
  EXPECT_FALSE(lab.runs(endless));
  EXPECT_EQ(scheduling::explain(lab.state, lab.state.jobs.at(endless)).starts_by,
            lab.now + hours(6))
      << "when the last of them is over";
  EXPECT_TRUE(lab.runs(lab.start("lab", hours(2), 3000))) << "it ends before the first";
}

TEST(Reservation, WhatEndsBeforeTheSecondIsCountedForItToo) {
  Lab lab;
  lab.nodes({node("n", 6)});
  lab.reserve(lab.asks(2, 4));
  CreateReservation next = lab.asks(4, 6);
  next.name = "wednesday";
  lab.reserve(next);
  EXPECT_TRUE(lab.runs(lab.start("lab", {}, 4000, Tier::opportunistic)));
  EXPECT_TRUE(lab.runs(lab.start("lab", {}, 2000)));
}

TEST(Reservation, AtTheSameTimeTheyAddUp) {
  Lab lab;
  lab.nodes({node("n", 6)});
  lab.reserve(lab.asks(2, 4, 1, 2000));
  CreateReservation other = lab.asks(3, 5, 1, 3000);
  other.name = "wednesday";
  lab.reserve(other);
  EXPECT_FALSE(lab.runs(lab.start("lab", {}, 2000)));
  EXPECT_TRUE(lab.runs(lab.start("lab", {}, 1000)));
  EXPECT_TRUE(lab.runs(lab.start("lab", hours(3), 3000))) << "until then only two are kept";
}

TEST(Reservation, NobodyWaitsForRoomThatIsReservedWhenItComesFree) {
  Lab lab;
  lab.nodes({node("n", 4)});
  lab.start("lab", hours(1));
  lab.reserve(lab.asks(2, 4));
  const JobId next = lab.start("lab", {});
  EXPECT_EQ(scheduling::explain(lab.state, lab.state.jobs.at(next)).starts_by, lab.now + hours(4));
}

TEST(Reservation, ItIsTheReasonOnlyWhereItIsInTheWay) {
  Lab lab;
  lab.nodes({node("n", 6)});
  lab.reserve(lab.asks(0, 2));
  EXPECT_TRUE(lab.runs(lab.start("course", {}, 2000)));
  EXPECT_TRUE(lab.runs(lab.start("course", {}, 2000)));
  const JobId large = lab.start("course", {}, 3000);
  const auto why = scheduling::explain(lab.state, lab.state.jobs.at(large));
  EXPECT_EQ(why.block.obstacle, scheduling::Obstacle::capacity) << why.sentence;
}

TEST(Reservation, NodesDrainAndComeBack) {
  Lab lab;
  lab.nodes({node("a", 4), node("b", 4)});
  lab.run(Request{TestWorld::admin(), DrainNode{"local", "a", true}});
  const JobId first = lab.start("lab", {});
  EXPECT_EQ(placement_of(lab.state.jobs.at(first).tasks.at(0).state)->node, "b");
  const JobId second = lab.start("lab", {});
  EXPECT_FALSE(lab.runs(second));
  lab.nodes({node("b", 4)});  // the drained one goes away and comes back: it still drains
  lab.nodes({node("a", 4), node("b", 4)});
  lab.settle();
  EXPECT_FALSE(lab.runs(second));
  lab.run(Request{TestWorld::admin(), DrainNode{"local", "a", false}});
  lab.settle();
  EXPECT_TRUE(lab.runs(second));
  EXPECT_FALSE(lab.attempt(Request{TestWorld::admin(), DrainNode{"local", "z", true}}));
}

}  // namespace
}  // namespace atl::core
