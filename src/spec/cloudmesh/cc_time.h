// Moments and spans as Cloudmesh writes them, with the formats of strftime. The zone is passed in.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/time.h"

namespace atl::spec::cc {

// How far the clocks on the wall are ahead of UTC at a moment. None: they show UTC.
using Zone = std::function<Duration(Time)>;

inline constexpr const char* kCcTimeFormat = "%m/%d/%Y, %H:%M:%S";
inline constexpr const char* kCcSpanFormat = "%H:%M:%S";

// The formats of strftime, and %f of Python for microseconds. What is none stays as it is.
std::string format_cc_time(std::string_view format, Time at, const Zone& zone);

// The same for a span, where %H are all of its hours.
std::string format_cc_span(std::string_view format, Duration span);

// "2022-07-29 01:22:04.583760" as in a node, or "07/29/2022, 01:22:04" as in times.
std::optional<Time> parse_cc_time(std::string_view text, const Zone& zone);
std::string node_time(Time at, const Zone& zone);  // the first of them

}  // namespace atl::spec::cc
