// Amounts of a quota on the command line, in the words of the platform file: cpu=64 memory=256Gi
// gpu=8 gpu:a100=2 running=100 queued=1000.
#pragma once

#include <string>
#include <vector>

#include "cli/json.h"
#include "core/types.h"

namespace atl::cli {

// Each word may hold several, separated by commas.
[[nodiscard]] Result<core::Quota> parse_amounts(const std::vector<std::string>& words);

// "cpu 64, memory 256Gi, gpu 8" out of an answer's quota or use; empty when it says nothing.
std::string shown_amounts(const Json& quota);

// "3 of 64": what `thing` has in use of the quota under `limit_key`, or only what is in use when
// there is no limit.
std::string used_of_limit(const Json& thing, const char* limit_key, const char* key, bool bytes);

// "gpu 3 of 8, gpu:a100 1"
std::string used_devices(const Json& thing, const char* limit_key);

}  // namespace atl::cli
