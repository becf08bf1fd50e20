// The checker of queues must be able to fail: these tests break the promise on purpose.
#include <gtest/gtest.h>

#include "sim/checkers/queues.h"
#include "sim/simulation.h"
#include "sim/story.h"

namespace atl::sim {
namespace {

constexpr QueueId kQueue{1};

class QueuesTest : public testing::Test {
 protected:
  QueuesTest() : story(checker) {
    story.say(core::QueueSet{kQueue, NamespaceId{1}, "q", {}, false});
    story.say(core::ItemsPut{kQueue, ItemId{1}, {{3, 0, {}, "", 0}}, {}});
  }
  static std::vector<core::ItemRange> item(uint64_t id) { return {{ItemId{id}, ItemId{id}}}; }
  static core::ItemsLeased leased(uint64_t lease, uint64_t id) {
    return {kQueue, LeaseId{lease}, kNow + seconds(60), "", item(id)};
  }
  static core::ItemsFinished finished(uint64_t lease, uint64_t id) {
    return {kQueue, LeaseId{lease}, item(id)};
  }
  void tell(core::EventBody body, const std::vector<std::string>& bodies = {}) {
    const Result<runtime::Accepted> answer =
        runtime::Accepted{{{kNow, {}, std::move(body)}}, {}, false, 1};
    const core::Request request{{}, core::HoldJob{}};
    checker.told({request, "", false, answer, &bodies});
  }
  void expect(const std::string& part) {
    EXPECT_TRUE(says(checker.broken(), part)) << checker.broken();
  }
  // The rows that the journal would hold of all three.
  void keep_bodies(const std::string& first) {
    journal::Batch batch{{{kNow, {}, core::PolicySet{}}}, {}, {}};
    batch.bodies = {{kQueue, ItemId{1}, first}, {kQueue, ItemId{2}, "b"}, {kQueue, ItemId{3}, "c"}};
    ASSERT_TRUE(story.journal.commit(batch));
  }

  Queues checker;
  Story story;
};

TEST_F(QueuesTest, ALifeAsItShouldBeIsFine) {
  keep_bodies("a");
  story.say(leased(1, 1));
  story.say(core::ItemsReturned{kQueue, LeaseId{1}, item(1), {}, {}, ""});
  story.say(leased(2, 1));
  story.say(finished(2, 1));
  story.look(story.state, true);
  EXPECT_EQ(checker.broken(), "");
}

TEST_F(QueuesTest, TwoLeasesAtOnceAreFound) {
  story.say(leased(1, 1));
  story.lie(leased(2, 1));
  expect("while lease 1 holds it");
}

TEST_F(QueuesTest, AnItemDoneTwiceIsFound) {
  story.say(leased(1, 1));
  story.say(finished(1, 1));
  story.lie(finished(1, 1));
  expect("had been done before");
}

TEST_F(QueuesTest, DoneByAnotherThanTheHolderIsFound) {
  story.say(leased(1, 1));
  story.say(core::ItemsReturned{kQueue, LeaseId{1}, item(1), {}, {}, ""});
  story.say(leased(2, 1));
  story.lie(finished(1, 1));
  expect("does not hold it");
}

TEST_F(QueuesTest, TwoWorkersWhoAreBothToldDoneAreFound) {
  tell(finished(1, 1));
  EXPECT_EQ(checker.broken(), "");
  tell(finished(2, 1));
  expect("accepted as done twice");
}

TEST_F(QueuesTest, ALeaseEndedBeforeItsTimeIsFound) {
  story.say(leased(1, 1));
  story.say(core::ItemsReturned{kQueue, LeaseId{1}, item(1), core::ReturnCause::expired, {}, ""});
  expect("before its time");
}

TEST_F(QueuesTest, AnItemLeasedBeforeItsTimeIsFound) {
  story.say(core::ItemsPut{kQueue, ItemId{4}, {{1, 0, kNow + seconds(9), "", 0}}, {}});
  story.lie(leased(1, 4));
  expect("before its time");
}

TEST_F(QueuesTest, ALostItemIsFound) {
  keep_bodies("a");
  core::State poorer = story.state;
  core::apply(poorer, {kNow, {}, core::ItemsRemoved{kQueue, item(2)}});
  story.look(poorer, true);
  expect("item 2 of queue 1 was put and not done, and is gone");
}

TEST_F(QueuesTest, ADoneItemThatComesBackIsFound) {
  keep_bodies("a");
  story.say(leased(1, 1));
  const core::State before = story.state;
  story.say(finished(1, 1));
  story.look(before, true);
  expect("is done, and is there");
}

TEST_F(QueuesTest, ALostBodyIsFound) {
  story.look(story.state, true);
  expect("lost its body");
}

TEST_F(QueuesTest, AnotherBodyIsFound) {
  tell(core::ItemsPut{kQueue, ItemId{1}, {{1, 0, {}, "", 0}}, {}}, {"a"});
  keep_bodies("x");
  story.look(story.state, true);
  expect("another body");
}

TEST_F(QueuesTest, AnItemThatNobodyFinishesIsFound) {
  keep_bodies("a");
  checker.settled({story.state, story.state, story.journal, story.journal, kNow, true, false});
  expect("neither done nor dead");
}

TEST(QueuesUnderFaults, EveryItemEndsUnderFaultsOfEachKind) {
  for (uint64_t seed = 101; seed <= 106; ++seed) {
    Faults faults;
    faults.crash_every = minutes(1);
    faults.answer_lost = 200;
    faults.crash_after_commit = 30;
    faults.crash_before_commit = 30;
    faults.snapshot_every = seconds(20);
    const SimResult result = simulate({.seed = seed, .faults = faults, .asks = 40});
    EXPECT_EQ(result.broken, "") << "seed " << seed;
    EXPECT_GT(result.counts.items_done, 0u) << "seed " << seed;
  }
}

}  // namespace
}  // namespace atl::sim
