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
    500;  // pages left over for the pass that commits wait for: a few milliseconds

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
  int in_log = 0;
  int copied = 0;
  // An error here loses nothing: the log still holds every page, and the next commit asks again.
  for (int pass = 0; pass < kPassesMax; ++pass) {
    if (sqlite3_wal_checkpoint_v2(database_->handle(), nullptr, SQLITE_CHECKPOINT_PASSIVE, &in_log,
                                  &copied) != SQLITE_OK) {
      return;
    }
    if (pages < threshold_ * kRestartFactor) return;
    if (in_log - copied <= kRestMax) break;
  }
  // Still much left means that a reader, such as a backup, holds the log; waiting would not help.
  if (in_log - copied > kRestMax) return;
  const std::lock_guard writing(writing_);
  sqlite3_wal_checkpoint_v2(database_->handle(), nullptr, SQLITE_CHECKPOINT_RESTART, nullptr,
                            nullptr);
}

}  // namespace atl::journal
