#include "journal/home.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include "base/text.h"

namespace atl::journal {
namespace {

// The lock file holds the process id of its owner; zero when it says nothing.
int64_t read_owner(int fd) {
  char text[32] = {};
  const ssize_t size = pread(fd, text, sizeof text - 1, 0);
  return parse_int(trim(std::string_view(text, size > 0 ? size : 0))).value_or(0);
}

// Ended, whether or not somebody has asked for its exit code yet.
bool is_over(int64_t process) {
  if (process <= 0) return false;
  if (kill(static_cast<pid_t>(process), 0) != 0) return errno == ESRCH;
  char text[256] = {};
  const Fd fd(::open(("/proc/" + std::to_string(process) + "/stat").c_str(), O_RDONLY | O_CLOEXEC));
  const ssize_t size = fd ? read(fd.get(), text, sizeof text - 1) : 0;
  const std::string_view stat(text, size > 0 ? size : 0);
  const size_t name_end = stat.rfind(") ");
  return name_end != stat.npos && name_end + 2 < stat.size() && stat[name_end + 2] == 'Z';
}

// A server that was killed while it started another process leaves the lock to that one until it
// has become a program of its own, so a dead owner's is waited for.
bool take_lock(int fd) {
  constexpr int kTries = 200;
  for (int i = 0; i < kTries; ++i) {
    if (flock(fd, LOCK_EX | LOCK_NB) == 0) return true;
    if (errno != EWOULDBLOCK) return false;
    if (!is_over(read_owner(fd))) break;
    usleep(10'000);
  }
  errno = EWOULDBLOCK;
  return false;
}

Result<void> write_owner(int fd, const std::string& path) {
  const std::string text = std::to_string(getpid()) + "\n";
  if (ftruncate(fd, 0) != 0 ||
      pwrite(fd, text.data(), text.size(), 0) != static_cast<ssize_t>(text.size())) {
    return io_error("cannot write", path);
  }
  return {};
}

}  // namespace

std::string database_path(const std::string& home) { return home + "/atoll.db"; }

Fd& Fd::operator=(Fd&& other) noexcept {
  std::swap(fd_, other.fd_);
  return *this;
}

Fd::~Fd() {
  if (fd_ >= 0) close(fd_);
}

MappedFile::MappedFile(const std::string& path) {
  const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat info{};
  if (!fd || fstat(fd.get(), &info) != 0 || info.st_size == 0) return;
  void* data = mmap(nullptr, info.st_size, PROT_READ, MAP_PRIVATE, fd.get(), 0);
  if (data == MAP_FAILED) return;
  bytes_ = std::string_view(static_cast<const char*>(data), info.st_size);
}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) munmap(const_cast<char*>(bytes_.data()), bytes_.size());
}

tl::unexpected<Error> io_error(const std::string& what, const std::string& path) {
  return fail(ErrorCode::unavailable, what + " " + path + ": " + std::strerror(errno));
}

Result<void> make_directory(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (!error && std::filesystem::is_directory(path, error)) return {};
  errno = error ? error.value() : ENOTDIR;
  return io_error("cannot make the directory", path);
}

Result<void> sync_directory(const std::string& path) {
  const Fd fd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd || fsync(fd.get()) != 0) return io_error("cannot sync the directory", path);
  return {};
}

Result<void> write_all(int fd, std::string_view bytes, const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t size = write(fd, bytes.data(), bytes.size());
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) return io_error("cannot write", path);
    bytes.remove_prefix(size);
  }
  return {};
}

Result<Fd> take_home(const std::string& home) {
  const bool fresh = access(home.c_str(), F_OK) != 0;
  if (auto made = make_directory(home); !made) return tl::unexpected(made.error());
  // Payloads and tokens are nobody else's business.
  if (fresh) chmod(home.c_str(), 0700);
  if (access(home.c_str(), R_OK | W_OK | X_OK) != 0) {
    return io_error("cannot read and write the data directory", home);
  }
  const std::string path = home + "/lock";
  Fd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
  if (!fd) return io_error("cannot open", path);
  if (!take_lock(fd.get())) {
    if (errno != EWOULDBLOCK) return io_error("cannot lock", path);
    return fail(ErrorCode::conflict,
                "another Atoll server (process " + std::to_string(read_owner(fd.get())) +
                    ") runs on " + home + "; stop it with `atoll down`, or name another --home");
  }
  if (auto written = write_owner(fd.get(), path); !written) return tl::unexpected(written.error());
  return fd;
}

}  // namespace atl::journal
