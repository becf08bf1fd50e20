#include "site/local/local_driver.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>

#include "base/overloaded.h"
#include "base/wire.h"
#include "site/local/devices.h"
#include "site/local/files.h"
#include "site/local/log_store.h"
#include "site/local/probe.h"
#include "site/local/remains.h"

namespace atl::site {
namespace {

constexpr int kRetryMs = 10;  // between two tries to reach the warden
constexpr int64_t kSpawnEveryUs =
    3000000;  // a warden that cleans up may take longer; a second one just leaves
constexpr int64_t kLookEveryUs = 200000;  // whether a refused warden has left
constexpr int64_t kGiveUpUs = 30000000;   // then orders that were never sent are refused
constexpr int kShutdownMs = 40000;        // a tree that does not die is given up after 30 s
constexpr int kSampleReadsMax = 3;        // of a file that changes under the reader
constexpr Duration kUnwantedGrace = seconds(10);

// What the task reads in its notice file.
std::string notice_of(const StopOrder& order) {
  if (order.unless_begun || order.grace.us <= 0) return {};
  return std::string("{\"reason\": \"") + enum_name(order.reason) +
         "\", \"grace_seconds\": " + std::to_string(order.grace.us / 1'000'000) +
         ", \"deadline\": \"" + format_time(order.deadline) + "\"}\n";
}

std::vector<core::Device> all_devices(const LocalOptions& options) {
  std::vector<core::Device> devices;
  if (!options.nvml.empty()) devices = find_nvidia_gpus(options.nvml).devices;
  for (core::Device& device : devices) device.share_step_milli = options.gpu_share_milli;
  devices.insert(devices.end(), options.devices.begin(), options.devices.end());
  return devices;
}

}  // namespace

LocalDriver::LocalDriver(LocalOptions options)
    : options_(std::move(options)),
      directory_(options_.home + "/site/local"),
      devices_(all_devices(options_)),
      command_{.program = options_.warden.empty() ? default_warden_program() : options_.warden,
               .directory = directory_,
               .installation = options_.installation,
               .idle_exit = options_.warden_idle_exit,
               .cgroups = options_.cgroups},
      event_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

LocalDriver::~LocalDriver() {
  close();
  ::close(event_);
}

void LocalDriver::adopt(std::vector<AttemptId> expected, ReportSink sink) {
  expected_ = std::move(expected);
  sink_ = std::move(sink);
  static_cast<void>(make_directories(directory_, 0700));
  thread_ = std::thread([this] { run(); });
}

void LocalDriver::wake() {
  const uint64_t one = 1;
  static_cast<void>(!::write(event_, &one, sizeof one));
}

void LocalDriver::start(std::vector<StartOrder> orders) {
  const std::lock_guard lock(mutex_);
  if (wanted_.starts.empty())
    wanted_.starts = std::move(orders);
  else
    for (StartOrder& order : orders) wanted_.starts.push_back(std::move(order));
  // Always: what is queued already may be forgetting, which woke nobody.
  wake();
}

void LocalDriver::stop(std::vector<StopOrder> orders) {
  const std::lock_guard lock(mutex_);
  wanted_.stops.insert(wanted_.stops.end(), orders.begin(), orders.end());
  wake();
}

// Forgetting is never urgent: it rides along with the next order, or with the next notice.
void LocalDriver::forget(std::vector<AttemptId> attempts) {
  const std::lock_guard lock(mutex_);
  for (const AttemptId attempt : attempts) progress_.erase(attempt);
  wanted_.forgets.insert(wanted_.forgets.end(), attempts.begin(), attempts.end());
  if (wanted_.forgets.size() >= 64) wake();
}

Result<LogChunk> LocalDriver::logs(AttemptId attempt, LogStream stream, int64_t offset,
                                   size_t max) {
  return read_log(directory_ + "/logs", {attempt, static_cast<uint32_t>(stream)}, offset, max);
}

std::vector<std::optional<Progress>> LocalDriver::progress(std::span<const AttemptId> attempts) {
  std::vector<std::optional<Progress>> found(attempts.size());
  const std::lock_guard lock(mutex_);
  for (size_t i = 0; i < attempts.size(); ++i) {
    if (const auto at = progress_.find(attempts[i]); at != progress_.end()) found[i] = at->second;
  }
  return found;
}

Result<Timeline> LocalDriver::samples(AttemptId attempt) {
  // A running task's file is written over in place: what was caught half-way is read again.
  for (int tries = 0;; ++tries) {
    Result<LogChunk> chunk = read_log(directory_ + "/logs", {attempt, kUseStream}, 0, 1 << 20);
    if (!chunk) return tl::unexpected(chunk.error());
    Result<Timeline> timeline = wire::decode<Timeline>(chunk->bytes);
    if (timeline || tries == kSampleReadsMax) return timeline;
  }
}

Result<ExecResult> LocalDriver::exec(const ExecRequest& request) {
  std::unique_lock lock(mutex_);
  if (!refusal_.empty()) return fail(ErrorCode::unavailable, refusal_);
  const uint64_t id = next_exec_++;
  wanted_.execs.push_back({id, request.attempt, request.argv, request.stdin_text, request.timeout});
  exec_results_[id];
  wake();
  const auto patience = std::chrono::microseconds(request.timeout.us + 10000000);
  exec_done_.wait_for(lock, patience, [&] { return exec_results_[id].has_value(); });
  std::optional<ExecEnded> ended = std::move(exec_results_[id]);
  exec_results_.erase(id);
  if (!ended) return fail(ErrorCode::unavailable, "the warden did not answer");
  if (!ended->error.empty())
    return fail(ended->expired ? ErrorCode::timeout : ErrorCode::conflict, ended->error);
  return ExecResult{ended->exit_code, std::move(ended->out), std::move(ended->err)};
}

std::string LocalDriver::job_directory(JobId job) {
  const std::string root = options_.jobs.empty() ? options_.home + "/jobs" : options_.jobs;
  return root + "/" + std::to_string(job.value / 1000) + "/" + std::to_string(job.value);
}

void LocalDriver::purge(JobId job) {
  purge_logs(directory_ + "/logs", job);
  remove_tree(job_directory(job));
}

void LocalDriver::close() {
  closing_ = true;
  wake();
  if (thread_.joinable()) thread_.join();
  warden_.close();
}

void LocalDriver::shutdown() {
  {
    const std::lock_guard lock(mutex_);
    wanted_.shutdown = true;
    wake();
  }
  // The thread leaves once the warden has closed the connection, which it does last.
  if (thread_.joinable()) thread_.join();
  if (Result<int> lock = take_lock(directory_ + "/warden.lock", kShutdownMs)) ::close(*lock);
}

core::SiteReport LocalDriver::report(const std::vector<std::string>& abilities) const {
  core::NodeCapacity node = machine_capacity();
  if (!options_.node.empty()) node.name = options_.node;
  node.cpu_milli = options_.cpu_milli.value_or(node.cpu_milli);
  node.memory_bytes = options_.memory_bytes.value_or(node.memory_bytes);
  node.devices = devices_;
  core::SiteReport report{.nodes = {std::move(node)}, .abilities = abilities};
  report.abilities.push_back("exec");
  if (::access("/usr/bin/bwrap", X_OK) == 0) report.abilities.push_back("sandbox");
  return report;
}

void LocalDriver::run() {
  away_since_ = monotonic_us();
  while (!closing_) {
    deliver();
    if (shutting_down_ && !warden_.open()) return;
    if (!connected()) {
      if (const std::lock_guard lock(mutex_); wanted_.shutdown && !refusal_.empty()) return;
      pollfd wait = {event_, POLLIN, 0};
      ::poll(&wait, 0, kRetryMs);
      continue;
    }
    if (!listing_) take_wanted();
    deliver();
    if (!warden_.flush()) {
      warden_.close();
      continue;
    }
    pollfd fds[2] = {
        {event_, POLLIN, 0},
        {warden_.fd(), static_cast<int16_t>(POLLIN | (warden_.pending() ? POLLOUT : 0)), 0}};
    ::poll(fds, 2, 1000);
    uint64_t count;
    if (fds[0].revents) static_cast<void>(!::read(event_, &count, sizeof count));
    if (fds[1].revents & ~POLLOUT) hear();
  }
  // What was asked for before close() still goes out: forgetting, above all.
  if (warden_.open() && !listing_) take_wanted();
  if (warden_.open()) static_cast<void>(warden_.flush());
  deliver();
}

// All that one message said at once: whoever takes the reports may decide them together.
void LocalDriver::deliver() {
  for (core::Report& report : reports_) sink_(std::move(report));
  reports_.clear();
}

bool LocalDriver::connected() {
  if (warden_.open()) return true;
  const int64_t now = monotonic_us();
  if (still_refused(now)) return false;
  if (away_since_ == 0) {
    away_since_ = now;
    fail_execs("the warden was restarted meanwhile");
  }
  if (Result<int> fd = connect_warden(directory_)) {
    warden_ = Link(*fd);
    listing_ = true;
    listed_.clear();
    listed_starts_.clear();
    warden_.send(Order(Hello{options_.protocol, options_.installation}));
    return true;
  }
  if (now >= next_spawn_) {
    next_spawn_ = now + kSpawnEveryUs;
    Result<void> started = start_warden(command_);
    if (!started) last_error_ = started.error().message;
  }
  if (now - away_since_ > kGiveUpUs) give_up_unsent(last_error_);
  return false;
}

std::string LocalDriver::refusal() {
  const std::lock_guard lock(mutex_);
  return refusal_;
}

// Lets go of the warden. A connection that stayed open, or was made again and again, would keep it
// from leaving when its work has ended.
void LocalDriver::refuse(const std::string& why) {
  std::fprintf(stderr, "atoll: %s\n", why.c_str());
  warden_.close();
  {
    const std::lock_guard lock(mutex_);
    refusal_ = why;
  }
  fail_execs(why);
}

// The lock tells whether it lives, without disturbing it. Attempts that were expected or ordered
// may run there, so nothing is given up and no other warden is started meanwhile.
bool LocalDriver::still_refused(int64_t now) {
  if (refusal().empty()) return false;
  if (now < next_look_) return true;
  next_look_ = now + kLookEveryUs;
  Result<int> lock = take_lock(directory_ + "/warden.lock", 0);
  if (!lock) return true;
  ::close(*lock);
  away_since_ = now;
  next_spawn_ = 0;
  const std::lock_guard guard(mutex_);
  refusal_.clear();
  return false;
}

void LocalDriver::give_up_unsent(const std::string& why) {
  take_wanted();
  std::vector<AttemptId> unsent;
  for (const auto& [attempt, live] : live_) {
    if (!live.sent) unsent.push_back(attempt);
  }
  for (const AttemptId attempt : unsent) {
    report_end(attempt, core::EndCause::start_error,
               "the warden of this machine cannot be reached: " + why);
  }
}

void LocalDriver::take_wanted() {
  Wanted wanted;
  {
    const std::lock_guard lock(mutex_);
    if (wanted_.empty()) return;
    std::swap(wanted, wanted_);
  }
  for (StartOrder& order : wanted.starts) begin(std::move(order));
  for (const StopOrder& order : wanted.stops) begin_stop(order);
  if (!warden_.open()) return;
  if (!wanted.forgets.empty()) warden_.send(Order(ForgetTasks{std::move(wanted.forgets)}));
  for (ExecTask& order : wanted.execs) warden_.send(Order(std::move(order)));
  if (wanted.shutdown) {
    shutting_down_ = true;
    warden_.send(Order(Shutdown{}));
  }
}

void LocalDriver::begin(StartOrder order) {
  const AttemptId attempt = order.attempt;
  const auto [at, fresh] = live_.try_emplace(attempt);
  if (!fresh) return;
  Result<Launch> launch = resolve(order);
  if (!launch) {
    const bool lost = launch.error().code == ErrorCode::unavailable;
    return report_end(attempt, lost ? core::EndCause::lost : core::EndCause::start_error,
                      launch.error().message);
  }
  at->second.launch = wire::encode(*launch);
  at->second.behind = order.behind;
  if (order.behind) followers_[*order.behind] = attempt;
  if (warden_.open()) send_start(attempt, at->second);
}

void LocalDriver::send_start(AttemptId attempt, Live& live) {
  live.sent = true;
  warden_.send(Order(StartTask{attempt, live.launch, live.behind}));
}

void LocalDriver::begin_stop(const StopOrder& order) {
  const StopTask stop{order.attempt, order.grace, order.unless_begun, notice_of(order)};
  if (const auto at = live_.find(order.attempt); at != live_.end())
    at->second.stop = stop;
  else
    live_[order.attempt] = {.sent = true, .stop = stop};
  if (warden_.open()) warden_.send(Order(stop));
}

void LocalDriver::hear() {
  const bool open = warden_.fill();
  while (std::optional<Notice> notice = warden_.receive<Notice>()) {
    match(*notice, [&](auto& body) { on_notice(body); });
    if (!warden_.open()) return;  // refused: what else it said is for another server
  }
  if (open) return;
  warden_.close();
  away_since_ = 0;
  next_spawn_ = 0;
}

void LocalDriver::fail_execs(const std::string& why) {
  const std::lock_guard lock(mutex_);
  wanted_.execs.clear();
  for (auto& [id, result] : exec_results_) {
    if (!result) result = ExecEnded{.id = id, .error = why};
  }
  exec_done_.notify_all();
}

void LocalDriver::on_notice(ExecEnded& notice) {
  const std::lock_guard lock(mutex_);
  const auto at = exec_results_.find(notice.id);
  if (at == exec_results_.end()) return;
  at->second = std::move(notice);
  exec_done_.notify_all();
}

// Only of attempts that will end and be forgotten, so that none stays.
void LocalDriver::on_notice(TaskProgressed& notice) {
  const auto at = live_.find(notice.attempt);
  if (!listing_ && (at == live_.end() || at->second.unwanted)) return;
  const std::lock_guard lock(mutex_);
  progress_.insert_or_assign(notice.attempt, std::move(notice.progress));
}

// The one behind it is behind the one before it from now on: should the line have to be said again,
// that one may still run.
void LocalDriver::leave_line(AttemptId attempt, const Live& live) {
  if (live.behind) followers_.erase(*live.behind);
  const auto next = followers_.extract(attempt);
  if (!next) return;
  if (const auto at = live_.find(next.mapped()); at != live_.end()) at->second.behind = live.behind;
  if (live.behind) followers_[*live.behind] = next.mapped();
}

void LocalDriver::report_end(AttemptId attempt, core::AttemptResult result) {
  const auto at = live_.find(attempt);
  const bool unwanted = at != live_.end() && at->second.unwanted;
  if (at != live_.end()) {
    leave_line(attempt, at->second);
    live_.erase(at);
  }
  if (unwanted)
    warden_.send(Order(ForgetTasks{{attempt}}));
  else
    tell(core::AttemptEnded{attempt, std::move(result)});
}

void LocalDriver::report_end(AttemptId attempt, core::EndCause cause, std::string message) {
  core::AttemptResult result{.cause = cause, .message = std::move(message)};
  result.usage.started = result.usage.ended = wall_now();
  report_end(attempt, std::move(result));
}

void LocalDriver::stop_unwanted(AttemptId attempt) {
  const StopTask stop{attempt, kUnwantedGrace, false};
  live_[attempt] = {.sent = true, .started = true, .unwanted = true, .stop = stop};
  warden_.send(Order(stop));
}

}  // namespace atl::site
