// The data directory as a thing on the file system: making it, holding it alone, and writing files
// so that they last.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"

namespace atl::journal {

std::string database_path(const std::string& home);

// A file descriptor that closes itself.
class Fd {
 public:
  explicit Fd(int fd = -1) : fd_(fd) {}
  Fd(Fd&& other) noexcept : fd_(other.fd_) { other.fd_ = -1; }
  Fd& operator=(Fd&& other) noexcept;
  ~Fd();
  int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }

 private:
  int fd_;
};

// A file's bytes, mapped for as long as this lives; none when it cannot be read.
class MappedFile {
 public:
  explicit MappedFile(const std::string& path);
  MappedFile(MappedFile&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}
  MappedFile& operator=(MappedFile&&) = delete;
  ~MappedFile();
  std::string_view bytes() const { return bytes_; }

 private:
  std::string_view bytes_;
};

// Makes HOME when absent and takes its lock for as long as the descriptor lives. `conflict` names
// the process that holds it, `unavailable` says why the directory cannot be used.
[[nodiscard]] Result<Fd> take_home(const std::string& home);

// An error about a path from errno.
tl::unexpected<Error> io_error(const std::string& what, const std::string& path);

[[nodiscard]] Result<void> make_directory(const std::string& path);
Result<void> sync_directory(const std::string& path);
[[nodiscard]] Result<void> write_all(int fd, std::string_view bytes, const std::string& path);

}  // namespace atl::journal
