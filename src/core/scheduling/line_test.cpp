#include "core/scheduling/line.h"

#include "core/limits.h"
#include "core/test_world.h"

namespace atl::core::scheduling {
namespace {

// A node with as many cores as asked for, on a site that lines up, and an array whose first tasks
// were short.
class Line : public ::testing::Test {
 protected:
  void start(int cpus, uint32_t parallel_max = 0, Duration first_took = milliseconds(5)) {
    report_capacity(cpus);
    SubmitJob array = TestWorld::job();
    array.array = true;
    array.indices = IntervalSet({1, 20});
    array.terms.parallel_max = parallel_max;
    id = world.submit(array);
    world.settle();
    end(1, first_took);
  }

  void report_capacity(int cpus) {
    world.run(Report{SiteProbed{"local", {{node("n1", cpus)}, abilities}}});
  }

  void end(uint32_t index, Duration took, EndCause cause = EndCause::exited) {
    AttemptResult result{.cause = cause};
    result.usage.started = world.now;
    result.usage.ended = world.now + took;
    world.run(Report{AttemptEnded{{id, index, attempt_of(index)}, result}});
    world.settle();
  }

  uint32_t attempt_of(uint32_t index) const { return task(index).attempt; }
  const Task& task(uint32_t index) const { return world.state.jobs.at(id).tasks.at(index); }
  bool placed(uint32_t index) const { return world.state.jobs.at(id).tasks.count(index) > 0; }
  int64_t cpus_used() const {
    return world.state.sites.begin()->second.nodes.at("n1").cpu_milli_used;
  }
  AttemptId attempt(uint32_t index) const { return {id, index, attempt_of(index)}; }

  // Whom each in line is behind, in the order of the line; the first one has the room.
  std::vector<uint32_t> line_of(uint32_t first) const {
    std::vector<uint32_t> line;
    for (auto at = world.state.followers.find(attempt(first)); at != world.state.followers.end();
         at = world.state.followers.find(at->second))
      line.push_back(at->second.index);
    return line;
  }

