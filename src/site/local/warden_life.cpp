// The warden's beginning and end.
#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>

#include "site/local/files.h"
#include "site/local/remains.h"
#include "site/local/warden.h"
#include "site/local/warden_tags.h"

namespace atl::site {
namespace {

constexpr int kKeepersPatienceMs = 10000;

std::string boot_id() { return read_file("/proc/sys/kernel/random/boot_id").value_or("unknown"); }

}  // namespace

Warden::Warden(WardenOptions options) : options_(std::move(options)) {}

Warden::~Warden() {
  for (const int fd : {lock_, keepers_lock_, listener_, epoll_, signals_}) {
    if (fd >= 0) ::close(fd);
  }
}

Result<void> Warden::open() {
  if (!make_directories(options_.directory, 0700)) {
    return fail(ErrorCode::unavailable,
                "cannot make " + options_.directory + ": " + std::strerror(errno));
  }
  Result<int> lock = take_lock(options_.directory + "/warden.lock", 0);
  if (!lock) return tl::unexpected(lock.error());
  lock_ = *lock;
  // A limit on the size of files is an error of the write, as a full disk is.
  ::signal(SIGXFSZ, SIG_IGN);
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  rlimit files;
  ::getrlimit(RLIMIT_NOFILE, &files);
  files_before_ = files.rlim_cur;
  files_max_ = files.rlim_max;
  files.rlim_cur = files.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &files);
  if (Result<void> ended = end_remains(); !ended) return ended;
  if (options_.cgroups) groups_ = make_cgroup_base(options_.installation);
  std::string list;
  for (const std::string& directory : groups_.directories()) list += directory + "\n";
  static_cast<void>(write_file(options_.directory + "/cgroups", list));
  if (Result<void> listens = listen(); !listens) return listens;
  sweep_groups(groups_.directories());
  return {};
}

Result<void> Warden::end_remains() {
  const std::string& at = options_.directory;
  // Keepers hold this lock too: they are killing their trees, and the lock is free when the last is
  // done.
  Result<int> lock = take_lock(at + "/keepers.lock", kKeepersPatienceMs);
  if (!lock) {
    end_keepers(at + "/keepers");
    lock = take_lock(at + "/keepers.lock", kKeepersPatienceMs);
  }
  if (!lock) return tl::unexpected(lock.error());
  keepers_lock_ = *lock;
  end_groups(at + "/cgroups");
  end_marked_processes(options_.installation);
  static_cast<void>(write_file(at + "/keepers", ""));
  if (Result<void> opened = ledger_.open(at + "/ledger", boot_id()); !opened) return opened;
  std::vector<AttemptId> lost;
  for (const auto& [attempt, result] : ledger_.known()) {
    if (!result) lost.push_back(attempt);
  }
  core::AttemptResult result{
      .cause = core::EndCause::lost,
      .message = "the warden that ran it was killed; the task was ended with it"};
  result.usage.ended = wall_now();
  for (const AttemptId attempt : lost) ledger_.end(attempt, result);
  if (!ledger_.commit()) return fail(ErrorCode::unavailable, "cannot write the ledger");
  return {};
}

Result<void> Warden::listen() {
  const std::string path = options_.directory + "/warden.sock";
  sockaddr_un address = {.sun_family = AF_UNIX};
  if (path.size() >= sizeof address.sun_path) {
    return fail(ErrorCode::invalid,
                "the path " + path + " is too long for a socket: use a shorter home");
  }
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  ::unlink(path.c_str());
  ::umask(0077);
  listener_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (listener_ < 0 ||
      ::bind(listener_, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 ||
      ::listen(listener_, 16) != 0) {
    return fail(ErrorCode::unavailable, "cannot listen on " + path + ": " + std::strerror(errno));
  }
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGCHLD);
  sigaddset(&signals, SIGTERM);
  ::sigprocmask(SIG_BLOCK, &signals, nullptr);
  for (const int one : {SIGPIPE, SIGHUP, SIGINT}) ::signal(one, SIG_IGN);
  signals_ = ::signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
  epoll_ = ::epoll_create1(EPOLL_CLOEXEC);
  watch(listener_, kListenerTag);
  watch(signals_, kSignalTag);
  return {};
}

void Warden::watch(int fd, uint64_t tag) {
  epoll_event event = {.events = EPOLLIN, .data = {.u64 = tag}};
  ::epoll_ctl(epoll_, EPOLL_CTL_ADD, fd, &event);
}

void Warden::close_down() {
  line_.clear();
  // All keepers kill at once, then each is waited for.
  for (auto& [number, slot] : slots_) slot.link.close();
  while (!slots_.empty()) {
    const int number = slots_.begin()->first;
    ::waitpid(slots_.begin()->second.pid, nullptr, 0);
    lose_keeper(number);
  }
  if (!ledger_.commit()) {
    std::fprintf(stderr,
                 "atoll-warden: the ledger cannot be written; what ended last will be "
                 "reported as lost\n");
  }
  if (server_.open()) static_cast<void>(server_.flush());
  end_cgroup_members(groups_.directories());
  ::unlink((options_.directory + "/warden.sock").c_str());
}

}  // namespace atl::site
