// How far a workflow is, in lines.
#include <algorithm>
#include <cmath>

#include "cli/display.h"
#include "cli/output.h"
#include "cli/workflow.h"

namespace atl::cli {
namespace {

constexpr size_t kLinesMax = 12;  // steps that are shown at once
constexpr int kBar = 24;

std::string seconds_text(double seconds) {
  if (seconds < 60) return std::to_string(static_cast<int>(std::ceil(seconds))) + "s";
  const auto minutes = static_cast<int64_t>(seconds / 60);
  if (minutes < 60) return std::to_string(minutes) + "m";
  return std::to_string(minutes / 60) + "h" + std::to_string(minutes % 60) + "m";
}

std::int64_t done_of(const Json& counts) {
  return counts["succeeded"].integer() + counts["failed"].integer() +
         counts["cancelled"].integer() + counts["skipped"].integer();
}

double age(const Json& step) {
  const auto at = parse_time(step.text("started"));
  return at ? static_cast<double>((wall_clock() - *at).us) / 1e6 : 0;
}

// A step by its tasks; one of a single task says for how long it has been running, or what it says
// of its progress itself.
std::string step_line(const Json& step, int name_width) {
  const Json tasks = step["tasks"];
  const std::int64_t total = std::max<std::int64_t>(1, tasks["total"].integer());
  const std::int64_t done = done_of(tasks);
  std::string line =
      "  " + pad(cut(printable(step.text("name")), name_width), name_width, Align::left);
  const std::string state = step.text("state");
  const double percent = step["progress"]["percent"].number(-1);
  const double part = total > 1 || percent < 0
                          ? static_cast<double>(done) / static_cast<double>(total)
                          : percent / 100;
  if (total > 1 || percent >= 0) line += "  " + bar(part, kBar);
  if (total > 1) {
    line += "  " + std::to_string(done) + "/" + std::to_string(total);
    const double seconds = age(step);
    if (done > 0 && seconds > 0.5) {
      const double rate = static_cast<double>(done) / seconds;
      char text[64];
      std::snprintf(text, sizeof text, "  %.3g/s", rate);
      line += text;
      line += "  " + seconds_text(static_cast<double>(total - done) / rate) + " left";
    }
  } else if (percent >= 0) {
    line += "  " + std::to_string(static_cast<int>(percent)) + "%";
  }
  if (step.has("queue")) return line + "  " + step["queue"].text("working") + " under way";
  if (!step.has("started")) return line + "  " + (state == "running" ? "waiting for room" : state);
  return total > 1 ? line : line + "  " + seconds_text(age(step));
}

}  // namespace

std::string bar(double part, int width) {
  const int full = static_cast<int>(std::lround(std::clamp(part, 0.0, 1.0) * width));
  std::string out;
  for (int i = 0; i < width; ++i) out += i < full ? "█" : "░";
  return out;
}

std::vector<std::string> WorkflowProgress::lines(const Json& workflow,
                                                 const std::vector<Json>& active, int width,
                                                 std::chrono::steady_clock::time_point now) {
  const Json counts = workflow["steps"];
  const std::int64_t total = std::max<std::int64_t>(1, counts["total"].integer());
  const std::int64_t done = done_of(counts);
  if (!begun_) {
    begun_ = now;
    done_at_start_ = done;
  }
  std::string first = printable(workflow.text("name")) + "  " +
                      bar(static_cast<double>(done) / static_cast<double>(total), kBar) + "  " +
                      std::to_string(done) + "/" + std::to_string(total) + " steps";
  const auto tell = [&](const char* key, const char* word) {
    if (counts[key].integer() > 0) first += ", " + counts.text(key) + " " + word;
  };
  tell("active", "under way");
  tell("failed", "failed");
  tell("skipped", "skipped");
  const double seconds = std::chrono::duration<double>(now - *begun_).count();
  const std::int64_t since = done - done_at_start_;
  if (since > 0 && seconds > 1 && done < total) {
    const double rate = static_cast<double>(since) / seconds;
    first += ", about " + seconds_text(static_cast<double>(total - done) / rate) + " left";
  }
  if (workflow.text("state") == "paused") first += ", paused";
  std::vector<std::string> out{cut(first, width)};
  int names = 8;
  for (const Json& step : active)
    names = std::max(names, std::min(32, display_width(printable(step.text("name")))));
  for (size_t i = 0; i < std::min(kLinesMax, active.size()); ++i)
    out.push_back(cut(step_line(active[i], names), width));
  if (active.size() > kLinesMax)
    out.push_back("  and " + std::to_string(active.size() - kLinesMax) + " more");
  return out;
}

}  // namespace atl::cli
