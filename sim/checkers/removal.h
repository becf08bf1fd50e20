// Takes away what a waiting job says is in its way, in a copy of the state.
#pragma once

#include "core/core.h"
#include "core/scheduling/explain.h"

namespace atl::sim {

void hold_others(core::State& copy, JobId job, Time now);
void remove_obstacle(core::State& copy, const core::Job& job, Time now,
                     core::scheduling::Obstacle obstacle);

}  // namespace atl::sim
