// Promise 12: an item of a queue is not lost, is leased to one at a time, and is done once, by who
// holds it; its body is what was put. After the faults each one is done or dead. Counts for itself,
// from the events and from what producers and workers were told.
#pragma once

#include <map>
#include <set>
#include <string>

#include "sim/checkers/checker.h"

namespace atl::sim {

class Queues : public Checker {
 public:
  std::string_view promise() const override { return "12, an item is done once and not lost"; }
  void told(const Told& told) override;
  void recorded(uint64_t sequence, const core::Event& event, const core::State& after) override;
  void looked(const Glimpse& glimpse) override;
  void settled(const Glimpse& glimpse) override;

 private:
  using Key = std::pair<QueueId, ItemId>;
  enum class Where { waiting, leased, dead };
  struct Track {
    Where where = Where::waiting;
    LeaseId lease;
    Time not_before;
  };

  void put(const core::ItemsPut& event);
  void lease(const core::ItemsLeased& event, Time at);
  // The item leaves its lease; how is for the message.
  Track* leave(Key key, LeaseId lease, const char* how);
  void give_back(QueueId queue, LeaseId lease, const std::vector<core::ItemRange>& items,
                 core::ReturnCause cause, Time at, const Track& then);
  void check_items(const Glimpse& glimpse);
  void check_bodies(const Glimpse& glimpse);

  std::map<Key, Track> items_;  // put, and neither done nor removed
  std::map<LeaseId, Time> until_;
  std::set<Key> done_;
  std::set<Key> told_done_;
  std::map<Key, std::string> bodies_;  // of puts that were acknowledged
};

}  // namespace atl::sim
