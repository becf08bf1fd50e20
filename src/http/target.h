// The request target, taken apart and made safe before anything else looks at it.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "http/message.h"

namespace atl::http {

struct Target {
  std::string path;           // decoded, see Request::path
  std::string_view raw_path;  // into the text given to parse_target; what the router splits
  Pairs query;
};

// Refuses with `invalid`: bad escapes, NUL and other control characters, text that is not UTF-8 (so
// also overlong forms), . and .. segments in whatever spelling, more than kQueryParamsMax
// parameters. Takes origin form, absolute form and "*".
[[nodiscard]] Result<Target> parse_target(std::string_view raw);

// Undoes %XX, and '+' as a space when asked. nullopt on a bad escape.
[[nodiscard]] std::optional<std::string> percent_decode(std::string_view text,
                                                        bool plus_is_space = false);

// Everything but unreserved characters becomes %XX; the inverse for one path segment or query
// value.
std::string percent_encode(std::string_view text);

bool is_utf8(std::string_view text);

}  // namespace atl::http
