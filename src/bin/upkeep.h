// What the journal needs done beside the work, in pieces too small to be noticed: snapshots by a
// second process, the dropping of what they cover, and the pruning of history beyond its retention.
#pragma once

#include <sys/types.h>

#include <functional>
#include <memory>
#include <string>

#include "base/time.h"
#include "journal/sqlite_journal.h"

namespace atl::bin {

class Upkeep {
 public:
  // `purge` is told of jobs that history no longer holds; it must not block.
  Upkeep(Clock& clock, journal::SqliteJournal& journal, std::string home, Duration retention,
         std::function<void(std::vector<JobId>)> purge);
  ~Upkeep();

  // Once per turn of the loop, on its thread.
  void operator()();

 private:
  void start_snapshot();
  void reap_snapshot();

  Clock& clock_;
  journal::SqliteJournal& journal_;
  const std::string home_;
  const Duration retention_;
  const std::function<void(std::vector<JobId>)> purge_;
  pid_t snapshot_ = 0;
  Time look_at_;
  Time snapshot_not_before_;
};

}  // namespace atl::bin
