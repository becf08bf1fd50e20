// One round of scheduling: the stages in their order, over an unchanging state, giving the
// placements to make.
#pragma once

#include "core/event.h"
#include "core/state.h"

namespace atl::core::scheduling {

// At most `max` placements; the next round goes on.
std::vector<TaskPlaced> round(const State& state, Time now, uint32_t max);

}  // namespace atl::core::scheduling
