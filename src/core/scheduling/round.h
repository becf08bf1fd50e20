// One round of scheduling: the stages in their order, over an unchanging state, giving the
// placements to make.
#pragma once

#include "core/event.h"
#include "core/scheduling/world.h"

namespace atl::core::scheduling {

struct Decisions {
  std::vector<TaskPlaced> placed;
  std::vector<TaskStopping> stops;
};

// At most `max` placements; the next round goes on.
Decisions round(const State& state, Time now, uint32_t max);

// The world as a whole round leaves it, to see who keeps what; without one job, if it is named.
World after_round(const State& state, Time now, JobId without = {});

}  // namespace atl::core::scheduling
