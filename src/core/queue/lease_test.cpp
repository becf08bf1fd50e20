// Queues inside the decisions of others: what a step of a workflow does with items.
#include "core/queue/lease.h"

#include "core/limits.h"
#include "core/test_world.h"

namespace atl::core {
namespace {

class LeaseTest : public TestWorld, public testing::Test {
 protected:
  LeaseTest() {
    for (const char* name : {"a", "b"}) {
      run(Request{admin(), CreateQueue{"lab", name, {}}});
      run(Request{admin(), PutItems{"lab", name, std::vector<NewItem>(4)}});
    }
  }
  const WorkQueue& queue(uint32_t id) const { return state.queues.at(QueueId{id}); }
  Draft draft() const { return {now, UserId{}}; }
  void take(Draft draft) {
    for (const Event& event : draft.take()) apply(state, event);
    EXPECT_EQ(broken_invariant(state), "");
  }
};

TEST_F(LeaseTest, OneDraftLeasesFromSeveralQueues) {
  Draft both = draft();
  const LeaseId a = queue::lease(state, queue(1), {2, Duration{}, "step 1"}, both);
  const LeaseId b = queue::lease(state, queue(2), {9, Duration{}, "step 2"}, both);
  EXPECT_NE(a, b);
  take(std::move(both));
  EXPECT_EQ(queue(1).leases.at(a).holder, "step 1");
  EXPECT_EQ(queue(1).leased, 2u);
  EXPECT_EQ(queue(2).leased, 4u);
  // A lease without an end waits for its step, however long that takes.
  EXPECT_FALSE(next_timer(state, now));
  now = now + hours(24 * 30);
  settle();
  EXPECT_EQ(queue(1).leased, 2u);
}

TEST_F(LeaseTest, NothingToLeaseAddsNothing) {
  Draft all = draft();
  queue::lease(state, queue(1), {9, {}, ""}, all);
  take(std::move(all));
  Draft none = draft();
  EXPECT_FALSE(queue::lease(state, queue(1), {1, {}, ""}, none));
  EXPECT_TRUE(none.empty());
}

TEST_F(LeaseTest, ItemsAreFinishedAndGivenBackWithTheStepsOwnEvents) {
  Draft leasing = draft();
  const LeaseId lease = queue::lease(state, queue(1), {3, Duration{}, "step"}, leasing);
  take(std::move(leasing));
  Draft first = draft();
  first.add(PolicySet{state.policy});
  ASSERT_TRUE(queue::finish(queue(1), lease, {ItemId{1}, ItemId{3}}, first));
  take(std::move(first));
  EXPECT_EQ(queue(1).done.total, 2u);
  Draft second = draft();
  ASSERT_TRUE(queue::give_back(queue(1), lease, {}, {.message = "step failed"}, second));
  take(std::move(second));
  EXPECT_EQ(queue(1).leased, 0u);
  EXPECT_EQ(queue(1).items.at(ItemId{2}).attempts, 1u);
  Draft third = draft();
  EXPECT_EQ(queue::finish(queue(1), lease, {}, third).error().code, ErrorCode::conflict);
  EXPECT_TRUE(third.empty());
}

TEST_F(LeaseTest, NobodyFinishesWhatAnotherHolds) {
  Draft leasing = draft();
  const LeaseId mine = queue::lease(state, queue(1), {1, {}, ""}, leasing);
  take(std::move(leasing));
  Draft again = draft();
  const LeaseId theirs = queue::lease(state, queue(1), {1, {}, ""}, again);
  take(std::move(again));
  Draft wrong = draft();
  EXPECT_FALSE(queue::finish(queue(1), mine, {ItemId{2}}, wrong));
  EXPECT_FALSE(queue::finish(queue(1), mine, {ItemId{1}, ItemId{2}}, wrong));
  EXPECT_FALSE(queue::finish(queue(2), theirs, {}, wrong));
  EXPECT_TRUE(wrong.empty());
}

TEST_F(LeaseTest, AQueueIsUsedOnceInADraft) {
  Draft twice = draft();
  queue::lease(state, queue(1), {1, {}, ""}, twice);
  EXPECT_DEATH(queue::lease(state, queue(1), {1, {}, ""}, twice), "leases twice");
}

}  // namespace
}  // namespace atl::core
