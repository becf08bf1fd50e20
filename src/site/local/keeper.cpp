#include "site/local/keeper.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/overloaded.h"
#include "base/wire.h"
#include "site/local/environment.h"
#include "site/local/files.h"
#include "site/local/process_tree.h"

namespace atl::site {
namespace {

// Into a directory that belongs to the task's account, who may have put anything there: by a new
// file that takes the place of whatever has the name.
void leave_notice(const Launch& launch, const std::string& text) {
  if (text.empty()) return;
  const int directory =
      ::open(checkpoint_directory(launch).c_str(), O_DIRECTORY | O_NOFOLLOW | O_RDONLY | O_CLOEXEC);
  if (directory < 0) return;
  constexpr const char* kPartial = ".notice";
  ::unlinkat(directory, kPartial, 0);
  const int fd =
      ::openat(directory, kPartial, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (fd >= 0) {
    const bool written =
        ::write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size()) &&
        (launch.account.uid == ::geteuid() ||
         ::fchown(fd, launch.account.uid, launch.account.gid) == 0);
    ::close(fd);
    if (!written || ::renameat(directory, kPartial, directory, "notice") != 0)
      ::unlinkat(directory, kPartial, 0);
  }
  ::close(directory);
}

// A task that is over within this time is reported once, as ended; telling of its start would cost
// as much again.
constexpr int64_t kAnnounceUs = 3000;
constexpr int64_t kWornBytes = 64 << 20;
constexpr size_t kExecsMax = 16;
constexpr int kDrainRounds = 4;

void on_child(int) {}

void set_signals() {
  for (const int one : {SIGPIPE, SIGHUP, SIGINT, SIGTERM}) ::signal(one, SIG_IGN);
  struct sigaction action = {};
  action.sa_handler = on_child;
  ::sigaction(SIGCHLD, &action, nullptr);
  // Delivered only inside ppoll, so that no end of a child is missed between looking and waiting.
  sigset_t block;
  sigemptyset(&block);
  sigaddset(&block, SIGCHLD);
  ::sigprocmask(SIG_SETMASK, &block, nullptr);
}

}  // namespace

Keeper::Keeper(int socket, CgroupSlot& slot, const KeeperOptions& options)
    : warden_(socket),
      slot_(slot),
      directories_(options.slot),
      logs_(options.logs, "slot-" + std::to_string(options.slot)),
      zones_(find_energy_zones(powercap_directory())) {}

int Keeper::run() {
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  ::umask(022);
  set_signals();
  while (!retire_ && serve_once()) {
  }
  abandon();
  return 0;
}

bool Keeper::serve_once() {
  wait_for_something();
  if (readable_ && !receive()) return false;
  if (task_ && talking_) {
    task_->drain(LogStream::out, kDrainRounds);
    task_->drain(LogStream::err, kDrainRounds);
  }
  if (task_) reap();
  tick();
  return warden_.flush();
}

void Keeper::wait_for_something() {
  pollfd fds[3 + 2 * kExecsMax];
  nfds_t count = 0;
  const auto watch = [&](int fd, int16_t events) { fds[count++] = {fd, events, 0}; };
  watch(warden_.fd(), static_cast<int16_t>(POLLIN | (warden_.pending() ? POLLOUT : 0)));
  int64_t due = INT64_MAX;
  if (task_) {
    watch(task_->out().read_fd, POLLIN);
    watch(task_->err().read_fd, POLLIN);
    due = task_->due();
    due = std::min(due, task_->announced ? task_->progress().due() : announce_us_);
  }
  for (const ExecRun& run : execs_) {
    watch(run.out().read_fd, POLLIN);
    watch(run.err().read_fd, POLLIN);
    due = std::min(due, run.deadline());
  }
  timespec wait = {};
  if (due != INT64_MAX) {
    const int64_t left = std::max<int64_t>(0, due - monotonic_us());
    wait = {.tv_sec = left / 1000000, .tv_nsec = left % 1000000 * 1000};
  }
  sigset_t none;
  sigemptyset(&none);
  const int ready = ::ppoll(fds, count, due == INT64_MAX ? nullptr : &wait, &none);
  readable_ = ready > 0 && (fds[0].revents & (POLLIN | POLLHUP | POLLERR));
  talking_ = ready > 0 && task_ && (fds[1].revents || fds[2].revents);
}

bool Keeper::receive() {
  if (!warden_.fill()) return false;
  while (std::optional<Order> order = warden_.receive<Order>()) {
    match(
        *order, [&](const StartTask& o) { start(o); }, [&](const StopTask& o) { stop(o); },
        [&](const ExecTask& o) { exec(o); }, [](const auto&) {});
  }
  return true;
}

void Keeper::start(const StartTask& order) {
  Result<Launch> launch = wire::decode<Launch>(order.launch);
  if (!launch) launch = Launch{};
  launch->attempt = order.attempt;
  task_ = std::make_unique<Task>(std::move(*launch), slot_, logs_, zones_);
  if (Result<void> made = directories_.take(task_->launch()); !made) {
    task_->refuse(made.error().message);
    return finish();
  }
  if (!task_->start()) return finish();
  announce_us_ = monotonic_us() + kAnnounceUs;
}

void Keeper::stop(const StopTask& order) {
  if (!task_ || task_->launch().attempt != order.attempt) return;
  leave_notice(task_->launch(), order.notice);
  task_->stop(order.grace, core::EndCause::stopped, monotonic_us());
}

void Keeper::exec(const ExecTask& order) {
  ExecEnded refused{.id = order.id};
  if (!task_ || task_->launch().attempt != order.attempt)
    refused.error = "the task is not running";
  else if (execs_.size() >= kExecsMax)
    refused.error = "too many commands run beside this task already";
  else if (order.argv.empty())
    refused.error = "there is no command to run";
  if (!refused.error.empty()) return warden_.send(Notice(std::move(refused)));
  ExecRun& run = execs_.emplace_back(order);
  if (run.start(*task_)) return;
  warden_.send(Notice(run.ended(0)));
  execs_.pop_back();
}

void Keeper::reap() {
  for (;;) {
    int status = 0;
    rusage usage{};
    const pid_t pid = ::wait4(-1, &status, WNOHANG, &usage);
    if (pid <= 0) break;
    reaped(pid, status, usage);
  }
  if (task_->ended()) finish();
}

void Keeper::reaped(pid_t pid, int status, const rusage& usage) {
  const auto run = std::find_if(execs_.begin(), execs_.end(),
                                [&](const ExecRun& one) { return one.pid() == pid; });
  if (run != execs_.end()) {
    warden_.send(Notice(run->ended(status)));
    execs_.erase(run);
  }
  if (task_) task_->reaped(pid, status, usage);
}

void Keeper::tick() {
  for (ExecRun& run : execs_) run.drain();
  if (!task_) return;
  const int64_t now = monotonic_us();
  for (ExecRun& run : execs_) {
    if (now >= run.deadline()) run.expire();
  }
  if (!task_->announced && now >= announce_us_) {
    task_->announced = true;
    warden_.send(Notice(TaskStarted{task_->launch().attempt, task_->started()}));
  }
  if (now >= task_->due() && task_->tick(now)) return finish();
  tell_progress(now);
}

// A task that is over before its start is told has none to tell. While the warden does not listen,
// news wait: only the newest are of interest.
void Keeper::tell_progress(int64_t now) {
  if (!task_->announced) return;
  const bool last = task_->ended();
  if (warden_.pending() && !last) return task_->progress().postpone(now);
  if (std::optional<Progress> news = task_->progress().take(now, last))
    warden_.send(Notice(TaskProgressed{task_->launch().attempt, std::move(*news)}));
}

// Ends whatever is left of the tree, then tells. The order matters: once the end is told, nothing
// of it runs.
void Keeper::finish() {
  const Reaped count = [this](pid_t pid, int status, const rusage& usage) {
    reaped(pid, status, usage);
  };
  if (!kill_tree(slot_, count)) retire_ = true;
  if (task_->announced) task_->progress().look();
  task_->finish(directories_.give_back(task_->launch()));
  tell_progress(monotonic_us());
  warden_.send(Notice(TaskEnded{task_->launch().attempt, task_->result()}));
  const bool light =
      task_->result().usage.ended - task_->result().usage.started < milliseconds(100);
  task_.reset();
  execs_.clear();
  if (!light && worn()) retire_ = true;
  // The result must leave before a keeper that retires does.
  if (retire_) static_cast<void>(warden_.flush());
}

bool Keeper::worn() const { return slot_.shared_bytes() > kWornBytes; }

void Keeper::abandon() {
  static_cast<void>(kill_tree(slot_, [](pid_t, int, const rusage&) {}));
  if (task_) static_cast<void>(directories_.give_back(task_->launch()));
}

}  // namespace atl::site
