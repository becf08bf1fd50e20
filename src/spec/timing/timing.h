// When something comes again, as people write it: five fields as in cron(5), or a calendar
// expression as in systemd.time(7); and the moments that this means in a time zone.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace atl::spec {

inline constexpr int kYearMin = 1970;
inline constexpr int kYearMax = 2199;

// By the clock on a wall: each set is a bit for each number that counts.
struct Timing {
  uint64_t seconds = 1;
  uint64_t minutes = 0;
  uint32_t hours = 0;
  uint32_t days = 0;           // of the month, from 1
  uint32_t days_from_end = 0;  // of the month: 1 is its last one
  uint16_t months = 0;         // from 1
  uint8_t weekdays = 0;        // Monday is the first
  // A day that fits one of the two is enough: what cron does when both are restricted.
  bool either_day = false;
  std::vector<bool> years;  // from kYearMin; empty: all
  std::string zone;         // a name of the IANA's, such as Europe/Berlin
  bool operator==(const Timing&) const = default;
};

// "0 6 * * MON-FRI", "@daily". Months and days may be named; a zone must be known.
[[nodiscard]] Result<Timing> parse_cron(std::string_view text, const std::string& zone);

// "Mon..Fri 06:00", "*-*-01 00:00:00", "hourly"; a zone at its end counts more than `zone`.
[[nodiscard]] Result<Timing> parse_calendar(std::string_view text, const std::string& zone);

// Whether there is such a zone on this machine.
[[nodiscard]] Result<void> check_zone(const std::string& zone);

// The first ones after `after`, at most `count`; none when it never comes again. A time that the
// zone leaves out is the first moment behind the gap. One that it has twice is the first of the
// two, unless all hours of the day count: then so do both.
std::vector<Time> next_times(const Timing& timing, Time after, size_t count);

// "Tue 2026-11-17 06:00 CET"; with seconds where there are any.
std::string format_in_zone(Time at, const std::string& zone);

}  // namespace atl::spec
