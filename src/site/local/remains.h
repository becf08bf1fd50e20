// What a warden that was killed may have left: keepers still killing their trees, control groups
// with members, and processes that lost both. A new warden ends all of it before it serves, so that
// an attempt it reports lost is dead.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace atl::site {

// Marks every process of an installation's tasks; children inherit it.
inline constexpr const char* kMarkerVariable = "ATOLL_INSTALLATION";

// Takes a lock file. The lock lives as long as any process holds the returned descriptor or a copy
// of it. conflict: somebody else has it after `patience_ms`.
[[nodiscard]] Result<int> take_lock(const std::string& path, int patience_ms);

// `keepers` lists "pid start" lines of keepers, `groups` the directories of control groups; either
// may be missing.
void end_keepers(const std::string& keepers);
void end_groups(const std::string& groups);
// Removes the empty groups beside ours whose warden no longer lives, as after a kill -9 of one
// whose home was then removed. Kills nothing. Does nothing inside a pid namespace, where a living
// warden may be out of sight.
void sweep_groups(const std::vector<std::string>& ours);
void end_marked_processes(const std::string& installation);

}  // namespace atl::site
