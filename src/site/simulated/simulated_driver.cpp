#include "site/simulated/simulated_driver.h"

#include <chrono>

namespace atl::site {
namespace {

Time now_us() {
  const auto since = std::chrono::system_clock::now().time_since_epoch();
  return {std::chrono::duration_cast<std::chrono::microseconds>(since).count()};
}

core::AttemptResult planned_end(const StartOrder& order, Time started, Duration runs) {
  core::AttemptResult result;
  const bool late = order.wall.us > 0 && runs > order.wall;
  result.cause = late ? core::EndCause::wall_time : core::EndCause::exited;
  result.exit_code = late ? 143 : order.payload.simulated_exit;
  result.usage.started = started;
  result.usage.ended = started + (late ? order.wall : runs);
  result.usage.cpu = {(result.usage.ended - started).us * order.resources.cpu_milli / 1000};
  result.usage.memory_peak_bytes = order.resources.memory_bytes;
  return result;
}

}  // namespace

SimulatedDriver::SimulatedDriver(SimulatedOptions options) : options_(std::move(options)) {}

SimulatedDriver::~SimulatedDriver() { close(); }

void SimulatedDriver::adopt(std::vector<AttemptId> expected, ReportSink sink) {
  sink_ = std::move(sink);
  due_.push_back(
      core::SiteProbed{options_.site, {.nodes = options_.nodes, .abilities = {"simulated"}}});
  for (const AttemptId attempt : expected) {
    core::AttemptResult gone{.cause = core::EndCause::lost,
                             .message = "a simulated site ends with its server"};
    gone.usage.started = gone.usage.ended = now_us();
    due_.push_back(core::AttemptEnded{attempt, std::move(gone)});
  }
  thread_ = std::thread([this] { run(); });
}

void SimulatedDriver::start(std::vector<StartOrder> orders) {
  const Time now = now_us();
  const std::lock_guard lock(mutex_);
  for (const StartOrder& order : orders) begin(order, now);
  changed_.notify_one();
}

void SimulatedDriver::begin(const StartOrder& order, Time now) {
  if (order.repeated) return;  // adopt() has told that it is lost
  const auto [at, fresh] = running_.try_emplace(order.attempt);
  if (!fresh) return;
  if (!order.payload.simulated_start_error.empty()) {
    core::AttemptResult refused{.cause = core::EndCause::start_error,
                                .message = order.payload.simulated_start_error};
    refused.usage.started = refused.usage.ended = now;
    running_.erase(at);
    due_.push_back(core::AttemptEnded{order.attempt, std::move(refused)});
    return;
  }
  const Duration runs = order.payload.simulated_us > 0
                            ? Duration{static_cast<int64_t>(order.payload.simulated_us)}
                            : options_.run_for;
  const Time started = now + options_.start_after;
  at->second = {started, planned_end(order, started, runs)};
  if (runs.us == 0 && options_.start_after.us == 0) {
    due_.push_back(core::AttemptEnded{order.attempt, std::move(at->second.result)});
    running_.erase(at);
    return;
  }
  moments_.push({started, order.attempt, false});
  moments_.push({at->second.result.usage.ended, order.attempt, true});
}

void SimulatedDriver::stop(std::vector<StopOrder> orders) {
  const Time now = now_us();
  const std::lock_guard lock(mutex_);
  for (const StopOrder& order : orders) end(order, now);
  changed_.notify_one();
}

// What is stopped ends at once: nothing here could make use of the grace.
void SimulatedDriver::end(const StopOrder& order, Time now) {
  core::AttemptResult result{.cause = core::EndCause::lost,
                             .message = "the site does not know this attempt"};
  result.usage.started = result.usage.ended = now;
  if (const auto at = running_.find(order.attempt); at != running_.end()) {
    result = {.cause = core::EndCause::stopped, .exit_code = 143, .signal = 15};
    result.usage.started = std::min(at->second.started, now);
    result.usage.ended = now;
    running_.erase(at);
  }
  due_.push_back(core::AttemptEnded{order.attempt, std::move(result)});
}

void SimulatedDriver::forget(std::vector<AttemptId>) {}

Result<LogChunk> SimulatedDriver::logs(AttemptId, LogStream, int64_t offset, size_t) {
  return LogChunk{.offset = offset};
}

std::vector<std::optional<Progress>> SimulatedDriver::progress(
    std::span<const AttemptId> attempts) {
  const Time now = now_us();
  std::vector<std::optional<Progress>> found(attempts.size());
  const std::lock_guard lock(mutex_);
  for (size_t i = 0; i < attempts.size(); ++i) {
    const auto at = running_.find(attempts[i]);
    if (at == running_.end() || at->second.started > now) continue;
    const core::Usage& usage = at->second.result.usage;
    const int64_t whole = std::max<int64_t>(1, (usage.ended - usage.started).us);
    const int64_t passed = std::min((now - usage.started).us, whole);
    const double part = static_cast<double>(passed) / static_cast<double>(whole);
    found[i] = Progress{.percent_milli = static_cast<uint32_t>(part * kPercentMilliMax),
                        .status = "running",
                        .at = now};
  }
  return found;
}

Result<ExecResult> SimulatedDriver::exec(const ExecRequest&) {
  return fail(ErrorCode::unavailable, "a simulated site runs no commands");
}

void SimulatedDriver::close() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
    changed_.notify_one();
  }
  if (thread_.joinable()) thread_.join();
}

void SimulatedDriver::run() {
  std::unique_lock lock(mutex_);
  while (!closing_) {
    const Time now = now_us();
    while (!moments_.empty() && moments_.top().at <= now) {
      const Moment moment = moments_.top();
      moments_.pop();
      const auto at = running_.find(moment.attempt);
      if (at == running_.end()) continue;  // it was stopped before
      if (!moment.ends) {
        due_.push_back(core::AttemptStarted{moment.attempt, moment.at});
      } else {
        due_.push_back(core::AttemptEnded{moment.attempt, std::move(at->second.result)});
        running_.erase(at);
      }
    }
    if (!due_.empty()) {
      // Reports are made without the lock: whoever hears them may give new orders.
      std::vector<core::Report> due = std::move(due_);
      due_.clear();
      lock.unlock();
      for (core::Report& report : due) sink_(std::move(report));
      lock.lock();
      continue;
    }
    if (moments_.empty())
      changed_.wait(lock);
    else
      changed_.wait_for(lock, std::chrono::microseconds((moments_.top().at - now).us));
  }
}

}  // namespace atl::site
