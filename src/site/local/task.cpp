#include "site/local/task.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/amount.h"
#include "base/text.h"
#include "base/wire.h"
#include "site/local/environment.h"
#include "site/local/files.h"
#include "site/local/process_tree.h"
#include "site/local/task_usage.h"

namespace atl::site {
namespace {

constexpr size_t kReadBytes = 64 << 10;
constexpr int64_t kSampleSlack = 100'000;  // µs that a tick may come early or late

int text_as_file(const std::string& text) {
  const int fd = ::memfd_create("stdin", MFD_CLOEXEC);
  if (fd < 0) return -1;
  if (!write_all(fd, text) || ::lseek(fd, 0, SEEK_SET) != 0) {
    ::close(fd);
    return -1;
  }
  return fd;
}

std::string directory_of(const Launch& launch) {
  if (!launch.payload.directory.empty()) return launch.payload.directory;
  return launch.account.home.empty() ? "/" : launch.account.home;
}

}  // namespace

OutputPipe::~OutputPipe() {
  if (read_fd >= 0) ::close(read_fd);
  if (write_fd >= 0) ::close(write_fd);
}

bool OutputPipe::open() {
  int fds[2];
  if (::pipe2(fds, O_CLOEXEC) != 0) return false;
  read_fd = fds[0];
  write_fd = fds[1];
  return ::fcntl(read_fd, F_SETFL, O_NONBLOCK) == 0;
}

Task::Task(Launch launch, CgroupSlot& slot, LogWriter& logs, const std::vector<EnergyZone>& zones)
    : launch_(std::move(launch)), slot_(slot), logs_(logs), energy_(zones) {}

bool Task::start() {
  logs_.begin(launch_.attempt, launch_.array, launch_.log_bytes_max);
  started_ = wall_now();
  started_us_ = monotonic_us();
  if (Result<void> possible = check_launch(launch_); !possible) {
    return fail_start(possible.error().message);
  }
  slot_.set_limits({.memory_bytes = launch_.memory_bytes,
                    .cpu_milli = launch_.cpu_milli,
                    .processes = launch_.processes_max});
  cpu_before_ = slot_.cpu_us();
  slot_.mark_peak();
  energy_.look();
  if (!out_.open() || !err_.open()) return fail_start("the machine is out of file descriptors");
  if (sandboxed() && !inside_.open()) return fail_start("the machine is out of file descriptors");
  SpawnPlan how = plan();
  if (!launch_.payload.stdin_text.empty()) {
    how.stdin_fd = text_as_file(launch_.payload.stdin_text);
    if (how.stdin_fd < 0) return fail_start("there is no memory for the text of stdin");
  }
  const Spawned spawned = spawn(how);
  if (how.stdin_fd >= 0) ::close(how.stdin_fd);
  if (spawned.pid < 0) return fail_spawn(spawned);
  pid_ = spawned.pid;
  progress_.watch(progress_file(how));
  if (launch_.wall.us > 0) wall_us_ = started_us_ + launch_.wall.us;
  return true;
}

SpawnPlan Task::plan() const {
  SpawnPlan how;
  how.command = build_command(launch_);
  how.environment = build_environment(launch_);
  if (sandboxed()) {
    how.command = wrap_in_sandbox(launch_, how.command);
    how.passed = inside_.passed();
  }
  how.candidates =
      executable_candidates(how.command[0], environment_value(how.environment, "PATH"));
  how.directory = directory_of(launch_);
  how.stdin_file = launch_.payload.stdin_file;
  how.stdout_fd = out_.write_fd;
  how.stderr_fd = err_.write_fd;
  if (launch_.account.uid != ::geteuid()) how.account = &launch_.account;
  if (!launch_.payload.script.empty()) {
    how.script = launch_.payload.script;
    how.script_file = script_path(launch_);
  }
  if (!slot_.limits_memory()) how.rlimit_memory = launch_.memory_bytes;
  // The kernel counts this limit per account, so it holds only for accounts other than root.
  if (!slot_.limits_processes()) how.rlimit_processes = launch_.processes_max;
  return how;
}

// The one we offer, or the one that the job itself names, such as its own log.
ProgressFile Task::progress_file(const SpawnPlan& how) const {
  std::string path(environment_value(how.environment, kProgressFileVariable));
  if (!path.empty() && path[0] != '/') path = how.directory + "/" + path;
  return {std::move(path), launch_.account.uid, started_};
}

bool Task::fail_start(std::string message) {
  ended_ = true;
  result_.cause = core::EndCause::start_error;
  result_.message = std::move(message);
  result_.usage.started = result_.usage.ended = started_;
  return false;
}

// A command that cannot be executed ends as under a shell: 127 when it is not there, 126 when it
// is, and a line on stderr. Everything else is an error of the start.
bool Task::fail_spawn(const Spawned& spawned) {
  const std::string why = std::strerror(spawned.error);
  const std::string command = build_command(launch_)[0];
  switch (spawned.stage) {
    case SpawnStage::directory:
      return fail_start("cannot run in the directory " + quote(directory_of(launch_)) + ": " + why);
    case SpawnStage::input:
      return fail_start("cannot read stdin from " + quote(launch_.payload.stdin_file) + ": " + why);
    case SpawnStage::script:
      return fail_start("cannot write the script " + script_path(launch_) + ": " + why);
    case SpawnStage::account:
      return fail_start("cannot run as the user " + quote(launch_.account.name) + ": " + why);
    case SpawnStage::session:
    case SpawnStage::limits:
      return fail_start("cannot make a process: " + why);
    case SpawnStage::execute:
      break;
  }
  const bool missing = spawned.error == ENOENT;
  const std::string line = "atoll: " + command + ": " +
                           (missing                    ? "command not found"
                            : spawned.error == ELIBBAD ? "its interpreter was not found"
                                                       : why) +
                           "\n";
  fail_start("");
  logs_.append(static_cast<uint32_t>(LogStream::err), line);
  result_.cause = core::EndCause::exited;
  result_.exit_code = missing ? 127 : 126;
  result_.stderr_bytes = static_cast<int64_t>(line.size());
  result_.usage.ended = wall_now();
  return false;
}

int64_t Task::due() const {
  return std::min({wall_us_, kill_us_, started_us_ + sampler_.due().us});
}

bool Task::tick(int64_t now) {
  if (now >= wall_us_) {
    wall_us_ = INT64_MAX;
    stop(launch_.grace, core::EndCause::wall_time, now);
  }
  if (now >= started_us_ + sampler_.due().us) {
    sample(now);
    progress_.look();
  }
  return now >= kill_us_;
}

void Task::stop(Duration grace, core::EndCause cause, int64_t now) {
  if (!ending_) ending_ = cause;
  if (grace.us > 0 && kill_us_ == INT64_MAX) {
    signal_tree(SIGTERM);
    signal_tree(SIGCONT);
  }
  kill_us_ = std::min(kill_us_, now + std::max<int64_t>(0, grace.us));
}

void Task::signal_tree(int signal) {
  for (const pid_t pid : tree_members(slot_)) {
    // bwrap itself would die of the signal and take its inside along before the grace.
    if (sandboxed() && pid == pid_) continue;
    ::kill(pid, signal);
  }
}

void Task::sample(int64_t now) {
  energy_.look();
  const TreeUsage use = slot_.limits_memory() && cpu_before_ >= 0
                            ? TreeUsage{slot_.cpu_us() - cpu_before_, slot_.memory_bytes()}
                            : tree_usage();
  sampler_.add({.at = {now - started_us_}, .cpu = {use.cpu_us}, .memory_bytes = use.memory_bytes});
  // The first two say what it uses now; later a write every other second is soon enough.
  const bool early = sampler_.timeline().points.size() <= 2;
  if (early || now >= use_stored_us_ + Sampler::kLiveEvery.us - kSampleSlack) {
    logs_.store_use(wire::encode(sampler_.timeline()), false);
    use_stored_us_ = now;
  }
  const bool unguarded = !slot_.limits_memory() && launch_.memory_bytes > 0;
  if (unguarded && use.memory_bytes > launch_.memory_bytes) stop({0}, core::EndCause::memory, now);
}

void Task::drain(LogStream stream, int rounds) {
  static char buffer[kReadBytes];
  const int fd = stream == LogStream::out ? out_.read_fd : err_.read_fd;
  for (int i = 0; i < rounds && fd >= 0; ++i) {
    const ssize_t n = ::read(fd, buffer, sizeof buffer);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return;
    const std::string_view bytes(buffer, static_cast<size_t>(n));
    logs_.append(static_cast<uint32_t>(stream), bytes);
    progress_.hear(stream, bytes);
    if (n < static_cast<ssize_t>(sizeof buffer)) return;
  }
}

void Task::reaped(pid_t pid, int status, const rusage& usage) {
  add_usage(used_, usage);
  if (pid != pid_) return;
  status_ = status;
  ended_ = true;
}

void Task::finish(bool checkpointed) {
  if (pid_ > 0) {
    const int64_t now = monotonic_us();
    drain(LogStream::out, 1000);
    drain(LogStream::err, 1000);
    progress_.end();
    result_.stdout_bytes = logs_.written(static_cast<uint32_t>(LogStream::out));
    result_.stderr_bytes = logs_.written(static_cast<uint32_t>(LogStream::err));
    if (now >= started_us_ + 1000000) {
      sample(now);
      logs_.store_use(wire::encode(sampler_.timeline()), true);
    }
    result_.usage.started = started_;
    result_.usage.ended = started_ + Duration{now - started_us_};
    account_usage();
    settle_cause();
  }
  logs_.finish();
  result_.checkpointed = checkpointed;
}

void Task::account_usage() {
  core::Usage& usage = result_.usage;
  usage.cpu = cpu_of(used_);
  // One process's peak is what wait tells; the group's is that of all together.
  usage.memory_peak_bytes = std::max(used_.ru_maxrss * 1024, sampler_.memory_peak());
  usage.memory_peak_bytes =
      std::max(usage.memory_peak_bytes, slot_.memory_peak(usage.memory_peak_bytes));
  usage.read_bytes = static_cast<int64_t>(used_.ru_inblock) * 512;
  usage.written_bytes = static_cast<int64_t>(used_.ru_oublock) * 512;
  // Children that nobody waited for are missing in what wait tells, not in the group's account.
  if (!sampler_.timeline().points.empty()) {
    usage.cpu = std::max(usage.cpu, sampler_.timeline().points.back().cpu);
  }
  energy_.look();
  usage.energy_mj = energy_.share_mj(usage.cpu);
}

void Task::settle_cause() {
  if (sandboxed()) status_ = inside_.status().value_or(status_);
  if (WIFSIGNALED(status_)) {
    result_.signal = WTERMSIG(status_);
    result_.exit_code = 128 + result_.signal;
    result_.cause = core::EndCause::signalled;
  } else {
    result_.exit_code = WEXITSTATUS(status_);
  }
  // Asked in any case: the next task in the slot must not be told of it.
  const bool out_of_memory = slot_.new_oom_kills() > 0;
  if (ending_) {
    result_.cause = *ending_;
  } else if (status_ != 0 && out_of_memory) {
    result_.cause = core::EndCause::memory;
    result_.usage.memory_peak_bytes =
        std::max(result_.usage.memory_peak_bytes, launch_.memory_bytes);
  }
  if (result_.cause == core::EndCause::memory) {
    result_.message = "used more than its " + format_bytes(launch_.memory_bytes) + " of memory";
  }
}

}  // namespace atl::site
