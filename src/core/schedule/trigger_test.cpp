// What else starts a schedule: deliveries, queues and files.
#include "core/schedule/test_schedules.h"

namespace atl::core {
namespace {

TEST(Trigger, ADeliveryIsTakenOnce) {
  ScheduleWorld world;
  SetSchedule set = ScheduleWorld::every_ten(world.now, 0);
  set.terms.trigger = Trigger::webhook;
  set.terms.secret = "sealed";
  world.make(set);
  const FireSchedule fire{"lab", "nightly", Cause::webhook, {"k1", "d1"}, "{}"};
  EXPECT_EQ(world.run(Request{world.admin(), fire}).size(), 1u);
  EXPECT_TRUE(world.run(Request{world.admin(), fire}).empty());
  FireSchedule other = fire;
  other.keys = {"k2", "d1"};
  EXPECT_TRUE(world.run(Request{world.admin(), other}).empty()) << "the same by its name";
  other.keys = {"k2", "d2"};
  EXPECT_EQ(world.run(Request{world.admin(), other}).size(), 1u);
  set.replace = true;
  set.terms.secret = "another";
  world.make(set);
  EXPECT_EQ(world.it().terms.secret, "sealed") << "who calls it goes on with the one they have";
  EXPECT_TRUE(world.run(Request{world.admin(), fire}).empty());
  other.keys = {"k3"};
  other.body.assign(kFiringBodyMax + 1, 'x');
  EXPECT_EQ(world.attempt(Request{world.admin(), other}).error().code, ErrorCode::too_large);
  other.body.clear();
  world.run(Request{world.admin(), PauseSchedule{"lab", "nightly", true}});
  EXPECT_EQ(world.attempt(Request{world.admin(), other}).error().code, ErrorCode::conflict);
}

TEST(Trigger, ADeliveryWhoseOwnerLostTheirRightsIsToldInTheSchedule) {
  for (const bool disabled : {false, true}) {
    ScheduleWorld world;
    SetSchedule set = ScheduleWorld::every_ten(world.now, 0);
    set.terms.trigger = Trigger::webhook;
    world.make(set);
    world.run(Request{world.admin(), CreateUser{"eve", false, 7}});
    const Actor owner{UserId{2}, false, {}};
    world.run(Request{world.admin(), SetMember{"lab", "eve", Role::member}});
    set.name = "hers";
    world.run(Request{owner, set});
    disabled ? world.run(Request{world.admin(), ChangeUser{"eve", true, {}, {}}})
             : world.run(Request{world.admin(), RemoveMember{"lab", "eve"}});
    world.run(Request{owner, FireSchedule{"lab", "hers", Cause::webhook, {"k1"}, "{}"}});
    world.answered();
    const Schedule& hers =
        *world.state.schedule_named(world.state.namespace_named("lab")->id, "hers");
    ASSERT_EQ(hers.firings.size(), 1u);
    EXPECT_EQ(hers.firings[0].state, FiringState::failed);
    EXPECT_NE(hers.firings[0].message, "");
    // Only a delivery is allowed by its signature.
    FireSchedule by_hand{"lab", "hers", Cause::person, {}, {}};
    EXPECT_FALSE(world.attempt(Request{owner, by_hand}));
    by_hand = {"lab", "nightly", Cause::person, {}, {}};
    EXPECT_FALSE(world.attempt(Request{owner, by_hand}));
  }
}

TEST(Trigger, TermsMadeFromAnOlderRevisionAreRefused) {
  ScheduleWorld world;
  SetSchedule set = ScheduleWorld::every_ten(world.now);
  world.make(set);
  set.replace = true;
  set.revision = 1;
  world.make(set);
  EXPECT_EQ(world.it().revision, 2u);
  EXPECT_EQ(world.attempt(Request{world.admin(), set}).error().code, ErrorCode::conflict);
  set.name = "other";
  EXPECT_EQ(world.attempt(Request{world.admin(), set}).error().code, ErrorCode::conflict);
}

TEST(Trigger, NoMoreRunsAreMadeAtOnceThanTheBound) {
  ScheduleWorld world;
  world.make(ScheduleWorld::every_ten(world.now));
  for (uint32_t i = 0; i < kOpeningMax; ++i)
    world.run(Request{world.admin(), FireSchedule{"lab", "nightly"}});
  const auto refused = world.attempt(Request{world.admin(), FireSchedule{"lab", "nightly"}});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::exhausted);
  world.now = world.now + minutes(10);
  EXPECT_TRUE(world.settled().empty());
  EXPECT_FALSE(next_schedule_timer(world.state)) << "it would spin";
}

TEST(Trigger, AQueueStartsItWhenNoRunIsUnderWay) {
  ScheduleWorld world;
  world.run(Request{world.admin(), CreateQueue{"lab", "frames", {}}});
  SetSchedule set = ScheduleWorld::every_ten(world.now, 0);
  set.terms.trigger = Trigger::queue;
  set.terms.queue = "frames";
  set.terms.at_least = 2;
  set.terms.interval = seconds(10);
  world.make(set);
  world.run(Request{world.admin(), PutItems{"lab", "frames", {NewItem{}}}});
  EXPECT_TRUE(world.settled().empty());
  world.run(Request{world.admin(), PutItems{"lab", "frames", {NewItem{}}}});
  EXPECT_EQ(schedule_events<ScheduleFired>(world.settled()).size(), 1u);
  world.answered();
  EXPECT_EQ(schedule_events<ScheduleFired>(world.settled()).size(), 0u) << "its run is under way";
  const WorkflowId id = world.it().firings.at(0).workflow;
  const JobId job = world.state.workflow(id)->steps[0].job;
  world.run(Report{AttemptStarted{{job, 0, 1}, world.now}});
  world.run(Report{AttemptEnded{{job, 0, 1}, {}}});
  EXPECT_TRUE(schedule_events<ScheduleFired>(world.settled()).empty()) << "too soon";
  EXPECT_TRUE(world.state.workflows.empty());
  EXPECT_EQ(next_schedule_timer(world.state), world.now + seconds(10));
  world.now = world.now + seconds(10);
  EXPECT_EQ(schedule_events<ScheduleFired>(world.settled()).size(), 1u);
  EXPECT_FALSE(next_schedule_timer(world.state));
}

TEST(Trigger, FilesThatWereThereBeforeStartNothing) {
  ScheduleWorld world;
  SetSchedule set = ScheduleWorld::every_ten(world.now, 0);
  set.terms.trigger = Trigger::file;
  set.terms.path = "/data/*.nc";
  set.terms.quiet = seconds(5);
  world.make(set);
  const ScheduleId id = world.it().id;
  const auto looked = [&](std::vector<FileMark> changed, std::vector<std::string> gone = {}) {
    return schedule_events<ScheduleFired>(
        world.run(Report{FilesLooked{id, 1, std::move(changed), std::move(gone)}}));
  };
  EXPECT_TRUE(looked({{"/data/a.nc", "1"}}).empty());
  EXPECT_TRUE(looked({{"/data/a.nc", "1"}}).empty());
  auto fired = looked({{"/data/a.nc", "2"}, {"/data/b.nc", "1"}});
  ASSERT_EQ(fired.size(), 2u);
  EXPECT_EQ(fired[0].body, "/data/a.nc");
  EXPECT_TRUE(looked({{"/data/b.nc", "1"}}).empty());
  EXPECT_TRUE(looked({}, {"/data/b.nc"}).empty());
  EXPECT_EQ(looked({{"/data/b.nc", "1"}}).size(), 1u) << "it has come back";
  EXPECT_TRUE(world.run(Report{FilesLooked{id, 7, {{"/data/c.nc", "1"}}, {}}}).empty());
}

}  // namespace
}  // namespace atl::core
