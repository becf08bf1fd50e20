// A moment as people write it, by the clock on their wall.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"

namespace atl::spec {

// "2026-11-17 10:00" in the local zone, or RFC 3339: the same whenever it is read.
[[nodiscard]] Result<Time> parse_date_time(std::string_view text);

// Also "now", "today 10:00", "tomorrow 10:00"; and "tue 10:00" or "10:00", which is the first one
// after `after`.
[[nodiscard]] Result<Time> parse_moment(std::string_view text, Time now, Time after);

std::string format_local_minute(Time at);  // "tue 2026-11-17 10:00"

}  // namespace atl::spec
