// Calendar expressions, as in systemd.time(7): "Mon..Fri *-*-* 06:00:00 Europe/Berlin".
#include "base/text.h"
#include "spec/timing/numbers.h"
#include "spec/timing/timing.h"

namespace atl::spec {
namespace {

constexpr Shorthand kCalendarWords[] = {
    {"minutely", "*-*-* *:*:00"},
    {"hourly", "*-*-* *:00:00"},
    {"daily", "*-*-* 00:00:00"},
    {"weekly", "Mon *-*-* 00:00:00"},
    {"monthly", "*-*-01 00:00:00"},
    {"quarterly", "*-01,04,07,10-01 00:00:00"},
    {"semiannually", "*-01,07-01 00:00:00"},
    {"yearly", "*-01-01 00:00:00"},
    {"annually", "*-01-01 00:00:00"},
};

constexpr NumbersForm kCalendarWeekday{"day of the week", 1, 7, "..", kDayNames, 1};
constexpr NumbersForm kCalendarMonth{"month", 1, 12, ".."};
constexpr NumbersForm kCalendarDay{"day of the month", 1, 31, ".."};
constexpr NumbersForm kCalendarHour{"hour", 0, 23, ".."};
constexpr NumbersForm kCalendarMinute{"minute", 0, 59, ".."};
constexpr NumbersForm kCalendarSecond{"second", 0, 59, ".."};

tl::unexpected<Error> bad_calendar(std::string_view part, const char* why) {
  return fail(ErrorCode::invalid, quote(part) + " " + why +
                                      "; write days, date and time, such as \"Mon..Fri 06:00\", "
                                      "\"*-*-01 00:00\" or \"hourly\"");
}

// Years go beyond what a set of Numbers holds, so they are counted from kYearMin.
Result<std::vector<bool>> parse_years(std::string_view text) {
  std::vector<bool> years;
  if (text == "*") return years;
  years.resize(kYearMax - kYearMin + 1);
  for (const std::string_view part : split(text, ',')) {
    const size_t slash = part.find('/');
    const std::string_view range = part.substr(0, slash);
    const size_t dots = range.find("..");
    const auto first = parse_int(range.substr(0, dots));
    const auto last = dots == std::string_view::npos ? first : parse_int(range.substr(dots + 2));
    const auto step =
        slash == std::string_view::npos ? int64_t{1} : parse_int(part.substr(slash + 1));
    if (!first || !last || !step || *first < kYearMin || *last > kYearMax || *last < *first ||
        *step < 1 || *step > kYearMax)
      return bad_calendar(text, "is no year from 1970 to 2199");
    const bool open = slash != std::string_view::npos && dots == std::string_view::npos;
    for (int64_t year = *first; year <= (open ? int64_t{kYearMax} : *last); year += *step)
      years[static_cast<size_t>(year - kYearMin)] = true;
  }
  return years;
}

// "2026-11-17", "*-*-01", "11-17", "*-*~1".
Result<void> read_date(std::string_view text, Timing& timing) {
  const size_t tilde = text.find('~');
  const size_t end = tilde == std::string_view::npos ? text.rfind('-') : tilde;
  if (end == std::string_view::npos) return bad_calendar(text, "is no date");
  const auto days = parse_numbers(text.substr(end + 1), kCalendarDay);
  if (!days) return tl::unexpected(days.error());
  std::string_view month = text.substr(0, end);
  if (const size_t dash = month.rfind('-'); dash != std::string_view::npos) {
    auto years = parse_years(month.substr(0, dash));
    if (!years) return tl::unexpected(years.error());
    timing.years = std::move(*years);
    month = month.substr(dash + 1);
  }
  const auto months = parse_numbers(month, kCalendarMonth);
  if (!months) return tl::unexpected(months.error());
  const auto bits = static_cast<uint32_t>(days->to_ullong());
  timing.days = tilde == std::string_view::npos ? bits : 0;
  timing.days_from_end = tilde == std::string_view::npos ? 0 : bits;
  timing.months = static_cast<uint16_t>(months->to_ullong());
  return {};
}

// "06:00", "*:*:*", "0/2:30".
Result<void> read_clock(std::string_view text, Timing& timing) {
  const auto parts = split(text, ':');
  if (parts.size() < 2 || parts.size() > 3) return bad_calendar(text, "is no time of the day");
  const auto hours = parse_numbers(parts[0], kCalendarHour);
  if (!hours) return tl::unexpected(hours.error());
  const auto minutes = parse_numbers(parts[1], kCalendarMinute);
  if (!minutes) return tl::unexpected(minutes.error());
  const auto seconds = parse_numbers(parts.size() == 3 ? parts[2] : "0", kCalendarSecond);
  if (!seconds) return tl::unexpected(seconds.error());
  timing.hours = static_cast<uint32_t>(hours->to_ullong());
  timing.minutes = minutes->to_ullong();
  timing.seconds = seconds->to_ullong();
  return {};
}

bool begins_with_letter(std::string_view text) {
  return (text[0] >= 'a' && text[0] <= 'z') || (text[0] >= 'A' && text[0] <= 'Z');
}

Result<void> read_weekdays(std::string_view text, Timing& timing) {
  const auto days = parse_numbers(text, kCalendarWeekday);
  if (!days) return tl::unexpected(days.error());
  timing.weekdays = static_cast<uint8_t>(days->to_ullong() >> 1);
  return {};
}

struct Parts {
  std::string_view weekdays, date, clock, zone;
};

// Each at most once, in this order.
Result<Parts> parts_of(std::string_view text) {
  Parts parts;
  int stage = 0;
  for (const std::string_view word : split(text, ' ')) {
    if (word.empty()) continue;
    const bool clock = word.find(':') != std::string_view::npos;
    const bool letter = begins_with_letter(word);
    const int kind = clock ? 2 : !letter ? 1 : stage == 0 ? 0 : 3;
    if (stage > kind) return bad_calendar(word, "stands where it does not belong");
    stage = kind + 1;
    (kind == 0   ? parts.weekdays
     : kind == 1 ? parts.date
     : kind == 2 ? parts.clock
                 : parts.zone) = word;
  }
  if (parts.weekdays.empty() && parts.date.empty() && parts.clock.empty())
    return bad_calendar(text, "says no time");
  return parts;
}

// A word such as "daily" may have a zone behind it.
std::string spelled_out(std::string_view text) {
  const size_t space = text.find(' ');
  std::string spelled(expand(text.substr(0, space), kCalendarWords));
  if (space != std::string_view::npos) spelled += text.substr(space);
  return spelled;
}

}  // namespace

Result<Timing> parse_calendar(std::string_view text, const std::string& zone) {
  const std::string spelled = spelled_out(trim(text));
  const auto parts = parts_of(spelled);
  if (!parts) return tl::unexpected(parts.error());
  Timing timing;
  timing.zone = parts->zone.empty() ? zone : std::string(parts->zone);
  if (auto ok = check_zone(timing.zone); !ok) return tl::unexpected(ok.error());
  timing.weekdays = 0b1111111;
  if (!parts->weekdays.empty()) {
    if (auto ok = read_weekdays(parts->weekdays, timing); !ok) return tl::unexpected(ok.error());
  }
  if (auto ok = read_date(parts->date.empty() ? "*-*-*" : parts->date, timing); !ok)
    return tl::unexpected(ok.error());
  if (auto ok = read_clock(parts->clock.empty() ? "00:00:00" : parts->clock, timing); !ok)
    return tl::unexpected(ok.error());
  if (next_times(timing, Time{1}, 1).empty())
    return bad_calendar(text, "names a day that never comes");
  return timing;
}

}  // namespace atl::spec
