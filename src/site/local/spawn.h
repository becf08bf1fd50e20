// One process, made the cheap way: clone with shared memory and the parent suspended (vfork), so
// nothing is copied. The child becomes leader of its own session with default signals, only its
// three descriptors, umask 022, and the account, directory and limits of the plan. Called on a
// keeper's only thread.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "site/local/protocol.h"

namespace atl::site {

struct SpawnPlan {
  std::vector<std::string> command;      // argv
  std::vector<std::string> candidates;   // files to execute, first that exists
  std::vector<std::string> environment;  // "KEY=value"
  std::string directory;                 // empty: the account's home, else "/"
  int stdin_fd = -1;                     // -1: stdin_file, else /dev/null
  std::string stdin_file;                // opened as the account, after the change of directory
  int stdout_fd = -1;
  int stderr_fd = -1;
  std::vector<int> passed;           // become the descriptors 3, 4, … of the child; all higher
  const Account* account = nullptr;  // null: as the caller
  std::string script;                // written to script_file, mode 0700, by the account itself
  std::string script_file;
  int64_t rlimit_memory = 0;  // zero: unlimited; used where no control group limits
  int64_t rlimit_processes = 0;
};

enum class SpawnStage : uint8_t { session, account, limits, directory, input, script, execute };

struct Spawned {
  pid_t pid = -1;  // -1 when the process could not be made or did not reach its program
  SpawnStage stage = SpawnStage::session;
  int error = 0;  // errno of that stage
};

// Returns once the program runs or its start has failed; a failed child has been reaped.
Spawned spawn(const SpawnPlan& plan);

}  // namespace atl::site
