#include "core/queue/queue.h"

#include "base/wire.h"
#include "core/limits.h"
#include "core/queue/index.h"
#include "core/queue/lease.h"
#include "core/test_world.h"

namespace atl::core {
namespace {

class QueueTest : public TestWorld, public testing::Test {
 protected:
  QueueTest() { run(Request{admin(), CreateQueue{"lab", "q", {}}}); }

  const WorkQueue& queue() const { return state.queues.at(QueueId{1}); }
  Events ask(Command command) { return run(Request{admin(), std::move(command)}); }
  void put(uint32_t count, NewItem item = {}) {
    ask(PutItems{"lab", "q", std::vector<NewItem>(count, item)});
  }
  ItemsLeased lease(uint32_t max = 1) {
    return std::get<ItemsLeased>(ask(LeaseItems{"lab", "q", max, {}, ""}).at(0).body);
  }
  Error refused(Command command) {
    const auto events = attempt(Request{admin(), std::move(command)});
    EXPECT_FALSE(events);
    return events ? Error{} : events.error();
  }
  void pass(Duration time) {
    now = now + time;
    settle();
  }
};

TEST_F(QueueTest, AMillionItemsPutInBatchesAreAHandfulOfRuns) {
  for (int batch = 0; batch < 100; ++batch)
    ask(PutItems{"lab", "q", std::vector<NewItem>(10'000, NewItem{0, {}, "", 100})});
  EXPECT_EQ(queue().ready, 1'000'000u);
  EXPECT_EQ(queue().fresh.size(), 1u);
  EXPECT_TRUE(queue().items.empty());
  // What was leased and given back is an object; the rest still is not.
  lease(10);
  EXPECT_EQ(queue().items.size(), 10u);
  EXPECT_EQ(queue().fresh.size(), 1u);
}

TEST_F(QueueTest, RunsOfOtherTimesSizesOrPrioritiesStayApart) {
  put(2);
  now = now + milliseconds(900);
  put(2);
  EXPECT_EQ(queue().fresh.size(), 1u);
  now = now + milliseconds(900);
  put(2);
  put(2, {0, {}, "", 1000});
  put(2, {1, {}, "", 1000});
  EXPECT_EQ(queue().fresh.size(), 4u);
  EXPECT_EQ(oldest_ready(queue()), Time{1});
  // The highest priority is served first, so the oldest is not the first in line.
  EXPECT_EQ(lease().items, (std::vector<ItemRange>{{{9}, {9}}}));
  EXPECT_EQ(oldest_ready(queue()), Time{1});
}

TEST_F(QueueTest, ALeaseIsBoundedByTheBytesItsAnswerCarries) {
  put(1000, {0, {}, "", kItemBytesMax});
  EXPECT_EQ(count_of(lease(1000).items), kLeaseBytesMax / kItemBytesMax);
  put(1000, {1, {}, "", 10});
  EXPECT_EQ(count_of(lease(1000).items), 1000u);
}

TEST_F(QueueTest, WhatAFinishedItemLeavesBehindIsDropped) {
  put(3);
  const ItemsLeased leased = lease(2);
  effects.clear();
  ask(FinishItems{"lab", "q", leased.lease, {}});
  ASSERT_EQ(effects.size(), 1u);
  const auto& dropped = std::get<DropItems>(effects[0]);
  EXPECT_EQ(dropped.items, (std::vector<ItemRange>{{{1}, {2}}}));
  EXPECT_EQ(queue().done.total, 2u);
  EXPECT_EQ(queue().size(), 1u);
}

TEST_F(QueueTest, AnExpiredWorkersDoneIsRefused) {
  put(1);
  const LeaseId first = lease().lease;
  pass(seconds(61));
  EXPECT_EQ(queue().expired, 1u);
  const LeaseId second = lease().lease;
  EXPECT_EQ(refused(FinishItems{"lab", "q", first, {}}).code, ErrorCode::conflict);
  EXPECT_EQ(refused(ReturnItems{"lab", "q", first, {}, {}, ""}).code, ErrorCode::conflict);
  EXPECT_EQ(refused(ExtendLeases{"lab", "q", {first}, {}}).code, ErrorCode::conflict);
  ask(FinishItems{"lab", "q", second, {}});
  EXPECT_EQ(queue().size(), 0u);
}

TEST_F(QueueTest, ExtendedLeasesHold) {
  put(1);
  const LeaseId held = lease().lease;
  for (int i = 0; i < 5; ++i) {
    pass(seconds(50));
    ask(ExtendLeases{"lab", "q", {held}, {}});
  }
  EXPECT_EQ(queue().leased, 1u);
  EXPECT_EQ(next_timer(state, now), now + seconds(60));
  ask(FinishItems{"lab", "q", held, {}});
  EXPECT_FALSE(next_timer(state, now));
}

TEST_F(QueueTest, AfterItsAttemptsAnItemIsDeadOrGone) {
  put(1);
  for (int i = 0; i < 5; ++i)
    ask(ReturnItems{"lab", "q", lease().lease, {}, {}, "no " + std::to_string(i)});
  EXPECT_EQ(queue().dead, 1u);
  EXPECT_EQ(std::get<ItemDead>(queue().items.at(ItemId{1}).standing).message, "no 4");
  ask(RestoreItems{"lab", "q", {}});
  EXPECT_EQ(queue().items.at(ItemId{1}).attempts, 0u);
  ask(ChangeQueue{"lab", "q", {}, 1u, false, {}});
  ask(ReturnItems{"lab", "q", lease().lease, {}, {}, ""});
  EXPECT_EQ(queue().size(), 0u);
  EXPECT_EQ(queue().done.total, 0u);
}

TEST_F(QueueTest, ExpiryIsBoundedPerTickAndGoesOn) {
  put(5000);
  for (int i = 0; i < 5; ++i) lease(1000);
  now = now + seconds(61);
  run(Tick{});
  EXPECT_EQ(queue().ready, uint64_t{kItemsPerTickMax});
  settle();
  EXPECT_EQ(queue().ready, 5000u);
}

TEST_F(QueueTest, DelaysEndInTheirOrder) {
  put(1, {0, seconds(10), "", 0});
  put(1, {0, seconds(5), "", 0});
  EXPECT_TRUE(ask(LeaseItems{"lab", "q", 2, {}, ""}).empty());
  EXPECT_EQ(next_timer(state, now), now + seconds(5));
  pass(seconds(5));
  EXPECT_EQ(lease(2).items, (std::vector<ItemRange>{{{2}, {2}}}));
  pass(seconds(5));
  EXPECT_EQ(lease(2).items, (std::vector<ItemRange>{{{1}, {1}}}));
}

TEST_F(QueueTest, AKeyIsFreeAgainWhenItsItemIsDone) {
  const NewItem keyed{0, {}, "a", 1};
  const auto first =
      std::get<ItemsPut>(ask(PutItems{"lab", "q", {keyed, NewItem{}, keyed}}).at(0).body);
  EXPECT_EQ(first.repeated, (std::vector<RepeatedItem>{{2, {1}}}));
  EXPECT_EQ(queue().size(), 2u);
  ask(FinishItems{"lab", "q", lease(2).lease, {}});
  EXPECT_TRUE(std::get<ItemsPut>(ask(PutItems{"lab", "q", {keyed}}).at(0).body).repeated.empty());
}

TEST_F(QueueTest, BoundsAreSaidWithTheirField) {
  EXPECT_EQ(refused(PutItems{"lab", "q", {NewItem{}, NewItem{0, {}, "", kItemBytesMax + 1}}}).field,
            "items[1].body");
  EXPECT_EQ(refused(PutItems{"lab", "q", {}}).field, "items");
  EXPECT_EQ(refused(PutItems{"lab", "q", {NewItem{0, {}, "\xff", 1}}}).field, "items[0].key");
  EXPECT_EQ(refused(LeaseItems{"lab", "q", 0, {}, ""}).field, "max");
  EXPECT_EQ(refused(LeaseItems{"lab", "q", 1, milliseconds(1), ""}).field, "visibility");
  EXPECT_EQ(refused(LeaseItems{"lab", "q", 1, {}, "a\nb"}).field, "holder");
  EXPECT_EQ(refused(ExtendLeases{"lab", "q", {}, {}}).field, "leases");
  EXPECT_EQ(refused(CreateQueue{"lab", "x", {Duration{}, 5, true}}).field, "visibility");
  EXPECT_EQ(refused(CreateQueue{"lab", "x", {seconds(1), 0, true}}).field, "attempts");
  EXPECT_EQ(refused(RestoreItems{"lab", "q", {ItemId{1}}}).code, ErrorCode::not_found);
}

TEST_F(QueueTest, RatesAreThoseOfTheLastMinute) {
  Flow flow;
  flow.add(Time{seconds(30).us}, 60);
  EXPECT_EQ(flow.per_minute(Time{seconds(59).us}), 60u);
  EXPECT_EQ(flow.per_minute(Time{seconds(90).us}), 30u);
  EXPECT_EQ(flow.per_minute(Time{seconds(121).us}), 0u);
  flow.add(Time{seconds(600).us}, 1);
  EXPECT_EQ(flow.per_minute(Time{seconds(600).us}), 1u);
  EXPECT_EQ(flow.total, 61u);
}

TEST_F(QueueTest, ASnapshotHoldsAllOfIt) {
  put(10);
  put(1, {5, seconds(9), "key", 77});
  ask(ReturnItems{"lab", "q", lease(3).lease, {ItemId{2}}, seconds(3), "why"});
  State again = wire::decode<State>(wire::encode(state)).value();
  rebuild_derived(again);
  EXPECT_EQ(again.queues, state.queues);
  EXPECT_EQ(again.queue_timers, state.queue_timers);
  EXPECT_EQ(again.queue_names, state.queue_names);
}

}  // namespace
}  // namespace atl::core
