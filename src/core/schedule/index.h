// Keeps the derived parts of schedules, as core/index.h does for the rest.
#pragma once

#include "core/state.h"

namespace atl::core {

// Brings what a tick looks at in line with the schedule; call after anything that may change it.
void index_schedule(State& state, Schedule& schedule);
void unindex_schedule(State& state, Schedule& schedule);

// The namespace's first one by name, or null.
const Schedule* first_schedule_of(const State& state, NamespaceId ns);

// When it may fire for its queue next, as far as the queue goes; zero: it need not.
Time queue_fires_at(const State& state, const Schedule& schedule);

// What is wrong with it, or nothing.
std::string broken_in_schedule(const State& state, const Schedule& schedule);

}  // namespace atl::core
