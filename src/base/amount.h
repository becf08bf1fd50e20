// Exact amounts as people write them: cores as milli-units, memory as bytes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace atl {

// "2", "0.5", "500m" -> milli-cores. At most three digits after the point, so nothing is rounded.
[[nodiscard]] Result<int64_t> parse_milli(std::string_view text);
std::string format_milli(int64_t milli);  // 500 -> "0.5"

// "512Mi", "10G", "1.5Gi", "4096" -> bytes (K M G T P decimal, Ki Mi Gi Ti Pi binary, optional
// trailing B).
[[nodiscard]] Result<int64_t> parse_bytes(std::string_view text);
std::string format_bytes(int64_t bytes);  // "1.5Gi", rounded
std::string exact_bytes(int64_t bytes);   // "1.5Gi", "3G": not rounded, so that it can be read back

}  // namespace atl
