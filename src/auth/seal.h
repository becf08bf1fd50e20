// Secrets that the platform keeps for people: sealed with a key that lies beside the journal and is
// in no backup, so that neither a journal nor a copy of it can be read for them.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "base/result.h"

namespace atl::auth {

using SealKey = std::array<unsigned char, 32>;

// The key in the file, which is made when it is not there (0600).
[[nodiscard]] Result<SealKey> seal_key(const std::string& path);

std::string seal(const SealKey& key, std::string_view text);

// Refuses what was sealed with another key or was changed since.
[[nodiscard]] Result<std::string> open_sealed(const SealKey& key, std::string_view sealed);

}  // namespace atl::auth
