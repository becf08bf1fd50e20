// The checkers of what is shared, each broken on purpose: parts of devices, gangs, shares,
// yielding, and the reasons that come of it.
#include <gtest/gtest.h>

#include "sim/checkers/allocation.h"
#include "sim/checkers/gangs.h"
#include "sim/checkers/reasons.h"
#include "sim/checkers/shares.h"
#include "sim/checkers/yields.h"
#include "sim/simulation.h"
#include "sim/story.h"

namespace atl::sim {
namespace {

using core::scheduling::Explanation;
using core::scheduling::Obstacle;

core::HeldDevice share_of(int32_t milli) { return {"d0", "gpu", "a100", milli, milli}; }
core::HeldDevice slice_of(std::string profile, uint32_t start, uint32_t size) {
  core::HeldDevice held{"d0", "gpu", "a100", 0, 500};
  held.profile = std::move(profile);
  held.start = start;
  held.size = size;
  return held;
}
core::DeviceRequest asks_share(int32_t milli) { return {"gpu", "", 1, {}, milli}; }
core::DeviceRequest asks_slice(std::string profile) {
  return {"gpu", "", 1, {}, 500, 0, std::move(profile)};
}

// What the checker says when the second is placed beside the first.
std::string beside(const core::DeviceRequest& first, const core::HeldDevice& has,
                   const core::DeviceRequest& second, const core::HeldDevice& gets) {
  Allocation checker;
  Story story(checker);
  const JobId one = story.submit_for(first);
  const JobId two = story.submit_for(second);
  story.say(Story::placed(one, {has}));
  EXPECT_EQ(checker.broken(), "");
  story.lie(Story::placed(two, {gets}));
  return checker.broken();
}

TEST(PartsTest, MoreSharesThanTheDeviceAreFound) {
  EXPECT_TRUE(says(beside(asks_share(600), share_of(600), asks_share(500), share_of(500)),
                   "device d0 goes to"));
  EXPECT_EQ(beside(asks_share(600), share_of(600), asks_share(400), share_of(400)), "");
}

TEST(PartsTest, SlicesThatOverlapAreFound) {
  const auto text =
      beside(asks_slice("3g"), slice_of("3g", 0, 4), asks_slice("1g"), slice_of("1g", 3, 1));
  EXPECT_TRUE(says(text, "device d0 goes to")) << text;
  EXPECT_EQ(beside(asks_slice("3g"), slice_of("3g", 0, 4), asks_slice("1g"), slice_of("1g", 4, 1)),
            "");
}

TEST(PartsTest, ADeviceThatIsCutInTwoWaysIsFound) {
  const auto text = beside(asks_share(100), share_of(100), asks_slice("1g"), slice_of("1g", 4, 1));
  EXPECT_TRUE(says(text, "device d0 goes to")) << text;
}

TEST(PartsTest, PartsThatTheDeviceHasNotAreFound) {
  const auto alone = [](const core::DeviceRequest& asked, const core::HeldDevice& held) {
    Allocation checker;
    Story story(checker);
    story.lie(Story::placed(story.submit_for(asked), {held}));
    return checker.broken();
  };
  EXPECT_TRUE(says(alone(asks_slice("3g"), slice_of("3g", 2, 4)), "has no slice there"));
  EXPECT_TRUE(says(alone(asks_slice("2g"), slice_of("2g", 0, 2)), "has no such slice"));
  EXPECT_TRUE(says(alone(asks_share(150), share_of(150)), "has no such share"));
  EXPECT_TRUE(says(alone(asks_share(500), share_of(300)), "other devices than were asked for"));
  EXPECT_TRUE(says(alone({"gpu", "h100", 1}, {"d0", "gpu", "a100"}), "other devices"));
  EXPECT_EQ(alone({"gpu", "h100", 1, {"a100"}}, {"d0", "gpu", "a100"}), "");
}

TEST(AllocationTest, WorkForANodeThatDrainsIsFound) {
  Allocation checker;
  Story story(checker);
  const JobId job = story.submit(100);
  story.say(core::NodeDrained{SiteId{1}, "node", true});
  story.say(Story::placed(job));
  EXPECT_TRUE(says(checker.broken(), "gone or drains")) << checker.broken();
}

// Two namespaces of equal weight, of which only the first is ever given room.
TEST(SharesTest, UseThatDoesNotFollowTheWeightsIsFound) {
  Shares checker;
  Story story(checker);
  story.say(core::NamespaceCreated{NamespaceId{2}, "course"});
  for (const uint32_t ns : {1u, 2u}) {
    core::JobSubmitted job = story.job(500);
    job.ns = NamespaceId{ns};
    job.array = true;
    job.indices = IntervalSet({0, 9});
    story.say(job);
  }
  story.say(Story::placed(JobId{1}));
  const Duration half_life = story.state.policy.half_life;
  const auto tick = [&](int64_t lives) {
    story.now = kNow + half_life * lives;
    story.say(core::JobHeld{JobId{1}});
    story.say(core::JobReleased{JobId{1}});
  };
  tick(50);
  EXPECT_EQ(checker.broken(), "");
  story.lie(core::JobReleased{JobId{1}});
  story.now = kNow + half_life * 160;
  story.lie(core::JobReleased{JobId{1}});
  EXPECT_TRUE(says(checker.broken(), "by its weight it is 0.5")) << checker.broken();
}

TEST(SharesTest, ABackloggedWorldConverges) {
  for (uint64_t seed = 1; seed <= 3; ++seed)
    EXPECT_EQ(simulate({.seed = seed, .backlogged = true}).broken, "") << seed;
}

class Trio {
 public:
  Trio() : story(checker), id(story.submit_gang(3)) {}
  core::TaskPlaced placed(uint32_t index, uint32_t attempt = 1) const {
    core::TaskPlaced event = Story::placed(id);
    event.attempt = {id, index, attempt};
    return event;
  }
  void start() {
    for (uint32_t i = 0; i < 3; ++i) story.lie(placed(i));
    checker.committed(story.sequence, story.state);
    EXPECT_EQ(checker.broken(), "");
  }
  std::string after(core::EventBody body) {
    story.lie(std::move(body));
    checker.committed(story.sequence, story.state);
    return checker.broken();
  }
  AttemptId member(uint32_t index) const { return {id, index, 1}; }

