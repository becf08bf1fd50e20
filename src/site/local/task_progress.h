// The newest progress of one task: its keeper feeds in what the task writes, looks at the file that
// ATOLL_PROGRESS_FILE names, and is told when there is news worth sending. Belongs to the keeper's
// only thread.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "site/driver.h"
#include "site/progress_line.h"

namespace atl::site {

// A file that a task writes progress lines to, by appending or by replacing it. The path is the
// task's choice and the reader may be root, so it is read only when it is a regular file of the
// task's own account, and opened only once that is known: opening a device can already do
// something.
class ProgressFile {
 public:
  ProgressFile() = default;
  ProgressFile(std::string path, uint32_t owner, Time not_before);

  // True when the file has another newest line than at the last look, which `progress` then has.
  bool look(Progress& progress);

 private:
  std::optional<std::string> read_changed();

  std::string path_;
  uint32_t owner_ = 0;
  Time not_before_;  // what was there before the task is not its
  timespec modified_{};
  off_t size_ = -1;
  ino_t inode_ = 0;
  Progress last_;  // what it said at the last look
  uint64_t ignored_ = 0;
};

class TaskProgress {
 public:
  void watch(ProgressFile file) { file_ = std::move(file); }
  void hear(LogStream stream, std::string_view bytes);
  void look();  // at the file
  void end();   // of both streams

  // When take() has something (monotonic, µs): news are told at once, then every kTellEvery.
  int64_t due() const { return news_ ? next_us_ : INT64_MAX; }
  // The news, once they are due or `last`; they then are none any more.
  std::optional<Progress> take(int64_t now, bool last);
  void postpone(int64_t now) { next_us_ = now + kTellEvery.us; }

 private:
  static constexpr Duration kTellEvery = milliseconds(250);
  void heard();

  Progress newest_;
  ProgressScanner scanners_[2];  // by LogStream
  ProgressFile file_;
  bool news_ = false;
  int64_t next_us_ = 0;
};

}  // namespace atl::site
