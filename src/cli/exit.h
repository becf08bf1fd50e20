// What the program returns. Scripts depend on these, so a number never changes its meaning.
#pragma once

#include "base/result.h"
#include "cli/json.h"

namespace atl::cli {

inline constexpr int kExitOk = 0;
inline constexpr int kExitFailure = 1;
inline constexpr int kExitUsage = 2;  // the command line, or what it asked for, is malformed
inline constexpr int kExitTryAgain =
    75;  // EX_TEMPFAIL: no server, read-only, quota or limit reached
inline constexpr int kExitTimeout = 124;    // --timeout of ours, or the job ran out of its time
inline constexpr int kExitLauncher = 125;   // the job never ran, or nobody knows how it ended
inline constexpr int kExitSignal = 128;     // and the number of the signal that ended us
inline constexpr int kExitInterrupt = 130;  // Ctrl-C
inline constexpr int kExitCancelled = 143;  // the job was cancelled: as if by SIGTERM

int exit_code(const Error& error);

// The same for `run`, whose own failures must not look like the job's: 125 instead of 1.
int launcher_exit_code(const Error& error);

// How a job that has ended is told to the shell: its exit code, 128+n after signal n, 124 when it
// ran out of time, 143 when cancelled, 125 when lost, skipped or not startable. An array is 0 when
// every task succeeded, else 1 for failed tasks, else as its outcome says.
int job_exit_code(const Json& job);

}  // namespace atl::cli
