// What would make it start now: smaller or other requests, tried in the world as a round leaves it
// for whoever comes last. The same stages answer that place the work, so the answer is true until
// somebody else comes. Some of them start because others make room. And what would make it start
// sooner: where such requests will fit first, by when work is expected to end.
#pragma once

#include <string>
#include <vector>

#include "core/scheduling/world.h"

namespace atl::core::scheduling {

struct Alternative {
  std::string change;  // as flags: "--cpus 4"
  Terms terms;
  Time starts;  // as the request itself would, by the same reckoning, at `expected`; zero: only a
                // run ahead (core/forecast.h) can tell
  uint32_t yields = 0;  // so many tasks have to make room for it first
};

struct Prospects {
  std::string site, node;  // where it starts now; empty: it does not
  Time by;                 // when it starts at the latest if nobody else comes; zero: nobody knows
  Time expected;           // when there is room for it, as work is expected to end; likewise
  std::vector<Alternative> alternatives;  // that start now
  std::vector<Alternative> sooner;        // that do not, but before `expected`
  // Of a request that no quota or no node could ever hold, the nearest that could be.
  std::optional<Alternative> nearest;
};

// Of a job that waits, or of one that is not submitted yet.
Prospects prospects(const State& state, const Job& job, const Terms& terms, Time now);

}  // namespace atl::core::scheduling
