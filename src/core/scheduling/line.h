// After stage four: who is next in line. Between two short tasks of one slot lies the way to the
// server and back, which may be longer than the task. So a task that has no room yet, but would be
// the next to get some, is handed over in advance, to take the room of one that runs.
//
// It takes over exactly that room, so no sum changes hands unseen: same namespace, same terms, no
// devices. Only where tasks have just been seen to be short, only on sites that can do it, and only
// one behind each.
#pragma once

#include "core/scheduling/world.h"

namespace atl::core::scheduling {

inline constexpr const char* kLineAbility = "line";  // of a site

// The placed task behind which one more of this job may line up, and its place. Each is named once
// per round.
struct Leader {
  AttemptId attempt;
  const Placement* placement = nullptr;
};
std::optional<Leader> next_leader(World& world, const Job& job, const Terms& terms);

}  // namespace atl::core::scheduling
