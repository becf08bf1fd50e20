#include "core/calendar.h"

#include "core/scheduling/explain.h"
#include "core/test_world.h"

namespace atl::core {
namespace {

constexpr uint8_t kWorkdays = 0b0011111;
constexpr uint8_t kEveryDay = 0b1111111;

CalendarEntry entry(std::string name, uint8_t days, uint32_t from, uint32_t until,
                    std::optional<int32_t> share) {
  return {std::move(name), Tier::batch, days, from * 60, until * 60, share, {}};
}
// 2026-11-16 is a Monday.
Time monday(int hour, int minute = 0) {
  return Time{(int64_t{1794787200} + hour * 3600 + minute * 60) * 1'000'000};
}

TEST(Calendar, AnEntryHoldsOnItsDaysAndHours) {
  const Calendar calendar{{entry("days", kWorkdays, 8, 18, 500)}, 0};
  const auto holds = [&](Time at) { return holds_at(calendar, calendar.entries[0], at); };
  EXPECT_FALSE(holds(monday(7, 59)));
  EXPECT_TRUE(holds(monday(8)));
  EXPECT_TRUE(holds(monday(17, 59)));
  EXPECT_FALSE(holds(monday(18)));
  EXPECT_TRUE(holds(monday(24 + 9)));
  EXPECT_FALSE(holds(monday(5 * 24 + 9))) << "a Saturday";
}

TEST(Calendar, OneThatEndsBeforeItBeginsReachesIntoTheNextDay) {
  const Calendar calendar{{entry("nights", 0b1000000, 22, 6, 0)}, 0};  // Sundays
  const auto holds = [&](Time at) { return holds_at(calendar, calendar.entries[0], at); };
  EXPECT_TRUE(holds(monday(6 * 24 + 23)));
  EXPECT_TRUE(holds(monday(3))) << "of the Sunday before";
  EXPECT_FALSE(holds(monday(6)));
}

TEST(Calendar, TheClockOnTheWallCounts) {
  const Calendar calendar{{entry("days", kWorkdays, 8, 18, 500)}, 60};
  EXPECT_TRUE(holds_at(calendar, calendar.entries[0], monday(7)));
  EXPECT_FALSE(holds_at(calendar, calendar.entries[0], monday(17)));
}

TEST(Calendar, TheNextChangeIsTheNextEdge) {
  const Calendar calendar{{entry("days", kWorkdays, 8, 18, 500)}, 0};
  EXPECT_EQ(next_change(calendar, monday(7, 30)), monday(8));
  EXPECT_EQ(next_change(calendar, monday(8)), monday(18));
  EXPECT_EQ(next_change(calendar, monday(4 * 24 + 18)), monday(7 * 24 + 8)) << "after the weekend";
  EXPECT_EQ(next_change({}, monday(8)), Time{});
}

TEST(Calendar, OneThatNeverOpensIsFound) {
  const Calendar never{{entry("always", kEveryDay, 0, 24, 0)}, 0};
  EXPECT_TRUE(never_opens(never, Tier::batch));
  EXPECT_FALSE(never_opens(never, Tier::service));
  const Calendar halves{{entry("day", kEveryDay, 6, 20, 0), entry("night", kEveryDay, 20, 6, 0)},
                        0};
  EXPECT_TRUE(never_opens(halves, Tier::batch));
  const Calendar gap{{entry("day", kEveryDay, 6, 20, 0), entry("night", kEveryDay, 21, 6, 0)}, 0};
  EXPECT_FALSE(never_opens(gap, Tier::batch));
  const Calendar some{{entry("always", kEveryDay, 0, 24, 1)}, 0};
  EXPECT_FALSE(never_opens(some, Tier::batch));
  Calendar no_memory{{entry("always", kEveryDay, 0, 24, {})}, 0};
  no_memory.entries[0].limit.memory_bytes = 0;
  EXPECT_TRUE(never_opens(no_memory, Tier::batch));
}

TEST(Calendar, OpensNightsToBatchAndLeavesOtherTiersAlone) {
  TestWorld world;
  world.now = monday(9);
  world.nodes({node("n", 8)});
  world.run(Request{TestWorld::admin(), SetCalendarEntry{entry("days", kWorkdays, 8, 18, 250)}});
  std::vector<JobId> jobs;
  for (int i = 0; i < 4; ++i) jobs.push_back(world.submit(TestWorld::job()));
  world.settle();
  EXPECT_EQ(world.state.tier_in_use.at(Tier::batch).cpu_milli, 2000) << "a quarter of 8";
  const auto why = scheduling::explain(world.state, world.state.jobs.at(jobs.back()));
  EXPECT_EQ(why.block.obstacle, scheduling::Obstacle::calendar);
  EXPECT_EQ(why.until, monday(18));
  SubmitJob urgent = TestWorld::job();
  urgent.terms.tier = Tier::interactive;
  world.submit(urgent);
  world.settle();
  EXPECT_EQ(world.state.tier_in_use.at(Tier::interactive).cpu_milli, 1000);
  EXPECT_EQ(next_timer(world.state, world.now), monday(18));
  world.now = monday(18);
  world.settle();
  EXPECT_EQ(world.state.tier_in_use.at(Tier::batch).cpu_milli, 4000);
  // By day again: nobody is stopped, nobody more is started.
  world.now = monday(24 + 9);
  world.submit(TestWorld::job());
  world.settle();
  EXPECT_EQ(world.state.tier_in_use.at(Tier::batch).cpu_milli, 4000);
}

TEST(Calendar, ALimitOfAModelHoldsForThoseWhoTakeAny) {
  TestWorld world;
  world.now = monday(9);
  world.nodes({node("n", 8, 1 << 30, 2)});
  CalendarEntry one = entry("one", kEveryDay, 0, 24, {});
  one.limit.devices["gpu:a100"] = 1;
  world.run(Request{TestWorld::admin(), SetCalendarEntry{one}});
  SubmitJob any = TestWorld::job();
  any.terms.resources.devices = {{"gpu", "", 1}};
  const JobId first = world.submit(any);
  const JobId second = world.submit(any);
  world.settle();
  EXPECT_EQ(world.state.jobs.at(first).placed, 1u);
  EXPECT_EQ(world.state.jobs.at(second).placed, 0u);
  const auto why = scheduling::explain(world.state, world.state.jobs.at(second));
  EXPECT_EQ(why.block.obstacle, scheduling::Obstacle::calendar) << why.sentence;
  EXPECT_EQ(why.block.resource, "gpu:a100");
}

TEST(Calendar, AShareIsOfAllThereIs) {
  Amounts capacity{1500, 1, {}};
  EXPECT_EQ(limit_of(entry("half", kEveryDay, 0, 24, 500), capacity).cpu_milli, 750);
}

TEST(Calendar, AnHourThatPassesChangesTheReasonWithoutAnEvent) {
  TestWorld world;
  world.now = monday(17);
  world.nodes({node("n", 2)});
  SubmitJob urgent = TestWorld::job(2000);
  urgent.terms.tier = Tier::interactive;
  world.submit(urgent);
  world.run(Request{TestWorld::admin(), SetCalendarEntry{entry("days", kWorkdays, 8, 18, 0)}});
  const JobId waits = world.submit(TestWorld::job());
  world.settle();
  const auto word = [&](Time now) {
    return scheduling::explain(world.state, world.state.jobs.at(waits), true, now).block.obstacle;
  };
  EXPECT_EQ(word({}), scheduling::Obstacle::calendar);
  EXPECT_EQ(word(monday(19)), scheduling::Obstacle::capacity);
}

// Others end at noon and hold for other tiers, or leave no more.
TEST(Calendar, ItOpensWhenItLeavesEnough) {
  TestWorld world;
  world.now = monday(9);
  world.nodes({node("n", 8)});
  CalendarEntry other = entry("other", kWorkdays, 8, 12, 500);
  other.tier = Tier::service;
  for (const CalendarEntry& each :
       {other, entry("forenoon", kWorkdays, 8, 13, 250), entry("day", kWorkdays, 8, 18, 250)})
    world.run(Request{TestWorld::admin(), SetCalendarEntry{each}});
  SubmitJob job = TestWorld::job(2000);
  job.terms.wall = hours(1);
  job.terms.grace = {};
  world.submit(job);
  const JobId waits = world.submit(TestWorld::job(2000));
  world.settle();
  const auto why = scheduling::explain(world.state, world.state.jobs.at(waits));
  EXPECT_EQ(why.until, monday(18));
  EXPECT_EQ(why.sentence,
            "waiting for the calendar, by which batch work has at most 2 cores at this time "
            "(entry day): 2 of 2 in use (lab has 2; enough free by 2026-11-16T10:00:00Z at the "
            "latest); it leaves more from 2026-11-16T18:00:00Z on; position 1");
  ASSERT_EQ(why.held_by.size(), 1u);
  EXPECT_EQ(why.held_by[0].amount, 2000);
}

TEST(Calendar, AGangNeedsAllOfIt) {
  TestWorld world;
  world.now = monday(9);
  world.nodes({node("n", 8), node("m", 8)});
  world.run(Request{TestWorld::admin(), SetCalendarEntry{entry("day", kEveryDay, 8, 18, 500)}});
  world.submit(TestWorld::job(4000));
  SubmitJob gang = TestWorld::job(4000);
  gang.array = true;
  gang.indices = IntervalSet({0, 1});
  gang.terms.gang = 2;
  const JobId waits = world.submit(gang);
  world.settle();
  const auto why = scheduling::explain(world.state, world.state.jobs.at(waits));
  EXPECT_EQ(why.sentence,
            "its 2 members start together and 1 would have room: waiting for the calendar, by "
            "which batch work has at most 8 cores at this time (entry day): 4 of 8 in use, and it "
            "asks for 8 cores for 2 members (lab has 4); it leaves more from "
            "2026-11-16T18:00:00Z on; position 1");
  EXPECT_EQ(why.starts_by, Time{}) << "there is room on nodes, and that does not help";
}

TEST(Calendar, WhatItNeverLeavesIsRefusedAndSaidSo) {
  TestWorld world;
  world.now = monday(9);
  world.nodes({node("n", 8)});
  world.run(Request{TestWorld::admin(), SetCalendarEntry{entry("day", kEveryDay, 8, 18, 250)}});
  world.run(Request{TestWorld::admin(), SetCalendarEntry{entry("night", kEveryDay, 18, 8, 500)}});
  EXPECT_TRUE(world.attempt(Request{TestWorld::admin(), SubmitJobs{{TestWorld::job(4000)}}}));
  SubmitJob large = TestWorld::job(5000);
  const auto refused = world.attempt(Request{TestWorld::admin(), SubmitJobs{{large}}});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message,
            "5 cpus is more than the calendar ever leaves batch work: 4 cores (entry night; keep: "
            "true or --keep waits for another calendar)");
  large.keep = true;
  const JobId waits = world.submit(large);
  world.settle();
  EXPECT_EQ(scheduling::explain(world.state, world.state.jobs.at(waits)).sentence,
            "asks for 5 cores, more than the calendar ever leaves batch work: 4 (entry night); "
            "position 2");
}

TEST(Calendar, NobodyYieldsToAGangThatItDoesNotLetStart) {
  TestWorld world;
  world.now = monday(9);
  world.nodes({node("n", 2)});
  CalendarEntry one = entry("one", kEveryDay, 0, 24, {});
  one.limit.running = 1;
  world.run(Request{TestWorld::admin(), SetCalendarEntry{one}});
  for (int i = 0; i < 2; ++i) {
    SubmitJob cheap = TestWorld::job();
    cheap.terms.tier = Tier::opportunistic;
    world.submit(cheap);
  }
  world.settle();
  SubmitJob gang = TestWorld::job();
  gang.array = true;
  gang.indices = IntervalSet({0, 1});
  gang.terms.gang = 2;
  gang.keep = true;
  world.submit(gang);
  world.settle();
  for (const auto& [id, job] : world.state.jobs) {
    for (const auto& [index, task] : job.tasks)
      EXPECT_FALSE(std::holds_alternative<TaskStop>(task.state)) << id.value;
  }
}

TEST(Calendar, BadEntriesAreRefusedWithWhatToWrite) {
  TestWorld world;
  const auto refusal = [&](CalendarEntry bad) {
    const auto events = world.attempt(Request{TestWorld::admin(), SetCalendarEntry{bad}});
    return events ? "" : events.error().message;
  };
  EXPECT_NE(refusal(entry("always", kEveryDay, 0, 24, 0)).find("would never open"),
            std::string::npos);
  EXPECT_NE(refusal(entry("none", 0, 0, 24, 500)).find("at least one day"), std::string::npos);
  EXPECT_NE(refusal(entry("late", kEveryDay, 25, 30, 500)).find("between 00:00 and 24:00"),
            std::string::npos);
  EXPECT_NE(refusal(entry("moment", kEveryDay, 10, 10, 500)).find("for the whole day leave both"),
            std::string::npos);
  EXPECT_NE(refusal(entry("much", kEveryDay, 0, 24, 1500)).find("between 0 and 1"),
            std::string::npos);
  EXPECT_NE(refusal(entry("nothing", kEveryDay, 0, 24, {})).find("limits nothing"),
            std::string::npos);
  EXPECT_TRUE(world.state.calendar.entries.empty());
}

}  // namespace
}  // namespace atl::core
