// Promise 3 in time: what is placed keeps to the calendar's limits of its tier (unless its site is
// no part of the platform), and stays out of
// room that is reserved for others: now, and, unless it yields, when the reservation begins. Who
// has what is kept here from the events alone.
//
// Work that was there before an entry or a reservation is no breach; what counts is that nothing is
// placed against them.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>

#include "sim/checkers/checker.h"

namespace atl::sim {

class Agenda : public Checker {
 public:
  std::string_view promise() const override {
    return "3, allocations keep to the calendar and to what is reserved";
  }
  void recorded(uint64_t sequence, const core::Event& event, const core::State& after) override;

 private:
  struct Held {
    core::Placement placement;
    core::Terms terms;
    NamespaceId ns;
    std::optional<AttemptId> behind;
    Time since;
    bool started = false;
    bool stopping = false;
  };
  // What is held on one node, or kept there.
  struct Amount {
    int64_t cpu_milli = 0;
    int64_t memory_bytes = 0;
    std::set<std::string> units;
  };

  void place(const core::TaskPlaced& placed, Time at, const core::State& after);
  void release(AttemptId attempt, Time at);
  void check_calendar(AttemptId attempt, const Held& held, Time at, const core::State& after);
  void check_reserved(AttemptId attempt, const Held& held, Time at, const core::State& after);
  void check_at(AttemptId attempt, const Held& held, Time at, const core::State& after);
  int64_t used_by(core::Tier tier, const std::string& resource, const core::State& after) const;

  std::map<AttemptId, Held> held_;
};

// Whether the entry holds at that time on the clock on the wall.
bool in_force(const core::Calendar& calendar, const core::CalendarEntry& entry, Time at);

// How much of a resource ("cpu", "memory", "tasks", "gpu", "gpu:a100") the entry leaves its tier;
// nullopt: it does not limit it.
std::optional<int64_t> leaves(const core::CalendarEntry& entry, const std::string& resource,
                              const core::State& state);

bool reserved_for(const core::Reservation& reservation, NamespaceId ns);

}  // namespace atl::sim
