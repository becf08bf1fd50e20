// What a worker makes of a host's answers, and of their absence.
#include "site/local/files.h"
#include "site/remote/host_files.h"
#include "site/ssh/host_worker.h"

namespace atl::site {
namespace {

constexpr Duration kUnwantedGrace = seconds(10);
constexpr Duration kBeginningMax = seconds(60);  // then whoever began it was killed at once

}  // namespace

Result<void> HostWorker::poll() {
  Result<HostStatus> status = directory_.poll(heard().uptime_cs);
  if (!status) return tl::unexpected(status.error());
  on_status(std::move(*status));
  return {};
}

void HostWorker::on_status(HostStatus status) {
  set_back();
  const bool first = !adopted_;
  adopted_ = true;
  hear(status.uptime_cs);
  std::set<AttemptId> seen;
  std::set<JobId> fetched;
  for (RunStatus& run : status.runs) {
    seen.insert(run.attempt);
    if (first || !live_.contains(run.attempt)) found(run);
    on_run(run, fetched);
  }
  on_missing(seen);
  if (first) expected_.clear();
}

// Something of ours that this worker did not know: expected, or nobody's.
void HostWorker::found(const RunStatus& run) {
  if (live_.contains(run.attempt) || ended_.contains(run.attempt) || forgets_.contains(run.attempt))
    return;
  Live& live = live_[run.attempt];
  if (expected_.contains(run.attempt)) {
    placements_.put(run.attempt, host_, options_.lease);
    return;
  }
  live.unwanted = true;
  live.stop = StopOrder{.attempt = run.attempt, .grace = kUnwantedGrace};
  active();
}

void HostWorker::on_run(RunStatus& run, std::set<JobId>& fetched) {
  const auto at = live_.find(run.attempt);
  if (at == live_.end()) return;
  Live& live = at->second;
  // An order that is still to be sent again has come after all.
  if (run.stage != RunStage::placed) live.order.reset();
  if (run.progress && !live.unwanted) {
    const std::lock_guard lock(mutex_);
    progress_.insert_or_assign(run.attempt, *run.progress);
  }
  switch (run.stage) {
    case RunStage::ended:
      return on_end(run, fetched);
    case RunStage::running:
      return report_start(run.attempt, live, run.started);
    case RunStage::placed:
    case RunStage::beginning:
      break;
  }
  if (live.order) return;
  const int64_t now = monotonic_us();
  if (live.beginning_us == 0) live.beginning_us = now;
  if (now - live.beginning_us < kBeginningMax.us) return;
  static_cast<void>(directory_.end(run.attempt, "it was interrupted while it began"));
}

// The files first: whoever hears of the end may look at them.
void HostWorker::on_end(RunStatus& run, std::set<JobId>& fetched) {
  Live& live = live_[run.attempt];
  if (live.unwanted) return report_end(run.attempt, std::move(run.result));
  if (run.left_files) {
    Result<void> got = fetch(run.attempt.job, fetched);
    if (!got &&
        (got.error().code == ErrorCode::unavailable || got.error().code == ErrorCode::timeout))
      return;  // the next answer tells of it again
    if (!got) {
      if (!run.result.message.empty()) run.result.message += "; ";
      run.result.message += "its files stay on " + host_ + ": " + got.error().message;
    }
  }
  report_end(run.attempt, std::move(run.result));
}

Result<void> HostWorker::fetch(JobId job, std::set<JobId>& fetched) {
  if (fetched.contains(job)) return {};
  Result<HostPlace> place = directory_.place();
  if (!place) return tl::unexpected(place.error());
  Result<Transferred> got = get_files(shell_, place->root + "/" + job_path(job),
                                      options_.jobs + "/" + std::to_string(job.value));
  if (!got) return tl::unexpected(got.error());
  fetched.insert(job);
  return {};
}

// What the host was known to have, and has no more. One that it never told of may be started anew.
void HostWorker::on_missing(const std::set<AttemptId>& seen) {
  std::vector<AttemptId> lost, never;
  for (const auto& [attempt, live] : live_) {
    if (seen.contains(attempt) || live.order) continue;
    if (live.stop && !live.stop_sent) continue;
    (live.started || live.confirmed || live.tried ? lost : never).push_back(attempt);
  }
  for (const AttemptId attempt : lost)
    report_end(attempt, core::EndCause::lost,
               host_ + " has no trace of it: its directory was removed");
  for (const AttemptId attempt : never) live_.erase(attempt);
}

void HostWorker::report_start(AttemptId attempt, Live& live, Time started) {
  if (live.unwanted || live.started) return;
  live.started = true;
  placements_.started(attempt);
  active();
  ears_.report(core::AttemptStarted{attempt, started});
}

void HostWorker::report_end(AttemptId attempt, core::AttemptResult result) {
  const auto at = live_.find(attempt);
  const bool unwanted = at != live_.end() && at->second.unwanted;
  if (at != live_.end()) live_.erase(at);
  active();
  if (unwanted) {
    forgets_.insert(attempt);
    return;
  }
  ended_.insert(attempt);
  ears_.report(core::AttemptEnded{attempt, std::move(result)});
}

void HostWorker::report_end(AttemptId attempt, core::EndCause cause, std::string message) {
  core::AttemptResult result{.cause = cause, .message = std::move(message)};
  result.usage.started = result.usage.ended = wall_now();
  report_end(attempt, std::move(result));
}

void HostWorker::set_away(const Error& why) {
  ++failures_;
  if (away_since_us_ == 0) away_since_us_ = monotonic_us();
  {
    const std::lock_guard lock(mutex_);
    away_ = why.message;
  }
  if (!told_probe_) {
    told_probe_ = true;
    ears_.probed(host_, std::nullopt, why.message);
  }
  for (auto& [attempt, live] : live_) {
    const bool there = live.started || live.confirmed || live.tried;
    if (!there || live.unreachable || live.unwanted) continue;
    live.unreachable = true;
    ears_.report(core::AttemptUnreachable{attempt, true});
  }
}

void HostWorker::set_back() {
  if (failures_ == 0) return;
  failures_ = 0;
  away_since_us_ = 0;
  active();
  {
    const std::lock_guard lock(mutex_);
    away_.clear();
  }
  for (auto& [attempt, live] : live_) {
    if (!live.unreachable) continue;
    live.unreachable = false;
    ears_.report(core::AttemptUnreachable{attempt, false});
  }
}

// Every renewal that may still arrive there names a moment before the last answer, so the wrapper
// has ended itself so long after it, however late that renewal comes.
void HostWorker::expire_leases() {
  if (failures_ == 0) return;
  const Duration lease = options_.lease.us > 0 ? options_.lease : Duration{};
  if (lease.us == 0 || monotonic_us() < heard().at_us + lease.us + options_.lease_margin.us) return;
  std::vector<AttemptId> over;
  for (const auto& [attempt, live] : live_) {
    if (live.leased && !live.unwanted && (live.tried || live.started || live.confirmed))
      over.push_back(attempt);
  }
  for (const AttemptId attempt : over) {
    report_end(attempt, core::EndCause::lost,
               host_ + " was away for longer than the lease of " + format_duration(lease) +
                   ": it has ended itself there");
    // Found there later, it is nobody's.
    ended_.erase(attempt);
  }
}

// It answers, and can take nothing: waiting would not help.
void HostWorker::refuse_unsent(const Error& why) {
  std::vector<AttemptId> unsent;
  for (const auto& [attempt, live] : live_) {
    if (live.order && !live.tried) unsent.push_back(attempt);
  }
  for (const AttemptId attempt : unsent)
    report_end(attempt, core::EndCause::start_error, why.message);
}

void HostWorker::give_up_unsent() {
  if (away_since_us_ == 0 || monotonic_us() < away_since_us_ + options_.give_up.us) return;
  std::vector<AttemptId> unsent;
  for (const auto& [attempt, live] : live_) {
    if (live.order && !live.tried && monotonic_us() >= live.ordered_us + options_.give_up.us)
      unsent.push_back(attempt);
  }
  for (const AttemptId attempt : unsent)
    report_end(attempt, core::EndCause::lost, "it was never begun: " + away());
}

}  // namespace atl::site
