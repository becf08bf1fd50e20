#include "site/local/task_progress.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "site/local/files.h"

namespace atl::site {
namespace {

constexpr off_t kFileTail = 16 << 10;    // where the newest line of a file is looked for
constexpr Duration kSlack = seconds(1);  // file systems have clocks of their own

Time time_of(const timespec& at) { return {at.tv_sec * 1'000'000 + at.tv_nsec / 1000}; }

std::string read_tail(int fd, off_t size) {
  std::string text(static_cast<size_t>(std::min(size, kFileTail)), '\0');
  const ssize_t n = ::pread(fd, text.data(), text.size(), std::max<off_t>(0, size - kFileTail));
  text.resize(n > 0 ? static_cast<size_t>(n) : 0);
  return text;
}

}  // namespace

ProgressFile::ProgressFile(std::string path, uint32_t owner, Time not_before)
    : path_(std::move(path)), owner_(owner), not_before_(not_before) {}

std::optional<std::string> ProgressFile::read_changed() {
  if (path_.empty()) return std::nullopt;
  const int found = ::open(path_.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC);
  if (found < 0) return std::nullopt;
  struct stat info;
  std::optional<std::string> text;
  const bool good = ::fstat(found, &info) == 0 && S_ISREG(info.st_mode) && info.st_uid == owner_ &&
                    time_of(info.st_mtim) + kSlack >= not_before_;
  const bool same = good && info.st_size == size_ && info.st_ino == inode_ &&
                    info.st_mtim.tv_sec == modified_.tv_sec &&
                    info.st_mtim.tv_nsec == modified_.tv_nsec;
  if (good && !same) {
    const std::string again = "/proc/self/fd/" + std::to_string(found);
    if (const int fd = ::open(again.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC); fd >= 0) {
      text = read_tail(fd, info.st_size);
      ::close(fd);
      size_ = info.st_size;
      inode_ = info.st_ino;
      modified_ = info.st_mtim;
    }
  }
  ::close(found);
  return text;
}

// The tail is read anew each time: a file that is replaced by one of the same length is not to be
// told from one that grew.
bool ProgressFile::look(Progress& progress) {
  const std::optional<std::string> text = read_changed();
  if (!text) return false;
  Progress found;
  ProgressScanner scanner;
  scanner.feed(*text, found);
  scanner.finish(found);
  // Lines that were ignored are counted once, however often the tail that has them is read.
  const uint64_t fresh = found.ignored - std::min(found.ignored, ignored_);
  ignored_ = std::exchange(found.ignored, 0);
  progress.ignored += fresh;
  const bool told = found.percent_milli || !found.status.empty();
  if (!told || found == last_) return fresh > 0;
  last_ = found;
  if (found.percent_milli) progress.percent_milli = found.percent_milli;
  if (found.pid) progress.pid = found.pid;
  progress.status = std::move(found.status);
  progress.message = std::move(found.message);
  return true;
}

void TaskProgress::heard() {
  newest_.at = wall_now();
  news_ = true;
}

void TaskProgress::hear(LogStream stream, std::string_view bytes) {
  if (scanners_[static_cast<size_t>(stream)].feed(bytes, newest_)) heard();
}

void TaskProgress::look() {
  if (file_.look(newest_)) heard();
}

void TaskProgress::end() {
  for (ProgressScanner& scanner : scanners_) {
    if (scanner.finish(newest_)) heard();
  }
}

std::optional<Progress> TaskProgress::take(int64_t now, bool last) {
  if (!news_ || (!last && now < next_us_)) return std::nullopt;
  news_ = false;
  postpone(now);
  return newest_;
}

}  // namespace atl::site
