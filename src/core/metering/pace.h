// How long somebody's work runs, as its past tells: of work with a wall-time the part of it that
// was used, of other work the time itself. Two small histograms whose counts are halved when they
// are full, so that they follow a change and stay small; integers, so that a replay gives the same.
#pragma once

#include <array>
#include <optional>

#include "base/describe.h"
#include "base/time.h"

namespace atl::core {

inline constexpr size_t kWallSteps = 8;     // parts of the wall-time: a 64th, a 32nd … a half, all
inline constexpr size_t kSpanSteps = 24;    // a second, two, four … three months
inline constexpr size_t kBriefSteps = 4;    // within the first second: a 16th of it … a half
inline constexpr uint32_t kPaceFull = 256;  // ends in one histogram, then all count half
inline constexpr uint32_t kPaceLeast = 5;   // fewer say nothing

inline constexpr int32_t kCertain = 1000;  // the quantile, in thousandths, that nobody exceeds

struct Pace {
  std::array<uint32_t, kWallSteps> of_wall{};
  std::array<uint32_t, kSpanSteps> spans{};
  std::array<uint32_t, kBriefSteps> brief{};  // of the first of `spans`, those of half a second
  bool operator==(const Pace&) const = default;
};

// One more that ended by itself after so long; a wall of zero is none.
void record(Pace& pace, Duration ran, Duration wall);

void add(Pace& pace, const Pace& more);

// The run time that so many thousandths do not exceed of those that run for more than `elapsed`.
// Nothing: too few of them are known.
std::optional<Duration> run_time(const Pace& pace, Duration wall, int32_t quantile_milli,
                                 Duration elapsed = {});

ATOLL_DESCRIBE(Pace, of_wall, spans, brief)

}  // namespace atl::core
