#include "base/time.h"

#include <sys/time.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <optional>

#include "base/text.h"

namespace atl {
namespace {

constexpr int64_t kSecond = 1000000;
constexpr int64_t kDurationDaysMax = 366'000;
constexpr int64_t kDurationMaxSeconds = kDurationDaysMax * 24 * 3600;

// "[D-]HH:MM:SS" or "MM:SS", as Slurm writes wall-times.
std::optional<int64_t> parse_clock(std::string_view text) {
  int64_t days = 0;
  bool with_days = false;
  if (const size_t dash = text.find('-'); dash != std::string_view::npos) {
    days = parse_int(text.substr(0, dash)).value_or(-1);
    text.remove_prefix(dash + 1);
    with_days = true;
  }
  const auto parts = split(text, ':');
  if (days < 0 || parts.size() > 3) return std::nullopt;
  int64_t total = 0;
  for (const std::string_view part : parts) {
    const auto n = parse_int(part);
    if (!n || *n < 0 || *n > 1000000) return std::nullopt;
    total = total * 60 + *n;
  }
  if (with_days && parts.size() == 1) total *= 3600;  // D-HH
  if (with_days && parts.size() == 2) total *= 60;    // D-HH:MM
  return std::min(days, kDurationDaysMax + 1) * 86400 + total;
}

std::optional<int64_t> unit_us(std::string_view unit) {
  if (unit == "us") return 1;
  if (unit == "ms") return 1000;
  if (unit == "s") return kSecond;
  if (unit == "m" || unit == "min") return 60 * kSecond;
  if (unit == "h") return 3600 * kSecond;
  if (unit == "d") return 86400 * kSecond;
  if (unit == "w") return 7 * 86400 * kSecond;
  return std::nullopt;
}

// "1h30m", "1.5h": numbers each followed by a unit.
std::optional<int64_t> parse_units(std::string_view text) {
  int64_t total = 0;
  while (!text.empty()) {
    size_t digits = 0;
    int64_t whole = 0;
    int64_t fraction = 0;
    int64_t scale = 1;
    for (; digits < text.size() && text[digits] >= '0' && text[digits] <= '9' && digits < 12;
         ++digits) {
      whole = whole * 10 + (text[digits] - '0');
    }
    if (digits == 0) return std::nullopt;
    size_t at = digits;
    if (at < text.size() && text[at] == '.') {
      for (++at; at < text.size() && text[at] >= '0' && text[at] <= '9' && scale < 1000000; ++at) {
        fraction = fraction * 10 + (text[at] - '0');
        scale *= 10;
      }
    }
    size_t end = at;
    while (end < text.size() && text[end] >= 'a' && text[end] <= 'z') ++end;
    const auto unit = unit_us(text.substr(at, end - at));
    if (!unit) return std::nullopt;
    total += static_cast<int64_t>(
        std::min<__int128>(static_cast<__int128>(whole) * *unit, INT64_MAX / 4));
    total += static_cast<int64_t>(static_cast<__int128>(fraction) * *unit / scale);
    total = std::min(total, kDurationMaxSeconds * kSecond + 1);
    text.remove_prefix(end);
  }
  return total;
}

}  // namespace

Result<Duration> parse_duration(std::string_view text) {
  std::optional<int64_t> us;
  if (const auto plain = parse_int(text)) {
    if (*plain >= 0) us = std::min(*plain, kDurationMaxSeconds + 1) * kSecond;
  } else if (text.find(':') != std::string_view::npos || text.find('-') != std::string_view::npos) {
    if (const auto total = parse_clock(text)) us = *total * kSecond;
  } else if (!text.empty()) {
    us = parse_units(text);
  }
  if (!us)
    return fail(ErrorCode::invalid,
                quote(text) + " is not a duration: write 90s, 15m, 2h, 1d or 02:00:00");
  if (*us > kDurationMaxSeconds * kSecond)
    return fail(ErrorCode::invalid,
                quote(text) + " is longer than a thousand years: write 90s, 15m, 2h or 1d");
  return Duration{*us};
}

std::string format_duration(Duration d) {
  if (d.us < 0) return "-" + format_duration({-d.us});
  if (d.us < kSecond) return d.us == 0 ? "0s" : std::to_string((d.us + 999) / 1000) + "ms";
  const int64_t total = d.us / kSecond;
  if (total < 10 && d.us % kSecond >= kSecond / 10) {
    return std::to_string(total) + "." + std::to_string(d.us % kSecond / (kSecond / 10)) + "s";
  }
  const int64_t day = total / 86400, hour = total / 3600 % 24, minute = total / 60 % 60,
                second = total % 60;
  std::string out;
  const auto add = [&](int64_t n, char unit) {
    if (n != 0) out += std::to_string(n) + unit;
  };
  add(day, 'd');
  add(hour, 'h');
  add(minute, 'm');
  if (day == 0) add(second, 's');
  return out;
}

std::string format_time(Time t) {
  const int64_t whole = t.us >= 0 ? t.us / kSecond : (t.us - kSecond + 1) / kSecond;
  const int64_t fraction = t.us - whole * kSecond;
  // Not by gmtime, which takes a lock that a copy of the process (runtime/aside.h) would never get.
  const std::chrono::sys_seconds at{std::chrono::seconds(whole)};
  const auto midnight = std::chrono::floor<std::chrono::days>(at);
  const std::chrono::year_month_day date(midnight);
  const std::chrono::hh_mm_ss clock(at - midnight);
  char buffer[64];
  auto n = static_cast<size_t>(std::snprintf(
      buffer, sizeof buffer, "%04d-%02u-%02uT%02d:%02d:%02d", static_cast<int>(date.year()),
      static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
      static_cast<int>(clock.hours().count()), static_cast<int>(clock.minutes().count()),
      static_cast<int>(clock.seconds().count())));
  if (fraction != 0) {
    n += static_cast<size_t>(
        std::snprintf(buffer + n, sizeof buffer - n, ".%06lld", static_cast<long long>(fraction)));
    while (buffer[n - 1] == '0') --n;
  }
  return std::string(buffer, n) + "Z";
}

Result<Time> parse_time(std::string_view text) {
  const auto refuse = [&] {
    return fail(ErrorCode::invalid, quote(text) + " is not a time: write 2026-11-15T21:23:31Z");
  };
  std::tm tm{};
  const std::string copy(text);
  const char* rest = strptime(copy.c_str(), "%Y-%m-%dT%H:%M:%S", &tm);
  if (!rest) return refuse();
  int64_t us = static_cast<int64_t>(timegm(&tm)) * kSecond;
  if (*rest == '.') {
    int64_t scale = kSecond / 10;
    for (++rest; *rest >= '0' && *rest <= '9'; ++rest, scale /= 10) us += (*rest - '0') * scale;
  }
  if (*rest == 'Z' && rest[1] == 0) return Time{us};
  int sign, hour, minute;
  char plus;
  if (std::sscanf(rest, "%c%2d:%2d", &plus, &hour, &minute) != 3 || (plus != '+' && plus != '-'))
    return refuse();
  sign = plus == '+' ? 1 : -1;
  return Time{us - sign * (hour * 3600 + minute * 60) * kSecond};
}

Time SystemClock::now() {
  timespec ts{};
  clock_gettime(CLOCK_REALTIME, &ts);
  last_ = std::max(last_, Time{ts.tv_sec * kSecond + ts.tv_nsec / 1000});
  return last_;
}

}  // namespace atl
