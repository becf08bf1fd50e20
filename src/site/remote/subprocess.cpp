#include "site/remote/subprocess.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/text.h"
#include "site/local/files.h"

extern char** environ;

namespace atl::site {
namespace {

constexpr int kLookMs = 50;  // whether a child ended that leaves its pipes to others

struct Pipe {
  int ends[2] = {-1, -1};
  Pipe() { static_cast<void>(::pipe2(ends, O_CLOEXEC) == 0); }
  ~Pipe() {
    close_end(0);
    close_end(1);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  bool good() const { return ends[0] >= 0; }
  bool open(int end) const { return ends[end] >= 0; }
  void close_end(int end) {
    if (ends[end] >= 0) ::close(ends[end]);
    ends[end] = -1;
  }
};

// One run: the child, its three pipes, and what has come of it so far.
class Run {
 public:
  explicit Run(const Subprocess& what) : what_(what), left_(what.input) {}

  Result<SubprocessEnd> go() {
    if (Result<void> began = spawn(); !began) return tl::unexpected(began.error());
    const int64_t deadline = monotonic_us() + what_.timeout.us;
    while (!over()) {
      const int64_t now = monotonic_us();
      if (what_.interrupted && *what_.interrupted)
        return ended(ErrorCode::unavailable, "was interrupted");
      if (now >= deadline)
        return ended(ErrorCode::timeout, "did not end within " + format_duration(what_.timeout));
      step(static_cast<int>(std::min<int64_t>(kLookMs, (deadline - now) / 1000 + 1)));
      if (end_.out.size() > what_.out_max)
        return ended(ErrorCode::too_large,
                     "said more than " + std::to_string(what_.out_max) + " bytes");
    }
    if (!exited_) wait_for(deadline);
    if (!exited_) return ended(ErrorCode::timeout, "closed its output and did not end");
    end_.exit_code = WIFSIGNALED(status_) ? 128 + WTERMSIG(status_) : WEXITSTATUS(status_);
    return std::move(end_);
  }

 private:
  Result<void> spawn() {
    if (!in_.good() || !out_.good() || !err_.good())
      return fail(ErrorCode::unavailable, "no pipe could be made: too many files are open");
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_adddup2(&files, in_.ends[0], 0);
    posix_spawn_file_actions_adddup2(&files, out_.ends[1], 1);
    posix_spawn_file_actions_adddup2(&files, err_.ends[1], 2);
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    sigset_t none, standard;
    sigemptyset(&none);
    sigemptyset(&standard);
    for (const int signal : {SIGPIPE, SIGINT, SIGTERM, SIGHUP, SIGCHLD})
      sigaddset(&standard, signal);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &standard);
    posix_spawnattr_setflags(&attributes,
                             POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    std::vector<char*> argv;
    for (const std::string& word : what_.argv) argv.push_back(const_cast<char*>(word.c_str()));
    argv.push_back(nullptr);
    const int error = ::posix_spawnp(&pid_, argv[0], &files, &attributes, argv.data(), environ);
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&attributes);
    if (error != 0)
      return fail(ErrorCode::unavailable,
                  what_.argv[0] + " cannot be started: " + std::strerror(error));
    in_.close_end(0);
    out_.close_end(1);
    err_.close_end(1);
    for (const int fd : {in_.ends[1], out_.ends[0], err_.ends[0]}) ::fcntl(fd, F_SETFL, O_NONBLOCK);
    return {};
  }

  // Its pipes are closed, or it ended and nothing is left in them: a background process that it
  // left may hold them for hours.
  bool over() {
    if (!out_.open(0) && !err_.open(0)) return true;
    if (!exited_) exited_ = ::waitpid(pid_, &status_, WNOHANG) == pid_;
    return exited_ && quiet_;
  }

  void step(int wait_ms) {
    if (in_.open(1) && left_.empty() && what_.more) {
      piece_ = what_.more();
      left_ = piece_;
    }
    if (in_.open(1) && left_.empty()) in_.close_end(1);
    pollfd fds[3] = {
        {out_.ends[0], POLLIN, 0}, {err_.ends[0], POLLIN, 0}, {in_.ends[1], POLLOUT, 0}};
    const bool known_exited = exited_;
    ::poll(fds, 3, known_exited ? 0 : wait_ms);
    const bool said = take(out_, fds[0], end_.out, SIZE_MAX);
    const bool heard = take(err_, fds[1], end_.err, what_.err_max) || said;
    quiet_ = known_exited && !heard;
    if (fds[2].revents) give();
  }

  static bool take(Pipe& pipe, const pollfd& fd, std::string& text, size_t max) {
    if (!fd.revents) return false;
    char bytes[65536];
    const ssize_t n = ::read(pipe.ends[0], bytes, sizeof bytes);
    if (n > 0)
      text.append(bytes, std::min(static_cast<size_t>(n), max - std::min(max, text.size())));
    if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) pipe.close_end(0);
    return n > 0;
  }

  // A reader that has gone is no error: what it said tells.
  void give() {
    const ssize_t n = write_quietly(in_.ends[1], left_);
    if (n > 0) left_.remove_prefix(static_cast<size_t>(n));
    if (n < 0 && errno != EAGAIN && errno != EINTR) in_.close_end(1);
  }

  // SIGPIPE would be the server's: it is blocked for the write and taken away behind it.
  static ssize_t write_quietly(int fd, std::string_view bytes) {
    sigset_t broken, before;
    sigemptyset(&broken);
    sigaddset(&broken, SIGPIPE);
    ::pthread_sigmask(SIG_BLOCK, &broken, &before);
    const ssize_t n = ::write(fd, bytes.data(), std::min<size_t>(bytes.size(), 65536));
    const int error = errno;
    if (n < 0 && error == EPIPE) {
      const timespec now = {};
      ::sigtimedwait(&broken, nullptr, &now);
    }
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    errno = error;
    return n;
  }

  void wait_for(int64_t deadline) {
    while (!exited_ && monotonic_us() < deadline) {
      exited_ = ::waitpid(pid_, &status_, WNOHANG) == pid_;
      if (!exited_) ::usleep(1000);
    }
  }

  tl::unexpected<Error> ended(ErrorCode code, const std::string& why) {
    ::kill(-pid_, SIGKILL);
    if (!exited_) ::waitpid(pid_, &status_, 0);
    return fail(code, what_.argv[0] + " " + why);
  }

  const Subprocess& what_;
  std::string_view left_;
  std::string piece_;
  Pipe in_, out_, err_;
  pid_t pid_ = -1;
  int status_ = 0;
  bool exited_ = false;
  bool quiet_ = false;
  SubprocessEnd end_;
};

}  // namespace

Result<SubprocessEnd> run_subprocess(const Subprocess& what) { return Run(what).go(); }

}  // namespace atl::site
