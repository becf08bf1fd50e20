// The week as the clock on the wall shows it: which limits of tiers hold now, and when that
// changes.
#pragma once

#include <vector>

#include "core/state.h"

namespace atl::core {

bool holds_at(const Calendar& calendar, const CalendarEntry& entry, Time now);

// When, in the week after that time, entries begin or cease to hold, the first time first.
std::vector<Time> changes(const Calendar& calendar, Time after);
// The first of them; zero: never.
Time next_change(const Calendar& calendar, Time after);

// The entries of one tier alone.
Calendar only_of(const Calendar& calendar, Tier tier);

// What the entry leaves the tier of a platform with that capacity.
struct TierLimit {
  std::optional<int64_t> cpu_milli;
  std::optional<int64_t> memory_bytes;
  std::optional<int64_t> tasks;
  std::map<std::string, int64_t> devices_milli;
};
TierLimit limit_of(const CalendarEntry& entry, const Amounts& capacity);

// Whether the entries leave the tier nothing at all, whatever the time.
bool never_opens(const Calendar& calendar, Tier tier);

}  // namespace atl::core
