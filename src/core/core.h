// The heart, in two functions; README.md beside this file says why.
#pragma once

#include "core/effect.h"
#include "core/event.h"
#include "core/input.h"
#include "core/state.h"

namespace atl::core {

// Policy: what shall happen because of this input. Reads the state, changes nothing, may refuse.
// A Tick also settles dependencies, ends back-offs and places work; the runtime ticks after every
// batch of inputs until a tick decides nothing.
[[nodiscard]] Result<Events> decide(const State& state, const Input& input);

// Mechanics: the state after this fact, and what the outside must do about it. Total: an event that
// decide produced for this state always applies. CHECK fires on one that does not.
Effects apply(State& state, const Event& event);

// The effects that a restart must repeat because nobody knows whether they were carried out.
Effects pending_effects(const State& state);

// When the next tick is due by itself, if the last one was then: a back-off ends, one in line has
// waited for too long, the calendar changes, a reservation begins or ends, a
// lease or a delay of an item ends, a schedule is due. Zero: never.
Time next_timer(const State& state, Time after);

// The first broken invariant, or an empty string. Tests and simulation ask after the events of each
// decision.
std::string broken_invariant(const State& state);

}  // namespace atl::core
