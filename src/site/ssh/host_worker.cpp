#include "site/ssh/host_worker.h"

#include <chrono>

#include "site/local/files.h"
#include "site/remote/host_files.h"

namespace atl::site {
namespace {

constexpr size_t kStartsMax = 64;                           // of one exchange
constexpr Duration kProbeEvery = minutes(5);                // disks fill, GPUs come and go
constexpr Duration kRetryMax = seconds(5);                  // between two tries to reach a host
constexpr auto kCloseMs = std::chrono::milliseconds(5000);  // for what was asked for before close()

}  // namespace

HostWorker::HostWorker(HostOptions options, Placements& placements, Ears ears)
    : options_(std::move(options)),
      host_(options_.ssh.host),
      placements_(placements),
      ears_(std::move(ears)),
      shell_(options_.ssh),
      directory_(shell_, options_.directory) {}

HostWorker::~HostWorker() { close(); }

void HostWorker::adopt(std::set<AttemptId> expected) {
  expected_ = std::move(expected);
  heard_ = {.at_us = monotonic_us()};
  for (const AttemptId attempt : expected_) {
    const std::optional<Placed> placed = placements_.find(attempt);
    if (!placed || placed->host != host_ || placed->forgotten) continue;
    live_[attempt] = {
        .leased = placed->lease.us > 0, .confirmed = placed->started, .ordered_us = heard_.at_us};
  }
  thread_ = std::thread([this] { run(); });
  if (options_.lease.us > 0) keeper_ = std::thread([this] { keep_lease(); });
}

void HostWorker::start(StartOrder order) {
  const std::lock_guard lock(mutex_);
  wanted_.starts.push_back(std::move(order));
  changed_.notify_all();
}

void HostWorker::stop(StopOrder order) {
  const std::lock_guard lock(mutex_);
  wanted_.stops.push_back(order);
  changed_.notify_all();
}

// Never urgent: it goes with the next exchange.
void HostWorker::forget(std::vector<AttemptId> attempts) {
  const std::lock_guard lock(mutex_);
  for (const AttemptId attempt : attempts) progress_.erase(attempt);
  wanted_.forgets.insert(wanted_.forgets.end(), attempts.begin(), attempts.end());
}

std::optional<Progress> HostWorker::progress(AttemptId attempt) {
  const std::lock_guard lock(mutex_);
  const auto at = progress_.find(attempt);
  return at == progress_.end() ? std::nullopt : std::optional(at->second);
}

std::string HostWorker::away() {
  const std::lock_guard lock(mutex_);
  return away_;
}

void HostWorker::close() {
  {
    std::unique_lock lock(mutex_);
    closing_ = true;
    changed_.notify_all();
    if (thread_.joinable()) changed_.wait_for(lock, kCloseMs, [&] { return done_.load(); });
  }
  shell_.interrupt();
  if (thread_.joinable()) thread_.join();
  if (keeper_.joinable()) keeper_.join();
  shell_.close();
}

void HostWorker::run() {
  while (!closing_) {
    take_wanted();
    const bool reached = turn();
    expire_leases();
    give_up_unsent();
    if (!reached) pause_ = std::min(seconds(1) * std::max(1, failures_), kRetryMax);
    wait_for_work();
  }
  // What was asked for before close() still goes out: forgetting, above all.
  take_wanted();
  if (failures_ == 0 && adopted_) static_cast<void>(exchange());
  const std::lock_guard lock(mutex_);
  done_ = true;
  changed_.notify_all();
}

HostWorker::Heard HostWorker::heard() {
  const std::lock_guard lock(mutex_);
  return heard_;
}

// Also of a host that was restarted, whose uptime begins anew.
void HostWorker::hear(int64_t uptime_cs) {
  const std::lock_guard lock(mutex_);
  heard_ = {uptime_cs, monotonic_us()};
}

void HostWorker::keep_lease() {
  std::unique_lock lock(mutex_);
  while (!closing_) {
    changed_.wait_for(lock, std::chrono::microseconds(options_.lease.us / 4),
                      [&] { return closing_.load(); });
    if (closing_ || !adopted_ || !away_.empty()) continue;
    if (monotonic_us() - heard_.at_us < options_.lease.us / 4) continue;
    const int64_t renewed = heard_.uptime_cs;
    lock.unlock();
    if (const Result<int64_t> uptime = directory_.renew(renewed)) hear(*uptime);
    lock.lock();
  }
}

// Work that was just begun or ended is soon looked at again, then less and less often.
void HostWorker::wait_for_work() {
  const bool busy = !live_.empty();
  const Duration most = busy ? options_.poll : options_.idle_poll;
  const Duration pause = failures_ > 0 ? pause_ : std::min(pause_, most);
  if (failures_ == 0) pause_ = {std::min(pause_.us + pause_.us / 2, most.us)};
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, std::chrono::microseconds(pause.us), [&] {
    const bool orders = !wanted_.starts.empty() || !wanted_.stops.empty();
    return closing_ || (orders && failures_ == 0);
  });
}

