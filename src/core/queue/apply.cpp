// What the events of queues do to the state.
#include <algorithm>

#include "base/check.h"
#include "base/overloaded.h"
#include "core/application.h"
#include "core/limits.h"
#include "core/queue/index.h"

namespace atl::core {
namespace {

std::string name_of(const WorkQueue& queue, ItemId id) {
  return "item " + std::to_string(id.value) + " of queue " + queue.name;
}

// Puts the run into the queue, as the end of the one before it where they are alike.
void insert_run(WorkQueue& queue, ItemId first, const FreshRun& run) {
  auto next = queue.fresh.upper_bound(first);
  if (next != queue.fresh.begin()) {
    const auto before = std::prev(next);
    FreshRun& old = before->second;
    if (old.last.value + 1 == first.value && old.priority == run.priority && old.size == run.size &&
        run.put >= old.put && run.put - old.put <= kRunSpan) {
      unindex_run(queue, before->first, old);
      old.last = run.last;
      index_run(queue, before->first, old);
      return;
    }
  }
  queue.fresh.emplace_hint(next, first, run);
  index_run(queue, first, run);
}

// Takes [first, last] out of the run that holds it.
FreshRun cut_run(WorkQueue& queue, ItemId first, ItemId last) {
  auto at = std::prev(queue.fresh.upper_bound(first));
  const ItemId start = at->first;
  const FreshRun run = at->second;
  unindex_run(queue, start, run);
  queue.fresh.erase(at);
  const auto keep = [&](ItemId from, ItemId to) {
    if (from > to) return;
    FreshRun part = run;
    part.last = to;
    queue.fresh.emplace(from, part);
    index_run(queue, from, part);
  };
  keep(start, ItemId{first.value - 1});
  keep(ItemId{last.value + 1}, run.last);
  return run;
}

// The item as an object: out of its run if it is in one. Its standing is not indexed.
Item take(State& state, WorkQueue& queue, ItemId id) {
  const auto found = queue.items.find(id);
  if (found != queue.items.end()) {
    unindex_item(state, queue, id, found->second);
    Item item = std::move(found->second);
    queue.items.erase(found);
    return item;
  }
  const auto run = queue.fresh.upper_bound(id);
  CHECK(run != queue.fresh.begin() && std::prev(run)->second.last >= id,
        name_of(queue, id) + " is not there");
  const FreshRun cut = cut_run(queue, id, id);
  return {cut.priority, cut.size, 0, cut.put, {}, ItemReady{}};
}

void place(State& state, WorkQueue& queue, ItemId id, Item item) {
  index_item(state, queue, id, item);
  queue.items.emplace(id, std::move(item));
}

// Runs leave at once, others one by one.
void remove(State& state, WorkQueue& queue, const std::vector<ItemRange>& ranges) {
  for (const ItemRange& range : ranges) {
    for (uint64_t id = range.first.value; id <= range.last.value;) {
      const auto after = queue.fresh.upper_bound(ItemId{id});
      if (after != queue.fresh.begin() && std::prev(after)->second.last.value >= id) {
        const uint64_t last = std::min(range.last.value, std::prev(after)->second.last.value);
        cut_run(queue, ItemId{id}, ItemId{last});
        id = last + 1;
      } else {
        take(state, queue, ItemId{id});
        ++id;
      }
    }
  }
}

// What is left of a lease after these items went out of it.
void leave_lease(State& state, WorkQueue& queue, LeaseId id, const std::vector<ItemRange>& ranges) {
  const auto found = queue.leases.find(id);
  CHECK(found != queue.leases.end(), "queue " + queue.name + " has no such lease");
  Lease& lease = found->second;
  if (count_of(ranges) == lease.items.size()) {
    unindex_lease(state, queue, id, lease);
    queue.leases.erase(found);
    return;
  }
  for_each_item(ranges, [&](ItemId item) {
    const auto at = std::lower_bound(lease.items.begin(), lease.items.end(), item);
    CHECK(at != lease.items.end() && *at == item, name_of(queue, item) + " is not in its lease");
    lease.items.erase(at);
  });
}

// Leased items take another standing.
template <class Standing>
void stand(State& state, WorkQueue& queue, const std::vector<ItemRange>& ranges,
           Standing&& standing) {
  for_each_item(ranges, [&](ItemId id) {
    Item item = take(state, queue, id);
    standing(item);
    place(state, queue, id, std::move(item));
  });
}

}  // namespace

void Application::operator()(const QueueSet& e) {
  if (e.id.value > state_.counters.queue) state_.counters.queue = e.id.value;
  WorkQueue& queue = state_.queues[e.id];
  if (!queue.id) queue.created = at_;
  queue.id = e.id;
  queue.ns = e.ns;
  queue.name = e.name;
  queue.settings = e.settings;
  queue.closed = e.closed;
  state_.queue_names[{e.ns, e.name}] = e.id;
}

void Application::operator()(const QueueDeleted& e) {
  const auto it = state_.queues.find(e.id);
  CHECK(it != state_.queues.end() && it->second.size() == 0, "queue to delete is absent or in use");
  state_.queue_names.erase({it->second.ns, it->second.name});
  state_.queues.erase(it);
}

void Application::operator()(const ItemsPut& e) {
  WorkQueue& queue = state_.queues.at(e.queue);
  ItemId first = e.first;
  for (const PutRun& run : e.runs) {
    const ItemId last{first.value + run.count - 1};
    if (run.key.empty() && !run.not_before) {
      insert_run(queue, first, {last, run.priority, run.size, at_});
    } else {
      const ItemStanding standing =
          run.not_before ? ItemStanding(ItemDelayed{run.not_before}) : ItemStanding(ItemReady{});
      for (uint64_t id = first.value; id <= last.value; ++id)
        place(state_, queue, ItemId{id}, {run.priority, run.size, 0, at_, run.key, standing});
    }
    queue.put.add(at_, run.count);
    queue.last = last;
    first = ItemId{last.value + 1};
  }
}

void Application::operator()(const ItemsLeased& e) {
  if (e.lease.value > state_.counters.lease) state_.counters.lease = e.lease.value;
  WorkQueue& queue = state_.queues.at(e.queue);
  Lease lease{e.until, e.holder, {}, e.job};
  stand(state_, queue, e.items, [&](Item& item) {
    ++item.attempts;
    item.standing = ItemLeased{e.lease};
  });
  for_each_item(e.items, [&](ItemId id) { lease.items.push_back(id); });
  std::sort(lease.items.begin(), lease.items.end());
  index_lease(state_, queue, e.lease, lease);
  queue.leases.emplace(e.lease, std::move(lease));
}

void Application::operator()(const LeasesExtended& e) {
  WorkQueue& queue = state_.queues.at(e.queue);
  for (const LeaseId id : e.leases) {
    Lease& lease = queue.leases.at(id);
    unindex_lease(state_, queue, id, lease);
    lease.until = e.until;
    index_lease(state_, queue, id, lease);
  }
}

void Application::operator()(const ItemsFinished& e) {
  WorkQueue& queue = state_.queues.at(e.queue);
  leave_lease(state_, queue, e.lease, e.items);
  remove(state_, queue, e.items);
  queue.done.add(at_, count_of(e.items));
  effects_.push_back(DropItems{e.queue, e.items});
}

void Application::operator()(const ItemsReturned& e) {
  WorkQueue& queue = state_.queues.at(e.queue);
  leave_lease(state_, queue, e.lease, e.items);
  stand(state_, queue, e.items, [&](Item& item) {
    item.standing = ItemReady{};
    if (e.not_before) item.standing = ItemDelayed{e.not_before};
    if (e.untried) --item.attempts;
  });
  (e.cause == ReturnCause::expired ? queue.expired : queue.given_back) += count_of(e.items);
}

void Application::operator()(const ItemsBuried& e) {
  WorkQueue& queue = state_.queues.at(e.queue);
  leave_lease(state_, queue, e.lease, e.items);
  stand(state_, queue, e.items,
        [&](Item& item) { item.standing = ItemDead{at_, e.cause, e.message}; });
  (e.cause == ReturnCause::expired ? queue.expired : queue.given_back) += count_of(e.items);
}

void Application::operator()(const DelaysEnded& e) {
  stand(state_, state_.queues.at(e.queue), e.items,
        [](Item& item) { item.standing = ItemReady{}; });
}

void Application::operator()(const ItemsRestored& e) {
  stand(state_, state_.queues.at(e.queue), e.items, [](Item& item) {
    item.standing = ItemReady{};
    item.attempts = 0;
  });
}

void Application::operator()(const ItemsRemoved& e) {
  WorkQueue& queue = state_.queues.at(e.queue);
  for_each_item(e.items, [&](ItemId id) {
    const auto found = queue.items.find(id);
    if (found == queue.items.end()) return;
    if (const auto* leased = std::get_if<ItemLeased>(&found->second.standing))
      leave_lease(state_, queue, LeaseId{leased->lease}, {{id, id}});
  });
  remove(state_, queue, e.items);
  effects_.push_back(DropItems{e.queue, e.items});
}

}  // namespace atl::core
