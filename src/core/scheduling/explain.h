// Stage five: why is it waiting? The same filters that scheduling asks, so the answer is true by
// construction.
#pragma once

#include <string>
#include <vector>

#include "core/scheduling/holders.h"
#include "core/scheduling/whatif.h"

namespace atl::core::scheduling {

struct Explanation {
  Block block;
  std::string sentence;
  std::vector<JobId> waits_for;           // other jobs, for a dependency
  Time until;                             // the end of a back-off
  uint64_t position = 0;                  // from 1, among the ready jobs of its namespace
  std::vector<HeldBy> held_by;            // what it waits for
  Time starts_by;                         // at the latest, if nobody else comes; zero: nobody knows
  std::vector<Alternative> alternatives;  // that would start now
  std::vector<Alternative> sooner;        // that would not, but before the job itself
};

// Of a live job that has something waiting. `quick` leaves out what costs more than a few lookups
// (the position, who holds what it waits for, what would make it start). `now` counts when it is
// later than the last event: a calendar's hour or a reservation begins without one.
Explanation explain(const State& state, const Job& job, bool quick = false, Time now = {});

// From 1, among the ready jobs of its namespace and tier.
uint64_t position_of(const State& state, const Job& job);

// The reason's word for tables: "quota", "capacity".
const char* reason_word(const Explanation& explanation);

std::string format_resources(const Resources& resources);

}  // namespace atl::core::scheduling
