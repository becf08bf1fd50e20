#include "site/local/inside.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace atl::site {
namespace {

constexpr int kCannotRun = 125;
constexpr int kUnknown = -1;  // neither an exit nor a signal

// The same file under a number that the child does not need for another.
int above(int fd) {
  constexpr int kLowest = 16;
  if (fd < 0) return fd;
  const int moved = ::fcntl(fd, F_DUPFD_CLOEXEC, kLowest);
  ::close(fd);
  return moved;
}

void become(char** command) {
  ::setsid();
  ::execvp(command[0], command);
  const int error = errno;
  std::fprintf(stderr, "atoll: %s: %s\n", command[0],
               error == ENOENT ? "command not found" : std::strerror(error));
  ::_exit(error == ENOENT ? 127 : 126);
}

// Sealing is refused with EBUSY while the kernel still holds a page of the file, as it may for a
// moment after writing on a busy machine.
bool seal(int fd, int seals) {
  constexpr int kTriesMax = 50;
  constexpr useconds_t kPause = 10'000;
  for (int tries = 1; ::fcntl(fd, F_ADD_SEALS, seals) != 0; ++tries) {
    if (errno != EBUSY || tries == kTriesMax) return false;
    ::usleep(kPause);
  }
  return true;
}

// This program as a file in memory that nobody can change, for a command may reach it by /proc/1,
// and that every account may execute, whatever the mode of the file on disk.
int sealed_program() {
  const int disk = ::open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
  const int sealed = above(::memfd_create("atoll-inside", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  struct stat about{};
  bool copied = disk >= 0 && sealed >= 0 && ::fstat(disk, &about) == 0;
  for (off_t done = 0; copied && done < about.st_size;) {
    const ssize_t sent = ::sendfile(sealed, disk, &done, static_cast<size_t>(about.st_size - done));
    copied = sent > 0 || (sent < 0 && errno == EINTR);
  }
  if (disk >= 0) ::close(disk);
  if (copied && ::fchmod(sealed, 0555) == 0 &&
      seal(sealed, F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL))
    return sealed;
  if (sealed >= 0) ::close(sealed);
  return -1;
}

}  // namespace

std::vector<std::string> inside_command() {
  return {"/proc/self/fd/" + std::to_string(kProgramFd), "--inside"};
}

int run_inside(int argc, char** argv) {
  if (argc < 3) return kCannotRun;
  ::prctl(PR_SET_NAME, "atoll-inside");
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::prctl(PR_SET_DUMPABLE, 0);  // so that the command cannot reach our descriptors by /proc/1
  for (const int fd : {kStatusFd, kProgramFd}) ::fcntl(fd, F_SETFD, FD_CLOEXEC);
  const pid_t command = ::fork();
  if (command < 0) return kCannotRun;
  if (command == 0) become(argv + 2);
  // Orphans of the sandbox are ours to reap as well.
  int status = 0;
  for (pid_t ended = 0; ended != command;) {
    ended = ::waitpid(-1, &status, 0);
    if (ended < 0 && errno != EINTR) return kCannotRun;
  }
  if (::pwrite(kStatusFd, &status, sizeof status, 0) != sizeof status) return kCannotRun;
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

InsideFiles::~InsideFiles() {
  if (status_ >= 0) ::close(status_);
}

bool InsideFiles::open() {
  status_ = above(::memfd_create("status", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  static int program = -1;  // made once; what failed is tried again for the next
  if (program < 0) program = sealed_program();
  program_ = program;
  // The command can reach the file through /proc; it must not make it any larger.
  return status_ >= 0 && program_ >= 0 &&
         ::pwrite(status_, &kUnknown, sizeof kUnknown, 0) == sizeof kUnknown &&
         seal(status_, F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL);
}

std::optional<int> InsideFiles::status() const {
  int status = 0;
  const bool told = status_ >= 0 && ::pread(status_, &status, sizeof status, 0) == sizeof status;
  if (!told || (!WIFEXITED(status) && !WIFSIGNALED(status))) return std::nullopt;
  return status;
}

}  // namespace atl::site
