#include "report/plots.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/display.h"
#include "report/limits.h"
#include "simulate/svg.h"

namespace atl::report {
namespace {

using simulate::Axis;
using simulate::Frame;
using simulate::series_look;
using simulate::Svg;

constexpr int kPlotWidth = 1000, kPlotTop = 40, kPlotBelow = 34;
constexpr double kGanttLeft = 230, kPlotLeft = 60, kPlotRight = 976, kGanttRow = 18;
constexpr size_t kPlotPoints = 800;  // as many as there are pixels

Time begin_of(const WorkflowRun& run) { return run.started ? run.started : run.submitted; }

Time end_of(const WorkflowRun& run) {
  Time end = run.ended ? run.ended : run.as_of;
  for (const StepRun& step : run.steps) end = std::max(end, step.ended);
  return end;
}

double seconds_between(Time from, Time to) { return static_cast<double>((to - from).us) / 1e6; }

Axis time_axis(double span) {
  constexpr std::array<int64_t, 20> kSteps{1,     2,      5,      10,      30,      60,      120,
                                           300,   600,    1800,   3600,    7200,    21600,   43200,
                                           86400, 172800, 604800, 2592000, 7776000, 31536000};
  Axis axis{.low = 0, .high = span};
  double step = static_cast<double>(kSteps.back());
  for (const int64_t each : kSteps) {
    if (span / static_cast<double>(each) > 8) continue;
    step = static_cast<double>(each);
    break;
  }
  if (span < 1) step = span / 4;
  for (double at = 0; at <= span && axis.ticks.size() < 12; at += step)
    axis.ticks.push_back({at, format_duration({static_cast<int64_t>(at * 1e6)})});
  return axis;
}

// The rows in the order in which they were ready, the longest when there are too many.
std::vector<const StepRun*> gantt_rows(const WorkflowRun& run) {
  std::vector<const StepRun*> rows;
  for (const StepRun& step : run.steps)
    if (step.started || step.submitted || step.ready) rows.push_back(&step);
  const auto length = [&](const StepRun* step) {
    const Spans spans = spans_of(*step, run);
    return spans.queued + spans.ran;
  };
  if (rows.size() > kGanttRowsMax) {
    std::nth_element(rows.begin(), rows.begin() + kGanttRowsMax, rows.end(),
                     [&](const StepRun* a, const StepRun* b) {
                       const Duration first = length(a), second = length(b);
                       return first != second ? first > second : a < b;
                     });
    rows.resize(kGanttRowsMax);
  }
  const auto first = [](const StepRun* step) {
    return step->ready ? step->ready : step->submitted ? step->submitted : step->started;
  };
  std::sort(rows.begin(), rows.end(), [&](const StepRun* a, const StepRun* b) {
    return std::pair(first(a), a) < std::pair(first(b), b);
  });
  return rows;
}

// How many intervals are open over time: in each point, the most at any moment of it.
class Open {
 public:
  Open(Time begin, double span) : begin_(begin), span_(span) {}

  void add(Time from, Time to) {
    if (!from || to <= from) return;
    changes_.push_back({from.us, 1});
    changes_.push_back({to.us, -1});
  }
  std::vector<int64_t> counts() {
    std::sort(changes_.begin(),
              changes_.end());  // at the same moment one ends before another starts
    std::vector<int64_t> counts(kPlotPoints, 0);
    int64_t now = 0;
    size_t change = 0;
    for (size_t i = 0; i < kPlotPoints; ++i) {
      counts[i] = now;
      for (; change < changes_.size() && place({changes_[change].first}) <= i; ++change) {
        now += changes_[change].second;
        counts[i] = std::max(counts[i], now);
      }
    }
    return counts;
  }

 private:
  size_t place(Time at) const {
    const double part = std::clamp(seconds_between(begin_, at) / span_, 0.0, 1.0);
    return std::min(kPlotPoints - 1, static_cast<size_t>(part * kPlotPoints));
  }

