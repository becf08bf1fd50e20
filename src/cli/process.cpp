#include "cli/process.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <thread>

#include "base/text.h"

extern char** environ;

namespace atl::cli {
namespace {

constexpr auto kPause = std::chrono::milliseconds(20);

class Fd {
 public:
  explicit Fd(int fd) : fd_(fd) {}
  ~Fd() {
    if (fd_ >= 0) ::close(fd_);
  }
  Fd(const Fd&) = delete;
  Fd& operator=(const Fd&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

std::int64_t pid_in(int fd) {
  char text[32] = {};
  const ssize_t size = ::pread(fd, text, sizeof text - 1, 0);
  return parse_int(trim({text, static_cast<std::size_t>(std::max<ssize_t>(0, size))})).value_or(0);
}

bool held_by_another(int fd) {
  if (::flock(fd, LOCK_SH | LOCK_NB) != 0) return errno == EWOULDBLOCK;
  ::flock(fd, LOCK_UN);
  return false;
}

tl::unexpected<Error> cannot(const std::string& what, int error) {
  return fail(ErrorCode::unavailable, "cannot " + what + ": " + std::strerror(error));
}

}  // namespace

pid_t server_pid(const std::string& home) {
  const Fd lock(::open((home + "/lock").c_str(), O_RDONLY | O_CLOEXEC));
  if (lock.get() < 0 || !held_by_another(lock.get())) return 0;
  return static_cast<pid_t>(pid_in(lock.get()));
}

Result<Spawned> spawn_detached(const std::vector<std::string>& args, const std::string& log) {
  const Fd output(::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  if (output.get() < 0) return cannot("write " + log, errno);
  Spawned spawned;
  spawned.log_start = ::lseek(output.get(), 0, SEEK_END);

  std::vector<char*> argv;
  for (const std::string& arg : args) argv.push_back(const_cast<char*>(arg.c_str()));
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, output.get(), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, output.get(), STDERR_FILENO);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID);
  const int error =
      ::posix_spawn(&spawned.pid, "/proc/self/exe", &actions, &attributes, argv.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) return cannot("start the server", error);
  return spawned;
}

bool has_ended(pid_t child, int& status) { return ::waitpid(child, &status, WNOHANG) == child; }

Result<void> stop_server(const std::string& home, pid_t pid, std::chrono::milliseconds patience,
                         const std::function<void(std::chrono::milliseconds)>& waiting) {
  // A descriptor of the process, and the lock once more behind it: the signal cannot reach another
  // process that was given the same number meanwhile.
  const Fd process(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  if (server_pid(home) != pid) return {};
  const int sent =
      process.get() >= 0
          ? static_cast<int>(::syscall(SYS_pidfd_send_signal, process.get(), SIGTERM, nullptr, 0))
          : ::kill(pid, SIGTERM);
  if (sent != 0 && errno != ESRCH) return cannot("stop process " + std::to_string(pid), errno);
  const auto begun = std::chrono::steady_clock::now();
  while (server_pid(home) == pid) {
    const auto passed = std::chrono::duration_cast<std::chrono::milliseconds>(
        std::chrono::steady_clock::now() - begun);
    if (passed > patience) {
      return fail(ErrorCode::unavailable, "the server (process " + std::to_string(pid) +
                                              ") has not stopped yet; its log is " + home +
                                              "/server.log");
    }
    waiting(passed);
    std::this_thread::sleep_for(kPause);
  }
  return {};
}

std::string log_end(const std::string& path, off_t from, std::size_t lines) {
  std::ifstream file(path);
  file.seekg(from);
  std::vector<std::string> all;
  for (std::string line; std::getline(file, line);) {
    all.push_back(std::move(line));
    if (all.size() > lines) all.erase(all.begin());
  }
  std::string out;
  for (const std::string& line : all) out += "  " + line + "\n";
  return out;
}

}  // namespace atl::cli
