// Queues for other decisions: each function adds to a draft what shall happen to items, so that a
// step of a workflow leases, finishes or gives back items in the same commit as its own events.
// They check nothing about people; queue/decide.cpp does that for commands.
//
// A draft is decided on a state that does not yet have its events, so each queue and each lease is
// used by one of these calls in a draft at most.
#pragma once

#include <optional>

#include "core/decide.h"

namespace atl::core::queue {

// Jobs of a step, each of which gets a lease of its own that does not run out.
struct JobsWish {
  std::vector<JobId> jobs;  // not more than there are items to be leased
  uint32_t batch = 1;       // items of one, at most; fewer are dealt evenly
  std::string holder;
};
// The lease of each, in their order.
std::vector<LeaseId> lease_to(const State& state, const WorkQueue& queue, const JobsWish& wish,
                              Draft& draft);

struct LeaseWish {
  uint32_t max = 1;
  std::optional<Duration> visibility;  // the queue's own when absent; zero: does not run out
  std::string holder;                  // who works on them, for people
};

// Leases what is first in the line, up to `max` items; zero when nothing is there to be leased.
LeaseId lease(const State& state, const WorkQueue& queue, const LeaseWish& wish, Draft& draft);

// The lease's items: those that are named, or all when none is. `conflict` when the lease is over
// or does not hold one of them: somebody else may have it.
[[nodiscard]] Result<std::vector<ItemRange>> held(const WorkQueue& queue, LeaseId lease,
                                                  std::vector<ItemId> items);

// They are done and gone. This is what makes an effect happen once: only who still holds the lease
// gets here.
[[nodiscard]] Result<void> finish(const WorkQueue& queue, LeaseId lease,
                                  const std::vector<ItemId>& items, Draft& draft);

struct ReturnWish {
  ReturnCause cause = ReturnCause::given_back;
  Duration delay;        // before they may be leased again
  std::string message;   // why, for people
  bool untried = false;  // this lease does not count, so that none of them is a dead letter
};
// They wait again, except those that have had all their attempts: these are dead letters. How many
// of those there are.
[[nodiscard]] Result<uint64_t> give_back(const WorkQueue& queue, LeaseId lease,
                                         const std::vector<ItemId>& items, const ReturnWish& wish,
                                         Draft& draft);

// What time does: leases run out, delays end. At most kItemsPerTickMax items; the next tick goes
// on.
void tick(const State& state, Draft& draft);

// The queue that the event is about, or none.
QueueId queue_in(const EventBody& event);

// Whether an event leaves nothing for the scheduler to look at. Putting and leasing items is done
// far more often than placing tasks, and a round would cost more than they do.
bool only_items(const EventBody& event);

// Whether it is what producers and workers do all day, which no record of who asked for what keeps.
bool daily_work(const EventBody& event);
// How many items it is about: one event may stand for a thousand of them.
uint64_t items_in(const EventBody& event);

}  // namespace atl::core::queue
