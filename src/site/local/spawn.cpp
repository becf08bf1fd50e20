#include "site/local/spawn.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "base/check.h"
#include "site/local/files.h"

namespace atl::site {
namespace {

constexpr size_t kStackBytes = 128 << 10;

// How far the child came, in memory shared with it under any clone flags.
struct Outcome {
  volatile SpawnStage stage;
  volatile int error;
};

Outcome* shared_outcome() {
  static void* page =
      ::mmap(nullptr, sizeof(Outcome), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  CHECK(page != MAP_FAILED, "a page for the child's outcome");
  return static_cast<Outcome*>(page);
}

// Everything the child touches is laid out before it exists: it shares our memory and may not
// allocate.
struct Child {
  const SpawnPlan* plan;
  std::vector<char*> argv, envp, shell_argv;
  std::string script_new;
  Outcome* outcome;
};

int fail_at(Child& child, SpawnStage stage) {
  child.outcome->stage = stage;
  child.outcome->error = errno;
  return 127;
}

void reset_signals() {
  // Handlers are reset by execve; what is ignored (keeper_signals) or blocked would be inherited.
  for (const int one : {SIGPIPE, SIGHUP, SIGINT, SIGTERM, SIGXFSZ}) ::signal(one, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

// Raw system calls: the C library's wrappers would try to change the threads of the process whose
// memory we share.
bool become(const Account& account) {
  return ::syscall(SYS_setgroups, account.groups.size(), account.groups.data()) == 0 &&
         ::syscall(SYS_setresgid, account.gid, account.gid, account.gid) == 0 &&
         ::syscall(SYS_setresuid, account.uid, account.uid, account.uid) == 0;
}

bool limit(int resource, int64_t value) {
  if (value <= 0) return true;
  const rlimit both = {static_cast<rlim_t>(value), static_cast<rlim_t>(value)};
  return ::syscall(SYS_prlimit64, 0, resource, &both, nullptr) == 0;
}

// When memory runs out the kernel shall take the task, not its keeper. What makes the difference is
// inherited, so the keeper has it while it makes the child: a child that wrote it for itself would
// have the kernel make and drop its files in /proc, a twentieth of what a short task costs.
class OfferedToOomKiller {
 public:
  OfferedToOomKiller() { set("200"); }
  ~OfferedToOomKiller() { set(own().value); }
  OfferedToOomKiller(const OfferedToOomKiller&) = delete;
  OfferedToOomKiller& operator=(const OfferedToOomKiller&) = delete;

 private:
  struct Own {
    int fd = ::open("/proc/self/oom_score_adj", O_RDWR | O_CLOEXEC);
    std::string value = fd < 0 ? "" : reread(fd);
  };
  static const Own& own() {
    static const Own own;
    return own;
  }
  static void set(std::string_view value) {
    if (own().fd >= 0) static_cast<void>(!::pwrite(own().fd, value.data(), value.size(), 0));
  }
};

bool write_script(const Child& child) {
  const SpawnPlan& plan = *child.plan;
  if (plan.script_file.empty()) return true;
  struct stat info;
  // The tasks of an array share one script; it is renamed into place, so what is there is whole.
  if (::lstat(plan.script_file.c_str(), &info) == 0 &&
      info.st_size == static_cast<off_t>(plan.script.size())) {
    return true;
  }
  const int fd =
      ::open(child.script_new.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0700);
  if (fd < 0) return false;
  const char* at = plan.script.data();
  size_t left = plan.script.size();
  while (left > 0) {
    const ssize_t n = ::write(fd, at, left);
    if (n <= 0) {
      ::close(fd);
      return false;
    }
    at += n;
    left -= static_cast<size_t>(n);
  }
  ::close(fd);
  return ::rename(child.script_new.c_str(), plan.script_file.c_str()) == 0;
}

bool open_stdin(const SpawnPlan& plan) {
  if (plan.stdin_fd >= 0) return ::dup2(plan.stdin_fd, 0) == 0;
  const char* path = plan.stdin_file.empty() ? "/dev/null" : plan.stdin_file.c_str();
  const int fd = ::open(path, O_RDONLY | O_CLOEXEC);
  return fd >= 0 && ::dup2(fd, 0) == 0;
}

// As a shell does: the first candidate that can be executed; a text without "#!" goes to /bin/sh.
int execute(Child& child) {
  int error = ENOENT;
  for (const std::string& file : child.plan->candidates) {
    ::execve(file.c_str(), child.argv.data(), child.envp.data());
    if (errno == ENOEXEC) {
      child.shell_argv[1] = const_cast<char*>(file.c_str());
      ::execve("/bin/sh", child.shell_argv.data(), child.envp.data());
    }
    if (errno == ENOENT && ::access(file.c_str(), F_OK) == 0) errno = ELIBBAD;
    if (errno != ENOENT && errno != ENOTDIR) error = errno;
    if (error != ENOENT && error != EACCES) break;
  }
  errno = error;
  return fail_at(child, SpawnStage::execute);
}

int run_child(void* argument) {
  Child& child = *static_cast<Child*>(argument);
  const SpawnPlan& plan = *child.plan;
  reset_signals();
  if (::setsid() < 0) return fail_at(child, SpawnStage::session);
  if (!limit(RLIMIT_DATA, plan.rlimit_memory) || !limit(RLIMIT_NPROC, plan.rlimit_processes)) {
    return fail_at(child, SpawnStage::limits);
  }
  if (plan.account && !become(*plan.account)) return fail_at(child, SpawnStage::account);
  if (::chdir(plan.directory.c_str()) != 0) return fail_at(child, SpawnStage::directory);
  if (!write_script(child)) return fail_at(child, SpawnStage::script);
  if (!open_stdin(plan)) return fail_at(child, SpawnStage::input);
  ::dup2(plan.stdout_fd, 1);
  ::dup2(plan.stderr_fd, 2);
  for (size_t i = 0; i < plan.passed.size(); ++i) ::dup2(plan.passed[i], 3 + static_cast<int>(i));
  return execute(child);
}

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> out;
  out.reserve(texts.size() + 1);
  for (const std::string& text : texts) out.push_back(const_cast<char*>(text.c_str()));
  out.push_back(nullptr);
  return out;
}

int clone_flags() {
#if defined(__has_feature)
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
  // A sanitizer keeps state in memory that a child on another stack would damage.
  return CLONE_VFORK | SIGCHLD;
#endif
#endif
  return CLONE_VM | CLONE_VFORK | SIGCHLD;
}

int clone_child(Child& child, char* stack_top) {
  const OfferedToOomKiller offered;
  return ::clone(run_child, stack_top, clone_flags(), &child);
}

}  // namespace

Spawned spawn(const SpawnPlan& plan) {
  static char* stack = new char[kStackBytes];
  Child child{.plan = &plan, .outcome = shared_outcome()};
  child.outcome->stage = SpawnStage::session;
  child.outcome->error = 0;
  child.argv = pointers(plan.command);
  child.envp = pointers(plan.environment);
  child.shell_argv = child.argv;
  child.shell_argv.insert(child.shell_argv.begin(), const_cast<char*>("sh"));
  if (child.shell_argv.size() < 3) child.shell_argv.resize(3, nullptr);
  child.script_new = plan.script_file + "." + std::to_string(::getpid());
  const int pid = clone_child(child, stack + kStackBytes);
  if (pid < 0) return {-1, SpawnStage::session, errno};
  if (child.outcome->error == 0) return {pid, SpawnStage::execute, 0};
  ::waitpid(pid, nullptr, 0);
  return {-1, child.outcome->stage, child.outcome->error};
}

}  // namespace atl::site
