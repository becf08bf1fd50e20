// The checker of schedules must be able to fail: these tests break the promise on purpose.
#include <gtest/gtest.h>

#include "sim/checkers/schedules.h"
#include "sim/story.h"

namespace atl::sim {
namespace {

constexpr ScheduleId kSchedule{1};
constexpr NamespaceId kSpace{1};

class SchedulesTest : public testing::Test {
 protected:
  SchedulesTest() : story(checker) {}

  void begin(core::Missed missed = core::Missed::skip) {
    core::ScheduleSet set{kSchedule, 1, kSpace, UserId{1}, "s"};
    set.terms.timing = "10";
    set.terms.missed = missed;
    set.due = {at(1), at(2), at(3), at(4)};
    story.say(set);
    story.now = at(4);
  }
  // The n-th time after the beginning.
  static Time at(int64_t n) { return Time{kNow.us + seconds(10 * n).us}; }
  static core::ScheduleFired fired(uint64_t number, Time planned) {
    return {kSchedule, kSpace, number, core::Cause::time, planned, false, {}, {}, {}};
  }
  static core::ScheduleOpened opened(uint64_t number, uint64_t workflow = 0) {
    return {kSchedule,
            kSpace,
            number,
            workflow ? core::FiringState::opened : core::FiringState::failed,
            WorkflowId{workflow},
            {}};
  }
  core::WorkflowSubmitted run(uint64_t id) {
    core::WorkflowSubmitted flow{WorkflowId{id}, kSpace, UserId{1}, "flow"};
    flow.origin = "schedule/s";
    return flow;
  }
  void settle() {
    checker.settled({story.state, story.state, story.journal, story.journal, kNow, true, false});
  }
  void expect(const std::string& complaint) {
    EXPECT_TRUE(says(checker.broken(), complaint)) << "it says: " << checker.broken();
  }

  Schedules checker;
  Story story;
};

TEST_F(SchedulesTest, ALifeAsItShouldBeIsFine) {
  begin(core::Missed::all);
  story.say(fired(1, at(1)));
  story.say(opened(1));
  story.say(fired(2, at(2)));
  story.lie(run(1));
  story.say(opened(2, 1));
  settle();
  EXPECT_EQ(checker.broken(), "");
}

TEST_F(SchedulesTest, ATimeThatFiresTwiceIsFound) {
  begin();
  story.say(fired(1, at(1)));
  story.lie(fired(2, at(1)));
  expect("fires twice for one time");
}

TEST_F(SchedulesTest, ATimeThatIsLostIsFound) {
  begin(core::Missed::all);
  story.say(fired(1, at(2)));
  expect("lost a time");
}

TEST_F(SchedulesTest, ATimeThatIsSkippedAgainstThePolicyIsFound) {
  begin(core::Missed::all);
  story.say(core::ScheduleSkipped{kSchedule, kSpace, 1, at(1), ""});
  expect("skips what it is to make up for");
}

TEST_F(SchedulesTest, OneThatFiresTooSoonIsFound) {
  begin();
  story.say(fired(1, at(5)));
  expect("fires too soon");
}

TEST_F(SchedulesTest, ATimeThatIsNotItsOwnIsFound) {
  begin();
  story.say(fired(1, at(1) + seconds(1)));
  expect("not its own");
}

TEST_F(SchedulesTest, AFiringThatOpensTwoRunsIsFound) {
  begin();
  story.say(fired(1, at(1)));
  story.lie(run(1));
  story.say(opened(1, 1));
  story.lie(run(2));
  story.lie(opened(1, 2));
  expect("opens firing 1 again");
}

TEST_F(SchedulesTest, ARunThatNoFiringOpenedIsFound) {
  begin();
  story.say(run(1));
  expect("is the run of no firing");
}

TEST_F(SchedulesTest, ADeliveryThatIsTakenTwiceIsFound) {
  begin();
  core::ScheduleFired hook = fired(1, {});
  hook.cause = core::Cause::webhook;
  hook.keys = {"k"};
  story.say(hook);
  hook.number = 2;
  story.say(hook);
  expect("took delivery k twice");
}

TEST_F(SchedulesTest, AFiringThatIsNeverOpenedIsFound) {
  begin();
  story.say(fired(1, at(1)));
  settle();
  expect("never opened firing 1");
}

}  // namespace
}  // namespace atl::sim
