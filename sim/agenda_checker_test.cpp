// The checker of the calendar and of reservations, broken on purpose.
#include <gtest/gtest.h>

#include "sim/checkers/agenda.h"
#include "sim/story.h"

namespace atl::sim {
namespace {

TEST(AgendaTest, APlacementOverTheCalendarsLimitIsFound) {
  const auto with = [](const core::CalendarEntry& entry) {
    Agenda checker;
    Story story(checker);
    story.say(core::CalendarSet{{{entry}, 0}});
    core::JobSubmitted job = story.job(1100);
    job.terms.resources.devices = {{"gpu", "", 1}};
    story.say(job);
    story.say(Story::placed(job.id, {{"d0", "gpu", "a100"}}));
    return checker.broken();
  };
  EXPECT_TRUE(says(with(always(500)), "limit of cpu"));
  core::Quota none;
  none.devices["gpu:a100"] = 0;
  EXPECT_TRUE(says(with(always({}, none)), "limit of gpu:a100"));
  EXPECT_EQ(with(always(1000)), "");
  core::CalendarEntry elsewhere = always(0);
  elsewhere.tier = core::Tier::service;
  EXPECT_EQ(with(elsewhere), "");
}

TEST(AgendaTest, AnEntryHoldsByTheClockOnTheWall) {
  core::CalendarEntry entry = always(0);
  entry.from = 22 * 60;
  entry.until = 6 * 60;
  entry.days = 0b0001000;  // Thursdays, as the first day of all
  const auto at = [](int64_t hour) { return Time{hours(hour).us}; };
  EXPECT_FALSE(in_force({{entry}, 0}, entry, at(21)));
  EXPECT_TRUE(in_force({{entry}, 0}, entry, at(22)));
  EXPECT_TRUE(in_force({{entry}, 0}, entry, at(24 + 5)));
  EXPECT_FALSE(in_force({{entry}, 0}, entry, at(5)));
  EXPECT_TRUE(in_force({{entry}, 120}, entry, at(20)));
}

// What the checker says to a job of one core and a device, with a wall-time, beside a reservation
// of so many thousandths of the two cores, or of the device.
std::string against(Time from, core::ReservedPart part, Duration wall, NamespaceId whose = {}) {
  Agenda checker;
  Story story(checker);
  story.say(core::NamespaceCreated{NamespaceId{2}, "course"});
  part.site = SiteId{1};
  part.node = "node";
  const NamespaceId ns = whose ? whose : NamespaceId{2};
  story.say(core::ReservationMade{
      {ReservationId{1}, "tuesday", from, kNow + hours(2), {ns}, {part, part}}});
  core::JobSubmitted job = story.job(1000);
  job.terms.wall = wall;
  job.terms.grace = {};
  job.terms.resources.devices = {{"gpu", "", 1}};
  story.say(job);
  story.say(Story::placed(job.id, {{"d0", "gpu", "a100"}}));
  return checker.broken();
}

TEST(AgendaTest, APlacementIntoReservedRoomIsFound) {
  const core::ReservedPart small{{}, {}, 500, 0, {}}, large{{}, {}, 600, 0, {}};
  EXPECT_EQ(against(kNow, small, {}), "");
  EXPECT_TRUE(says(against(kNow, large, {}), "reserved for others (tuesday): cores"));
  EXPECT_TRUE(says(against(kNow, {{}, {}, 0, 0, {"d0"}}, {}), "device d0"));
  EXPECT_EQ(against(kNow, large, {}, NamespaceId{1}), "") << "its own";
  EXPECT_TRUE(says(against(kNow + hours(1), large, hours(2)), "cores")) << "it reaches into it";
  EXPECT_EQ(against(kNow + hours(1), large, minutes(30)), "") << "it ends before";
}

// A node of two cores on which three namespaces have work and reservations.
class Contested {
 public:
  Contested() : story(checker) {
    story.say(core::NamespaceCreated{kCourse, "course"});
    story.say(core::NamespaceCreated{kOther, "other"});
  }
  void reserve(NamespaceId whose, Time from, int64_t cpu_milli) {
    const ReservationId id{++reservations_};
    story.say(core::ReservationMade{{id,
                                     "for-" + std::to_string(whose.value),
                                     from,
                                     kNow + hours(3),
                                     {whose},
                                     {{SiteId{1}, "node", cpu_milli, 0, {}}}}});
  }
  // What the checker says when such work is placed; nothing unless this is the first breach.
  std::string place(NamespaceId ns, int64_t cpu_milli, Duration wall = {},
                    core::Tier tier = core::Tier::batch) {
    core::JobSubmitted job = story.job(cpu_milli);
    job.ns = ns;
    job.terms.wall = wall;
    job.terms.grace = {};
    job.terms.tier = tier;
    story.say(job);
    story.say(Story::placed(job.id));
    return checker.broken();
  }

