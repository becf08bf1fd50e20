#include "site/local/join.h"

#include <fcntl.h>
#include <grp.h>
#include <linux/nsfs.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "base/text.h"

namespace atl::site {
namespace {

constexpr int kCannotJoin = 125;
constexpr int kFixedArguments = 7;

int complain(const char* what) {
  std::fprintf(stderr, "atoll: cannot enter the sandbox: %s: %s\n", what, std::strerror(errno));
  return kCannotJoin;
}

int open_namespace(const std::string& pid, const char* kind) {
  return ::open(("/proc/" + pid + "/ns/" + kind).c_str(), O_RDONLY | O_CLOEXEC);
}

bool same_user_namespace(int fd) {
  const int own = open_namespace("self", "user");
  char a[64] = {}, b[64] = {};
  const std::string one = "/proc/self/fd/" + std::to_string(fd),
                    two = "/proc/self/fd/" + std::to_string(own);
  const bool same = ::readlink(one.c_str(), a, sizeof a - 1) > 0 &&
                    ::readlink(two.c_str(), b, sizeof b - 1) > 0 && std::strcmp(a, b) == 0;
  ::close(own);
  return same;
}

// Entering a user namespace gives all rights in it, which its mounts and processes ask for.
bool enter_user(int fd) {
  return fd >= 0 && (same_user_namespace(fd) || ::setns(fd, CLONE_NEWUSER) == 0);
}

bool enter_all(const std::string& pid) {
  const int user = open_namespace(pid, "user");
  const int mounts = open_namespace(pid, "mnt");
  std::vector<int> rest;
  for (const char* kind : {"ipc", "uts", "net", "pid"}) rest.push_back(open_namespace(pid, kind));
  const int owner = ::ioctl(mounts, NS_GET_USERNS);
  // A process with all rights here needs none there, and would lose its own by going.
  const bool privileged = ::geteuid() == 0;
  if (!privileged && !enter_user(owner)) return false;
  for (const int fd : rest) {
    if (fd < 0 || ::setns(fd, 0) != 0) return false;
  }
  if (mounts < 0 || ::setns(mounts, CLONE_NEWNS) != 0) return false;
  return privileged || enter_user(user);
}

bool take_account(char** argv) {
  if (::geteuid() != 0) return true;
  std::vector<gid_t> groups;
  for (const std::string_view group : split(argv[6], ',')) {
    if (const std::optional<int64_t> number = parse_int(group))
      groups.push_back(static_cast<gid_t>(*number));
  }
  const auto uid = static_cast<uid_t>(parse_int(argv[3]).value_or(65534));
  const auto gid = static_cast<gid_t>(parse_int(argv[4]).value_or(65534));
  return ::setgroups(groups.size(), groups.data()) == 0 && ::setresgid(gid, gid, gid) == 0 &&
         ::setresuid(uid, uid, uid) == 0;
}

}  // namespace

std::vector<std::string> join_command(pid_t inside, const Account& account,
                                      const std::string& directory) {
  std::string groups;
  for (const uint32_t group : account.groups)
    groups += (groups.empty() ? "" : ",") + std::to_string(group);
  return {"/proc/self/exe",
          "--join",
          std::to_string(inside),
          std::to_string(account.uid),
          std::to_string(account.gid),
          directory.empty() ? account.home : directory,
          groups.empty() ? "-" : groups};
}

int join_sandbox(int argc, char** argv) {
  if (argc <= kFixedArguments) return kCannotJoin;
  const bool privileged = ::geteuid() == 0;
  if (!enter_all(argv[2])) return complain("its namespaces");
  // The process namespace holds for children only.
  const pid_t pid = ::fork();
  if (pid < 0) return complain("fork");
  if (pid == 0) {
    if (::chdir(argv[5]) != 0) ::_exit(complain(argv[5]));
    if (privileged && !take_account(argv)) ::_exit(complain("its account"));
    ::execvp(argv[kFixedArguments], argv + kFixedArguments);
    std::fprintf(stderr, "atoll: %s: %s\n", argv[kFixedArguments],
                 errno == ENOENT ? "command not found" : std::strerror(errno));
    ::_exit(errno == ENOENT ? 127 : 126);
  }
  int status = 0;
  ::waitpid(pid, &status, 0);
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace atl::site
