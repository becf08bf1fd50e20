// The parts of a multipart/form-data body (RFC 7578), as browsers and `curl -F` send files. Nothing
// is copied: parts point into the body. No library of the distribution reads one from memory
// without bringing a server of its own along.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace atl::http {

inline constexpr std::size_t kPartsMax = 64;
inline constexpr std::size_t kPartHeadMax = 8192;  // bytes of the header lines of one part

struct Part {
  std::string name;
  std::string file_name;  // empty: a plain field
  std::string_view body;
};

bool is_multipart(std::string_view content_type);

// `invalid` says what is wrong with it.
[[nodiscard]] Result<std::vector<Part>> parse_multipart(std::string_view content_type,
                                                        std::string_view body);

}  // namespace atl::http
