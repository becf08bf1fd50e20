// Running a command inside the namespaces of a sandboxed task. nsenter cannot: bubblewrap, when
// unprivileged, owns the task's mounts by a user namespace between ours and the task's, which has
// to be entered first.
//
//   atoll-warden --join PID UID GID DIRECTORY GROUP,... COMMAND...
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "site/local/protocol.h"

namespace atl::site {

// What to put in front of the command, so that this same program joins and becomes `account`.
std::vector<std::string> join_command(pid_t inside, const Account& account,
                                      const std::string& directory);

// The other side of it: the exit code of the command, or 125 with a line on stderr.
int join_sandbox(int argc, char** argv);

}  // namespace atl::site
