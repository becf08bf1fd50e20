// Names as Cloudmesh writes several of them: "a,b[1-3],c", "n[01-10]", "x[1-2]y[1,3]", and
// "local:a,b" for "local:a,local:b".
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace atl::spec::cc {

inline constexpr size_t kNamesMax = 100'000;  // of one text; the limit of Cloudmesh's own reader
inline constexpr size_t kNamesBytesMax = 8 << 20;  // of them together: a prefix is repeated

struct Name {
  std::string text;
  size_t at = 0;  // where in the text it, or the range it comes from, begins
};
struct BadNames {
  size_t at = 0;
  std::string message;
};

// In the order in which they are written, with those that come twice.
[[nodiscard]] tl::expected<std::vector<Name>, BadNames> expand_parts(std::string_view text);

// Each name once, as Cloudmesh has it. The error says the column.
[[nodiscard]] Result<std::vector<std::string>> expand_names(std::string_view text);

}  // namespace atl::spec::cc
