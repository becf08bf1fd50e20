// Brings a state in line with the configuration before the server serves: the first account and
// namespace on an empty one, and the sites that the file names.
#pragma once

#include <set>
#include <string>

#include "bin/config.h"
#include "runtime/runtime.h"

namespace atl::bin {

// Drives the runtime by step(); it must be open and not started.
[[nodiscard]] Result<void> bootstrap(runtime::Runtime& runtime, const Config& config);

// The name of the account the server runs under.
std::string own_account();

}  // namespace atl::bin
