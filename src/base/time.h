// Instants and spans in integer microseconds. Time is always passed in; only a Clock at the edge
// reads it.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace atl {

struct Duration {
  int64_t us = 0;
  auto operator<=>(const Duration&) const = default;
  constexpr Duration operator+(Duration o) const { return {us + o.us}; }
  constexpr Duration operator-(Duration o) const { return {us - o.us}; }
  constexpr Duration operator*(int64_t n) const { return {us * n}; }
};

constexpr Duration microseconds(int64_t n) { return {n}; }
constexpr Duration milliseconds(int64_t n) { return {n * 1000}; }
constexpr Duration seconds(int64_t n) { return {n * 1000000}; }
constexpr Duration minutes(int64_t n) { return seconds(n * 60); }
constexpr Duration hours(int64_t n) { return minutes(n * 60); }

// Microseconds since 1970-01-01T00:00:00Z; zero means "not yet".
struct Time {
  int64_t us = 0;
  auto operator<=>(const Time&) const = default;
  constexpr Time operator+(Duration d) const { return {us + d.us}; }
  constexpr Time operator-(Duration d) const { return {us - d.us}; }
  constexpr Duration operator-(Time o) const { return {us - o.us}; }
  constexpr explicit operator bool() const { return us != 0; }
};

// "90s", "15m", "2h", "1d", "1h30m", "02:00:00", "3-12:00:00" (Slurm), a bare number is seconds.
[[nodiscard]] Result<Duration> parse_duration(std::string_view text);
std::string format_duration(Duration d);  // "1h30m", "4.2s", "350ms"

// RFC 3339 in UTC with microseconds only where they matter: "2026-11-15T21:23:31.5Z".
std::string format_time(Time t);
[[nodiscard]] Result<Time> parse_time(std::string_view text);

class Clock {
 public:
  virtual ~Clock() = default;
  virtual Time now() = 0;
};

// The machine's wall clock, never going backwards within the process.
class SystemClock : public Clock {
 public:
  Time now() override;

 private:
  Time last_;
};

}  // namespace atl
