#include <gtest/gtest.h>

#include "sim/checkers/feeds.h"
#include "sim/story.h"

namespace atl::sim {
namespace {

constexpr QueueId kFedQueue{1};
constexpr WorkflowId kFedFlow{1};
constexpr LeaseId kFedLease{1};
const std::vector<core::ItemRange> kFedItems{{ItemId{1}, ItemId{2}}};

// A step that goes through a queue of four items, told to the checker.
class FeedsTest : public testing::Test {
 protected:
  FeedsTest() {
    story.say(core::QueueSet{kFedQueue, NamespaceId{1}, "urls", {}, false});
    story.say(core::ItemsPut{kFedQueue, ItemId{1}, {{4}}, {}});
    story.say(core::WorkflowSubmitted{kFedFlow, NamespaceId{1}, UserId{1}, "flow"});
    core::NewStep step;
    step.name = "work";
    step.feed = {"urls", 1, 2, 2, false};
    story.say(core::StepsAdded{kFedFlow, 0, {core::StepKind{}}, {step}});
    story.say(core::WorkflowSealed{kFedFlow});
    story.say(core::StepFeeding{{kFedFlow, 0}, kFedQueue, {}});
  }
  static core::ItemsLeased leased(JobId job, Time until = {}) {
    return {kFedQueue, kFedLease, until, "work", kFedItems, job};
  }
  core::JobSubmitted job() const {
    core::JobSubmitted made = story.job(100);
    made.of = {kFedFlow, 0};
    made.lease = kFedLease;
    return made;
  }
  // In one commit, as the core does it.
  void start() {
    story.lie(leased(JobId{1}));
    story.lie(job());
    commit();
  }
  static core::FedJobEnded over(uint64_t done, std::string outputs = "") {
    return {{kFedFlow, 0}, JobId{1}, kFedItems, done, 2 - done, 0, std::move(outputs)};
  }
  static core::ItemsFinished finished() { return {kFedQueue, kFedLease, kFedItems}; }
  void commit() { checker.committed(story.sequence, story.state); }
  void expect(const std::string& part) {
    EXPECT_TRUE(says(checker.broken(), part)) << checker.broken();
  }

  Feeds checker;
  Story story{checker};
};

TEST_F(FeedsTest, AnItemThatIsDoneWithItsJobIsFine) {
  start();
  checker.began({{JobId{1}, 0, 1}, "here", {}, {}, "", kNow, "1,2"});
  checker.ended({{JobId{1}, 0, 1}, kNow});
  story.lie(over(2, "{}"));
  story.lie(finished());
  commit();
  EXPECT_EQ(checker.broken(), "");
}

TEST_F(FeedsTest, AnEffectThatCountsTwiceIsFound) {
  start();
  story.lie(over(2));
  story.lie(finished());
  commit();
  core::ItemsLeased again = leased(JobId{2});
  again.lease = {2};
  story.lie(again);
  core::FedJobEnded second = over(2);
  second.job = {2};
  story.lie(second);
  expect("counts twice");
}

TEST_F(FeedsTest, AJobThatIsOverTwiceIsFound) {
  start();
  story.lie(over(2));
  story.lie(finished());
  story.lie(over(2));
  expect("for a second time");
}

TEST_F(FeedsTest, AnEffectWithoutTheItemBeingDoneInTheSameCommitIsFound) {
  start();
  story.lie(over(2, "{}"));
  commit();
  expect("keeps its items");
}

TEST_F(FeedsTest, AnEffectOfItemsThatWereGivenBackIsFound) {
  start();
  story.lie(over(2));
  story.lie(core::ItemsReturned{kFedQueue, kFedLease, kFedItems, {}, {}, ""});
  commit();
  expect("says that 2 items are done, and 0 are");
}

TEST_F(FeedsTest, OutputsOfItemsThatAreNotDoneAreFound) {
  start();
  story.lie(over(0, "{}"));
  expect("leaves something");
}

TEST_F(FeedsTest, ALeaseThatIsOverBeforeItsJobIsFound) {
  start();
  story.lie(finished());
  commit();
  expect("lost its items and goes on");
}

TEST_F(FeedsTest, ALeaseWithoutAJobIsFound) {
  story.lie(leased(JobId{1}));
  commit();
  expect("was never submitted");
}

TEST_F(FeedsTest, ALeaseThatRunsOutIsFound) {
  story.lie(leased(JobId{1}, kNow + seconds(60)));
  expect("runs out by itself");
}

TEST_F(FeedsTest, ARunThatBeginsAfterItsLeaseIsFound) {
  start();
  story.lie(over(2));
  story.lie(finished());
  commit();
  checker.began({{JobId{1}, 0, 2}, "here", {}, {}, "", kNow, "1,2"});
  expect("begins after its lease is over");
}

TEST_F(FeedsTest, ARunThatGoesOnAfterItsLeaseIsFound) {
  start();
  checker.began({{JobId{1}, 0, 1}, "here", {}, {}, "", kNow, "1,2"});
  story.lie(over(2));
  story.lie(finished());
  commit();
  expect("runs although its lease is over");
}

TEST_F(FeedsTest, ARunWithOtherItemsIsFound) {
  start();
  checker.began({{JobId{1}, 0, 1}, "here", {}, {}, "", kNow, "3"});
  expect("was given items 3 and leased 1,2");
}

}  // namespace
}  // namespace atl::sim
