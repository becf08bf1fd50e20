#include "site/safe_files.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>

#include "base/text.h"
#include "site/local/files.h"

namespace atl::site {
namespace {

constexpr int kDirectory = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;

tl::unexpected<Error> failed(const std::string& path, int error) {
  if (error == ENOENT || error == ENOTDIR)
    return fail(ErrorCode::not_found, "there is no file " + quote(path), "path");
  if (error == ELOOP || error == EMLINK)
    return fail(ErrorCode::forbidden, quote(path) + " is a symbolic link, which is not followed",
                "path");
  if (error == ENOSPC || error == EDQUOT) return fail(ErrorCode::unavailable, "the disk is full");
  return fail(ErrorCode::unavailable, quote(path) + ": " + std::strerror(error), "path");
}

Result<std::vector<std::string>> components(const std::string& path) {
  std::vector<std::string> parts;
  for (const std::string_view part : split(path, '/')) {
    if (part.empty() || part == "." || part == ".." || part.find('\0') != std::string_view::npos ||
        part.size() > 255) {
      return fail(ErrorCode::invalid, quote(path) + " is not a path within the job's directory",
                  "path");
    }
    parts.emplace_back(part);
  }
  if (parts.empty() || parts.size() > static_cast<size_t>(kFileDepthMax)) {
    return fail(ErrorCode::invalid, quote(path) + " is not a path within the job's directory",
                "path");
  }
  return parts;
}

// The directory that holds the last component; missing ones are made when `owner` is given.
Result<OwnedFd> parent_of(const std::string& root, const std::string& path,
                          const std::vector<std::string>& parts, const struct stat* owner) {
  OwnedFd at(open(root.c_str(), kDirectory));
  if (at.get() < 0) return failed(path, errno);
  for (size_t i = 0; i + 1 < parts.size(); ++i) {
    if (owner && mkdirat(at.get(), parts[i].c_str(), 0700) == 0) {
      static_cast<void>(fchownat(at.get(), parts[i].c_str(), owner->st_uid, owner->st_gid,
                                 AT_SYMLINK_NOFOLLOW) == 0);
    }
    OwnedFd next(openat(at.get(), parts[i].c_str(), kDirectory));
    if (next.get() < 0) return failed(path, errno);
    at = std::move(next);
  }
  return at;
}

struct Walked {
  std::vector<FileEntry> entries;
  bool truncated = false;
};

void walk(OwnedFd directory, const std::string& prefix, int depth, Walked& walked) {
  const int copy = dup(directory.get());
  const std::unique_ptr<DIR, int (*)(DIR*)> stream(copy < 0 ? nullptr : fdopendir(copy), closedir);
  if (!stream) return;
  while (const dirent* entry = readdir(stream.get())) {
    const std::string_view name = entry->d_name;
    if (name == "." || name == "..") continue;
    if (walked.entries.size() >= kFilesListedMax) {
      walked.truncated = true;
      return;
    }
    struct stat info{};
    if (fstatat(directory.get(), entry->d_name, &info, AT_SYMLINK_NOFOLLOW) != 0) continue;
    FileEntry file{prefix + std::string(name), S_ISDIR(info.st_mode), S_ISLNK(info.st_mode),
                   info.st_size,
                   Time{info.st_mtim.tv_sec * 1'000'000 + info.st_mtim.tv_nsec / 1000}};
    walked.entries.push_back(file);
    if (!file.directory || depth >= kFileDepthMax) continue;
    OwnedFd below(openat(directory.get(), entry->d_name, kDirectory));
    if (below.get() >= 0) walk(std::move(below), file.path + "/", depth + 1, walked);
  }
}

}  // namespace

OwnedFd::~OwnedFd() {
  if (fd_ >= 0) close(fd_);
}

OwnedFd& OwnedFd::operator=(OwnedFd&& other) noexcept {
  std::swap(fd_, other.fd_);
  return *this;
}

Result<std::vector<FileEntry>> list_below(const std::string& root, bool& truncated) {
  OwnedFd directory(open(root.c_str(), kDirectory));
  if (directory.get() < 0 && errno == ENOENT) return std::vector<FileEntry>{};
  if (directory.get() < 0) return failed(root, errno);
  Walked walked;
  walk(std::move(directory), "", 0, walked);
  truncated = walked.truncated;
  std::sort(walked.entries.begin(), walked.entries.end(),
            [](const FileEntry& a, const FileEntry& b) { return a.path < b.path; });
  return std::move(walked.entries);
}

Result<OpenFile> open_below(const std::string& root, const std::string& path) {
  const auto parts = components(path);
  if (!parts) return tl::unexpected(parts.error());
  const auto parent = parent_of(root, path, *parts, nullptr);
  if (!parent) return tl::unexpected(parent.error());
  // Non-blocking, so that a pipe with that name does not hold us.
  OwnedFd fd(
      openat(parent->get(), parts->back().c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (fd.get() < 0) return failed(path, errno);
  struct stat info{};
  if (fstat(fd.get(), &info) != 0) return failed(path, errno);
  if (!S_ISREG(info.st_mode))
    return fail(ErrorCode::invalid, quote(path) + " is not a regular file", "path");
  return OpenFile{std::move(fd), info.st_size};
}

Result<void> check_path(const std::string& path) {
  const auto parts = components(path);
  return parts ? Result<void>{} : tl::unexpected(parts.error());
}

Result<void> write_below(const std::string& root, const std::string& path,
                         const std::string& bytes) {
  const auto parts = components(path);
  if (!parts) return tl::unexpected(parts.error());
  struct stat owner{};
  if (stat(root.c_str(), &owner) != 0) return failed(root, errno);
  const auto parent = parent_of(root, path, *parts, &owner);
  if (!parent) return tl::unexpected(parent.error());
  const std::string temporary = ".atoll-upload-" + std::to_string(getpid()) + "-" +
                                std::to_string(reinterpret_cast<uintptr_t>(&bytes));
  OwnedFd fd(openat(parent->get(), temporary.c_str(),
                    O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (fd.get() < 0) return failed(path, errno);
  static_cast<void>(fchown(fd.get(), owner.st_uid, owner.st_gid) == 0);
  const bool written =
      write_all(fd.get(), bytes) &&
      renameat(parent->get(), temporary.c_str(), parent->get(), parts->back().c_str()) == 0;
  if (written) return {};
  const int error = errno;
  unlinkat(parent->get(), temporary.c_str(), 0);
  return failed(path, error == EISDIR || error == ENOTEMPTY ? ENOENT : error);
}

}  // namespace atl::site
