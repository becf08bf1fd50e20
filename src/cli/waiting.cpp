#include "cli/waiting.h"

#include <algorithm>
#include <cstdio>
#include <thread>

#include "cli/job_view.h"
#include "cli/selectors.h"

namespace atl::cli {

using Steady = std::chrono::steady_clock;

void Ending::tell() {
  const std::lock_guard lock(mutex_);
  told_ = true;
  changed_.notify_all();
}

bool Ending::told() const {
  const std::lock_guard lock(mutex_);
  return told_;
}

bool Ending::within(std::chrono::milliseconds time) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, time, [this] { return told_; });
}

Result<std::optional<Json>> wait_for_end(Api& api, const std::string& id, const Deadline& deadline,
                                         const std::function<bool(const Json&)>& look,
                                         const Pace& pace) {
  auto pause = pace.first;
  auto last_seen = Steady::now();
  while (true) {
    const auto job = api.get(job_path(id));
    const auto now = Steady::now();
    if (job) {
      last_seen = now;
      if (job->text("state") == "ended") return std::optional<Json>(*job);
      if (!look(*job)) return std::optional<Json>();
    } else if (job.error().code != ErrorCode::unavailable || now - last_seen > kServerAwayMax) {
      return tl::unexpected(job.error());
    }
    if (deadline && now >= *deadline) return std::optional<Json>();
    auto nap = pause;
    if (deadline)
      nap = std::min(nap, std::chrono::ceil<std::chrono::milliseconds>(*deadline - now));
    if (!pace.ending)
      std::this_thread::sleep_for(nap);
    else if (pace.ending->within(nap))
      return std::optional<Json>();
    pause = std::min(pace.last, pause * 3 / 2);
  }
}

std::string ArrayProgress::line(const Json& job, Steady::time_point now) {
  const Json tasks = job["tasks"];
  const std::int64_t total = tasks["total"].integer();
  const std::int64_t waiting = tasks["waiting"].integer();
  const std::int64_t active = tasks["active"].integer();
  const std::int64_t done = total - waiting - active;
  const std::int64_t bad = done - tasks["succeeded"].integer();
  if (!begun_) {
    begun_ = now;
    done_at_start_ = done;
  }
  std::string line = std::to_string(done) + "/" + std::to_string(total) + " done, " +
                     std::to_string(active) + " running, " + std::to_string(waiting) + " waiting";
  if (bad > 0) line += ", " + std::to_string(bad) + " failed";
  const double seconds_passed = std::chrono::duration<double>(now - *begun_).count();
  const double rate = static_cast<double>(done - done_at_start_) / std::max(seconds_passed, 1e-3);
  if (seconds_passed > 1 && rate > 0) {
    char text[48];
    std::snprintf(text, sizeof text, rate < 10 ? ", %.1f/s" : ", %.0f/s", rate);
    line += text;
    line +=
        ", " +
        show_span(seconds(static_cast<std::int64_t>(static_cast<double>(total - done) / rate))) +
        " left";
  }
  return line;
}

std::string status_of(const Json& job, ArrayProgress& progress) {
  const std::string id = job.text("id");
  if (job["tasks"].is_object()) return id + ": " + progress.line(job, Steady::now());
  if (job.text("state") != "waiting") return {};
  const std::string sentence = with_local_times(job.text("sentence"));
  return id + ": " + (sentence.empty() ? "waiting: " + job.text("reason") : sentence);
}

}  // namespace atl::cli
