#include "base/interval_set.h"

#include <algorithm>

#include "base/text.h"

namespace atl {

void IntervalSet::add(Interval range) {
  // The common case: indices come in order, at the end.
  if (ranges_.empty() || (range.first > 0 && ranges_.back().last < range.first - 1)) {
    ranges_.push_back(range);
    return;
  }
  // The first range that touches or lies behind the new one.
  auto at = std::partition_point(ranges_.begin(), ranges_.end(), [&](const Interval& r) {
    return range.first > 0 && r.last < range.first - 1;
  });
  auto end = at;
  while (end != ranges_.end() && (range.last == UINT32_MAX || end->first <= range.last + 1)) {
    range.first = std::min(range.first, end->first);
    range.last = std::max(range.last, end->last);
    ++end;
  }
  if (at == end) {
    ranges_.insert(at, range);
    return;
  }
  *at = range;
  ranges_.erase(at + 1, end);
}

void IntervalSet::remove(Interval range) {
  auto at = std::partition_point(ranges_.begin(), ranges_.end(),
                                 [&](const Interval& r) { return r.last < range.first; });
  if (at == ranges_.end() || at->first > range.last) return;
  if (at->first < range.first && at->last > range.last) {
    const uint32_t last = at->last;
    at->last = range.first - 1;
    ranges_.insert(at + 1, {range.last + 1, last});
    return;
  }
  if (at->first < range.first) {
    at->last = range.first - 1;
    ++at;
  }
  auto end = at;
  while (end != ranges_.end() && end->last <= range.last) ++end;
  if (end != ranges_.end() && end->first <= range.last) end->first = range.last + 1;
  ranges_.erase(at, end);
}

bool IntervalSet::contains(uint32_t index) const {
  auto at = std::partition_point(ranges_.begin(), ranges_.end(),
                                 [&](const Interval& r) { return r.last < index; });
  return at != ranges_.end() && at->first <= index;
}

uint64_t IntervalSet::size() const {
  uint64_t total = 0;
  for (const Interval& range : ranges_) total += uint64_t{range.last} - range.first + 1;
  return total;
}

namespace {

struct SteppedRange {
  uint32_t first, last, step;
};

std::optional<SteppedRange> parse_range(std::string_view part) {
  int64_t step = 1;
  if (const size_t colon = part.find(':'); colon != std::string_view::npos) {
    step = parse_int(part.substr(colon + 1)).value_or(0);
    part = part.substr(0, colon);
  }
  const size_t dash = part.find('-');
  const auto first = parse_int(part.substr(0, dash));
  const auto last = dash == std::string_view::npos ? first : parse_int(part.substr(dash + 1));
  if (!first || !last || *first < 0 || *last < *first || *last >= UINT32_MAX || step < 1 ||
      step > UINT32_MAX) {
    return std::nullopt;
  }
  return SteppedRange{static_cast<uint32_t>(*first), static_cast<uint32_t>(*last),
                      static_cast<uint32_t>(step)};
}

}  // namespace

Result<IntervalSet> parse_intervals(std::string_view text, uint64_t size_max) {
  IntervalSet set;
  uint64_t total = 0;
  for (const std::string_view part : split(text, ',')) {
    const auto range = parse_range(trim(part));
    if (!range) {
      return fail(ErrorCode::invalid,
                  quote(part) + " is not a range of indices: write 7, 1-1000 or 0-100:10", "array");
    }
    total += (uint64_t{range->last} - range->first) / range->step + 1;
    if (total > size_max) {
      return fail(ErrorCode::invalid,
                  "an array may have at most " + std::to_string(size_max) + " indices", "array");
    }
    if (range->step == 1) {
      set.add({range->first, range->last});
      continue;
    }
    for (uint64_t i = range->first; i <= range->last; i += range->step)
      set.add(static_cast<uint32_t>(i));
  }
  return set;
}

std::string format_intervals(const IntervalSet& set) {
  std::string out;
  for (const Interval& range : set.ranges()) {
    if (!out.empty()) out += ',';
    out += std::to_string(range.first);
    if (range.last != range.first) out += '-' + std::to_string(range.last);
  }
  return out;
}

}  // namespace atl
