#include "core/metering/pace.h"

#include <algorithm>
#include <numeric>
#include <span>

namespace atl::core {
namespace {

// The upper end of each part of the wall-time, in 64ths. The last steps are narrow: much work runs
// into its limit, and what stops short of it shall not look the same.
constexpr std::array<int64_t, kWallSteps> kPartOf64 = {1, 2, 4, 8, 16, 32, 48, 64};
constexpr int64_t kFine = 1024;  // of one count, when only a part of its step is meant

Duration wall_end(Duration wall, size_t step) { return {wall.us / 64 * kPartOf64[step]}; }
Duration span_end(size_t step) { return seconds(int64_t{1} << step); }
Duration brief_end(size_t step) { return {1'000'000 >> (kBriefSteps - step)}; }

uint32_t sum_of(std::span<const uint32_t> counts) {
  return std::accumulate(counts.begin(), counts.end(), 0u);
}
void halve(std::span<uint32_t> counts) {
  for (uint32_t& each : counts) each /= 2;
}

// The spans with the first second by its parts. A snapshot from before there were any has none: its
// short ones count as the longest of them.
constexpr size_t kAllSpans = kBriefSteps + kSpanSteps;
std::array<uint32_t, kAllSpans> all_spans(const Pace& pace) {
  std::array<uint32_t, kAllSpans> all{};
  std::copy(pace.brief.begin(), pace.brief.end(), all.begin());
  std::copy(pace.spans.begin(), pace.spans.end(), all.begin() + kBriefSteps);
  all[kBriefSteps] -= std::min(all[kBriefSteps], sum_of(pace.brief));
  return all;
}
Duration all_spans_end(size_t step) {
  return step < kBriefSteps ? brief_end(step) : span_end(step - kBriefSteps);
}

struct Step {
  Duration from, to;
  int64_t weight = 0;
};

// Within a step all run times are taken to be equally likely.
Step beyond(Step step, Duration elapsed) {
  if (step.to <= elapsed) return {step.to, step.to, 0};
  if (elapsed <= step.from) return step;
  const int64_t part = (step.to - elapsed).us * kFine / (step.to - step.from).us;
  return {elapsed, step.to, step.weight * part / kFine};
}

template <class End>
std::optional<Duration> quantile(std::span<const uint32_t> counts, int32_t quantile_milli,
                                 Duration elapsed, End end) {
  if (sum_of(counts) < kPaceLeast) return std::nullopt;
  const auto step = [&](size_t i) {
    return beyond({i ? end(i - 1) : Duration{}, end(i), counts[i] * kFine}, elapsed);
  };
  int64_t sum = 0;
  for (size_t i = 0; i < counts.size(); ++i) sum += step(i).weight;
  if (sum == 0) return std::nullopt;
  int64_t wanted = std::max<int64_t>(1, sum * quantile_milli / kCertain);
  for (size_t i = 0; i < counts.size(); ++i) {
    const Step each = step(i);
    if (wanted <= each.weight)
      return each.from +
             Duration{(each.to - each.from).us / kFine * (wanted * kFine / each.weight)};
    wanted -= each.weight;
  }
  return end(counts.size() - 1);
}

}  // namespace

void record(Pace& pace, Duration ran, Duration wall) {
  size_t step = 0;
  if (wall.us > 0) {
    while (step + 1 < kWallSteps && ran > wall_end(wall, step)) ++step;
    ++pace.of_wall[step];
    if (sum_of(pace.of_wall) >= kPaceFull) halve(pace.of_wall);
    return;
  }
  while (step + 1 < kSpanSteps && ran > span_end(step)) ++step;
  ++pace.spans[step];
  for (step = 0; step < kBriefSteps && ran > brief_end(step);) ++step;
  if (step < kBriefSteps) ++pace.brief[step];
  if (sum_of(pace.spans) < kPaceFull) return;
  halve(pace.spans);
  halve(pace.brief);
}

void add(Pace& pace, const Pace& more) {
  for (size_t i = 0; i < kWallSteps; ++i) pace.of_wall[i] += more.of_wall[i];
  for (size_t i = 0; i < kSpanSteps; ++i) pace.spans[i] += more.spans[i];
  for (size_t i = 0; i < kBriefSteps; ++i) pace.brief[i] += more.brief[i];
}

std::optional<Duration> run_time(const Pace& pace, Duration wall, int32_t quantile_milli,
                                 Duration elapsed) {
  if (wall.us > 0)
    return quantile(pace.of_wall, quantile_milli, elapsed,
                    [&](size_t step) { return wall_end(wall, step); });
  return quantile(all_spans(pace), quantile_milli, elapsed, all_spans_end);
}

}  // namespace atl::core
