// What `atoll doctor` asks a running server: each thing that decides whether work runs well here,
// and why.
#pragma once

#include <string>
#include <vector>

#include "api/service.h"
#include "bin/config.h"
#include "bin/sites.h"
#include "runtime/runtime.h"

namespace atl::bin {

// Blocking, some 50 ms: it really tries control groups and the sandbox. A thorough look also reads
// the whole journal.
std::vector<api::Check> examine(const std::string& home, const Config& config,
                                const IsolationChoice& isolation, const runtime::Health& health,
                                bool thorough);

}  // namespace atl::bin
