#include "spec/timing/timing.h"

#include <cctz/civil_time.h>
#include <cctz/time_zone.h>

#include <algorithm>
#include <chrono>
#include <optional>

#include "base/text.h"

namespace atl::spec {
namespace {

using Seconds = cctz::time_point<cctz::seconds>;

// The rarest day that comes at all is the 29th of February on one day of the week, which the end
// of a century can keep away for forty years.
constexpr int kYearsLookedAt = 41;

std::optional<cctz::time_zone> zone_named(const std::string& name) {
  // The name becomes a path below the machine's zones.
  const bool plain =
      !name.empty() && name.size() <= 64 && name[0] != '/' &&
      name.find("..") == std::string::npos && std::all_of(name.begin(), name.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '_' || c == '+' || c == '-' || c == '/';
      });
  cctz::time_zone zone;
  if (!plain || !cctz::load_time_zone(name, &zone)) return std::nullopt;
  return zone;
}

Seconds seconds_of(Time at) {
  const int64_t whole = at.us >= 0 ? at.us / 1'000'000 : (at.us - 999'999) / 1'000'000;
  return Seconds(cctz::seconds(whole));
}

Time time_of(Seconds at) { return {at.time_since_epoch().count() * 1'000'000}; }

int days_in(cctz::civil_month month) {
  return static_cast<int>(cctz::civil_day(month + 1) - cctz::civil_day(month));
}

bool bit(uint64_t set, int at) { return (set >> at & 1) != 0; }

bool fits(const Timing& timing, cctz::civil_day day) {
  const int last = days_in(cctz::civil_month(day));
  const bool of_month =
      bit(timing.days, day.day()) || bit(timing.days_from_end, last - day.day() + 1);
  const bool of_week = bit(timing.weekdays, static_cast<int>(cctz::get_weekday(day)));
  return timing.either_day ? of_month || of_week : of_month && of_week;
}

bool fits(const Timing& timing, cctz::civil_month month) {
  const auto year = static_cast<size_t>(month.year() - kYearMin);
  return bit(timing.months, month.month()) &&
         (timing.years.empty() || (year < timing.years.size() && timing.years[year]));
}

// The moments that the hour of a day stands for, in their order.
class Moments {
 public:
  Moments(const Timing& timing, const cctz::time_zone& zone)
      : timing_(timing), zone_(zone), both_(timing.hours == (1u << 24) - 1) {}

  const std::vector<Seconds>& of(cctz::civil_hour hour) {
    found_.clear();
    for (int minute = 0; minute < 60; ++minute) {
      if (!bit(timing_.minutes, minute)) continue;
      for (int second = 0; second < 60; ++second) {
        if (bit(timing_.seconds, second)) add(cctz::civil_second(hour) + minute * 60 + second);
      }
    }
    std::sort(found_.begin(), found_.end());
    found_.erase(std::unique(found_.begin(), found_.end()), found_.end());
    return found_;
  }

 private:
  void add(cctz::civil_second wall) {
    const auto known = zone_.lookup(wall);
    using Kind = cctz::time_zone::civil_lookup;
    found_.push_back(known.kind == Kind::SKIPPED ? known.trans : known.pre);
    if (known.kind == Kind::REPEATED && both_) found_.push_back(known.post);
  }

  const Timing& timing_;
  const cctz::time_zone& zone_;
  const bool both_;
  std::vector<Seconds> found_;
};

}  // namespace

Result<void> check_zone(const std::string& zone) {
  if (zone_named(zone)) return {};
  const bool any = zone_named("Europe/Berlin").has_value();
  return fail(ErrorCode::invalid,
              any ? "there is no time zone " + quote(zone) +
                        "; write a name of the IANA's such as Europe/Berlin, or UTC"
                  : "no time zones are known to this machine: install the package tzdata",
              "zone");
}

std::vector<Time> next_times(const Timing& timing, Time after, size_t count) {
  std::vector<Time> times;
  const auto zone = zone_named(timing.zone);
  if (!zone) return times;
  Moments moments(timing, *zone);
  const cctz::civil_hour start(cctz::convert(seconds_of(after), *zone));
  const auto last = timing.years.empty() ? cctz::civil_year(start).year() + kYearsLookedAt
                                         : cctz::year_t{kYearMax};
  cctz::civil_day day(start);
  while (times.size() < count && day.year() <= std::min<cctz::year_t>(last, kYearMax)) {
    if (!fits(timing, cctz::civil_month(day))) {
      day = cctz::civil_day(cctz::civil_month(day) + 1);
      continue;
    }
    for (int hour = 0; fits(timing, day) && hour < 24 && times.size() < count; ++hour) {
      const cctz::civil_hour at = cctz::civil_hour(day) + hour;
      if (!bit(timing.hours, hour) || at < start) continue;
      for (const Seconds moment : moments.of(at)) {
        const Time found = time_of(moment);
        // The first moment behind a gap may stand for times before it and for its own.
        if (found > after && (times.empty() || found > times.back()) && times.size() < count)
          times.push_back(found);
      }
    }
    day = day + 1;
  }
  return times;
}

std::string format_in_zone(Time at, const std::string& zone) {
  const auto known = zone_named(zone);
  const bool exact = at.us / 1'000'000 % 60 != 0;
  return cctz::format(exact ? "%a %Y-%m-%d %H:%M:%S %Z" : "%a %Y-%m-%d %H:%M %Z", seconds_of(at),
                      known.value_or(cctz::utc_time_zone()));
}

}  // namespace atl::spec
