// A set of 32-bit indices stored as disjoint, ordered, non-adjacent closed ranges: how an array of
// ten million tasks waits in a few bytes.
#pragma once

#include <boost/container/small_vector.hpp>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace atl {

struct Interval {
  uint32_t first = 0;
  uint32_t last = 0;  // inclusive
  bool operator==(const Interval&) const = default;
};

class IntervalSet {
 public:
  using Ranges =
      boost::container::small_vector<Interval, 1>;  // one range, the usual case, lives in place

  IntervalSet() = default;
  explicit IntervalSet(Interval range) { add(range); }

  void add(Interval range);
  void add(uint32_t index) { add({index, index}); }
  void remove(Interval range);
  void remove(uint32_t index) { remove({index, index}); }
  bool contains(uint32_t index) const;
  bool empty() const { return ranges_.empty(); }
  uint64_t size() const;
  uint32_t front() const { return ranges_.front().first; }
  uint32_t back() const { return ranges_.back().last; }
  const Ranges& ranges() const { return ranges_; }

  bool operator==(const IntervalSet&) const = default;

 private:
  Ranges ranges_;
};

// "1-1000", "1,3,7-9", "0-100:10" (step). The step form yields single indices, so it is bounded by
// `size_max`.
[[nodiscard]] Result<IntervalSet> parse_intervals(std::string_view text, uint64_t size_max);
std::string format_intervals(const IntervalSet& set);

}  // namespace atl
