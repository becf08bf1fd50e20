// The calendar and reservations of a whole platform.
#include "core/test_world.h"

namespace atl::core {
namespace {

class PlatformTimes : public ::testing::Test {
 protected:
  PlatformTimes() {
    world.nodes({node("n", 4)});
    world.now = Time{hours(24 * 365).us};
  }
  Result<Events> give(const ApplyPlatform& wish) {
    const State before = world.state;
    auto events = world.attempt(Request{TestWorld::admin(), wish});
    if (!events) EXPECT_EQ(world.state, before) << "a refused command leaves no trace";
    return events;
  }
  void put(const ApplyPlatform& wish) {
    const auto events = give(wish);
    ASSERT_TRUE(events) << events.error().message;
    EXPECT_TRUE(give(wish)->empty()) << "the second time there is nothing to change";
  }
  void refused(const ApplyPlatform& wish, const std::string& field, const std::string& text) {
    const auto result = give(wish);
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().field, field) << result.error().message;
    EXPECT_NE(result.error().message.find(text), std::string::npos) << result.error().message;
  }
  static CalendarEntry entry(std::string name, uint32_t from, uint32_t until, int32_t share) {
    CalendarEntry made;
    made.name = std::move(name);
    made.days = 0b1111111;
    made.from = from;
    made.until = until;
    made.share_milli = share;
    return made;
  }
  CreateReservation reservation(std::string name, int64_t from, int64_t until) const {
    return {std::move(name),
            world.now + hours(from),
            world.now + hours(until),
            {"lab"},
            1,
            true,
            {},
            ""};
  }
  TestWorld world;
};

TEST_F(PlatformTimes, EntriesThatAreNotNamedStayUnlessPruned) {
  ApplyPlatform wish;
  wish.calendar = {entry("days", 480, 1080, 300), entry("am", 0, 480, 500)};
  put(wish);
  ASSERT_EQ(world.state.calendar.entries.size(), 2u);
  EXPECT_EQ(world.state.calendar.entries[0].name, "am") << "by name";
  wish.calendar = {entry("days", 480, 1080, 400)};
  put(wish);
  EXPECT_EQ(world.state.calendar.entries.size(), 2u);
  EXPECT_EQ(world.state.calendar.entries[1].share_milli, 400);
  wish.prune = true;
  put(wish);
  EXPECT_EQ(world.state.calendar.entries.size(), 1u);
}

TEST_F(PlatformTimes, ACalendarThatNeverOpensIsRefusedAsAWhole) {
  ApplyPlatform wish;
  wish.cohorts = {{"a", "", 1000, {}, {}}};
  wish.calendar = {entry("am", 0, 720, 0), entry("pm", 720, 1440, 0)};
  refused(wish, "calendar[0]", "never open for batch");
  wish.calendar = {entry("am", 0, 720, 0), entry("am", 720, 1440, 0)};
  refused(wish, "calendar[1]", "named twice");
  wish.calendar = {entry("am", 0, 720, 2000)};
  refused(wish, "calendar[0].share", "between 0 and 1");
  // Only the end is judged: what was shut in the morning moves to the afternoon.
  wish.calendar = {entry("one", 0, 720, 0)};
  put(wish);
  wish.calendar = {entry("one", 720, 1440, 0), entry("two", 0, 600, 0)};
  put(wish);
}

TEST_F(PlatformTimes, ReservationsAreMadeAndCancelledNeverChanged) {
  ApplyPlatform wish;
  wish.namespaces = {{"course", "", 1000, {}, {}, {}}};
  wish.reservations = {reservation("a", 2, 4), reservation("b", 5, 6)};
  wish.reservations[0].namespaces = {"course"};  // which the same wish makes
  put(wish);
  ASSERT_EQ(world.state.reservations.size(), 2u);
  const auto first = world.state.reservations.begin()->first;
  wish.reservations[0].until = world.now + hours(3);
  put(wish);
  EXPECT_FALSE(world.state.reservations.count(first)) << "made anew";
  EXPECT_EQ(world.state.reservations.size(), 2u);
  wish.reservations.pop_back();
  put(wish);
  EXPECT_EQ(world.state.reservations.size(), 2u);
  wish.prune = true;
  put(wish);
  EXPECT_EQ(world.state.reservations.size(), 1u);
  EXPECT_FALSE(world.attempt(Request{TestWorld::admin(), DeleteNamespace{"course"}}));
}

TEST_F(PlatformTimes, OneThatHasBegunStaysAndMayEndLater) {
  ApplyPlatform wish;
  wish.reservations = {reservation("a", 1, 4)};
  put(wish);
  world.now = world.now + hours(2);
  EXPECT_TRUE(give(wish)->empty());
  wish.reservations[0].until = wish.reservations[0].until + hours(1);
  put(wish);
  EXPECT_EQ(world.state.reservations.begin()->second.until, wish.reservations[0].until);
}

// It was cancelled since the file was written, by hand.
TEST_F(PlatformTimes, OneThatLastsIsMadeAlthoughItHasBegun) {
  ApplyPlatform wish;
  wish.reservations = {reservation("a", 1, 4)};
  put(wish);
  world.now = world.now + hours(2);
  world.run(Request{TestWorld::admin(), CancelReservation{"a"}});
  put(wish);
  ASSERT_EQ(world.state.reservations.size(), 1u);
  EXPECT_EQ(world.state.reservations.begin()->second.from, wish.reservations[0].from);
  EXPECT_FALSE(world.attempt(Request{TestWorld::admin(), reservation("b", -1, 4)}));
  world.now = world.now + hours(2);
  wish.reservations[0].name = "late";
  refused(wish, "reservations[0].until", "is over since");
}

TEST_F(PlatformTimes, OneInThePastOrOverAnotherRefusesAll) {
  ApplyPlatform wish;
  wish.cohorts = {{"a", "", 1000, {}, {}}};
  wish.reservations = {reservation("a", -2, -1)};
  refused(wish, "reservations[0].until", "is over since");
  wish.reservations = {reservation("a", 1, 3), reservation("b", 2, 4)};
  refused(wish, "reservations[1].count", "beside the reservations of that time: a");
  wish.reservations = {reservation("a", 1, 3), reservation("a", 4, 5)};
  refused(wish, "reservations[1]", "named twice");
  wish.reservations = {reservation("a", 1, 3)};
  wish.reservations[0].namespaces = {"nobody"};
  refused(wish, "reservations[0].namespace", "nobody");
  // A place that another leaves in the same wish is free.
  wish.reservations = {reservation("a", 1, 3)};
  put(wish);
  wish.reservations = {reservation("b", 1, 3), reservation("a", 4, 5)};
  put(wish);
}

TEST_F(PlatformTimes, WithoutABeginningItBeginsNow) {
  CreateReservation now = reservation("a", 0, 1);
  now.from = {};
  world.run(Request{TestWorld::admin(), now});
  EXPECT_EQ(world.state.reservations.begin()->second.from, world.now);
}

}  // namespace
}  // namespace atl::core