void HostWorker::take_wanted() {
  Wanted wanted;
  {
    const std::lock_guard lock(mutex_);
    std::swap(wanted, wanted_);
  }
  for (StartOrder& order : wanted.starts) begin(std::move(order));
  for (const StopOrder& order : wanted.stops) begin_stop(order);
  for (const AttemptId attempt : wanted.forgets) {
    if (ended_.erase(attempt) > 0) forgets_.insert(attempt);
  }
}

void HostWorker::begin(StartOrder order) {
  const AttemptId attempt = order.attempt;
  if (ended_.contains(attempt) || forgets_.contains(attempt)) return;
  const auto [at, fresh] = live_.try_emplace(attempt);
  Live& live = at->second;
  if (!fresh && (live.order || live.started || live.unwanted || live.confirmed)) return;
  live.leased = options_.lease.us > 0;
  live.ordered_us = monotonic_us();
  live.order = std::move(order);
  placements_.put(attempt, host_, options_.lease);
  active();
}

void HostWorker::begin_stop(const StopOrder& order) {
  if (order.unless_begun || ended_.contains(order.attempt)) return;
  const auto at = live_.find(order.attempt);
  if (at != live_.end() && at->second.order && !at->second.tried) {
    core::AttemptResult result{.cause = core::EndCause::stopped, .exit_code = 143, .signal = 15};
    result.usage.started = result.usage.ended = wall_now();
    return report_end(order.attempt, std::move(result));
  }
  Live& live = live_[order.attempt];
  live.stop = order;
  live.stop_sent = false;
  active();
}

// One failed exchange may be the connection's process that somebody killed; two are the host.
bool HostWorker::turn() {
  Result<void> done = exchange();
  if (!done && failures_ == 0 && !closing_) done = exchange();
  if (done) {
    set_back();
    return true;
  }
  if (done.error().code == ErrorCode::exhausted) refuse_unsent(done.error());
  if (!closing_) set_away(done.error());
  return false;
}

Result<void> HostWorker::exchange() {
  const int64_t now = monotonic_us();
  if (!probed_ || now >= next_probe_us_) {
    if (Result<void> looked = look_at_host(); !looked) return looked;
  }
  if (!adopted_) {
    if (Result<void> done = poll(); !done) return done;
  }
  if (Result<void> done = send_starts(); !done) return done;
  if (Result<void> done = send_stops(); !done) return done;
  if (Result<void> done = send_forgets(); !done) return done;
  return closing_ ? Result<void>{} : poll();
}

