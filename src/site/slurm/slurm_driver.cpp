#include "site/slurm/slurm_driver.h"

#include <algorithm>
#include <chrono>
#include <fstream>
#include <sstream>

#include "site/remote/local_shell.h"
#include "site/remote/ssh_shell.h"
#include "site/slurm/batch_script.h"
#include "site/slurm/job_name.h"
#include "site/slurm/limits.h"
#include "site/slurm/slurm_commands.h"

namespace atl::site {
namespace {

std::shared_ptr<Shell> shell_for(const SlurmOptions& options) {
  if (options.over.empty()) return std::make_shared<LocalShell>();
  return std::make_shared<SshShell>(
      SshShellOptions{.host = options.over, .config = options.ssh_config});
}

Result<std::string> read_template(const std::string& path) {
  if (path.empty()) return std::string(kBatchTemplate);
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  if (!file) return fail(ErrorCode::invalid, "the batch template " + path + " cannot be read");
  if (auto checked = check_template(text.str()); !checked)
    return fail(ErrorCode::invalid, path + ": " + checked.error().message);
  return text.str();
}

}  // namespace

SlurmDriver::SlurmDriver(SlurmOptions options) : SlurmDriver(options, shell_for(options)) {}

SlurmDriver::SlurmDriver(SlurmOptions options, std::shared_ptr<Shell> shell)
    : options_(std::move(options)),
      shell_(std::move(shell)),
      runs_(*shell_, {.installation = options_.installation, .root = options_.directory}) {}

SlurmDriver::~SlurmDriver() { close(); }

void SlurmDriver::adopt(std::vector<AttemptId> expected, ReportSink sink) {
  expected_ = std::move(expected);
  sink_ = std::move(sink);
  thread_ = std::thread([this] { run(); });
}

void SlurmDriver::start(std::vector<StartOrder> orders) {
  const std::lock_guard lock(mutex_);
  std::move(orders.begin(), orders.end(), std::back_inserter(wanted_.starts));
  changed_.notify_one();
}

void SlurmDriver::stop(std::vector<StopOrder> orders) {
  const std::lock_guard lock(mutex_);
  std::move(orders.begin(), orders.end(), std::back_inserter(wanted_.stops));
  changed_.notify_one();
}

void SlurmDriver::forget(std::vector<AttemptId> attempts) {
  const std::lock_guard lock(mutex_);
  for (const AttemptId attempt : attempts) progress_.erase(attempt);
  wanted_.forgets.insert(wanted_.forgets.end(), attempts.begin(), attempts.end());
  changed_.notify_one();
}

Result<LogChunk> SlurmDriver::logs(AttemptId attempt, LogStream stream, int64_t offset,
                                   size_t max) {
  return runs_.logs(attempt, stream, offset, max);
}

std::vector<std::optional<Progress>> SlurmDriver::progress(std::span<const AttemptId> attempts) {
  std::vector<std::optional<Progress>> found(attempts.size());
  const std::lock_guard lock(mutex_);
  for (size_t i = 0; i < attempts.size(); ++i) {
    const auto at = progress_.find(attempts[i]);
    if (at != progress_.end()) found[i] = at->second;
  }
  return found;
}

Result<ExecResult> SlurmDriver::exec(const ExecRequest&) {
  return fail(ErrorCode::unavailable,
              "a Slurm site runs no commands beside a task; on the cluster, `srun --jobid=N "
              "--overlap` does");
}

// Only where the server itself can read it.
std::string SlurmDriver::job_directory(JobId job) {
  const std::lock_guard lock(mutex_);
  return options_.over.empty() && !root_.empty() ? root_ + "/" + job_path(job) : std::string();
}

void SlurmDriver::purge(JobId job) { static_cast<void>(runs_.purge(job)); }

void SlurmDriver::close() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
    changed_.notify_one();
  }
  if (thread_.joinable()) thread_.join();
  shell_->close();
}

std::string SlurmDriver::trouble() {
  const std::lock_guard lock(mutex_);
  return trouble_;
}

void SlurmDriver::run() {
  Result<std::string> text = read_template(options_.template_file);
  template_ = text ? *text : std::string();
  template_error_ = text ? std::string() : text.error().message;
  while (wait_for_work()) {
    turn();
    deliver();
  }
  take_wanted();  // what is durable need not be told again
  forget_due();
}

// Until an order comes or the next look is due; false when the driver closes.
bool SlurmDriver::wait_for_work() {
  std::unique_lock lock(mutex_);
  const Duration left = next_poll_ - clock_.now();
  if (wanted_.empty() && !closing_ && left.us > 0)
    changed_.wait_for(lock, std::chrono::microseconds(left.us),
                      [&] { return closing_ || !wanted_.empty(); });
  return !closing_;
}

void SlurmDriver::turn() {
  if (clock_.now() >= next_probe_ && !probe()) {
    next_probe_ = clock_.now() + options_.poll;
    if (!probed_) tell_nothing_there();
  }
  const bool first = !adopted_;
  take_wanted();
  if (adopted_ && !away_since_) submit_due();
  stop_due();
  if (first || clock_.now() >= next_poll_) {
    if (first || !live_.empty() || !strays_.empty()) poll();
    next_poll_ = clock_.now() + options_.poll;
  }
  fence_due();
  cancel_due();
  forget_due();
}

