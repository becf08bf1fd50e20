// When and where: the time at which work that is there now will have made room, by the limits it
// runs under. The head of the line is given that room; others may use it until then.
#pragma once

#include "core/scheduling/world.h"

namespace atl::core::scheduling {

struct Opening {
  size_t node = 0;  // of the world's
  Time at;          // zero: nobody knows
  Room ending;      // what ends by itself until then
};

// The node where the terms will fit first, among those that nobody waits for yet; where nobody can
// tell, the one with most room. Nullopt when no node is large enough.
std::optional<Opening> soonest(const World& world, const Terms& terms);

}  // namespace atl::core::scheduling