// A host whose disk is full can take no work; what runs there is looked at all the same.
Result<void> HostWorker::look_at_host() {
  Result<HostFacts> facts = directory_.probe();
  if (!facts && facts.error().code != ErrorCode::exhausted) return tl::unexpected(facts.error());
  next_probe_us_ = monotonic_us() + kProbeEvery.us;
  probed_ = told_probe_ = true;
  if (facts)
    ears_.probed(host_, *facts, {});
  else
    ears_.probed(host_, std::nullopt, facts.error().message);
  return {};
}

Result<void> HostWorker::send_files(const StartOrder& order) {
  const std::string local = options_.jobs + "/" + std::to_string(order.attempt.job.value);
  if (!is_directory(local) || is_empty_directory(local)) return {};
  Result<HostPlace> place = directory_.place();
  if (!place) return tl::unexpected(place.error());
  Result<Transferred> sent =
      put_files(shell_, local, place->root + "/" + job_path(order.attempt.job));
  if (!sent) return tl::unexpected(sent.error());
  return {};
}

Result<void> HostWorker::send_starts() {
  for (;;) {
    std::vector<RunOrder> orders;
    std::set<JobId> jobs;
    std::vector<std::pair<AttemptId, Error>> failed;
    for (auto& [attempt, live] : live_) {
      if (!live.order || orders.size() >= kStartsMax) continue;
      // By the server's clock: an order from before the host's boot may have run.
      const int64_t uptime_cs = heard().uptime_cs;
      if (live.order->repeated && uptime_cs > 0 &&
          live.order->placed < wall_now() - Duration{uptime_cs * 10'000}) {
        failed.emplace_back(attempt,
                            Error{ErrorCode::stale, host_ + " was restarted while it ran", {}});
        continue;
      }
      if (jobs.insert(attempt.job).second) {
        Result<void> sent = send_files(*live.order);
        if (!sent && sent.error().code != ErrorCode::unavailable &&
            sent.error().code != ErrorCode::timeout) {
          failed.emplace_back(attempt, sent.error());
          jobs.erase(attempt.job);
          continue;
        }
        if (!sent) return sent;
      }
      live.tried = true;
      orders.push_back({.start = *live.order, .lease = options_.lease});
    }
    for (const auto& [attempt, error] : failed)
      report_end(
          attempt,
          error.code == ErrorCode::stale ? core::EndCause::lost : core::EndCause::start_error,
          error.message);
    if (orders.empty()) return {};
    for (RunOrder& order : orders) order.renewed_cs = heard().uptime_cs;
    RunDirectory::Refused refused;
    Result<void> sent = directory_.start(orders, true, refused);
    if (!sent && sent.error().code != ErrorCode::exhausted) return sent;
    for (const RunOrder& order : orders) {
      const AttemptId attempt = order.start.attempt;
      live_[attempt].order.reset();
      if (const auto at = refused.find(attempt); at != refused.end())
        report_end(attempt, core::EndCause::start_error, at->second.message);
      else if (!sent)
        report_end(attempt, core::EndCause::start_error, sent.error().message);
    }
    active();
  }
}

Result<void> HostWorker::send_stops() {
  std::vector<StopOrder> orders;
  for (const auto& [attempt, live] : live_) {
    if (live.stop && !live.stop_sent && !live.order) orders.push_back(*live.stop);
  }
  if (orders.empty()) return {};
  Result<std::vector<AttemptId>> unknown = directory_.stop(orders);
  if (!unknown) return tl::unexpected(unknown.error());
  for (const StopOrder& order : orders) live_[order.attempt].stop_sent = true;
  for (const AttemptId attempt : *unknown)
    report_end(attempt, core::EndCause::lost, host_ + " does not know this attempt");
  active();
  return {};
}

Result<void> HostWorker::send_forgets() {
  if (forgets_.empty()) return {};
  const std::vector<AttemptId> attempts(forgets_.begin(), forgets_.end());
  if (Result<void> sent = directory_.forget(attempts); !sent) return sent;
  for (const AttemptId attempt : attempts) placements_.forgotten(attempt);
  forgets_.clear();
  return {};
}

}  // namespace atl::site
