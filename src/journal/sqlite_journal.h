// The journal of one server: the SQLite file HOME/atoll.db, beside it HOME/snapshots and HOME/lock.
//
// One connection writes, owned by the runtime's thread; history() reads on connections of its own
// from any thread; a small thread copies the write-ahead log back into the file so that no commit
// has to. compact_some and prune do a bounded piece of work per call and are called when the loop
// has time.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "journal/journal.h"

namespace atl::journal {

// Which installation this is. Names given to sites carry both, so that a restored copy never takes
// the original's work for its own.
struct Identity {
  std::string installation;  // 16 hexadecimal digits, made once by chance
  uint64_t epoch = 1;        // raised by each restore
  bool operator==(const Identity&) const = default;
};

struct SqliteOptions {
  const char* vfs = nullptr;    // the SQLite file layer; tests pass one that fails on purpose
  int checkpoint_pages = 2000;  // length of the write-ahead log at which it is copied back
  int writer_cache_kib = 8192;  // page cache of the writing connection
  int reader_cache_kib = 1024;  // and of each reading one
};

class SqliteJournal : public Journal {
 public:
  // Takes HOME (made when absent), or says who holds it: `conflict` when a server runs on it,
  // `unavailable` when the directory cannot be used, `invalid` when the file is not ours or newer
  // than this program.
  [[nodiscard]] static Result<std::unique_ptr<SqliteJournal>> open(
      const std::string& home, const SqliteOptions& options = {});
  ~SqliteJournal() override;

  Result<Loaded> load() override;
  Result<uint64_t> commit(const Batch& batch) override;
  Result<void> trial_write() override;
  Result<std::string> payload(JobId job) override;
  Result<std::vector<Committed>> read(uint64_t sequence, size_t max) override;
  Result<Audit> audit(uint64_t sequence, size_t max) override;

  History& history();
  const Identity& identity() const;

  // Whether enough was written since the last snapshot to make another one worth its while. The
  // server then starts a process that calls make_snapshot (snapshot_file.h).
  bool snapshot_due() const;

  // Drops a bounded piece of the commits that the older of the two kept snapshots covers; true when
  // more is left.
  [[nodiscard]] Result<bool> compact_some();

  // Removes jobs that ended before the given time with everything kept about them, touching at most
  // about `max` rows. Returns those that are gone for good; fewer than could be means: call again.
  [[nodiscard]] Result<std::vector<JobId>> prune(Time ended_before, size_t max);

 private:
  struct Impl;
  explicit SqliteJournal(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace atl::journal
