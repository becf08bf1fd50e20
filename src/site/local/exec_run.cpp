#include "site/local/exec_run.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "site/local/environment.h"
#include "site/local/files.h"
#include "site/local/join.h"
#include "site/local/process_tree.h"

namespace atl::site {
namespace {

void take(int fd, std::string& text) {
  char buffer[16 << 10];
  for (ssize_t n; (n = ::read(fd, buffer, sizeof buffer)) > 0;) {
    const size_t room = ExecRun::kOutputMax - std::min(text.size(), ExecRun::kOutputMax);
    text.append(buffer, std::min(static_cast<size_t>(n), room));
    if (room > 0 && room < static_cast<size_t>(n)) text += "\n[atoll: the rest was cut]\n";
  }
}

// The first process inside bwrap's namespaces: its child, which is pid 1 there.
pid_t inside_of(pid_t bwrap) {
  const std::vector<pid_t> below = descendants(bwrap);
  return below.empty() ? -1 : below[0];
}

}  // namespace

bool ExecRun::start(const Task& task) {
  const Launch& launch = task.launch();
  SpawnPlan how;
  how.command = order_.argv;
  if (task.sandboxed()) {
    const std::vector<std::string> enter =
        join_command(inside_of(task.pid()), launch.account, launch.payload.directory);
    how.command.insert(how.command.begin(), enter.begin(), enter.end());
  }
  how.environment = build_environment(launch);
  how.candidates =
      executable_candidates(how.command[0], environment_value(how.environment, "PATH"));
  how.directory = !launch.payload.directory.empty() ? launch.payload.directory
                  : launch.account.home.empty()     ? "/"
                                                    : launch.account.home;
  // Joining namespaces of another account takes our own rights; the account is taken on inside.
  if (launch.account.uid != ::geteuid() && !task.sandboxed()) how.account = &launch.account;
  if (!out_.open() || !err_.open()) {
    result_.error = "the machine is out of file descriptors";
    return false;
  }
  how.stdout_fd = out_.write_fd;
  how.stderr_fd = err_.write_fd;
  if (!order_.stdin_text.empty()) {
    how.stdin_fd = ::memfd_create("stdin", MFD_CLOEXEC);
    static_cast<void>(!write_all(how.stdin_fd, order_.stdin_text));
    ::lseek(how.stdin_fd, 0, SEEK_SET);
  }
  const Spawned spawned = spawn(how);
  if (how.stdin_fd >= 0) ::close(how.stdin_fd);
  pid_ = spawned.pid;
  if (pid_ < 0) {
    const bool missing = spawned.stage == SpawnStage::execute && spawned.error == ENOENT;
    if (missing) result_.exit_code = 127;
    result_.error =
        missing ? "" : "cannot run " + order_.argv[0] + ": " + std::strerror(spawned.error);
    if (missing) result_.err = "atoll: " + order_.argv[0] + ": command not found\n";
    return false;
  }
  if (order_.timeout.us > 0) deadline_ = monotonic_us() + order_.timeout.us;
  return true;
}

void ExecRun::drain() {
  take(out_.read_fd, result_.out);
  take(err_.read_fd, result_.err);
}

void ExecRun::expire() {
  expired_ = true;
  deadline_ = INT64_MAX;
  for (const pid_t pid : descendants(pid_)) ::kill(pid, SIGKILL);
  ::kill(pid_, SIGKILL);
}

ExecEnded ExecRun::ended(int status) {
  if (pid_ > 0) {
    drain();
    result_.exit_code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  }
  result_.expired = expired_;
  if (expired_) result_.error = "it did not end in time and was killed";
  result_.id = order_.id;
  return std::move(result_);
}

}  // namespace atl::site
