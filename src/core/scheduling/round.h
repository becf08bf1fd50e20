// One round of scheduling: the stages in their order, over an unchanging state, giving the
// placements to make.
#pragma once

#include "core/event.h"
#include "core/scheduling/yield.h"

namespace atl::core::scheduling {

struct Decisions {
  std::vector<TaskPlaced> placed;
  std::vector<TaskStopping> stops;
};

// At most `max` placements; the next round goes on.
Decisions round(const State& state, Time now, uint32_t max);

// The world as a whole round leaves it, to see who keeps what; without one job, if it is named.
World after_round(const State& state, Time now, JobId without = {});

// The same, as it is when work of the tier has been served: what is sure of it, or also what
// borrows. And those who may have to yield to whoever comes then; none: nobody may. They have to be
// told to look at the world.
struct Served {
  World world;
  std::optional<Yielders> yielders;
};
Served serve_until(const State& state, Time now, JobId without, Tier tier, bool borrowing);

}  // namespace atl::core::scheduling
