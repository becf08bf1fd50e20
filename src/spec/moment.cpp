#include "spec/moment.h"

#include <ctime>

#include "base/text.h"
#include "spec/week.h"

namespace atl::spec {
namespace {

constexpr int64_t kSecondUs = 1'000'000;

std::tm local_day(Time at) {
  const time_t whole = at.us / kSecondUs;
  std::tm day{};
  localtime_r(&whole, &day);
  day.tm_hour = day.tm_min = day.tm_sec = 0;
  return day;
}

Time at_minute(std::tm day, int days_later, uint32_t minutes) {
  day.tm_mday += days_later;
  day.tm_hour = static_cast<int>(minutes / 60);
  day.tm_min = static_cast<int>(minutes % 60);
  day.tm_isdst = -1;
  return Time{static_cast<int64_t>(std::mktime(&day)) * kSecondUs};
}

// "2026-11-17", or -1 in the year.
bool parse_date(std::string_view text, std::tm& day) {
  const auto parts = split(text, '-');
  if (parts.size() != 3 || parts[0].size() != 4) return false;
  const auto year = parse_int(parts[0]);
  const auto month = parse_int(parts[1]);
  const auto date = parse_int(parts[2]);
  if (!year || !month || !date || *year < 1970) return false;
  day = {};
  day.tm_year = static_cast<int>(*year) - 1900;
  day.tm_mon = static_cast<int>(*month) - 1;
  day.tm_mday = static_cast<int>(*date);
  std::tm same = day;
  same.tm_hour = 12;
  same.tm_isdst = -1;
  return std::mktime(&same) >= 0 && same.tm_mday == *date && same.tm_mon == *month - 1;
}

}  // namespace

Result<Time> parse_date_time(std::string_view text) {
  const std::string_view words = trim(text);
  if (const auto exact = parse_time(words)) return *exact;
  const size_t space = words.find_first_of(" T");
  std::tm day{};
  if (space != std::string_view::npos && parse_date(words.substr(0, space), day)) {
    const auto clock = parse_clock_time(trim(words.substr(space + 1)));
    if (clock) return at_minute(day, 0, *clock);
  }
  return fail(ErrorCode::invalid, quote(text) +
                                      " is not a date and a time: write \"2026-11-17 10:00\", or "
                                      "2026-11-17T10:00:00Z");
}

Result<Time> parse_moment(std::string_view text, Time now, Time after) {
  const std::string_view words = trim(text);
  if (words == "now") return now;
  if (const auto date = parse_date_time(words)) return *date;
  const size_t space = words.rfind(' ');
  const std::string_view day =
      space == std::string_view::npos ? std::string_view() : trim(words.substr(0, space));
  const auto clock =
      parse_clock_time(space == std::string_view::npos ? words : words.substr(space + 1));
  if (clock && (day == "today" || day == "tomorrow"))
    return at_minute(local_day(now), day == "today" ? 0 : 1, *clock);
  const int wanted = day.empty() ? -1 : day_named(day);
  if (clock && (day.empty() || wanted >= 0)) {
    const std::tm begin = local_day(after);
    const int today = (begin.tm_wday + 6) % 7;
    const int ahead = day.empty() ? 0 : (wanted - today + 7) % 7;
    const Time first = at_minute(begin, ahead, *clock);
    return first > after ? first : at_minute(begin, ahead + (day.empty() ? 1 : 7), *clock);
  }
  return fail(ErrorCode::invalid,
              quote(text) +
                  " is not a time: write \"2026-11-17 10:00\", \"tomorrow 10:00\", \"tue 10:00\", "
                  "10:00, now, or 2026-11-17T10:00:00Z");
}

std::string format_local_minute(Time at) {
  const time_t whole = at.us / kSecondUs;
  std::tm tm{};
  localtime_r(&whole, &tm);
  char text[64];
  const size_t size = std::strftime(text, sizeof text, "%Y-%m-%d %H:%M", &tm);
  constexpr const char* kDays[] = {"sun ", "mon ", "tue ", "wed ", "thu ", "fri ", "sat "};
  return kDays[tm.tm_wday % 7] + std::string(text, size);
}

}  // namespace atl::spec
