// The checksum of a file. For those who look whether it is still as it was.
#pragma once

#include <optional>
#include <string>

#include "base/ids.h"

namespace atl::spec {

// Reads all of it, a part at a time; nothing for a file that cannot be read.
std::optional<Digest> sha256_of_file(const std::string& path);

}  // namespace atl::spec
