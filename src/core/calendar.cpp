#include "core/calendar.h"

#include <algorithm>
#include <set>

namespace atl::core {
namespace {

constexpr int64_t kDay = 24 * 60;
constexpr int64_t kWeek = 7 * kDay;
constexpr int64_t kMinuteUs = 60'000'000;

// Minutes since a Monday's midnight on the wall, and how far into the minute.
int64_t minute_of_week(const Calendar& calendar, Time at) {
  // The epoch was a Thursday.
  const int64_t minutes = at.us / kMinuteUs + calendar.utc_offset + 3 * kDay;
  return (minutes % kWeek + kWeek) % kWeek;
}

// Of the entry on one day of the week; it may reach into the next week.
struct Span {
  int64_t from, until;
};
std::vector<Span> spans(const CalendarEntry& entry) {
  std::vector<Span> found;
  for (int64_t day = 0; day < 7; ++day) {
    if (!(entry.days >> day & 1)) continue;
    const int64_t length = int64_t{entry.until} - entry.from;
    const int64_t from = day * kDay + entry.from;
    found.push_back({from, from + (length > 0 ? length : length + kDay)});
  }
  return found;
}

bool holds_in_minute(const CalendarEntry& entry, int64_t minute) {
  for (const Span& span : spans(entry)) {
    if ((minute >= span.from && minute < span.until) || minute + kWeek < span.until) return true;
  }
  return false;
}

// Calls fn with the time at which each span next begins and ends.
template <class Fn>
void for_each_change(const Calendar& calendar, Time after, const Fn& fn) {
  const int64_t minute = minute_of_week(calendar, after);
  for (const CalendarEntry& entry : calendar.entries) {
    for (const Span& span : spans(entry)) {
      for (const int64_t edge : {span.from, span.until}) {
        const int64_t wait = ((edge - minute) % kWeek + kWeek - 1) % kWeek + 1;
        fn(Time{(after.us / kMinuteUs + wait) * kMinuteUs});
      }
    }
  }
}

bool shuts(const CalendarEntry& entry) {
  return entry.share_milli == 0 || entry.limit.cpu_milli == 0 || entry.limit.memory_bytes == 0 ||
         entry.limit.running == 0;
}

}  // namespace

bool holds_at(const Calendar& calendar, const CalendarEntry& entry, Time now) {
  return holds_in_minute(entry, minute_of_week(calendar, now));
}

std::vector<Time> changes(const Calendar& calendar, Time after) {
  std::set<Time> times;
  for_each_change(calendar, after, [&](Time at) { times.insert(at); });
  return {times.begin(), times.end()};
}

Time next_change(const Calendar& calendar, Time after) {
  Time soonest;
  for_each_change(calendar, after, [&](Time at) {
    if (!soonest || at < soonest) soonest = at;
  });
  return soonest;
}

Calendar only_of(const Calendar& calendar, Tier tier) {
  Calendar only = calendar;
  std::erase_if(only.entries, [&](const CalendarEntry& each) { return each.tier != tier; });
  return only;
}

TierLimit limit_of(const CalendarEntry& entry, const Amounts& capacity) {
  TierLimit limit;
  limit.cpu_milli = entry.limit.cpu_milli;
  limit.memory_bytes = entry.limit.memory_bytes;
  if (entry.limit.running) limit.tasks = static_cast<int64_t>(*entry.limit.running);
  for (const auto& [key, count] : entry.limit.devices)
    limit.devices_milli[key] = int64_t{count} * kWholeDevice;
  if (!entry.share_milli) return limit;
  const auto part = [&](int64_t whole) { return whole * *entry.share_milli / 1000; };
  const auto lower = [](std::optional<int64_t>& to, int64_t bound) {
    to = std::min(to.value_or(bound), bound);
  };
  lower(limit.cpu_milli, part(capacity.cpu_milli));
  lower(limit.memory_bytes, part(capacity.memory_mib) * (int64_t{1} << 20));
  for (const auto& [kind, milli] : capacity.devices_milli) {
    const auto it = limit.devices_milli.try_emplace(kind, part(milli)).first;
    it->second = std::min(it->second, part(milli));
  }
  return limit;
}

bool never_opens(const Calendar& calendar, Tier tier) {
  // Whether it is shut changes only where a span begins or ends.
  std::vector<int64_t> edges{0};
  for (const CalendarEntry& entry : calendar.entries) {
    for (const Span& span : spans(entry)) edges.push_back(span.until % kWeek);
  }
  return std::all_of(edges.begin(), edges.end(), [&](int64_t minute) {
    return std::any_of(
        calendar.entries.begin(), calendar.entries.end(), [&](const CalendarEntry& entry) {
          return entry.tier == tier && shuts(entry) && holds_in_minute(entry, minute);
        });
  });
}

}  // namespace atl::core