// A cluster that does not answer when the server starts: no capacity, and no news of its work.
void SlurmDriver::tell_nothing_there() {
  probed_ = told_away_ = true;
  reported_ = {};
  tell(core::SiteProbed{options_.site, {}});
  for (const AttemptId attempt : expected_) tell(core::AttemptUnreachable{attempt, true});
}

void SlurmDriver::take_wanted() {
  if (!adopted_) return;
  Wanted wanted;
  {
    const std::lock_guard lock(mutex_);
    std::swap(wanted, wanted_);
  }
  for (StartOrder& order : wanted.starts) begin(std::move(order));
  for (const StopOrder& order : wanted.stops) begin_stop(order);
  forgets_.insert(wanted.forgets.begin(), wanted.forgets.end());
}

// An attempt that was seen is not started again. A repeated order may have been carried out by the
// server before this one, so it is looked for first.
void SlurmDriver::begin(StartOrder order) {
  const AttemptId attempt = order.attempt;
  if (ended_.contains(attempt)) return;
  const auto [at, fresh] = live_.try_emplace(attempt);
  if (!fresh) return;
  if (!template_error_.empty()) {
    end(attempt, {.cause = core::EndCause::start_error, .message = template_error_});
    return;
  }
  Live& live = at->second;
  live.tried = order.repeated;
  live.tried_at = clock_.now() - kResubmitAfter;
  live.order = std::move(order);
}

void SlurmDriver::begin_stop(const StopOrder& order) {
  const auto at = live_.find(order.attempt);
  if (at == live_.end()) {
    if (ended_.contains(order.attempt)) return;
    end(order.attempt,
        {.cause = core::EndCause::lost, .message = "the site does not know this attempt"});
    return;
  }
  Live& live = at->second;
  if (order.unless_begun) return;
  if (live.order && !live.tried) {  // Slurm has never heard of it
    end(order.attempt, {.cause = core::EndCause::stopped, .exit_code = 143, .signal = 15});
    return;
  }
  const Time kill_at = clock_.now() + order.grace;
  if (live.stop && live.kill_at <= kill_at) return;
  live.stop = order;
  live.kill_at = kill_at;
  live.stop_told = false;
  live.followed.stop_asked = true;
}

// What ended without a result of its own gets one, so that nothing brings it back.
void SlurmDriver::forget_due() {
  if (forgets_.empty() || away_since_) return;
  std::vector<AttemptId> attempts(forgets_.begin(), forgets_.end());
  for (const AttemptId attempt : attempts) {
    if (!resultless_.contains(attempt)) continue;
    if (!runs_.end(attempt, "Slurm told its end")) return;
    resultless_.erase(attempt);
  }
  if (!runs_.forget(attempts)) return;
  for (const AttemptId attempt : attempts) ended_.erase(attempt);
  forgets_.clear();
}

Result<Said> SlurmDriver::ask(const std::string& text) {
  return shell_->run({.script = "exec sh -s",
                      .input = text,
                      .timeout = kSlurmPatience,
                      .out_max = kSlurmAnswerMax});
}

void SlurmDriver::end(AttemptId attempt, core::AttemptResult result) {
  if (!result.usage.started) result.usage.started = result.usage.ended = clock_.now();
  live_.erase(attempt);
  ended_.insert(attempt);
  tell(core::AttemptEnded{attempt, std::move(result)});
}

void SlurmDriver::deliver() {
  std::vector<core::Report> reports = std::move(reports_);
  reports_.clear();
  for (core::Report& report : reports) sink_(std::move(report));
}

void SlurmDriver::went_away(const std::string& why) {
  const Time now = clock_.now();
  if (!away_since_) away_since_ = now;
  {
    const std::lock_guard lock(mutex_);
    trouble_ = why;
  }
  if (now - away_since_ < kUnreachableAfter) return;
  for (auto& [attempt, live] : live_) {
    if (live.unreachable || !live.followed.told_start) continue;
    live.unreachable = true;
    tell(core::AttemptUnreachable{attempt, true});
  }
}

void SlurmDriver::came_back() {
  if (!away_since_) return;
  away_since_ = {};
  // Nodes take their time to register with a controller that comes back.
  registering_until_ = clock_.now() + kProbeEvery;
  next_probe_ = std::min(next_probe_, clock_.now() + kProbeSoon);
  {
    const std::lock_guard lock(mutex_);
    trouble_.clear();
  }
  for (auto& [attempt, live] : live_) {
    if (!live.unreachable) continue;
    live.unreachable = false;
    tell(core::AttemptUnreachable{attempt, false});
  }
}

std::string SlurmDriver::name_of(AttemptId attempt) const {
  return slurm_job_name(options_.installation, attempt);
}

bool SlurmDriver::use_json() const {
  return version_ >= kSoundJson && live_.size() <= kJsonRunsMax;
}

std::vector<AttemptId> SlurmDriver::live_attempts() const {
  std::vector<AttemptId> attempts;
  for (const auto& [attempt, live] : live_) attempts.push_back(attempt);
  return attempts;
}

}  // namespace atl::site
