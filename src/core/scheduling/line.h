// After stage four: who is next in line. Between two short tasks of one slot lies the way to the
// server and back, which may be longer than the task. So a task that has no room yet, but would be
// the next to get some, is handed over in advance, to take the room of one that runs. Of very short
// ones several are, one behind the other, so that one commit serves several.
//
// It takes over exactly that room, so no sum changes hands unseen: same namespace, same terms, no
// devices. Only where tasks have just been seen to be short, and only on sites that can do it.
#pragma once

#include "core/scheduling/world.h"

namespace atl::core::scheduling {

// Of a site: it keeps one in line behind one that runs, or several, one behind the other.
inline constexpr const char* kLineAbility = "line";
inline constexpr const char* kLongLineAbility = "long_line";

// The task behind which this attempt of the job lines up from now on, as far as this round is
// concerned, and whose place it will get. The shortest lines come first.
struct Leader {
  AttemptId attempt;
  const Placement* placement = nullptr;
};
std::optional<Leader> line_up(World& world, const Job& job, const Terms& terms, AttemptId attempt);

}  // namespace atl::core::scheduling
