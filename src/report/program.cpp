#include "report/program.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>

namespace atl::report {
namespace {

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  int get() const { return fd_; }
  bool ok() const { return fd_ >= 0; }

 private:
  int fd_;
};

bool write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = ::write(fd, text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    text.remove_prefix(static_cast<size_t>(n));
  }
  return ::lseek(fd, 0, SEEK_SET) == 0;
}

std::string read_all(int fd, size_t size) {
  std::string out(size, '\0');
  size_t have = 0;
  while (have < size) {
    const ssize_t n = ::pread(fd, out.data() + have, size - have, static_cast<off_t>(have));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    have += static_cast<size_t>(n);
  }
  out.resize(have);
  return out;
}

// Files in memory instead of pipes: nobody waits for the other to read, so there is nothing to get
// stuck in, and the size of the answer is bounded by the kernel.
Result<pid_t> spawn(const std::vector<std::string>& argv, int input, int output) {
  std::vector<char*> words;
  for (const std::string& each : argv) words.push_back(const_cast<char*>(each.c_str()));
  words.push_back(nullptr);
  // The server's own environment may hold secrets, and a locale in which a number has a comma.
  std::string path = "PATH=/usr/local/bin:/usr/bin:/bin", locale = "LC_ALL=C";
  char* environment[] = {path.data(), locale.data(), nullptr};

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addchdir_np(&actions, "/");
  posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setpgroup(&attributes, 0);  // a Ctrl-C is for the server alone
  posix_spawnattr_setflags(&attributes,
                           POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
  pid_t child = 0;
  const int error =
      ::posix_spawnp(&child, words[0], &actions, &attributes, words.data(), environment);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  if (error == ENOENT)
    return fail(ErrorCode::unavailable, argv[0] + " is not installed on the server");
  if (error != 0)
    return fail(ErrorCode::unavailable, argv[0] + " could not be started: " + strerror(error));
  return child;
}

// Set from outside, right after the start: between fork and exec a limit would be one more thing
// that a copy of a large server does.
void limit(pid_t child, const ProgramLimits& limits) {
  const auto set = [&](auto resource, uint64_t most) {
    const rlimit value{most, most};
    ::prlimit(child, resource, &value, nullptr);
  };
  set(RLIMIT_CPU, static_cast<uint64_t>(limits.time.us / 1'000'000 + 1));
  set(RLIMIT_AS, limits.memory_max);
  set(RLIMIT_FSIZE, limits.answer_max);
  set(RLIMIT_CORE, 0);
}

// Its wait status; nothing when it had to be killed.
std::optional<int> await(pid_t child, Duration time) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::microseconds(time.us);
  const Descriptor handle(static_cast<int>(::syscall(SYS_pidfd_open, child, 0)));
  bool over = false;
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        deadline - std::chrono::steady_clock::now());
    pollfd wait{handle.get(), POLLIN, 0};
    const int n = ::poll(&wait, 1, static_cast<int>(std::max<int64_t>(0, left.count())));
    if (n < 0 && errno == EINTR) continue;
    over = n <= 0 || !handle.ok();
    break;
  }
  if (over) ::kill(child, SIGKILL);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return std::nullopt;
  }
  if (over) return std::nullopt;
  return status;
}

}  // namespace

Result<std::string> run_program(const std::vector<std::string>& argv, std::string_view input,
                                const ProgramLimits& limits) {
  const Descriptor in(::memfd_create("input", MFD_CLOEXEC));
  const Descriptor out(::memfd_create("answer", MFD_CLOEXEC));
  if (!in.ok() || !out.ok() || !write_all(in.get(), input))
    return fail(ErrorCode::unavailable, "no memory for what " + argv[0] + " should read");
  const auto child = spawn(argv, in.get(), out.get());
  if (!child) return tl::unexpected(child.error());
  limit(*child, limits);
  const auto status = await(*child, limits.time);
  if (!status)
    return fail(ErrorCode::timeout,
                argv[0] + " did not end within " + format_duration(limits.time));
  const off_t size = ::lseek(out.get(), 0, SEEK_END);
  if (size < 0 || static_cast<size_t>(size) >= limits.answer_max)
    return fail(ErrorCode::too_large, argv[0] + " had too much to say");
  if (!WIFEXITED(*status) || WEXITSTATUS(*status) != 0)
    return fail(ErrorCode::unavailable, argv[0] + " failed");
  return read_all(out.get(), static_cast<size_t>(size));
}

}  // namespace atl::report
