#include "core/queue/lease.h"

#include <algorithm>

#include "base/check.h"
#include "base/overloaded.h"
#include "core/limits.h"

namespace atl::core::queue {
namespace {

// The ids of leases that the draft has given already, and that it used no queue twice.
uint64_t leases_in(const Draft& draft, QueueId queue) {
  uint64_t count = 0;
  for (const Event& event : draft.events()) {
    const auto* leased = std::get_if<ItemsLeased>(&event.body);
    if (!leased) continue;
    CHECK(leased->queue != queue, "one draft leases twice from a queue");
    ++count;
  }
  return count;
}

// Goes along the line, from one lease to the next.
class Dealer {
 public:
  explicit Dealer(const WorkQueue& queue) : queue_(queue), place_(queue.line.begin()) {}

  // The next ones, within both bounds, but one item in any case, if there is one.
  std::vector<ItemRange> take(uint64_t max) {
    std::vector<ItemRange> taken;
    uint64_t count = 0;
    uint64_t bytes = 0;
    while (place_ != queue_.line.end()) {
      const auto run = queue_.fresh.find(place_->item);
      const bool fresh = run != queue_.fresh.end();
      const uint64_t each =
          size_bound(fresh ? run->second.size : queue_.items.at(place_->item).size);
      if (count == max || (count > 0 && bytes + each > kLeaseBytesMax)) return taken;
      const ItemId item{place_->item.value + into_};
      append(taken, item);
      ++count;
      bytes += each;
      ++into_;
      if (item != (fresh ? run->second.last : place_->item)) continue;
      ++place_;
      into_ = 0;
    }
    return taken;
  }

