#include "spec/week.h"

#include <algorithm>
#include <array>
#include <cstdio>

#include "base/text.h"

namespace atl::spec {
namespace {

constexpr std::array kDayNames{"monday", "tuesday",  "wednesday", "thursday",
                               "friday", "saturday", "sunday"};

std::string short_day(int day) { return std::string(kDayNames[static_cast<size_t>(day)], 3); }

tl::unexpected<Error> no_days(std::string_view text) {
  return fail(ErrorCode::invalid,
              quote(text) +
                  " names no days of the week: write mon-fri, sat,sun, tue or daily, in any order",
              "days");
}

}  // namespace

int day_named(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  if (lower.size() < 3) return -1;
  for (size_t day = 0; day < kDayNames.size(); ++day) {
    if (std::string_view(kDayNames[day]).starts_with(lower)) return static_cast<int>(day);
  }
  return -1;
}

Result<uint8_t> parse_days(std::string_view text) {
  if (trim(text) == "daily") return kAllDays;
  uint8_t days = 0;
  for (const std::string_view part : split(text, ',')) {
    const auto ends = split(trim(part), '-');
    const int from = day_named(trim(ends.front()));
    const int until = day_named(trim(ends.back()));
    if (ends.size() > 2 || from < 0 || until < 0) return no_days(text);
    for (int day = from;; day = (day + 1) % 7) {
      days = static_cast<uint8_t>(days | 1 << day);
      if (day == until) break;
    }
  }
  return days;
}

std::string format_days(uint8_t days) {
  if ((days & kAllDays) == kAllDays) return "daily";
  const auto has = [&](int day) { return (days >> ((day + 7) % 7) & 1) != 0; };
  std::string out;
  for (int day = 0; day < 7; ++day) {
    if (!has(day)) continue;
    int last = day;
    while (last < 6 && has(last + 1)) ++last;
    out += (out.empty() ? "" : ",") + short_day(day);
    if (last > day) out += (last > day + 1 ? "-" : ",") + short_day(last);
    day = last;
  }
  return out;
}

Result<uint32_t> parse_clock_time(std::string_view text) {
  const auto parts = split(text, ':');
  const auto number = [](std::string_view word) {
    const bool digits = !word.empty() && word.size() <= 2 &&
                        word.find_first_not_of("0123456789") == std::string_view::npos;
    return digits ? parse_int(word).value_or(-1) : -1;
  };
  if (parts.size() == 2 && parts[1].size() == 2) {
    const int64_t hour = number(parts[0]);
    const int64_t minute = number(parts[1]);
    const bool good = hour >= 0 && minute >= 0 && minute < 60 && hour * 60 + minute <= 24 * 60;
    if (good) return static_cast<uint32_t>(hour * 60 + minute);
  }
  return fail(ErrorCode::invalid,
              quote(text) + " is not a time of the day: write 08:00, 18:30 or 24:00");
}

std::string format_clock_time(uint32_t minutes) {
  char text[32];
  std::snprintf(text, sizeof text, "%02u:%02u", minutes / 60, minutes % 60);
  return text;
}

}  // namespace atl::spec
