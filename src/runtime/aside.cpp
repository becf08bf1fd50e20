#include "runtime/aside.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <utility>

namespace atl::runtime {
namespace {

constexpr size_t kAnswerMax = 64u << 20;

int64_t steady_us() {
  return std::chrono::duration_cast<std::chrono::microseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

bool write_all(int fd, const std::string& bytes) {
  size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t wrote = ::write(fd, bytes.data() + done, bytes.size() - done);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) return false;
    done += static_cast<size_t>(wrote);
  }
  return true;
}

// A copy keeps nothing open but its way back: a client's connection that the server closes must
// close, and a lock must not outlive the server. It ends with who made it, and in any case when it
// has used up its time.
void confine(int fd, pid_t parent, Duration deadline) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(1);
  if (fd > 3) ::close_range(3, static_cast<unsigned>(fd) - 1, 0);
  ::close_range(static_cast<unsigned>(fd) + 1, ~0u, 0);
  const rlim_t seconds = static_cast<rlim_t>(deadline.us / 1'000'000 + 1);
  const rlimit cpu{seconds, seconds}, no_core{0, 0};
  ::setrlimit(RLIMIT_CPU, &cpu);
  ::setrlimit(RLIMIT_CORE, &no_core);
  ::signal(SIGPIPE, SIG_DFL);
}

[[noreturn]] void run_copy(int fd, const std::function<void(const Copy::Tell&)>& work) {
  try {
    bool heard = true;
    work([&](const std::string& bytes) { return heard = heard && write_all(fd, bytes); });
    ::_exit(heard ? 0 : 1);
  } catch (...) {
    ::_exit(1);
  }
}

}  // namespace

Result<std::unique_ptr<Copy>> Copy::begin(const std::function<void(const Tell&)>& work,
                                          Duration deadline) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0)
    return fail(ErrorCode::unavailable, "no pipe for a copy of the server");
  const int64_t until = steady_us() + deadline.us;
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid == 0) {
    confine(ends[1], parent, deadline);
    run_copy(ends[1], work);
  }
  ::close(ends[1]);
  if (pid < 0) {
    ::close(ends[0]);
    return fail(ErrorCode::unavailable, "no process for a copy of the server");
  }
  return std::unique_ptr<Copy>(new Copy(pid, ends[0], until));
}

Copy::~Copy() {
  if (fd_ >= 0) ::close(fd_);
  reap(true);
}

int Copy::reap(bool kill) {
  if (pid_ <= 0) return 0;
  const pid_t pid = std::exchange(pid_, 0);
  if (kill) ::kill(pid, SIGKILL);
  int status = -1;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

// Until the other end is closed; false: the time is up.
bool Copy::read_all(std::string& bytes) {
  char buffer[65536];
  while (bytes.size() <= kAnswerMax) {
    const int64_t left = deadline_us_ - steady_us();
    pollfd readable{fd_, POLLIN, 0};
    const int ready =
        left <= 0 ? 0 : ::poll(&readable, 1, static_cast<int>(std::max<int64_t>(1, left / 1000)));
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) return false;
    const ssize_t got = ::read(fd_, buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return true;
    bytes.append(buffer, static_cast<size_t>(got));
  }
  return false;
}

Result<std::string> Copy::answer() {
  std::string bytes;
  const bool whole = read_all(bytes);
  // One that has closed its end is as good as gone.
  const int status = reap(!whole);
  if (!whole) return fail(ErrorCode::timeout, "this took too long to work out");
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return bytes;
  return fail(ErrorCode::unavailable, "the copy of the server that worked it out came to nothing");
}

std::string Copy::heard() {
  std::string bytes;
  if (!read_all(bytes)) ::kill(pid_, SIGKILL);
  return bytes;
}

Result<std::shared_ptr<Copy>> Aside::begin(const Work& work) {
  if (under_way_->fetch_add(1) >= options_.at_once) {
    --*under_way_;
    return fail(ErrorCode::exhausted, "too many such questions at once; try again in a moment");
  }
  auto copy = Copy::begin([&](const Copy::Tell& tell) { tell(work()); }, options_.deadline);
  if (!copy) {
    --*under_way_;
    return tl::unexpected(copy.error());
  }
  return std::shared_ptr<Copy>(copy->release(), [under_way = under_way_](Copy* done) {
    delete done;
    --*under_way;
  });
}

}  // namespace atl::runtime
