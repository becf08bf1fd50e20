// Copies SQLite's write-ahead log back into the database file on a thread of its own, so that no
// commit has to.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>

#include "journal/sqlite.h"

namespace atl::journal {

class Checkpointer {
 public:
  // `writing` is held by the writer during a transaction.
  Checkpointer(std::unique_ptr<Database> database, int pages, std::mutex& writing);
  ~Checkpointer();

  // The log has this many pages after a commit.
  void log_grew(int pages);

 private:
  void run();
  void copy_back(int pages);
  bool copy_pages(int passes);
  void sync_file();

  std::unique_ptr<Database> database_;  // the thread's alone
  const int threshold_;
  std::mutex& writing_;

  std::mutex mutex_;
  std::condition_variable wake_;
  int pages_ = 0;   // length of the log when the thread was last asked; zero: nothing to do
  int length_ = 0;  // after the last commit
  int due_ = 0;     // length at which the thread is asked next
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace atl::journal
