// Files below a job's directory, which the job itself may fill with anything: every component is
// opened without following links, so neither `..` nor a symbolic link leads out, and only regular
// files are read or written.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace atl::site {

class OwnedFd {
 public:
  explicit OwnedFd(int fd = -1) : fd_(fd) {}
  ~OwnedFd();
  OwnedFd(OwnedFd&& other) noexcept : fd_(other.fd_) { other.fd_ = -1; }
  OwnedFd& operator=(OwnedFd&& other) noexcept;
  int get() const { return fd_; }

 private:
  int fd_;
};

struct FileEntry {
  std::string path;  // relative
  bool directory = false;
  bool link = false;
  int64_t size = 0;
  Time modified;
};

inline constexpr size_t kFilesListedMax = 10'000;
inline constexpr int kFileDepthMax = 32;

// Everything below `root`, in order of path; `truncated` when there is more than kFilesListedMax.
// No directory yet is an empty list.
[[nodiscard]] Result<std::vector<FileEntry>> list_below(const std::string& root, bool& truncated);

struct OpenFile {
  OwnedFd fd;
  int64_t size = 0;
};
[[nodiscard]] Result<OpenFile> open_below(const std::string& root, const std::string& path);

// Whether the path is one that could be opened or written at all.
[[nodiscard]] Result<void> check_path(const std::string& path);

// Replaces or makes the file with these bytes, by a rename, so that a reader sees the old or the
// new; makes directories on the way. They belong to whoever owns `root`.
[[nodiscard]] Result<void> write_below(const std::string& root, const std::string& path,
                                       const std::string& bytes);

}  // namespace atl::site
