// A light timeline of what one attempt used: a point each second, and when kPointsMax is reached
// every second point is dropped and the interval doubles, so a task of any length costs the same.
// When the interval has become longer than kLiveEvery, one more point at the end says what is used
// now, and the next one takes its place.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/describe.h"
#include "base/time.h"

namespace atl::site {

struct Sample {
  Duration at;               // since the start
  Duration cpu;              // used until then
  int64_t memory_bytes = 0;  // in use then
  bool operator==(const Sample&) const = default;
};

struct Timeline {
  Duration interval;
  std::vector<Sample> points;
  bool operator==(const Timeline&) const = default;
};

class Sampler {
 public:
  static constexpr size_t kPointsMax = 600;
  static constexpr Duration kLiveEvery = seconds(2);

  // The next moment, since the start, at which add() is due.
  Duration due() const { return std::min(next_, live_); }
  void add(Sample sample);
  const Timeline& timeline() const { return timeline_; }
  int64_t memory_peak() const { return peak_; }

 private:
  Timeline timeline_{.interval = seconds(1)};
  Duration next_ = seconds(1);  // of the grid
  Duration live_ = seconds(1);  // of the point at the end
  bool live_at_end_ = false;
  int64_t peak_ = 0;
};

ATOLL_DESCRIBE(Sample, at, cpu, memory_bytes)
ATOLL_DESCRIBE(Timeline, interval, points)

}  // namespace atl::site
