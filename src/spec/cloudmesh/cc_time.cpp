#include "spec/cloudmesh/cc_time.h"

#include <array>
#include <cstdio>
#include <ctime>

namespace atl::spec::cc {
namespace {

constexpr int64_t kSecondUs = 1'000'000;
constexpr size_t kFormatMax = 512;
constexpr size_t kFormattedMax = 4096;

int64_t whole_seconds(int64_t us) { return us / kSecondUs - (us % kSecondUs < 0 ? 1 : 0); }

std::string padded(int64_t number, int digits) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%0*lld", digits, static_cast<long long>(number));
  return text.data();
}

// Replaces the directives that `own` knows; the others are left to strftime.
template <class Own>
std::string replaced(std::string_view format, const Own& own) {
  std::string out;
  for (size_t i = 0; i < format.size(); ++i) {
    if (format[i] != '%' || i + 1 == format.size()) {
      out += format[i];
    } else if (const std::string value = own(format[++i]); !value.empty()) {
      out += value;
    } else {
      (out += '%') += format[i];
    }
  }
  return out;
}

std::string formatted(std::string_view format, const std::string& prepared, const std::tm& parts) {
  if (format.size() > kFormatMax || format.find('\0') != std::string_view::npos)
    return std::string(format);
  std::string out(kFormattedMax, '\0');
  const size_t size = std::strftime(out.data(), out.size(), prepared.c_str(), &parts);
  if (size == 0) return std::string(format);
  out.resize(size);
  return out;
}

std::tm parts_of(int64_t seconds) {
  const time_t whole = seconds;
  std::tm parts{};
  gmtime_r(&whole, &parts);
  return parts;
}

}  // namespace

std::string format_cc_time(std::string_view format, Time at, const Zone& zone) {
  const Duration ahead = zone ? zone(at) : Duration{};
  std::tm parts = parts_of(whole_seconds(at.us + ahead.us));
  parts.tm_gmtoff = static_cast<long>(ahead.us / kSecondUs);
  parts.tm_zone = ahead.us == 0 ? "UTC" : "";
  // %s of strftime would ask for the zone of this process.
  const std::string prepared = replaced(format, [&](char directive) -> std::string {
    if (directive == 's') return std::to_string(whole_seconds(at.us));
    if (directive == 'f') return padded(at.us - whole_seconds(at.us) * kSecondUs, 6);
    return "";
  });
  return formatted(format, prepared, parts);
}

std::string format_cc_span(std::string_view format, Duration span) {
  const int64_t us = span.us > 0 ? span.us : 0;
  const int64_t seconds = us / kSecondUs;
  const std::string clock = padded(seconds / 60 % 60, 2) + ":" + padded(seconds % 60, 2);
  const std::string prepared = replaced(format, [&](char directive) -> std::string {
    if (directive == 'H') return padded(seconds / 3600, 2);
    if (directive == 'T') return padded(seconds / 3600, 2) + ":" + clock;
    if (directive == 's') return std::to_string(seconds);
    if (directive == 'f') return padded(us % kSecondUs, 6);
    return "";
  });
  return formatted(format, prepared, parts_of(seconds));
}

std::optional<Time> parse_cc_time(std::string_view text, const Zone& zone) {
  const std::string copy(text.substr(0, 64));
  std::tm parts{};
  int micros = 0, used = 0, fraction = 0, begin = 0;
  if (std::sscanf(copy.c_str(), "%4d-%2d-%2d %2d:%2d:%2d%n", &parts.tm_year, &parts.tm_mon,
                  &parts.tm_mday, &parts.tm_hour, &parts.tm_min, &parts.tm_sec, &used) != 6 &&
      std::sscanf(copy.c_str(), "%2d/%2d/%4d, %2d:%2d:%2d%n", &parts.tm_mon, &parts.tm_mday,
                  &parts.tm_year, &parts.tm_hour, &parts.tm_min, &parts.tm_sec, &used) != 6)
    return std::nullopt;
  std::string_view rest = std::string_view(copy).substr(static_cast<size_t>(used));
  if (rest.size() == 7 &&
      std::sscanf(copy.c_str() + used, ".%n%6d%n", &begin, &micros, &fraction) == 1 &&
      fraction == 7)
    rest = {};
  if (!rest.empty() || micros < 0 || parts.tm_mon < 1 || parts.tm_mon > 12 || parts.tm_mday < 1 ||
      parts.tm_mday > 31 || parts.tm_hour < 0 || parts.tm_hour > 23 || parts.tm_min < 0 ||
      parts.tm_min > 59 || parts.tm_sec < 0 || parts.tm_sec > 60 || parts.tm_year < 1970)
    return std::nullopt;
  parts.tm_year -= 1900;
  parts.tm_mon -= 1;
  const Time wall{static_cast<int64_t>(timegm(&parts)) * kSecondUs + micros};
  if (!zone) return wall;
  // The offset of a moment is known once the moment is; a second look settles it.
  const Time near = wall - zone(wall);
  return wall - zone(near);
}

std::string node_time(Time at, const Zone& zone) {
  return format_cc_time("%Y-%m-%d %H:%M:%S.%f", at, zone);
}

}  // namespace atl::spec::cc
