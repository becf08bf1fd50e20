// Times: what is due, what was missed, and how a firing is answered.
#include "core/schedule/test_schedules.h"

namespace atl::core {
namespace {

TEST(Schedule, FiresWhenItsTimeHasCome) {
  ScheduleWorld world;
  world.make(ScheduleWorld::every_ten(world.now));
  EXPECT_TRUE(world.settled().empty());
  EXPECT_EQ(next_timer(world.state, world.now), world.now + minutes(10));
  world.now = world.now + minutes(10);
  const auto fired = schedule_events<ScheduleFired>(world.settled());
  ASSERT_EQ(fired.size(), 1u);
  EXPECT_EQ(fired[0].planned, world.now);
  EXPECT_EQ(fired[0].number, 1u);
  const auto orders = schedule_effects<OpenRun>(world.effects);
  ASSERT_EQ(orders.size(), 1u);
  const auto made = schedule_events<WorkflowSubmitted>(world.open(orders[0]));
  ASSERT_EQ(made.size(), 1u) << world.it().firings.at(0).message;
  EXPECT_EQ(made[0].origin, "schedule/nightly");
  EXPECT_EQ(made[0].lane, "schedule/nightly");
  EXPECT_EQ(made[0].user, UserId{1});
  EXPECT_EQ(world.it().firings.at(0).workflow, made[0].id);
  EXPECT_EQ(world.it().firings.at(0).state, FiringState::opened);
}

TEST(Schedule, AnAnswerCountsOnce) {
  ScheduleWorld world;
  world.make(ScheduleWorld::every_ten(world.now));
  world.now = world.now + minutes(10);
  world.settled();
  const auto order = schedule_effects<OpenRun>(world.effects).at(0);
  EXPECT_FALSE(world.open(order).empty());
  EXPECT_TRUE(world.open(order).empty());
  EXPECT_TRUE(world.run(Report{RunPlanned{order.id, order.revision, 99, {}, "no"}}).empty());
}

TEST(Schedule, WhatWasAskedForIsAskedForAgainAfterARestart) {
  ScheduleWorld world;
  world.make(ScheduleWorld::every_ten(world.now, 1));
  world.now = world.now + minutes(10);
  world.settled();
  EXPECT_EQ(schedule_effects<TimeSchedule>(world.effects).size(), 1u) << "its one time is used up";
  Effects again = pending_effects(world.state);
  const Effects twice = again;
  ASSERT_EQ(schedule_effects<OpenRun>(again).size(), 1u);
  again = twice;
  const auto times = schedule_effects<TimeSchedule>(again);
  ASSERT_EQ(times.size(), 1u);
  EXPECT_EQ(times[0].after, world.now);
  world.tell_times(times[0]);
  EXPECT_EQ(world.it().due.front(), world.now + minutes(10));
  again = pending_effects(world.state);
  EXPECT_TRUE(schedule_effects<TimeSchedule>(again).empty());
}

TEST(Schedule, TimesThatWereNotAskedForDoNotCount) {
  ScheduleWorld world;
  world.make(ScheduleWorld::every_ten(world.now, 1));
  const ScheduleId id = world.it().id;
  EXPECT_TRUE(world.run(Report{ScheduleTimes{id, 1, world.now, {world.now + seconds(1)}}}).empty());
  world.now = world.now + minutes(10);
  world.settled();
  const Time asked = world.it().asked;
  EXPECT_TRUE(world.run(Report{ScheduleTimes{id, 2, asked, {asked + seconds(1)}}}).empty());
  EXPECT_TRUE(world.run(Report{ScheduleTimes{id, 1, asked - seconds(1), {}}}).empty());
  world.run(Report{ScheduleTimes{id, 1, asked, {}}});
  EXPECT_TRUE(world.it().over);
  EXPECT_FALSE(next_schedule_timer(world.state)) << "nothing more to wait for";
}

TEST(Schedule, ATimeThatPassesWhileItIsSetIsLeftOut) {
  ScheduleWorld world;
  const SetSchedule set = ScheduleWorld::every_ten(world.now - minutes(10));
  world.make(set);
  EXPECT_EQ(world.it().due.front(), world.now + minutes(10));
  EXPECT_TRUE(world.settled().empty());
}

TEST(Schedule, MissedTimesAreSkipped) {
  ScheduleWorld world;
  world.make(ScheduleWorld::every_ten(world.now));
  world.now = world.now + minutes(35);
  const Events events = world.answered();
  EXPECT_TRUE(schedule_events<ScheduleFired>(events).empty());
  const auto skipped = schedule_events<ScheduleSkipped>(events);
  ASSERT_EQ(skipped.size(), 1u);
  EXPECT_NE(skipped[0].message.find("were missed"), std::string::npos);
  EXPECT_EQ(world.it().due.front(), Time{} + minutes(140));
}

TEST(Schedule, OneRunForAllThatWereMissed) {
  ScheduleWorld world;
  SetSchedule set = ScheduleWorld::every_ten(world.now);
  set.terms.missed = Missed::once;
  world.make(set);
  world.now = world.now + hours(24) + minutes(5);
  const auto fired = schedule_events<ScheduleFired>(world.answered());
  ASSERT_EQ(fired.size(), 1u);
  EXPECT_TRUE(fired[0].late);
  EXPECT_EQ(world.it().due.front(), Time{} + hours(24) + minutes(110));
}

TEST(Schedule, TheOneThatHasJustComeStandsForThoseThatWereMissed) {
  ScheduleWorld world;
  SetSchedule set = ScheduleWorld::every_ten(world.now);
  set.terms.missed = Missed::once;
  world.make(set);
  world.now = world.now + minutes(30) + seconds(10);
  const auto fired = schedule_events<ScheduleFired>(world.answered());
  ASSERT_EQ(fired.size(), 1u);
  EXPECT_FALSE(fired[0].late);
  EXPECT_EQ(fired[0].planned, Time{} + minutes(130));
}

TEST(Schedule, ARunForEachThatWasMissedUpToABound) {
  ScheduleWorld world;
  SetSchedule set = ScheduleWorld::every_ten(world.now);
  set.terms.missed = Missed::all;
  set.terms.overlap = Overlap::allow;
  world.make(set);
  world.now = world.now + minutes(10 * 25 + 5);
  auto fired = schedule_events<ScheduleFired>(world.answered());
  ASSERT_EQ(fired.size(), 25u);
  for (size_t i = 0; i < fired.size(); ++i)
    EXPECT_EQ(fired[i].planned, Time{} + minutes(static_cast<int64_t>(110 + 10 * i)));
  world.now = world.now + minutes(5);
  fired = schedule_events<ScheduleFired>(world.answered());
  ASSERT_EQ(fired.size(), 1u);
  EXPECT_FALSE(fired[0].late);
  world.now = world.now + minutes(10 * 500 + 5);
  fired = schedule_events<ScheduleFired>(world.answered());
  EXPECT_EQ(fired.size(), kMadeUpMax);
  EXPECT_GT(world.it().due.front(), world.now);
}

TEST(Schedule, OneThatIsPausedMissesItsTimes) {
  ScheduleWorld world;
  SetSchedule set = ScheduleWorld::every_ten(world.now);
  set.terms.missed = Missed::once;
  world.make(set);
  world.run(Request{world.admin(), PauseSchedule{"lab", "nightly", true}});
  world.now = world.now + minutes(25);
  EXPECT_TRUE(world.settled().empty());
  EXPECT_FALSE(next_schedule_timer(world.state));
  world.run(Request{world.admin(), PauseSchedule{"lab", "nightly", false}});
  EXPECT_EQ(schedule_events<ScheduleFired>(world.answered()).size(), 1u);
}

TEST(Schedule, ARunThatIsUnderWayIsLeftAlone) {
  ScheduleWorld world;
  world.make(ScheduleWorld::every_ten(world.now));
  for (int i = 0; i < 2; ++i) {
    world.now = world.now + minutes(10);
    world.answered();
  }
  EXPECT_EQ(world.it().firings.at(1).state, FiringState::skipped);
  EXPECT_NE(world.it().firings.at(1).message.find("under way"), std::string::npos);
  EXPECT_EQ(world.state.workflows.size(), 1u);
}

TEST(Schedule, RunsThatWaitForEachOtherAreBounded) {
  ScheduleWorld world;
  SetSchedule set = ScheduleWorld::every_ten(world.now);
  set.terms.overlap = Overlap::wait;
  world.make(set);
  for (uint32_t i = 0; i < kRunsWaitingMax + 1; ++i) {
    world.run(Request{world.admin(), FireSchedule{"lab", "nightly"}});
    world.answered();
  }
  EXPECT_EQ(world.state.workflows.size(), kRunsWaitingMax);
  EXPECT_EQ(world.it().firings.back().state, FiringState::skipped);
}

TEST(Schedule, ARunThatCannotBeMadeSaysWhyAndTheScheduleGoesOn) {
  ScheduleWorld world;
  world.run(Request{world.admin(), CreateUser{"ada", false, {}}});
  world.run(Request{world.admin(), SetMember{"lab", "ada", Role::member}});
  const Actor ada{world.state.user_named("ada")->id, false, {}};
  world.run(Request{ada, ScheduleWorld::every_ten(world.now)});
  world.run(Request{world.admin(), RemoveMember{"lab", "ada"}});
  world.now = world.now + minutes(10);
  world.answered();
  EXPECT_EQ(world.it().firings.at(0).state, FiringState::failed);
  EXPECT_NE(world.it().firings.at(0).message.find("not a member"), std::string::npos);
  world.run(Request{world.admin(), ChangeUser{"ada", true, {}, {}}});
  world.now = world.now + minutes(10);
  world.answered();
  EXPECT_NE(world.it().firings.at(1).message.find("disabled"), std::string::npos);
  world.run(Request{world.admin(), ChangeUser{"ada", false, {}, {}}});
  world.run(Request{world.admin(), SetMember{"lab", "ada", Role::member}});
  world.now = world.now + minutes(10);
  world.answered();
  EXPECT_EQ(world.it().firings.at(2).state, FiringState::opened);
  EXPECT_EQ(world.state.workflows.begin()->second.user, ada.user);
}

TEST(Schedule, AChangeMakesWhatIsBeingMadeAnew) {
  ScheduleWorld world;
  world.make(ScheduleWorld::every_ten(world.now));
  world.now = world.now + minutes(10);
  world.settled();
  const auto before = schedule_effects<OpenRun>(world.effects).at(0);
  SetSchedule change = ScheduleWorld::every_ten(world.now);
  change.replace = true;
  change.terms.program = "{\"main\":\"other\"}";
  world.make(change);
  EXPECT_TRUE(world.open(before).empty()) << "the old program would run under the new terms";
  const auto after = schedule_effects<OpenRun>(world.effects).at(0);
  EXPECT_EQ(after.program, change.terms.program);
  EXPECT_EQ(after.number, before.number);
  EXPECT_FALSE(world.open(after).empty());
}

TEST(Schedule, ALargeRunComesInParts) {
  ScheduleWorld world;
  world.make(ScheduleWorld::every_ten(world.now));
  world.run(Request{world.admin(), FireSchedule{"lab", "nightly"}});
  const auto order = schedule_effects<OpenRun>(world.effects).at(0);
  SubmitWorkflow first = ScheduleWorld::flow();
  first.sealed = false;
  world.open(order, first);
  const WorkflowId id = world.it().firings.at(0).workflow;
  RunSteps more{order.id, order.revision, order.number, {}};
  more.steps.numbered = true;
  more.steps.steps.push_back({.name = "b"});
  more.steps.seal = true;
  world.run(Report{more});
  EXPECT_TRUE(world.state.workflow(id)->sealed);
  EXPECT_EQ(world.state.workflow(id)->steps.size(), 2u);
  EXPECT_TRUE(world.run(Report{more}).empty()) << "told twice";
}

TEST(Schedule, ARunThatCannotBeCompletedIsTakenBack) {
  ScheduleWorld world;
  world.make(ScheduleWorld::every_ten(world.now));
  world.run(Request{world.admin(), FireSchedule{"lab", "nightly"}});
  const auto order = schedule_effects<OpenRun>(world.effects).at(0);
  SubmitWorkflow first = ScheduleWorld::flow();
  first.sealed = false;
  world.open(order, first);
  RunSteps more{order.id, order.revision, order.number, {}};
  more.steps.steps.push_back({.name = "a"});
  more.steps.numbered = true;
  world.run(Report{more});
  world.settled();
  EXPECT_EQ(world.it().firings.at(0).state, FiringState::failed);
  EXPECT_TRUE(world.state.workflows.empty());
}

TEST(Schedule, BelongsToWhoSetItLast) {
  ScheduleWorld world;
  for (const char* name : {"ada", "ben"}) {
    world.run(Request{world.admin(), CreateUser{name, false, {}}});
    world.run(Request{world.admin(), SetMember{"lab", name, Role::member}});
  }
  const Actor ada{world.state.user_named("ada")->id, false, {}};
  const Actor ben{world.state.user_named("ben")->id, false, {}};
  world.run(Request{ada, ScheduleWorld::every_ten(world.now)});
  SetSchedule change = ScheduleWorld::every_ten(world.now);
  EXPECT_EQ(world.attempt(Request{ada, change}).error().code, ErrorCode::conflict);
  change.replace = true;
  for (const Command& command :
       {Command{change}, Command{PauseSchedule{"lab", "nightly"}},
        Command{FireSchedule{"lab", "nightly"}}, Command{DeleteSchedule{"lab", "nightly"}}})
    EXPECT_EQ(world.attempt(Request{ben, command}).error().code, ErrorCode::forbidden);
  world.run(Request{world.admin(), change});
  EXPECT_EQ(world.it().user, world.admin().user);
  EXPECT_EQ(world.attempt(Request{ada, DeleteSchedule{"lab", "nightly"}}).error().code,
            ErrorCode::forbidden);
  world.run(Request{world.admin(), DeleteSchedule{"lab", "nightly"}});
  EXPECT_TRUE(world.state.schedules.empty());
}

TEST(Schedule, RefusesWhatMakesNoSense) {
  ScheduleWorld world;
  const auto refused = [&](auto change) {
    SetSchedule set = ScheduleWorld::every_ten(world.now);
    change(set);
    const auto events = world.attempt(Request{world.admin(), set});
    return events ? std::string("taken") : events.error().message;
  };
  EXPECT_EQ(refused([](SetSchedule& s) { s.due.clear(); }), "its time never comes again");
  EXPECT_NE(refused([](SetSchedule& s) { s.terms.program.clear(); }), "taken");
  EXPECT_NE(refused([](SetSchedule& s) { s.terms.program.assign(kProgramBytesMax + 1, 'x'); }),
            "taken");
  EXPECT_NE(refused([](SetSchedule& s) { s.name = "a/b"; }), "taken");
  EXPECT_NE(refused([](SetSchedule& s) { s.ns = "nowhere"; }), "taken");
  EXPECT_EQ(refused([](SetSchedule& s) {
              s.terms.trigger = Trigger::queue;
              s.terms.queue = "none";
            }),
            "there is no queue \"none\" in namespace lab");
  EXPECT_NE(refused([](SetSchedule& s) {
              s.terms.trigger = Trigger::file;
              s.terms.path = "/x";
            }),
            "taken");
  EXPECT_EQ(refused([](SetSchedule&) {}), "taken");
  EXPECT_EQ(world.attempt(Request{world.admin(), DeleteNamespace{"lab"}}).error().code,
            ErrorCode::conflict);
}

}  // namespace
}  // namespace atl::core
