#include "site/local/warden.h"

#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>

#include "base/overloaded.h"
#include "site/local/files.h"
#include "site/local/warden_tags.h"

namespace atl::site {
namespace {

constexpr int kEventsMax = 256;
constexpr int kHouseKeepingMs = 5000;
// An end is told together with others while this many are left in line behind the next one, who
// need the server no sooner.
constexpr int kLineLow = 3;
constexpr int64_t kTogetherUs = 5000;

core::AttemptResult plain_end(core::EndCause cause, std::string message) {
  core::AttemptResult result{.cause = cause, .message = std::move(message)};
  result.usage.started = result.usage.ended = wall_now();
  return result;
}

}  // namespace

void Warden::run() {
  quiet_since_ = monotonic_us();
  while (!done_) turn();
  close_down();
}

void Warden::turn() {
  epoll_event events[kEventsMax];
  const int64_t left = flush_by_ > 0 ? std::max<int64_t>(0, flush_by_ - monotonic_us()) : 0;
  const int wait = flush_by_ > 0 ? static_cast<int>((left + 999) / 1000) : kHouseKeepingMs;
  const int count = ::epoll_wait(epoll_, events, kEventsMax, wait);
  for (int i = 0; i < count; ++i) {
    const uint64_t tag = events[i].data.u64;
    if (tag == kListenerTag)
      accept_server();
    else if (tag == kServerTag)
      serve();
    else if (tag == kSignalTag)
      hear_signals();
    else
      hear_keeper(static_cast<int>(tag - kFirstSlotTag));
  }
  settle();
  if (count == 0) {
    retire_idle(monotonic_us());
    if (idle_for_long()) done_ = true;
  }
}

// The end of a turn: what was accepted is written down before it starts, what ended before it is
// told.
void Warden::settle() {
  do {
    start_accepted();
    for (const StopTask& order : stops_) deliver_stop(order);
    stops_.clear();
    // What ended at once let the one behind it in.
  } while (!starts_.empty());
  static_cast<void>(ledger_.commit());
  flush_server();
  for (const int number : touched_) {
    const auto slot = slots_.find(number);
    if (slot != slots_.end()) flush_keeper(number, slot->second);
  }
  touched_.clear();
}

void Warden::start_accepted() {
  const bool written = ledger_.commit();
  std::vector<StartTask> starts = std::move(starts_);
  starts_.clear();
  for (StartTask& order : starts) {
    if (written) {
      dispatch(std::move(order));
      continue;
    }
    ledger_.forget(order.attempt);
    tell(TaskEnded{order.attempt,
                   plain_end(core::EndCause::start_error,
                             "the warden cannot write its ledger: is the disk full?")});
    start_next(order.attempt);
  }
}

void Warden::hear_signals() {
  signalfd_siginfo info;
  while (::read(signals_, &info, sizeof info) == static_cast<ssize_t>(sizeof info)) {
    if (info.ssi_signo == SIGTERM) done_ = true;
  }
  // Keepers are buried when their socket closes; what else appears here lost its keeper and was
  // reparented to us.
  for (;;) {
    siginfo_t child = {};
    if (::waitid(P_ALL, 0, &child, WEXITED | WNOHANG | WNOWAIT) != 0 || child.si_pid == 0) return;
    bool keeper = false;
    for (const auto& [number, slot] : slots_) keeper = keeper || slot.pid == child.si_pid;
    if (keeper) return;
    ::waitpid(child.si_pid, nullptr, WNOHANG);
  }
}

void Warden::accept_server() {
  const int fd = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
  if (fd < 0) return;
  // A new server takes over: the one before is dead or about to be.
  drop_server();
  server_ = Link(fd);
  watch(fd, kServerTag);
}

void Warden::drop_server() {
  server_ = Link();
  greeted_ = false;
  server_wants_write_ = false;
  flush_by_ = 0;
  quiet_since_ = monotonic_us();
}

void Warden::serve() {
  if (!server_.open()) return;
  const bool open = server_.fill();
  while (std::optional<Order> order = server_.receive<Order>()) {
    match(*order, [&](auto& body) { on_order(body); });
    if (!server_.open()) return;
  }
  if (!open) drop_server();
}

void Warden::flush_server() {
  if (!server_.open() || (flush_by_ > 0 && monotonic_us() < flush_by_)) return;
  flush_by_ = 0;
  if (!server_.flush()) return drop_server();
  // Progress waits for a server that listens: of each task only the newest is of interest, and a
  // server that hangs must not make a queue of them.
  if (greeted_ && !server_.pending() && !progressed_.empty()) {
    for (const int number : progressed_) tell_progress(number);
    progressed_.clear();
    if (!server_.flush()) return drop_server();
  }
  if (server_.pending() == server_wants_write_) return;
  server_wants_write_ = server_.pending();
  epoll_event event = {.events = EPOLLIN | (server_wants_write_ ? EPOLLOUT : 0u),
                       .data = {.u64 = kServerTag}};
  ::epoll_ctl(epoll_, EPOLL_CTL_MOD, server_.fd(), &event);
}

bool Warden::idle_for_long() const {
  // A result that could not be written is only here.
  return !server_.open() && running_.empty() && ledger_.written() &&
         monotonic_us() - quiet_since_ > options_.idle_exit.us;
}

void Warden::tell(const Notice& notice) {
  if (!greeted_) return;
  server_.send(notice);
  flush_by_ = 0;
}

// The end of one whose line goes on is told with the next ones, in one message: each wakes the
// server, and has a commit of its own.
void Warden::tell_end(AttemptId attempt, const core::AttemptResult& result, bool urgent) {
  const bool first = !server_.pending();
  const int64_t by = first ? monotonic_us() + kTogetherUs : flush_by_;
  tell(TaskEnded{attempt, result});
  if (!urgent && greeted_) flush_by_ = by;
}

void Warden::on_order(const Hello& order) {
  if (order.installation != options_.installation) return drop_server();
  greeted_ = true;
  line_.clear();  // the server says again who is in line, if it still knows
  Welcome welcome{.version = kProtocolVersion, .pid = ::getpid(), .rebooted = ledger_.rebooted()};
  welcome.abilities.push_back(groups_.version == 0 ? "rlimits"
                                                   : "cgroup-v" + std::to_string(groups_.version));
  welcome.abilities.push_back("line");
  welcome.abilities.push_back("long_line");
  tell(welcome);
  for (const auto& [attempt, result] : ledger_.known()) {
    if (result) {
      tell(TaskEnded{attempt, *result});
      continue;
    }
    const auto at = running_.find(attempt);
    const std::optional<Time> started =
        at == running_.end() ? std::nullopt : slots_.at(at->second).started;
    tell(TaskStarted{attempt, started.value_or(wall_now())});
    if (at != running_.end()) tell_progress(at->second);
  }
  tell(Listed{});
}

void Warden::on_order(StartTask& order) {
  const auto known = ledger_.known().find(order.attempt);
  if (known == ledger_.known().end()) {
    if (line_.contains(order.attempt)) return;
    if (order.behind && (live(*order.behind) || line_.contains(*order.behind)))
      return line_.add(std::move(order));
    ledger_.accept(order.attempt);
    starts_.push_back(std::move(order));
    return;
  }
  if (known->second) return tell(TaskEnded{order.attempt, *known->second});
  const auto at = running_.find(order.attempt);
  if (at == running_.end()) return;
  if (const std::optional<Time> started = slots_.at(at->second).started) {
    tell(TaskStarted{order.attempt, *started});
  }
}

void Warden::on_order(const StopTask& order) { stops_.push_back(order); }

// One that the ledger knows and that has no result yet: it runs, or is about to.
bool Warden::live(AttemptId attempt) const {
  const auto known = ledger_.known().find(attempt);
  return known != ledger_.known().end() && !known->second;
}

// The room of the one that ended goes to the one behind it, without asking anybody. False when the
// server had better send more for the line.
bool Warden::start_next(AttemptId ended) {
  std::optional<StartTask> next = line_.take_behind(ended);
  if (!next) return false;
  ledger_.accept(next->attempt);
  starts_.push_back(std::move(*next));
  return line_.longer_than(starts_.back().attempt, kLineLow);
}

// Whether the order was for one in line, which it has then left. One that left the line in this
// very turn has not begun either.
bool Warden::leave_line(const StopTask& order) {
  const bool waited = line_.leave(order.attempt);
  const bool accepted = !order.unless_begun && std::erase_if(starts_, [&](const StartTask& start) {
                                                 return start.attempt == order.attempt;
                                               }) > 0;
  if (!waited && !accepted) return false;
  end_attempt(order.attempt,
              order.unless_begun
                  ? plain_end(core::EndCause::recalled, "handed back before it began")
                  : plain_end(core::EndCause::stopped, "stopped before it began"));
  return true;
}

void Warden::deliver_stop(const StopTask& order) {
  if (leave_line(order)) return;
  if (order.unless_begun && live(order.attempt)) return;
  if (const auto at = running_.find(order.attempt); at != running_.end()) {
    slots_.at(at->second).link.send(Order(order));
    touched_.insert(at->second);
    return;
  }
  const auto known = ledger_.known().find(order.attempt);
  if (known != ledger_.known().end() && known->second) {
    return tell(TaskEnded{order.attempt, *known->second});
  }
  end_attempt(order.attempt,
              order.unless_begun
                  ? plain_end(core::EndCause::recalled, "handed back before it came")
                  : plain_end(core::EndCause::lost, "the warden does not know this attempt"));
}

void Warden::on_order(const ForgetTasks& order) {
  for (const AttemptId attempt : order.attempts) {
    if (!running_.contains(attempt)) ledger_.forget(attempt);
  }
}

void Warden::on_order(const ExecTask& order) {
  const auto at = running_.find(order.attempt);
  if (at == running_.end()) {
    return tell(ExecEnded{.id = order.id, .error = "the task is not running"});
  }
  slots_.at(at->second).link.send(Order(order));
  touched_.insert(at->second);
}

void Warden::on_order(const Adopted&) { ledger_.adopted(); }
void Warden::on_order(const Shutdown&) { done_ = true; }

void Warden::end_attempt(AttemptId attempt, const core::AttemptResult& result) {
  ledger_.end(attempt, result);
  tell_end(attempt, result, !start_next(attempt));
}

}  // namespace atl::site
