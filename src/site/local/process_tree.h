// Ending every descendant of the calling process. The caller is a child subreaper, so whatever its
// tasks leave behind, daemons included, becomes its child in the end, and "no children" means
// "nothing left".
#pragma once

#include <sys/resource.h>
#include <sys/types.h>

#include <functional>
#include <vector>

#include "site/local/cgroup.h"

namespace atl::site {

// The tree below `root`, by /proc, parents before children.
std::vector<pid_t> descendants(pid_t root);

// All members of the slot but the caller, or, without control groups, the caller's descendants.
std::vector<pid_t> tree_members(const CgroupSlot& slot);

// Kills until no child is left, reaping each through `reaped(pid, status, usage)`. With a process
// limit nothing can fork meanwhile; without, processes are stopped before they are killed. False
// when something survives 30 s, as a process stuck in the kernel can.
using Reaped = std::function<void(pid_t, int, const rusage&)>;
[[nodiscard]] bool kill_tree(CgroupSlot& slot, const Reaped& reaped);

}  // namespace atl::site
