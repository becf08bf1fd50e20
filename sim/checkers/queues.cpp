#include "sim/checkers/queues.h"

#include "base/overloaded.h"

namespace atl::sim {
namespace {

std::string name_of(const std::pair<QueueId, ItemId>& key) {
  return "item " + std::to_string(key.second.value) + " of queue " +
         std::to_string(key.first.value);
}

bool holds(const core::State& state, QueueId id, ItemId item) {
  const auto queue = state.queues.find(id);
  if (queue == state.queues.end()) return false;
  const auto run = queue->second.fresh.upper_bound(item);
  const bool fresh = run != queue->second.fresh.begin() && std::prev(run)->second.last >= item;
  return fresh || queue->second.items.count(item) > 0;
}

}  // namespace

void Queues::told(const Told& told) {
  if (!told.answer) return;
  for (const core::Event& event : told.answer->events) {
    if (const auto* finished = std::get_if<core::ItemsFinished>(&event.body)) {
      core::for_each_item(finished->items, [&](ItemId item) {
        if (!told_done_.insert({finished->queue, item}).second)
          broke(name_of({finished->queue, item}) + " was accepted as done twice");
      });
    }
    const auto* made = std::get_if<core::ItemsPut>(&event.body);
    if (!made || !told.bodies) continue;
    auto repeated = made->repeated.begin();
    uint64_t next = made->first.value;
    for (size_t place = 0; place < told.bodies->size(); ++place) {
      if (repeated != made->repeated.end() && repeated->place == place)
        ++repeated;
      else
        bodies_[{made->queue, ItemId{next++}}] = (*told.bodies)[place];
    }
  }
}

void Queues::put(const core::ItemsPut& event) {
  uint64_t next = event.first.value;
  for (const core::PutRun& run : event.runs) {
    for (uint32_t i = 0; i < run.count; ++i) {
      const Key key{event.queue, ItemId{next++}};
      if (done_.count(key) ||
          !items_.emplace(key, Track{Where::waiting, {}, run.not_before}).second)
        broke(name_of(key) + " was put twice");
    }
  }
}

void Queues::lease(const core::ItemsLeased& event, Time at) {
  until_[event.lease] = event.until;
  core::for_each_item(event.items, [&](ItemId item) {
    const Key key{event.queue, item};
    const auto found = items_.find(key);
    if (found == items_.end()) return broke(name_of(key) + " was leased and is not there");
    Track& track = found->second;
    if (track.where == Where::leased)
      broke(name_of(key) + " was leased while lease " + std::to_string(track.lease.value) +
            " holds it");
    if (track.where == Where::dead) broke(name_of(key) + " was leased and is dead");
    if (track.not_before > at) broke(name_of(key) + " was leased before its time");
    track = {Where::leased, event.lease, {}};
  });
}

Queues::Track* Queues::leave(Key key, LeaseId lease, const char* how) {
  const auto found = items_.find(key);
  if (found != items_.end() && found->second.where == Where::leased && found->second.lease == lease)
    return &found->second;
  broke(name_of(key) + " was " + how +
        (done_.count(key) ? " and had been done before" : " by a lease that does not hold it"));
  return nullptr;
}

void Queues::give_back(QueueId queue, LeaseId lease, const std::vector<core::ItemRange>& items,
                       core::ReturnCause cause, Time at, const Track& then) {
  if (cause == core::ReturnCause::expired && at < until_[lease])
    broke("lease " + std::to_string(lease.value) + " was ended before its time");
  core::for_each_item(items, [&](ItemId item) {
    if (Track* track = leave({queue, item}, lease, "given back")) *track = then;
  });
}

void Queues::recorded(uint64_t, const core::Event& event, const core::State&) {
  match(
      event.body, [&](const core::ItemsPut& e) { put(e); },
      [&](const core::ItemsLeased& e) { lease(e, event.at); },
      [&](const core::LeasesExtended& e) {
        for (const LeaseId id : e.leases) until_[id] = e.until;
      },
      [&](const core::ItemsFinished& e) {
        core::for_each_item(e.items, [&](ItemId item) {
          const Key key{e.queue, item};
          if (!leave(key, e.lease, "done")) return;
          items_.erase(key);
          done_.insert(key);
        });
      },
      [&](const core::ItemsReturned& e) {
        give_back(e.queue, e.lease, e.items, e.cause, event.at, {Where::waiting, {}, e.not_before});
      },
      [&](const core::ItemsBuried& e) {
        give_back(e.queue, e.lease, e.items, e.cause, event.at, {Where::dead, {}, {}});
      },
      [&](const core::ItemsRestored& e) {
        core::for_each_item(e.items, [&](ItemId item) { items_[{e.queue, item}] = {}; });
      },
      [&](const core::ItemsRemoved& e) {
        core::for_each_item(e.items, [&](ItemId item) { items_.erase({e.queue, item}); });
      },
      [](const auto&) {});
}

void Queues::check_items(const Glimpse& glimpse) {
  for (const auto& [key, track] : items_) {
    if (!holds(glimpse.live, key.first, key.second))
      return broke(name_of(key) + " was put and not done, and is gone");
  }
  for (const auto& [id, queue] : glimpse.live.queues) {
    for (const auto& [item, each] : queue.items) {
      if (done_.count({id, item})) return broke(name_of({id, item}) + " is done, and is there");
    }
  }
}

void Queues::check_bodies(const Glimpse& glimpse) {
  for (const auto& [key, track] : items_) {
    const auto found = glimpse.history.bodies(key.first, {key.second});
    if (!found || found->empty()) return broke(name_of(key) + " has lost its body");
    const auto put = bodies_.find(key);
    if (put != bodies_.end() && put->second != found->begin()->second)
      return broke(name_of(key) + " has another body than was put");
  }
}

void Queues::looked(const Glimpse& glimpse) {
  if (!glimpse.restarted) return;
  check_items(glimpse);
  check_bodies(glimpse);
}

void Queues::settled(const Glimpse& glimpse) {
  check_items(glimpse);
  check_bodies(glimpse);
  for (const auto& [key, track] : items_) {
    if (track.where != Where::dead) return broke(name_of(key) + " is neither done nor dead");
  }
}

}  // namespace atl::sim
