// The server as a process on this machine: whether one holds a data directory, starting one that
// outlives us, and asking it to stop.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"

namespace atl::cli {

// The process that holds HOME/lock; 0 when none does. The pid in the file is believed only while
// the lock is held, since its holder wrote it.
pid_t server_pid(const std::string& home);

struct Spawned {
  pid_t pid = 0;
  off_t log_start = 0;  // where its part of the log begins
};

// Starts `/proc/self/exe ARGS` in a session of its own, with standard output and error appended to
// `log`.
[[nodiscard]] Result<Spawned> spawn_detached(const std::vector<std::string>& args,
                                             const std::string& log);

// Whether our child has ended; `status` is then as waitpid gives it.
bool has_ended(pid_t child, int& status);

// SIGTERM, then waits until the lock is free. `unavailable` when it takes longer than `patience`.
[[nodiscard]] Result<void> stop_server(
    const std::string& home, pid_t pid, std::chrono::milliseconds patience,
    const std::function<void(std::chrono::milliseconds)>& waiting);

// The last lines of a file from an offset on.
std::string log_end(const std::string& path, off_t from, std::size_t lines);

}  // namespace atl::cli
