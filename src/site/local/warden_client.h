// Finding the warden of a directory, or starting it.
#pragma once

#include <string>

#include "base/result.h"
#include "base/time.h"
#include "site/local/protocol.h"

namespace atl::site {

struct WardenCommand {
  std::string program;    // path of atoll-warden
  std::string directory;  // HOME/site/local
  std::string installation;
  Duration idle_exit = seconds(60);
  bool cgroups = true;
};

// The program beside the one that runs.
std::string default_warden_program();

// A connected socket, or `unavailable` when nobody listens. Does not wait.
[[nodiscard]] Result<int> connect_warden(const std::string& directory);

// Whether a server that speaks `ours` works with the warden. conflict: it is too old or newer; the
// message says what to do.
[[nodiscard]] Result<void> check_warden(const Welcome& warden, uint32_t ours);

// Starts one, detached; it listens some time later, or finds that another does. Blocks for a fork
// and an exec.
[[nodiscard]] Result<void> start_warden(const WardenCommand& command);

}  // namespace atl::site