  Time begin_;
  double span_;
  std::vector<std::pair<int64_t, int>> changes_;
};

Axis count_axis(int64_t most) {
  const int64_t step = std::max<int64_t>(1, (most + 3) / 4);
  Axis axis{.low = 0, .high = static_cast<double>(std::max<int64_t>(1, most))};
  for (int64_t at = 0; at <= most; at += step)
    axis.ticks.push_back({static_cast<double>(at), std::to_string(at)});
  return axis;
}

std::vector<Svg::Point> stairs(const std::vector<int64_t>& counts, const Frame& frame,
                               double span) {
  std::vector<Svg::Point> points;
  const double width = span / static_cast<double>(counts.size());
  for (size_t i = 0; i < counts.size(); ++i) {
    const bool turns = i == 0 || i + 1 == counts.size() || counts[i] != counts[i - 1] ||
                       counts[i] != counts[i + 1];
    if (!turns) continue;
    const double at = static_cast<double>(i) * width, count = static_cast<double>(counts[i]);
    points.push_back(frame.place(at, count));
    points.push_back(frame.place(at + width, count));
  }
  return points;
}

}  // namespace

bool has_times(const WorkflowRun& run) {
  return begin_of(run) && end_of(run) > begin_of(run) && !run.steps.empty();
}

std::string plot_gantt(const WorkflowRun& run) {
  const Time begin = begin_of(run);
  const double span = seconds_between(begin, end_of(run));
  const auto rows = gantt_rows(run);
  const auto count = static_cast<double>(rows.size());
  const double bottom = kPlotTop + count * kGanttRow;
  Axis y{.low = 0, .high = std::max(1.0, count)};
  for (size_t i = 0; i < rows.size(); ++i) {
    y.ticks.push_back(
        {count - 0.5 - static_cast<double>(i),
         std::string(mark(rows[i]->state, false)) + " " + cut(printable(rows[i]->name), 26)});
  }
  Svg svg(kPlotWidth, static_cast<int>(bottom) + kPlotBelow,
          rows.size() < run.steps.size() ? "Timeline: " + std::to_string(rows.size()) + " of " +
                                               std::to_string(run.steps.size()) + " steps"
                                         : "Timeline");
  const Frame frame(svg, time_axis(span), y, kGanttLeft, kPlotTop, kPlotRight, bottom);
  const auto bar = [&](size_t row, Time from, Time to, const std::string& look) {
    if (!from || to <= from) return;
    const auto left = frame.place(seconds_between(begin, from), 0).first;
    const auto right = frame.place(seconds_between(begin, to), 0).first;
    svg.box({left, kPlotTop + static_cast<double>(row) * kGanttRow + 3},
            std::max(1.5, right - left), kGanttRow - 6, look);
  };
  for (size_t i = 0; i < rows.size(); ++i) {
    const StepRun& step = *rows[i];
    const Time ready = step.ready ? step.ready : step.submitted;
    const Spans spans = spans_of(step, run);
    bar(i, ready, ready + spans.queued, "bar queued");
    bar(i, step.started, step.started + spans.ran, "bar " + std::string(word(step.state)));
  }
  return svg.take();
}

std::string plot_concurrency(const WorkflowRun& run) {
  const Time begin = begin_of(run);
  const double span = seconds_between(begin, end_of(run));
  Open running(begin, span), queued(begin, span);
  for (const StepRun& step : run.steps) {
    const Spans spans = spans_of(step, run);
    const Time ready = step.ready ? step.ready : step.submitted;
    queued.add(ready, ready + spans.queued);
    running.add(step.started, step.started + spans.ran);
  }
  const auto run_counts = running.counts(), queue_counts = queued.counts();
  const int64_t most = std::max(*std::max_element(run_counts.begin(), run_counts.end()),
                                *std::max_element(queue_counts.begin(), queue_counts.end()));
  constexpr int kHeight = 220;
  Svg svg(kPlotWidth, kHeight, "Steps at a time");
  const Frame frame(svg, time_axis(span), count_axis(most), kPlotLeft, kPlotTop, kPlotRight,
                    kHeight - kPlotBelow);
  svg.path(stairs(queue_counts, frame, span), series_look("line", 1) + " dashed");
  svg.path(stairs(run_counts, frame, span), series_look("line", 0));
  svg.line({700, 20}, {730, 20}, series_look("line", 0)).text({736, 24}, "running");
  svg.line({820, 20}, {850, 20}, series_look("line", 1) + " dashed").text({856, 24}, "queued");
  return svg.take();
}

}  // namespace atl::report
