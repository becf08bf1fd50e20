#include "core/queue/index.h"

#include <algorithm>
#include <limits>

#include "base/overloaded.h"

namespace atl::core {
namespace {

constexpr int64_t kMinute = 60'000'000;

uint64_t count_of(ItemId first, const FreshRun& run) { return run.last.value - first.value + 1; }

ItemPlace place_of(ItemId id, int32_t priority) { return {-priority, id}; }

Time put_of(const WorkQueue& queue, ItemId id) {
  const auto run = queue.fresh.find(id);
  return run == queue.fresh.end() ? queue.items.at(id).put : run->second.put;
}

std::string broken_lease(const WorkQueue& queue, LeaseId id, const Lease& lease) {
  const std::string name = "lease " + std::to_string(id.value) + " of queue " + queue.name;
  if (lease.items.empty()) return name + " is of nothing";
  if (!std::is_sorted(lease.items.begin(), lease.items.end())) return name + " is out of order";
  for (const ItemId item : lease.items) {
    const auto found = queue.items.find(item);
    if (found == queue.items.end()) return name + " has an item that is gone";
    const auto* standing = std::get_if<ItemLeased>(&found->second.standing);
    if (!standing || standing->lease != id) return name + " has an item that is not its own";
  }
  return {};
}

std::string broken_item(const WorkQueue& queue, ItemId id, const Item& item) {
  const std::string name = "item " + std::to_string(id.value) + " of queue " + queue.name;
  if (id > queue.last) return name + " has a number that was never given";
  if (std::holds_alternative<ItemLeased>(item.standing) && item.attempts == 0)
    return name + " is leased without an attempt";
  const auto run = queue.fresh.upper_bound(id);
  if (run != queue.fresh.begin() && std::prev(run)->second.last >= id)
    return name + " is also in a run";
  return {};
}

}  // namespace

void Flow::add(Time at, uint64_t count) {
  const int64_t then = at.us / kMinute;
  if (then != minute) {
    before = then == minute + 1 ? now : 0;
    now = 0;
    minute = then;
  }
  now += count;
  total += count;
}

uint64_t Flow::per_minute(Time at) const {
  const int64_t then = at.us / kMinute;
  const auto left = static_cast<uint64_t>(kMinute - at.us % kMinute);
  if (then == minute) return now + before * left / kMinute;
  return then == minute + 1 ? now * left / kMinute : 0;
}

void index_run(WorkQueue& queue, ItemId first, const FreshRun& run) {
  const uint64_t count = count_of(first, run);
  queue.line.insert(place_of(first, run.priority));
  queue.ready += count;
  queue.bytes += count * size_bound(run.size);
}

void unindex_run(WorkQueue& queue, ItemId first, const FreshRun& run) {
  const uint64_t count = count_of(first, run);
  queue.line.erase(place_of(first, run.priority));
  queue.ready -= count;
  queue.bytes -= count * size_bound(run.size);
}

void index_item(State& state, WorkQueue& queue, ItemId id, const Item& item) {
  queue.bytes += size_bound(item.size);
  if (!item.key.empty()) queue.keys.emplace(item.key, id);
  match(
      item.standing,
      [&](const ItemReady&) {
        queue.line.insert(place_of(id, item.priority));
        ++queue.ready;
      },
      [&](const ItemDelayed& delayed) {
        state.queue_timers.insert({delayed.until, queue.id, {}, id});
        ++queue.delayed;
      },
      [&](const ItemLeased&) { ++queue.leased; }, [&](const ItemDead&) { ++queue.dead; });
}

void unindex_item(State& state, WorkQueue& queue, ItemId id, const Item& item) {
  queue.bytes -= size_bound(item.size);
  if (!item.key.empty()) queue.keys.erase(item.key);
  match(
      item.standing,
      [&](const ItemReady&) {
        queue.line.erase(place_of(id, item.priority));
        --queue.ready;
      },
      [&](const ItemDelayed& delayed) {
        state.queue_timers.erase({delayed.until, queue.id, {}, id});
        --queue.delayed;
      },
      [&](const ItemLeased&) { --queue.leased; }, [&](const ItemDead&) { --queue.dead; });
}

void index_lease(State& state, const WorkQueue& queue, LeaseId id, const Lease& lease) {
  if (lease.until) state.queue_timers.insert({lease.until, queue.id, id, {}});
}

void unindex_lease(State& state, const WorkQueue& queue, LeaseId id, const Lease& lease) {
  if (lease.until) state.queue_timers.erase({lease.until, queue.id, id, {}});
}

void index_queue(State& state, WorkQueue& queue) {
  state.queue_names[{queue.ns, queue.name}] = queue.id;
  for (const auto& [first, run] : queue.fresh) index_run(queue, first, run);
  for (const auto& [id, item] : queue.items) index_item(state, queue, id, item);
  for (const auto& [id, lease] : queue.leases) index_lease(state, queue, id, lease);
}

void clear_derived(WorkQueue& queue) {
  queue.line.clear();
  queue.keys.clear();
  queue.ready = queue.delayed = queue.leased = queue.dead = queue.bytes = 0;
}

const WorkQueue* first_queue_of(const State& state, NamespaceId ns) {
  const auto it = state.queue_names.lower_bound({ns, ""});
  return it == state.queue_names.end() || it->first.first != ns ? nullptr
                                                                : &state.queues.at(it->second);
}

// Numbers grow with time, so the first of each priority is its oldest.
Time oldest_ready(const WorkQueue& queue) {
  Time oldest;
  for (auto at = queue.line.begin(); at != queue.line.end();) {
    const Time put = put_of(queue, at->item);
    if (!oldest || put < oldest) oldest = put;
    at = queue.line.upper_bound({at->behind, ItemId{std::numeric_limits<uint64_t>::max()}});
  }
  return oldest;
}

std::string broken_in_queue(const State& state, const WorkQueue& queue) {
  if (!state.namespaces.count(queue.ns)) return "queue " + queue.name + " has no namespace";
  ItemId last;
  for (const auto& [first, run] : queue.fresh) {
    if (first > run.last || first <= last || run.last > queue.last)
      return "queue " + queue.name + " has runs that overlap or are out of order";
    last = run.last;
  }
  for (const auto& [id, item] : queue.items) {
    if (std::string broken = broken_item(queue, id, item); !broken.empty()) return broken;
  }
  uint64_t leased = 0;
  for (const auto& [id, lease] : queue.leases) {
    if (std::string broken = broken_lease(queue, id, lease); !broken.empty()) return broken;
    leased += lease.items.size();
  }
  // With the above: every leased item is in exactly one lease.
  if (leased != queue.leased) return "queue " + queue.name + " has a leased item without its lease";
  return {};
}

}  // namespace atl::core