  TestWorld world;
  std::vector<std::string> abilities = {kLineAbility};
  JobId id;
};
using Indices = std::vector<uint32_t>;

class LongLine : public Line {
 protected:
  LongLine() { abilities.push_back(kLongLineAbility); }
};

TEST_F(Line, BehindEachShortTaskOneIsHandedOverWithoutHoldingAnything) {
  start(2);
  ASSERT_TRUE(placed(5));
  EXPECT_EQ(task(4).line->behind, attempt(2));
  EXPECT_EQ(task(5).line->behind, attempt(3));
  EXPECT_FALSE(placed(6)) << "one behind each, no more";
  EXPECT_EQ(cpus_used(), 2000);
  EXPECT_EQ(world.state.jobs.at(id).placed, 2u);
}

TEST_F(Line, TheNextTakesOverTheRoomAndAnotherLinesUp) {
  start(2);
  end(2, milliseconds(5));
  EXPECT_FALSE(task(4).line) << "it holds the room itself now";
  EXPECT_EQ(task(6).line->behind, attempt(4));
  EXPECT_EQ(cpus_used(), 2000);
}

TEST_F(Line, LongTasksAreFollowedByNobody) {
  start(2, 0, seconds(3));
  EXPECT_FALSE(placed(4));
}

TEST_F(Line, ASiteThatCannotIsNotAskedTo) {
  world.nodes({node("n1", 2)});
  SubmitJob array = TestWorld::job();
  array.array = true;
  array.indices = IntervalSet({1, 20});
  id = world.submit(array);
  world.settle();
  end(1, milliseconds(5));
  EXPECT_FALSE(placed(4));
}

TEST_F(Line, AnArraysOwnLimitHolds) {
  start(8, 2);
  EXPECT_EQ(world.state.jobs.at(id).placed, 2u);
  EXPECT_TRUE(task(4).line && task(5).line);
  end(2, milliseconds(5));
  EXPECT_EQ(world.state.jobs.at(id).placed, 2u);
}

TEST_F(Line, AnArrayWhoseLimitIsLoweredGivesRoomBack) {
  start(8, 2);
  ChangeJob change{.id = id};
  change.parallel_max = 1;
  world.run(Request{TestWorld::admin(), change});
  end(2, milliseconds(5));
  EXPECT_FALSE(placed(6)) << "two still have room";
  end(3, milliseconds(5));
  end(4, milliseconds(5));
  EXPECT_EQ(world.state.jobs.at(id).placed, 1u);
}

TEST_F(Line, ReportsMayComeInAnyOrder) {
  start(2);
  const AttemptId next = attempt(4);
  world.run(Report{AttemptStarted{next, world.now}});
  EXPECT_EQ(cpus_used(), 2000) << "the one before it is not known to have ended";
  AttemptResult done;
  world.run(Report{AttemptEnded{next, done}});
  EXPECT_EQ(cpus_used(), 2000);
  end(2, milliseconds(5));
  EXPECT_EQ(cpus_used(), 2000) << "its room was given to another";
}

TEST_F(Line, OneThatWaitsTooLongIsAskedBackAndWaitsLikeTheOthers) {
  start(2);
  world.effects.clear();
  world.now = world.now + kInLineMax;
  world.settle();
  ASSERT_EQ(world.effects.size(), 2u);
  EXPECT_TRUE(std::get<StopAttempt>(world.effects[0]).unless_begun);
  end(4, {}, EndCause::recalled);
  EXPECT_FALSE(placed(4));
  EXPECT_TRUE(world.state.jobs.at(id).waiting.contains(4));
  EXPECT_EQ(world.state.jobs.at(id).tries.at(4).failures, 0u);
  EXPECT_EQ(world.state.jobs.at(id).tries.at(4).losses, 0u);
}

TEST_F(Line, OneThatBeganBeforeItCouldBeAskedBackRuns) {
  start(2);
  world.now = world.now + kInLineMax;
  world.settle();
  world.run(Report{AttemptStarted{attempt(4), world.now}});
  end(2, seconds(1));
  EXPECT_TRUE(std::holds_alternative<TaskRunning>(task(4).state));
  EXPECT_FALSE(task(4).line);
}

TEST_F(Line, WhoWaitsForTheRoomAlreadyComesFirst) {
  start(2);
  SubmitJob urgent = TestWorld::job();
  urgent.terms.priority = 5;
  world.submit(urgent);
  world.settle();
  end(2, milliseconds(5));
  EXPECT_FALSE(placed(6)) << "the room that 4 leaves is for the urgent one";
  const JobId first{id.value + 1};
  end(4, milliseconds(5));
  EXPECT_EQ(world.state.jobs.at(first).placed, 1u);
}

TEST_F(Line, HoldingTheJobAsksThemBack) {
  start(2);
  const Events held = world.run(Request{TestWorld::admin(), HoldJob{id}});
  EXPECT_EQ(held.size(), 3u);
  EXPECT_TRUE(std::holds_alternative<TaskRecalled>(held[2].body));
}

TEST_F(Line, DrainingTheSiteAsksThemBack) {
  start(2);
  const Events drained = world.run(Request{TestWorld::admin(), DrainSite{"local", true}});
  EXPECT_EQ(drained.size(), 3u);
  EXPECT_TRUE(std::holds_alternative<TaskRecalled>(drained[2].body));
}

TEST_F(Line, ANodeThatShrankGetsItsRoomBack) {
  start(2);
  report_capacity(1);
  end(2, milliseconds(5));
  end(3, milliseconds(5));
  EXPECT_FALSE(placed(6));
  EXPECT_EQ(cpus_used(), 2000) << "those that were in line already";
  end(4, milliseconds(5));
  EXPECT_EQ(cpus_used(), 1000);
}

TEST_F(Line, ANodeThatIsGoneKeepsWhoIsInLineUntilTheyEnd) {
  start(1);
  world.run(Report{SiteProbed{"local", {{}, {kLineAbility}}}});
  end(2, milliseconds(5));
  EXPECT_EQ(cpus_used(), 1000);
  end(3, milliseconds(5));
  EXPECT_TRUE(world.state.sites.begin()->second.nodes.empty());
}

TEST_F(Line, AnArrayOnANodeThatIsGoneCanBeChanged) {
  start(1);
  world.run(Report{SiteProbed{"local", {{node("n2", 1)}, {kLineAbility}}}});
  ChangeJob change{.id = id};
  change.priority = 5;
  world.run(Request{TestWorld::admin(), change});
  EXPECT_EQ(cpus_used(), 1000);
}

TEST_F(Line, OneThatCanNeverStartKeepsNobodyFromLiningUp) {
  report_capacity(1);
  SubmitJob huge = TestWorld::job(64'000);
  huge.keep = true;
  world.submit(huge);
  start(1);
  EXPECT_TRUE(placed(3));
}

TEST_F(Line, OneThatWasHandedBackCountsAsNeverBegun) {
  start(2);
  world.now = world.now + kInLineMax;
  world.settle();
  world.effects.clear();
  end(4, {}, EndCause::recalled);
  EXPECT_EQ(std::get<ArchiveAttempt>(world.effects.at(0)).outcome, Outcome::skipped);
  world.effects.clear();
  end(2, seconds(2));
  const auto& again = std::get<StartAttempt>(world.effects.back());
  EXPECT_EQ(again.attempt, (AttemptId{id, 4, 2}));
  EXPECT_EQ(again.recalls, 1u);
}

TEST_F(Line, ARestartRepeatsLeadersBeforeFollowers) {
  start(2);
  world.now = world.now + kInLineMax;
  world.settle();
  std::vector<std::string> order;
  for (const Effect& effect : pending_effects(world.state)) {
    if (const auto* start = std::get_if<StartAttempt>(&effect))
      order.push_back(to_string(start->attempt) + (start->behind ? " in line" : ""));
    if (const auto* stop = std::get_if<StopAttempt>(&effect))
      order.push_back("back " + to_string(stop->attempt));
  }
  EXPECT_EQ(order, (std::vector<std::string>{"1[2].1", "1[4].1 in line", "back 1[4].1", "1[3].1",
                                             "1[5].1 in line", "back 1[5].1"}));
}

TEST_F(LongLine, GrowsByOneWithEachShortTaskThatEnded) {
  start(1);
  EXPECT_EQ(line_of(2), Indices{3});
  end(2, milliseconds(1));
  EXPECT_EQ(line_of(3), (Indices{4, 5}));
  end(3, milliseconds(1));
  EXPECT_EQ(line_of(4), (Indices{5, 6, 7}));
  EXPECT_EQ(cpus_used(), 1000);
}

TEST_F(LongLine, HasABound) {
  start(1);
  for (uint32_t index = 2; index < 11; ++index) end(index, milliseconds(1));
  EXPECT_EQ(line_of(11).size(), kLineLengthMax);
}

TEST_F(LongLine, IsNoLongerThanASpanOfTime) {
  start(1, 0, milliseconds(6));
  for (uint32_t index = 2; index < 8; ++index) end(index, milliseconds(6));
  EXPECT_EQ(line_of(8).size(), 3u) << "20 ms";
  end(8, milliseconds(60));
  end(9, milliseconds(60));
  end(10, milliseconds(60));
  EXPECT_EQ(line_of(11).size(), 1u);
}

TEST_F(LongLine, TheShortestIsMadeLongerFirst) {
  start(2);
  end(2, milliseconds(1));
  end(3, milliseconds(1));
  const size_t longest = std::max(line_of(4).size(), line_of(5).size());
  const size_t shortest = std::min(line_of(4).size(), line_of(5).size());
  EXPECT_EQ(longest, 3u);
  EXPECT_LE(longest - shortest, 1u);
}

TEST_F(LongLine, OneThatEndsBeforeItsLeaderIsKnownToHaveEndedLeavesItsPlace) {
  start(1);
  end(2, milliseconds(1));
  ASSERT_EQ(line_of(3), (Indices{4, 5}));
  world.run(Report{AttemptEnded{attempt(4), {}}});
  EXPECT_EQ(line_of(3), Indices{5});
  EXPECT_EQ(cpus_used(), 1000) << "3 has the room, as far as we know";
  end(3, milliseconds(1));
  EXPECT_FALSE(task(5).line);
  EXPECT_EQ(cpus_used(), 1000);
}

TEST_F(LongLine, OneThatIsHandedBackLeavesItsPlaceToTheNext) {
  start(1);
  end(2, milliseconds(1));
  world.now = world.now + kInLineMax;
  world.settle();
  end(4, {}, EndCause::recalled);
  EXPECT_EQ(line_of(3), Indices{5});
  EXPECT_TRUE(task(5).line->recalled) << "it was asked back as well";
}

TEST_F(LongLine, NobodyLinesUpBehindOneThatIsAskedBack) {
  start(1);
  end(2, milliseconds(1));
  end(3, milliseconds(1));
  world.run(Request{TestWorld::admin(), HoldJob{id}});
  world.run(Request{TestWorld::admin(), ReleaseJob{id}});
  world.settle();
  EXPECT_EQ(line_of(4), (Indices{5, 6, 7}));
}

TEST_F(LongLine, AnArrayInLineCanBeChanged) {
  start(1);
  for (uint32_t index = 2; index < 5; ++index) end(index, milliseconds(1));
  const auto before = line_of(5);
  ASSERT_EQ(before.size(), 4u);
  ChangeJob change{.id = id};
  change.priority = 5;
  world.run(Request{TestWorld::admin(), change});
  EXPECT_EQ(line_of(5), before);
}

TEST_F(LongLine, AnArraysOwnLimitHolds) {
  start(8, 2);
  for (uint32_t index = 2; index < 8; ++index) {
    end(index, milliseconds(1));
    EXPECT_EQ(world.state.jobs.at(id).placed, 2u);
  }
}

TEST_F(LongLine, ARestartRepeatsItInItsOrder) {
  start(1);
  end(2, milliseconds(1));
  std::vector<std::string> order;
  for (const Effect& effect : pending_effects(world.state)) {
    if (const auto* start = std::get_if<StartAttempt>(&effect))
      order.push_back(to_string(start->attempt) +
                      (start->behind ? " behind " + to_string(*start->behind) : ""));
  }
  EXPECT_EQ(order,
            (std::vector<std::string>{"1[3].1", "1[4].1 behind 1[3].1", "1[5].1 behind 1[4].1"}));
}

}  // namespace
}  // namespace atl::core::scheduling
