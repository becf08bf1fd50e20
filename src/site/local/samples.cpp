#include "site/local/samples.h"

#include <algorithm>

namespace atl::site {

void Sampler::add(Sample sample) {
  peak_ = std::max(peak_, sample.memory_bytes);
  std::vector<Sample>& points = timeline_.points;
  if (live_at_end_) points.pop_back();
  points.push_back(sample);
  live_ = sample.at + kLiveEvery;
  live_at_end_ = sample.at < next_;
  if (live_at_end_) return;
  if (points.size() >= kPointsMax) {
    // The odd ones stay: they lie on the grid of the doubled interval.
    for (size_t i = 0; i < points.size() / 2; ++i) points[i] = points[2 * i + 1];
    points.resize(points.size() / 2);
    timeline_.interval = timeline_.interval * 2;
  }
  while (next_ <= sample.at) next_ = next_ + timeline_.interval;
}

}  // namespace atl::site
