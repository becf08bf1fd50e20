#include "simulate/plots.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "simulate/svg.h"

namespace atl::simulate {
namespace {

constexpr int kWidth = 860;
constexpr int kHeight = 380;
constexpr double kLeft = 64, kRight = 840, kTop = 64, kBottom = 340;
constexpr size_t kPointsMax = 400;
constexpr size_t kNamespacesMax = 40;  // those that used most; more would not be readable

void draw_legend(Svg& svg, const std::vector<NamedRun>& runs) {
  double x = kLeft;
  for (size_t i = 0; i < runs.size(); ++i) {
    svg.line({x, 44}, {x + 22, 44}, series_look("line", i));
    svg.text({x + 28, 48}, runs[i].name);
    x += 52 + 7.0 * static_cast<double>(runs[i].name.size());
  }
}

std::vector<std::pair<double, std::string>> percent_ticks() {
  return {{0, "0"}, {0.25, "25%"}, {0.5, "50%"}, {0.75, "75%"}, {1, "100%"}};
}

// From none to as much as is needed, in at most five round steps.
Axis part_axis(double most) {
  double step = 1;
  for (const double each : {0.5, 0.25, 0.2, 0.1, 0.05, 0.02, 0.01}) {
    if (each * 5 >= most) step = each;
  }
  Axis axis{0, std::ceil(most / step - 1e-9) * step, false, {}};
  for (int i = 0; i * step < axis.high + step / 2; ++i)
    axis.ticks.emplace_back(i * step, std::to_string(std::lround(i * step * 100)) + "%");
  return axis;
}

// In hours: about eight whole days apart, or hours of less than three days.
Axis time_axis(size_t hours) {
  Axis axis{0, std::max(1.0, static_cast<double>(hours)), false, {}};
  const bool in_days = hours > 72;
  const size_t unit = in_days ? 24 : 1;
  const size_t step = (hours / unit + 7) / 8 * unit;
  for (size_t at = 0; at <= hours; at += std::max(step, unit))
    axis.ticks.emplace_back(static_cast<double>(at),
                            in_days ? "day " + std::to_string(at / 24) : std::to_string(at) + "h");
  return axis;
}

// How full the machine was in each hour, joined where there are too many hours.
std::vector<double> use_by_hour(const NamedRun& run, size_t& joined) {
  const Curve& curve = run.outcome.curve;
  joined = curve.buckets() / kPointsMax + 1;
  const double whole =
      static_cast<double>(run.cpu_milli) / 1000 * 3600 * static_cast<double>(joined);
  std::vector<double> points;
  for (size_t begin = 0; begin < curve.buckets(); begin += joined) {
    double used = 0;
    for (size_t at = begin; at < std::min(begin + joined, curve.buckets()); ++at) {
      for (size_t ns = 0; ns < run.measures.namespaces.size(); ++ns) used += curve.used(ns, at);
    }
    points.push_back(whole > 0 ? used / whole : 0);
  }
  return points;
}

std::vector<double> sorted_waits(const Trace& trace, const NamedRun& run) {
  std::vector<double> waits;
  for (size_t i = 0; i < trace.jobs.size(); ++i) {
    for (uint32_t k = 0; k < trace.jobs[i].tasks; ++k) {
      const TaskRecord& task = run.outcome.tasks[run.outcome.first_task[i] + k];
      if (task.started.us >= 0)
        waits.push_back(static_cast<double>((task.started - trace.jobs[i].submit).us) / 1e6);
    }
  }
  std::sort(waits.begin(), waits.end());
  return waits;
}

}  // namespace

std::string plot_utilisation(const std::vector<NamedRun>& runs) {
  Svg svg(kWidth, kHeight, "Cores in use");
  draw_legend(svg, runs);
  size_t hours = 1;
  for (const NamedRun& run : runs) hours = std::max(hours, run.outcome.curve.buckets());
  const Frame frame(svg, time_axis(hours), {0, 1, false, percent_ticks()}, kLeft, kTop, kRight,
                    kBottom);
  for (size_t i = 0; i < runs.size(); ++i) {
    size_t joined = 1;
    const std::vector<double> use = use_by_hour(runs[i], joined);
    std::vector<Svg::Point> points;
    for (size_t at = 0; at < use.size(); ++at) {
      // All of the hour is the same, so that a single one is seen too.
      points.push_back(frame.place(static_cast<double>(at * joined), use[at]));
      points.push_back(frame.place(
          static_cast<double>(std::min((at + 1) * joined, runs[i].outcome.curve.buckets())),
          use[at]));
    }
    svg.path(points, series_look("line", i));
  }
  return svg.take();
}

std::string plot_waits(const Trace& trace, const std::vector<NamedRun>& runs) {
  Svg svg(kWidth, kHeight, "Tasks that waited no longer than that");
  draw_legend(svg, runs);
  std::vector<std::vector<double>> waits;
  double most = 60;
  for (const NamedRun& run : runs) {
    waits.push_back(sorted_waits(trace, run));
    if (!waits.back().empty()) most = std::max(most, waits.back().back());
  }
  Axis x{1, most, true, {}};
  for (const auto& [seconds, label] :
       std::vector<std::pair<double, std::string>>{{1, "1s"},
                                                   {10, "10s"},
                                                   {60, "1m"},
                                                   {600, "10m"},
                                                   {3600, "1h"},
                                                   {21'600, "6h"},
                                                   {86'400, "1d"},
                                                   {604'800, "7d"}}) {
    if (seconds <= most) x.ticks.emplace_back(seconds, label);
  }
  const Frame frame(svg, x, {0, 1, false, percent_ticks()}, kLeft, kTop, kRight, kBottom);
  for (size_t i = 0; i < waits.size(); ++i) {
    std::vector<Svg::Point> points;
    const size_t count = std::min(waits[i].size(), kPointsMax);
    for (size_t at = 1; at <= count; ++at) {
      const size_t rank = waits[i].size() * at / count;
      points.push_back(frame.place(
          waits[i][rank - 1], static_cast<double>(rank) / static_cast<double>(waits[i].size())));
    }
    svg.path(points, series_look("line", i));
  }
  return svg.take();
}

std::string plot_namespaces(const std::vector<NamedRun>& runs) {
  std::vector<size_t> order = heaviest_first(runs);
  double most = 0.01;
  const auto& all = runs.front().measures.namespaces;
  if (order.size() > kNamespacesMax) order.resize(kNamespacesMax);
  for (const NamedRun& run : runs) {
    for (const size_t ns : order)
      most =
          std::max({most, run.measures.namespaces[ns].used, run.measures.namespaces[ns].entitled});
  }
  const double bar = 12, gap = 14;
  const double each = bar * static_cast<double>(runs.size()) + gap;
  const double bottom = kTop + each * static_cast<double>(order.size());
  Svg svg(kWidth, static_cast<int>(bottom) + 40,
          "Use by namespace, and its part by weight (upright)");
  draw_legend(svg, runs);
  const Axis x = part_axis(most);
  const Frame frame(svg, x, {0, 1, false, {}}, kLeft + 60, kTop, kRight, bottom);
  for (size_t row = 0; row < order.size(); ++row) {
    const double top = kTop + each * static_cast<double>(row) + gap / 2;
    svg.text({kLeft + 52, top + each / 2 - 2}, all[order[row]].name, Svg::Anchor::end);
    for (size_t i = 0; i < runs.size(); ++i) {
      const NamespaceMeasures& ns = runs[i].measures.namespaces[order[row]];
      const double y = top + bar * static_cast<double>(i);
      const double left = frame.place(0, 0).first;
      svg.box({left, y}, frame.place(ns.used, 0).first - left, bar - 2, series_look("area", i));
      const double due = frame.place(ns.entitled, 0).first;
      svg.line({due, y - 1}, {due, y + bar - 1}, "mark");
    }
  }
  return svg.take();
}

Result<std::vector<std::string>> write_plots(const std::string& directory, const Trace& trace,
                                             const std::vector<NamedRun>& runs) {
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (error) return fail(ErrorCode::invalid, "cannot make " + directory + ": " + error.message());
  std::vector<std::string> written;
  for (const auto& [name, svg] : std::vector<std::pair<std::string, std::string>>{
           {"utilisation.svg", plot_utilisation(runs)},
           {"waits.svg", plot_waits(trace, runs)},
           {"namespaces.svg", plot_namespaces(runs)}}) {
    const std::string path = directory + "/" + name;
    std::ofstream file(path, std::ios::binary);
    file << svg;
    file.close();
    if (!file)
      return fail(ErrorCode::unavailable, "cannot write " + path + ": " + std::strerror(errno));
    written.push_back(path);
  }
  return written;
}

}  // namespace atl::simulate
