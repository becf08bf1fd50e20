#include "journal/checkpointer.h"

#include <utility>

namespace atl::journal {
namespace {

// A log this many times the threshold is begun anew even if a commit must wait a moment for it;
// under steady load it would otherwise grow for ever, because there is always another page behind
// the last one copied.
constexpr int kRestartFactor = 8;
constexpr int kPassesMax = 6;
constexpr int kRestMax =
    200;  // pages left over for the pass that commits wait for: a millisecond or two

}  // namespace

Checkpointer::Checkpointer(std::unique_ptr<Database> database, int pages, std::mutex& writing)
    : database_(std::move(database)), threshold_(pages), writing_(writing), due_(pages) {
  sqlite3_busy_timeout(database_->handle(), 0);
  thread_ = std::thread([this] { run(); });
}

Checkpointer::~Checkpointer() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

void Checkpointer::log_grew(int pages) {
  {
    const std::lock_guard lock(mutex_);
    if (pages < length_) due_ = threshold_;  // it was begun anew
    length_ = pages;
    if (pages < due_) return;
    due_ = pages + threshold_;
    pages_ = pages;
  }
  wake_.notify_one();
}

void Checkpointer::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    wake_.wait(lock, [this] { return stop_ || pages_ > 0; });
    if (stop_) return;
    const int pages = std::exchange(pages_, 0);
    lock.unlock();
    copy_back(pages);
    lock.lock();
  }
}

void Checkpointer::copy_back(int pages) {
  // An error here loses nothing: the log still holds every page, and the next commit asks again.
  copy_pages(1);
  if (pages < threshold_ * kRestartFactor) return;
  // A pass that does not reach the end of the log leaves what it copied to the one that does, which
  // then waits for the disk, and commits with it. So the disk is waited for here, before.
  if (!copy_pages(kPassesMax)) return;
  sync_file();
  if (!copy_pages(kPassesMax)) return;
  const std::lock_guard writing(writing_);
  sqlite3_wal_checkpoint_v2(database_->handle(), nullptr, SQLITE_CHECKPOINT_RESTART, nullptr,
                            nullptr);
}

// Whether little is left in the log after so many passes. Much means that a reader, such as a
// backup, holds it; waiting would not help.
bool Checkpointer::copy_pages(int passes) {
  int in_log = 0;
  int copied = 0;
  for (int pass = 0; pass < passes; ++pass) {
    if (sqlite3_wal_checkpoint_v2(database_->handle(), nullptr, SQLITE_CHECKPOINT_PASSIVE, &in_log,
                                  &copied) != SQLITE_OK)
      return false;
    if (in_log - copied <= kRestMax) return true;
  }
  return false;
}

// Through SQLite's own descriptor: closing another one of the same file would drop its locks.
void Checkpointer::sync_file() {
  sqlite3_file* file = nullptr;
  sqlite3_file_control(database_->handle(), "main", SQLITE_FCNTL_FILE_POINTER, &file);
  if (file && file->pMethods) file->pMethods->xSync(file, SQLITE_SYNC_NORMAL);
}

}  // namespace atl::journal
