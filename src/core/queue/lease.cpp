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

// What is first in the line, within both bounds, but one item in any case.
std::vector<ItemRange> first_in_line(const WorkQueue& queue, uint64_t max) {
  std::vector<ItemRange> taken;
  uint64_t count = 0;
  uint64_t bytes = 0;
  for (const ItemPlace& place : queue.line) {
    const auto run = queue.fresh.find(place.item);
    const bool fresh = run != queue.fresh.end();
    const uint64_t each = size_bound(fresh ? run->second.size : queue.items.at(place.item).size);
    const ItemId last = fresh ? run->second.last : place.item;
    for (uint64_t id = place.item.value; id <= last.value; ++id) {
      if (count == max || (count > 0 && bytes + each > kLeaseBytesMax)) return taken;
      append(taken, ItemId{id});
      ++count;
      bytes += each;
    }
  }
  return taken;
}

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

void draft_return(const WorkQueue& queue, LeaseId lease, const std::vector<ItemRange>& items,
                  const ReturnWish& wish, Draft& draft) {
  std::vector<ItemRange> remaining, spent;
  split(queue, items, remaining, spent);
  if (!remaining.empty()) {
    const Time not_before = wish.delay.us > 0 ? draft.now() + wish.delay : Time{};
    draft.add(
        ItemsReturned{queue.id, lease, std::move(remaining), wish.cause, not_before, wish.message});
  }
  if (spent.empty()) return;
  if (queue.settings.dead_letters)
    draft.add(ItemsBuried{queue.id, lease, std::move(spent), wish.cause, wish.message});
  else
    draft.add(ItemsRemoved{queue.id, std::move(spent)});
}

}  // namespace

LeaseId lease(const State& state, const WorkQueue& queue, const LeaseWish& wish, Draft& draft) {
  const uint64_t given = leases_in(draft, queue.id);
  std::vector<ItemRange> items = first_in_line(queue, std::min(wish.max, kItemsPerLeaseMax));
  if (items.empty()) return {};
  const LeaseId id{state.counters.lease + given + 1};
  const Duration visibility = wish.visibility.value_or(queue.settings.visibility);
  const Time until = visibility.us > 0 ? draft.now() + visibility : Time{};
  draft.add(ItemsLeased{queue.id, id, until, wish.holder, std::move(items)});
  return id;
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

Result<void> give_back(const WorkQueue& queue, LeaseId lease, const std::vector<ItemId>& items,
                       const ReturnWish& wish, Draft& draft) {
  const auto ranges = held(queue, lease, items);
  if (!ranges) return tl::unexpected(ranges.error());
  draft_return(queue, lease, *ranges, wish, draft);
  return {};
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
                 {ReturnCause::expired, {}, "its lease ran out before it was done"}, draft);
    budget -= std::min(budget, count_of(*all));
  }
  for (auto& [queue, items] : delayed) draft.add(DelaysEnded{queue, std::move(items)});
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