  Gangs checker;
  Story story;
  JobId id;
};

TEST(GangsTest, AHalfStartedGangIsFound) {
  Trio trio;
  trio.story.lie(trio.placed(0));
  EXPECT_TRUE(says(trio.after(trio.placed(1)), "half started"));
}

TEST(GangsTest, SomethingBetweenItsMembersIsFound) {
  Trio trio;
  trio.story.lie(trio.placed(0));
  EXPECT_TRUE(says(trio.after(core::JobHeld{trio.id}), "half started"));
}

TEST(GangsTest, AMemberThatGoesOnAloneIsFound) {
  Trio lost;
  lost.start();
  EXPECT_TRUE(says(lost.after(core::TaskRetried{lost.member(1), core::RetryReason::lost, {}, kNow}),
                   "without all of its members"));
  Trio failed;
  failed.start();
  EXPECT_TRUE(says(failed.after(core::TaskEnded{failed.member(1), core::Outcome::failed, {}}),
                   "has not ended well"));
  Trio stopped;
  stopped.start();
  EXPECT_TRUE(
      says(stopped.after(core::TaskStopping{stopped.member(1), core::StopReason::requeued, {}, {}}),
           "members that stop and members that go on"));
  Trio done;
  done.start();
  EXPECT_EQ(done.after(core::TaskEnded{done.member(1), core::Outcome::succeeded, {}}), "");
}

TEST(GangsTest, OneThatComesBackToThoseThatAreDoneIsFound) {
  Trio trio;
  trio.start();
  trio.story.lie(core::TaskEnded{trio.member(0), core::Outcome::succeeded, {}});
  EXPECT_TRUE(says(trio.after(core::TaskRetried{trio.member(1), core::RetryReason::lost, {}, kNow}),
                   "another member has ended for good"));
}

TEST(GangsTest, OneThatNeverEndsIsFound) {
  Trio trio;
  trio.start();
  trio.checker.settled({trio.story.state, trio.story.state, trio.story.journal, trio.story.journal,
                        kNow, true, false});
  EXPECT_TRUE(says(trio.checker.broken(), "never ended"));
}

TEST(YieldsTest, OneThatIsStoppedAgainAndAgainIsFound) {
  Yields checker;
  Story story(checker);
  const JobId cheap = story.submit(1000);
  const JobId other = story.submit(1000);
  story.state.terms.begin()->second.terms.tier = core::Tier::opportunistic;
  const JobId wanted = [&] {
    core::JobSubmitted job = story.job(1500);
    story.say(job);
    return job.id;
  }();
  (void)other;
  const Duration grace = story.state.terms_of(*story.state.job(cheap)).grace;
  for (uint32_t attempt = 1; attempt <= 11; ++attempt)
    story.lie(core::TaskStopping{{cheap, 0, attempt}, core::StopReason::yielded, grace, wanted});
  EXPECT_TRUE(says(checker.broken(), "again and again")) << checker.broken();
}

// What the checker says when the only waiting job gives this reason.
std::string said_with(core::scheduling::Block block, const std::function<void(Story&)>& before) {
  Reasons checker([block](const core::State&, const core::Job&, Time) {
    Explanation why;
    why.block = block;
    return why;
  });
  Story story(checker);
  before(story);
  const JobId job = story.submit(1000);
  checker.check(story.state, *story.state.job(job), kNow);
  return checker.broken();
}

TEST(ReasonsTest, FalseReasonsFromTheCalendarAreFound) {
  const core::scheduling::Block block{Obstacle::calendar, "cpu", 1000, 0, 500, "always"};
  EXPECT_TRUE(says(said_with(block, [](Story&) {}), "no such entry"));
  const auto set = [&](core::CalendarEntry entry) {
    return said_with(block, [&](Story& story) { story.say(core::CalendarSet{{{entry}, 0}}); });
  };
  core::CalendarEntry entry = always({});
  entry.limit.cpu_milli = 500;
  EXPECT_EQ(set(entry), "");
  entry.limit.cpu_milli = 700;
  EXPECT_TRUE(says(set(entry), "its limit is another"));
  entry.until = 1;
  EXPECT_TRUE(says(set(entry), "does not hold now"));
  entry.tier = core::Tier::service;
  EXPECT_TRUE(says(set(entry), "another tier"));
}

TEST(ReasonsTest, AReasonFromTheCalendarForASiteThatIsNoPartOfThePlatformIsFound) {
  const core::scheduling::Block block{Obstacle::calendar, "cpu", 1000, 0, 500, "always"};
  const auto named = [&](const char* other) {
    Reasons checker([block](const core::State&, const core::Job&, Time) {
      Explanation why;
      why.block = block;
      return why;
    });
    Story story(checker);
    story.say(core::SiteAdded{SiteId{2}, "there", other});
    core::CalendarEntry entry = always({});
    entry.limit.cpu_milli = 500;
    story.say(core::CalendarSet{{{entry}, 0}});
    core::JobSubmitted job = story.job(1000);
    job.terms.site = "here";
    story.say(job);
    checker.check(story.state, *story.state.job(job.id), kNow);
    return checker.broken();
  };
  EXPECT_EQ(named("simulated"), "");
  EXPECT_TRUE(says(named("real"), "no part of the platform"));
}

TEST(ReasonsTest, FalseReasonsFromReservationsAreFound) {
  const core::scheduling::Block block{Obstacle::reserved, "node", 0, 0, 0, "tuesday"};
  EXPECT_TRUE(says(said_with(block, [](Story&) {}), "no such reservation"));
  const auto with = [&](Time from, NamespaceId whose, const std::string& node) {
    return said_with(block, [&](Story& story) {
      story.say(core::NamespaceCreated{NamespaceId{2}, "course"});
      story.say(core::ReservationMade{{ReservationId{1},
                                       "tuesday",
                                       from,
                                       kNow + hours(1),
                                       {whose},
                                       {{SiteId{1}, node, 2000, 1000, {}}}}});
    });
  };
  EXPECT_EQ(with(kNow, NamespaceId{2}, "node"), "");
  EXPECT_TRUE(says(with(kNow, NamespaceId{1}, "node"), "reserved for it"));
  EXPECT_TRUE(says(with(kNow, NamespaceId{2}, "other"), "nothing is reserved there"));
}

TEST(ReasonsTest, OtherMembersThatDoNotStopAreFound) {
  EXPECT_TRUE(says(said_with({Obstacle::members, "", 0, 0, 0, ""}, [](Story&) {}),
                   "no other member of it stops"));
}

}  // namespace
}  // namespace atl::sim