 private:
  const WorkQueue& queue_;
  std::set<ItemPlace>::const_iterator place_;
  uint64_t into_ = 0;  // items of the run there that are taken
};

Error lost_lease(const WorkQueue& queue, LeaseId lease, const std::string& what) {
  return {ErrorCode::conflict,
          "lease " + std::to_string(lease.value) + " of queue " + queue.name + " " + what +
              "; its time ran out, or it was finished or given back before",
          "lease"};
}

// How the items leave a lease: those with attempts left, and the others.
void split(const WorkQueue& queue, const std::vector<ItemRange>& items,
           std::vector<ItemRange>& remaining, std::vector<ItemRange>& spent) {
  for_each_item(items, [&](ItemId id) {
    append(queue.items.at(id).attempts < queue.settings.attempts ? remaining : spent, id);
  });
}

// How many of them are dead.
uint64_t draft_return(const WorkQueue& queue, LeaseId lease, const std::vector<ItemRange>& items,
                      const ReturnWish& wish, Draft& draft) {
  std::vector<ItemRange> remaining, spent;
  if (wish.untried)
    remaining = items;
  else
    split(queue, items, remaining, spent);
  if (!remaining.empty()) {
    const Time not_before = wish.delay.us > 0 ? draft.now() + wish.delay : Time{};
    draft.add(ItemsReturned{queue.id, lease, std::move(remaining), wish.cause, not_before,
                            wish.message, wish.untried});
  }
  const uint64_t dead = count_of(spent);
  if (dead == 0) return 0;
  if (queue.settings.dead_letters)
    draft.add(ItemsBuried{queue.id, lease, std::move(spent), wish.cause, wish.message});
  else
    draft.add(ItemsRemoved{queue.id, std::move(spent)});
  return dead;
}

}  // namespace

LeaseId lease(const State& state, const WorkQueue& queue, const LeaseWish& wish, Draft& draft) {
  const uint64_t given = leases_in(draft, queue.id);
  std::vector<ItemRange> items = Dealer(queue).take(std::min(wish.max, kItemsPerLeaseMax));
  if (items.empty()) return {};
  const LeaseId id{state.counters.lease + given + 1};
  const Duration visibility = wish.visibility.value_or(queue.settings.visibility);
  const Time until = visibility.us > 0 ? draft.now() + visibility : Time{};
  draft.add(ItemsLeased{queue.id, id, until, wish.holder, std::move(items), {}});
  return id;
}

std::vector<LeaseId> lease_to(const State& state, const WorkQueue& queue, const JobsWish& wish,
                              Draft& draft) {
  uint64_t last = state.counters.lease + leases_in(draft, queue.id);
  std::vector<LeaseId> leases;
  Dealer dealer(queue);
  uint64_t left = queue.ready;
  for (size_t i = 0; i < wish.jobs.size(); ++i) {
    const uint64_t others = wish.jobs.size() - i;
    auto items = dealer.take(std::min<uint64_t>(wish.batch, (left + others - 1) / others));
    CHECK(!items.empty(), "more jobs than items in queue " + queue.name);
    left -= count_of(items);
    leases.push_back({++last});
    draft.add(
        ItemsLeased{queue.id, leases.back(), {}, wish.holder, std::move(items), wish.jobs[i]});
  }
  return leases;
}

Result<std::vector<ItemRange>> held(const WorkQueue& queue, LeaseId id, std::vector<ItemId> items) {
  const auto found = queue.leases.find(id);
  if (found == queue.leases.end()) return tl::unexpected(lost_lease(queue, id, "is over"));
  const std::vector<ItemId>& all = found->second.items;
  std::vector<ItemRange> ranges;
  if (items.empty()) items = all;
  std::sort(items.begin(), items.end());
  items.erase(std::unique(items.begin(), items.end()), items.end());
  for (const ItemId item : items) {
    if (!std::binary_search(all.begin(), all.end(), item))
      return tl::unexpected(
          lost_lease(queue, id, "does not hold item " + std::to_string(item.value)));
    append(ranges, item);
  }
  return ranges;
}

Result<void> finish(const WorkQueue& queue, LeaseId lease, const std::vector<ItemId>& items,
                    Draft& draft) {
  auto ranges = held(queue, lease, items);
  if (!ranges) return tl::unexpected(ranges.error());
  draft.add(ItemsFinished{queue.id, lease, std::move(*ranges)});
  return {};
}

Result<uint64_t> give_back(const WorkQueue& queue, LeaseId lease, const std::vector<ItemId>& items,
                           const ReturnWish& wish, Draft& draft) {
  const auto ranges = held(queue, lease, items);
  if (!ranges) return tl::unexpected(ranges.error());
  return draft_return(queue, lease, *ranges, wish, draft);
}

void tick(const State& state, Draft& draft) {
  std::map<QueueId, std::vector<ItemRange>> delayed;
  uint64_t budget = kItemsPerTickMax;
  for (const QueueTimer& timer : state.queue_timers) {
    if (timer.at > draft.now() || budget == 0) break;
    const WorkQueue& queue = state.queues.at(timer.queue);
    if (timer.item) {
      append(delayed[timer.queue], timer.item);
      --budget;
      continue;
    }
    const auto all = held(queue, timer.lease, {});
    draft_return(queue, timer.lease, *all,
                 {ReturnCause::expired, {}, "its lease ran out before it was done", false}, draft);
    budget -= std::min(budget, count_of(*all));
  }
  for (auto& [queue, items] : delayed) draft.add(DelaysEnded{queue, std::move(items)});
}

QueueId queue_in(const EventBody& event) {
  if (const auto* set = std::get_if<QueueSet>(&event)) return set->id;
  if (const auto* deleted = std::get_if<QueueDeleted>(&event)) return deleted->id;
  if (!only_items(event)) return {};
  return std::visit(
      [](const auto& body) -> QueueId {
        if constexpr (requires { body.queue; })
          return body.queue;
        else
          return {};
      },
      event);
}

bool only_items(const EventBody& event) {
  return match(
      event, [](const ItemsPut&) { return true; }, [](const ItemsLeased&) { return true; },
      [](const LeasesExtended&) { return true; }, [](const ItemsFinished&) { return true; },
      [](const ItemsReturned&) { return true; }, [](const ItemsBuried&) { return true; },
      [](const DelaysEnded&) { return true; }, [](const ItemsRestored&) { return true; },
      [](const ItemsRemoved&) { return true; }, [](const auto&) { return false; });
}

bool daily_work(const EventBody& event) {
  return only_items(event) && !std::holds_alternative<ItemsRemoved>(event) &&
         !std::holds_alternative<ItemsRestored>(event);
}

uint64_t items_in(const EventBody& event) {
  if (const auto* put = std::get_if<ItemsPut>(&event)) {
    uint64_t count = put->repeated.size();
    for (const PutRun& run : put->runs) count += run.count;
    return count;
  }
  return std::visit(
      [](const auto& body) -> uint64_t {
        if constexpr (requires { count_of(body.items); })
          return count_of(body.items);
        else
          return 0;
      },
      event);
}

}  // namespace atl::core::queue
