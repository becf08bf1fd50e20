// Stage five: why is it waiting? The same filters that scheduling asks, so the answer is true by
// construction.
#pragma once

#include <string>
#include <vector>

#include "core/scheduling/filter.h"

namespace atl::core::scheduling {

struct Explanation {
  Block block;
  std::string sentence;
  std::vector<JobId> waits_for;  // other jobs, for a dependency
  Time until;                    // the end of a back-off
  uint64_t position = 0;         // from 1, among the ready jobs of its namespace
};

// Of a live job that has something waiting. `quick` leaves out what costs more than a few lookups
// (the position). `now` counts when it is later than the last event: a calendar's hour or a
// reservation begins without one.
Explanation explain(const State& state, const Job& job, bool quick = false, Time now = {});

// The reason's word for tables: "quota", "capacity".
const char* reason_word(const Explanation& explanation);

std::string format_resources(const Resources& resources);

}  // namespace atl::core::scheduling