  static constexpr NamespaceId kLab{1}, kCourse{2}, kOther{3};
  Agenda checker;
  Story story;

 private:
  uint32_t reservations_ = 0;
};

TEST(AgendaTest, WhatIsWithinItsOwnReservationIsItsOwnAndMoreIsFound) {
  Contested node;
  EXPECT_EQ(node.place(node.kOther, 1000), "") << "it is there before anybody reserves";
  node.reserve(node.kLab, kNow, 1000);
  node.reserve(node.kCourse, kNow, 1000);
  EXPECT_EQ(node.place(node.kLab, 600), "") << "of its own, though all do not have room now";
  EXPECT_EQ(node.place(node.kLab, 400), "");
  EXPECT_TRUE(says(node.place(node.kLab, 100), "reserved for others (for-2): cores"));
}

TEST(AgendaTest, WorkThatYieldsIsOutOfTheWayWhenAReservationBegins) {
  const auto beside = [](core::Tier tier, Time from) {
    Contested node;
    EXPECT_EQ(node.place(node.kOther, 1000, {}, tier), "");
    node.reserve(node.kCourse, from, 1000);
    return node.place(node.kLab, 1000, hours(2));
  };
  EXPECT_EQ(beside(core::Tier::opportunistic, kNow + hours(1)), "");
  EXPECT_TRUE(says(beside(core::Tier::batch, kNow + hours(1)), "cores")) << "it stays";
  EXPECT_TRUE(says(beside(core::Tier::opportunistic, kNow), "cores")) << "it is there now";
}

// The clock of the site is behind, and the start of the next in line is reported before the end of
// the one whose room it has.
TEST(AgendaTest, ATaskInLineHasItsRoomSinceItStarted) {
  Contested node;
  const auto in_line = [&](Duration wall) {
    core::JobSubmitted job = node.story.job(1000);
    job.ns = node.kOther;
    job.terms.wall = wall;
    job.terms.grace = {};
    node.story.say(job);
    return job.id;
  };
  const JobId first = in_line(hours(1)), next = in_line(hours(1));
  node.story.lie(Story::placed(first));
  core::TaskPlaced behind = Story::placed(next);
  behind.behind = AttemptId{first, 0, 1};
  node.story.lie(behind);
  node.story.lie(core::TaskStarted{{next, 0, 1}, kNow - minutes(10)});
  node.story.lie(core::TaskEnded{{first, 0, 1}, core::Outcome::succeeded, {}});
  node.reserve(node.kCourse, kNow + minutes(55), 1000);
  EXPECT_EQ(node.place(node.kLab, 1000, hours(2)), "") << "it is gone by then";
}

TEST(AgendaTest, WhoHasReservedMayStayWhoeverComesAfter) {
  const auto with = [](bool reserved) {
    Contested node;
    if (reserved) node.reserve(node.kLab, kNow, 2000);
    node.reserve(node.kCourse, kNow + hours(1), 2000);
    return node.place(node.kLab, 1000, hours(2));
  };
  EXPECT_EQ(with(true), "");
  EXPECT_TRUE(says(with(false), "reserved for others (for-2): cores"));
}

// A site that pretends beside one that does not takes nothing of what the calendar shares, and the
// calendar takes nothing of it.
TEST(AgendaTest, ASiteThatIsNoPartOfThePlatformCountsNowhere) {
  const auto with = [](const char* kind, int64_t cpu_milli, SiteId where) {
    Agenda checker;
    Story story(checker);
    story.say(core::SiteAdded{SiteId{2}, "there", kind});
    story.say(core::SiteReported{SiteId{2}, {{Story::node()}, {}}});
    story.say(core::CalendarSet{{{always(500)}, 0}});
    core::JobSubmitted job = story.job(cpu_milli);
    story.say(job);
    core::TaskPlaced placed = Story::placed(job.id);
    placed.placement.site = where;
    story.say(placed);
    return checker.broken();
  };
  EXPECT_EQ(with("simulated", 2000, SiteId{2}), "") << "half of four cores";
  EXPECT_TRUE(says(with("real", 2000, SiteId{2}), "limit of cpu")) << "half of two";
  EXPECT_EQ(with("real", 2000, SiteId{1}), "") << "on the one that pretends";
}

}  // namespace
}  // namespace atl::sim
