// The warden's side of its keepers: made when a task finds none idle, kept for the next one, buried
// when they die.
#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

#include "base/overloaded.h"
#include "site/local/files.h"
#include "site/local/keeper.h"
#include "site/local/process_tree.h"
#include "site/local/warden.h"
#include "site/local/warden_tags.h"

namespace atl::site {
namespace {

constexpr size_t kKeepersMax = 8192;      // processes of our own; a task needs one
constexpr size_t kIdleKept = 4;           // kept however long they idle
constexpr int64_t kIdleMaxUs = 30000000;  // others go after this

core::AttemptResult refusal(std::string message) {
  core::AttemptResult result{.cause = core::EndCause::start_error, .message = std::move(message)};
  result.usage.started = result.usage.ended = wall_now();
  return result;
}

}  // namespace

void Warden::dispatch(StartTask order) {
  const int number = idle_keeper();
  if (number < 0) {
    return end_attempt(order.attempt, refusal("the machine can hold no more processes: " +
                                              std::string(std::strerror(errno))));
  }
  Slot& slot = slots_.at(number);
  slot.attempt = order.attempt;
  slot.started.reset();
  slot.progress.reset();
  running_.emplace(order.attempt, number);
  slot.link.send(Order(std::move(order)));
  touched_.insert(number);
}

int Warden::idle_keeper() {
  if (idle_.empty()) return make_keeper();
  const int number = *idle_.begin();
  idle_.erase(idle_.begin());
  return number;
}

int Warden::make_keeper() {
  if (slots_.size() >= kKeepersMax) {
    errno = EAGAIN;
    return -1;
  }
  int number = 0;
  while (slots_.contains(number)) ++number;
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return -1;
  const pid_t pid = ::fork();
  if (pid == 0) become_keeper(number, ends[1]);
  ::close(ends[1]);
  if (pid < 0) {
    ::close(ends[0]);
    return -1;
  }
  const int list = ::open((options_.directory + "/keepers").c_str(),
                          O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (list >= 0) {
    static_cast<void>(
        write_all(list, std::to_string(pid) + " " + std::to_string(process_start(pid)) + "\n"));
    ::close(list);
  }
  Slot& slot = slots_[number];
  slot.pid = pid;
  slot.link = Link(ends[0]);
  watch(ends[0], kFirstSlotTag + static_cast<uint64_t>(number));
  return number;
}

// In the child: of the warden's descriptors only the socket and the keepers' lock stay.
void Warden::become_keeper(int number, int socket) {
  constexpr int kSocket = 100, kLock = 101;
  ::dup3(socket, kSocket, O_CLOEXEC);
  ::dup3(keepers_lock_, kLock, O_CLOEXEC);
  ::syscall(SYS_close_range, 3, kSocket - 1, 0);
  ::syscall(SYS_close_range, kLock + 1, ~0U, 0);
  const rlimit files = {files_before_, files_max_};
  ::setrlimit(RLIMIT_NOFILE, &files);
  CgroupSlot group(groups_, number);
  CgroupSlot none;
  // An empty base may have been removed meanwhile, by whoever tidies up on this machine.
  const bool made =
      group.make() ||
      (groups_.version > 0 && make_cgroup_base(options_.installation).version == groups_.version &&
       group.make());
  const bool grouped = made && group.enter();
  Keeper keeper(kSocket, grouped ? group : none,
                {.slot = number, .logs = options_.directory + "/logs"});
  ::_exit(keeper.run());
}

void Warden::hear_keeper(int number) {
  const auto at = slots_.find(number);
  if (at == slots_.end()) return;
  const bool open = at->second.link.fill();
  touched_.insert(number);
  while (std::optional<Notice> notice = at->second.link.receive<Notice>()) {
    match(
        *notice, [&](const TaskStarted& n) { on_notice(number, n); },
        [&](const TaskEnded& n) { on_notice(number, n); },
        [&](const ExecEnded& n) { on_notice(number, n); },
        [&](TaskProgressed& n) { on_notice(number, n); }, [](const auto&) {});
  }
  if (!open) lose_keeper(number);
}

void Warden::on_notice(int number, const TaskStarted& notice) {
  Slot& slot = slots_.at(number);
  if (slot.attempt != notice.attempt) return;
  slot.started = notice.started;
  tell(notice);
}

void Warden::on_notice(int number, const TaskEnded& notice) {
  Slot& slot = slots_.at(number);
  if (slot.attempt != notice.attempt) return;
  if (progressed_.erase(number) > 0) tell_progress(number);
  slot.attempt.reset();
  running_.erase(notice.attempt);
  idle_.insert(number);
  slot.idle_since = quiet_since_ = monotonic_us();
  end_attempt(notice.attempt, notice.result);
}

void Warden::on_notice(int, const ExecEnded& notice) { tell(notice); }

void Warden::on_notice(int number, TaskProgressed& notice) {
  Slot& slot = slots_.at(number);
  if (slot.attempt != notice.attempt) return;
  slot.progress = std::move(notice.progress);
  progressed_.insert(number);
}

void Warden::tell_progress(int number) {
  const Slot& slot = slots_.at(number);
  if (slot.attempt && slot.progress) tell(TaskProgressed{*slot.attempt, *slot.progress});
}

void Warden::lose_keeper(int number) {
  Slot slot = std::move(slots_.at(number));
  slots_.erase(number);
  idle_.erase(number);
  progressed_.erase(number);
  bury_keeper(number, slot);
  if (!slot.attempt) return;
  running_.erase(*slot.attempt);
  core::AttemptResult result{.cause = core::EndCause::lost,
                             .message = "its keeper was killed; the task was ended with it"};
  result.usage.started = slot.started.value_or(wall_now());
  result.usage.ended = wall_now();
  end_attempt(*slot.attempt, result);
}

// After this nothing of the slot runs: its keeper is reaped, what the keeper left has become our
// child.
void Warden::bury_keeper(int number, Slot& slot) {
  slot.link.close();
  if (slot.attempt) ::kill(slot.pid, SIGKILL);
  ::waitpid(slot.pid, nullptr, 0);
  CgroupSlot group(groups_, number);
  if (slot.attempt && group.make()) {
    group.forbid_forks();
    for (int i = 0; i < 2000; ++i) {
      const std::vector<pid_t> members = group.members();
      if (members.empty()) break;
      if (!group.kill_members()) {
        for (const pid_t pid : members) ::kill(pid, SIGKILL);
      }
      while (::waitpid(-1, nullptr, WNOHANG) > 0) {
      }
      ::usleep(1000);
    }
  } else if (slot.attempt) {
    end_strays();
  }
  group.remove();
}

// Without control groups: our descendants that belong to no keeper.
void Warden::end_strays() {
  std::set<pid_t> ours;
  for (const auto& [number, slot] : slots_) {
    ours.insert(slot.pid);
    for (const pid_t pid : descendants(slot.pid)) ours.insert(pid);
  }
  for (int i = 0; i < 1000; ++i) {
    int found = 0;
    for (const pid_t pid : descendants(::getpid())) {
      if (ours.contains(pid)) continue;
      ::kill(pid, SIGKILL);
      ::waitpid(pid, nullptr, WNOHANG);
      ++found;
    }
    if (found == 0) return;
    ::usleep(2000);
  }
}

void Warden::retire_idle(int64_t now) {
  std::vector<int> old;
  for (const int number : idle_) {
    if (idle_.size() - old.size() <= kIdleKept) break;
    if (now - slots_.at(number).idle_since > kIdleMaxUs) old.push_back(number);
  }
  for (const int number : old) lose_keeper(number);
}

void Warden::flush_keeper(int number, Slot& slot) {
  if (!slot.link.open()) return;
  if (!slot.link.flush()) return;  // its end is about to be read
  if (slot.link.pending() == slot.wants_write) return;
  slot.wants_write = slot.link.pending();
  epoll_event event = {.events = EPOLLIN | (slot.wants_write ? EPOLLOUT : 0u),
                       .data = {.u64 = kFirstSlotTag + static_cast<uint64_t>(number)}};
  ::epoll_ctl(epoll_, EPOLL_CTL_MOD, slot.link.fd(), &event);
}

}  // namespace atl::site
