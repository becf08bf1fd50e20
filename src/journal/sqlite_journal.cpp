#include "journal/sqlite_journal.h"

#include <sys/statvfs.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <mutex>
#include <optional>

#include "journal/archive_writer.h"
#include "journal/checkpointer.h"
#include "journal/home.h"
#include "journal/load.h"
#include "journal/record.h"
#include "journal/retention.h"
#include "journal/schema.h"
#include "journal/snapshot_file.h"
#include "journal/sqlite_history.h"

namespace atl::journal {
namespace {

constexpr uint64_t kSnapshotBytesMin = 16 << 20;  // of commits: about a second of replay
constexpr uint64_t kFreeBytesMin =
    1 << 20;  // with less, a trial write would succeed and the next commit fail

int remember_log_pages(void* pages, sqlite3*, const char*, int now) {
  *static_cast<int*>(pages) = now;
  return SQLITE_OK;
}

}  // namespace

struct SqliteJournal::Impl {
  Impl(std::string directory, Fd lock_fd, std::unique_ptr<Database> database,
       const SqliteOptions& o)
      : home(std::move(directory)),
        lock(std::move(lock_fd)),
        writer(std::move(database)),
        archive(*writer),
        history(database_path(home),
                {.vfs = o.vfs, .cache_kib = o.reader_cache_kib, .query_only = true}, ended) {
    sqlite3_wal_hook(writer->handle(), remember_log_pages, &log_pages);
  }

  Result<void> start(const SqliteOptions& options);
  void find_snapshots();
  bool owns(uint64_t snapshot) const;

  // Runs `body` in a transaction that is durable when this returns; on error nothing of it is.
  template <class Body>
  Result<void> transact(Body&& body);
  void give_up();

  const std::string home;
  const Fd lock;
  const std::unique_ptr<Database> writer;
  ArchiveWriter archive;
  std::atomic<int64_t> ended = 0;  // rows of ended_jobs
  SqliteHistory history;
  Identity identity;

  // The end of the journal.
  uint64_t sequence = 0;
  uint32_t chain = 0;
  std::string buffer;

  // Snapshots and how much was written since.
  std::optional<uint64_t> newest_snapshot;  // nothing: not looked yet
  uint64_t snapshot_bytes = 0;
  uint64_t bytes_since = 0;
  uint64_t covered = 0;  // by the older of the two that are kept

  // The write-ahead log.
  int log_pages = 0;
  std::mutex writing;
  std::unique_ptr<Checkpointer> checkpointer;
};

Result<void> SqliteJournal::Impl::start(const SqliteOptions& options) {
  const auto extent = journal_extent(*writer);
  if (!extent) return tl::unexpected(extent.error());
  if (extent->last > 0) {
    const auto head = record_head(*writer, extent->last);
    if (!head) return tl::unexpected(head.error());
    sequence = head->sequence;
    chain = head->checksum;
  }
  const auto rows = writer->number("SELECT count(*) FROM ended_jobs");
  if (!rows) return tl::unexpected(rows.error());
  ended = *rows;
  auto found = read_identity(*writer);
  if (!found) return tl::unexpected(found.error());
  identity = *found;
  find_snapshots();
  auto copier = Database::open(database_path(home), {.vfs = options.vfs, .cache_kib = 256});
  if (!copier) return tl::unexpected(copier.error());
  checkpointer =
      std::make_unique<Checkpointer>(std::move(*copier), options.checkpoint_pages, writing);
  return {};
}

// Whether the snapshot was made from this journal. Files that somebody has put there must not cost
// any commit.
bool SqliteJournal::Impl::owns(uint64_t snapshot) const {
  const MappedFile file(snapshot_path(home, snapshot));
  const auto head = peek_snapshot(file.bytes());
  return head && head->sequence == snapshot && continues(*writer, *head);
}

// A snapshot process may have finished since the last look.
void SqliteJournal::Impl::find_snapshots() {
  const auto snapshots = list_snapshots(home);
  const bool safe = snapshots.size() > 1 && owns(snapshots[0]) && owns(snapshots[1]);
  covered = safe ? snapshots[1] : 0;
  const uint64_t newest = snapshots.empty() ? 0 : snapshots[0];
  if (newest_snapshot == newest) return;
  newest_snapshot = newest;
  std::error_code error;
  const auto size = std::filesystem::file_size(snapshot_path(home, newest), error);
  snapshot_bytes = error ? 0 : size;
  Query query = writer->query("SELECT sum(length(bytes)) FROM journal WHERE seq > ?");
  if (query.bind(static_cast<int64_t>(newest)).step() == SQLITE_ROW) {
    bytes_since = static_cast<uint64_t>(query.integer(0));
  }
}

template <class Body>
Result<void> SqliteJournal::Impl::transact(Body&& body) {
  {
    const std::lock_guard held(writing);
    auto done = writer->check(writer->query("BEGIN IMMEDIATE").run());
    if (done) done = body();
    if (done) done = writer->check(writer->query("COMMIT").run());
    if (!done) {
      give_up();
      return done;
    }
  }
  checkpointer->log_grew(log_pages);
  return {};
}

// After a commit whose last step failed, its pages may be whole in the write-ahead log, and a crash
// now would bring it back. The next write puts others in their place, so a small one is tried at
// once; when even that fails, the trial write that ends the read-only time does it.
void SqliteJournal::Impl::give_up() {
  if (!sqlite3_get_autocommit(writer->handle())) writer->exec("ROLLBACK");
  archive.forget();
  writer->exec("UPDATE meta SET value = value + 1 WHERE key = 'trial'");
}

SqliteJournal::SqliteJournal(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
SqliteJournal::~SqliteJournal() = default;

Result<std::unique_ptr<SqliteJournal>> SqliteJournal::open(const std::string& home,
                                                           const SqliteOptions& options) {
  auto lock = take_home(home);
  if (!lock) return tl::unexpected(lock.error());
  auto database =
      Database::open(database_path(home),
                     {.vfs = options.vfs, .cache_kib = options.writer_cache_kib, .create = true});
  if (!database) return tl::unexpected(database.error());
  Database& db = **database;
  auto ready = db.must("PRAGMA synchronous=FULL");
  if (ready) ready = prepare_schema(db);
  if (ready) ready = db.must("PRAGMA journal_mode=WAL");
  // Cutting the log short costs the next commit dearly; it is done when a backup has held it for
  // long.
  if (ready) ready = db.must("PRAGMA journal_size_limit=536870912");
  if (!ready) return tl::unexpected(ready.error());
  auto impl = std::make_unique<Impl>(home, std::move(*lock), std::move(*database), options);
  if (auto started = impl->start(options); !started) return tl::unexpected(started.error());
  return std::unique_ptr<SqliteJournal>(new SqliteJournal(std::move(impl)));
}

Result<Loaded> SqliteJournal::load() {
  auto result = load_state(*impl_->writer, impl_->home);
  if (!result) return tl::unexpected(result.error());
  impl_->sequence = result->loaded.sequence;
  impl_->chain = result->chain;
  return std::move(result->loaded);
}

Result<uint64_t> SqliteJournal::commit(const Batch& batch) {
  Impl& self = *impl_;
  if (batch.events.empty() && batch.archive.empty()) return self.sequence;
  const uint64_t sequence = self.sequence + 1;
  const uint32_t checksum = encode_record(sequence, self.chain, batch.events, self.buffer);
  int64_t ended = 0;
  const auto done = self.transact([&]() -> Result<void> {
    Query query = self.writer->query("INSERT INTO journal VALUES(?, ?)");
    const int code = query.bind(static_cast<int64_t>(sequence)).blob(self.buffer).run();
    if (auto inserted = self.writer->check(code); !inserted) return inserted;
    if (auto kept = self.archive.write_audit(sequence, batch.events); !kept) return kept;
    return self.archive.write(batch, ended);
  });
  if (!done) return tl::unexpected(done.error());
  self.sequence = sequence;
  self.chain = checksum;
  self.ended += ended;
  self.bytes_since += self.buffer.size();
  return sequence;
}

Result<void> SqliteJournal::trial_write() {
  struct statvfs space{};
  if (statvfs(impl_->home.c_str(), &space) == 0 &&
      static_cast<uint64_t>(space.f_bavail) * space.f_frsize < kFreeBytesMin) {
    return tl::unexpected(sqlite_error(SQLITE_FULL, database_path(impl_->home), ""));
  }
  return impl_->transact([&] {
    return impl_->writer->check(
        impl_->writer->query("UPDATE meta SET value = value + 1 WHERE key = 'trial'").run());
  });
}

Result<std::string> SqliteJournal::payload(JobId job) { return read_payload(*impl_->writer, job); }

Result<std::vector<Committed>> SqliteJournal::read(uint64_t sequence, size_t max) {
  std::vector<Committed> commits;
  Query query =
      impl_->writer->query("SELECT seq, bytes FROM journal WHERE seq > ? ORDER BY seq LIMIT ?");
  query.bind(static_cast<int64_t>(sequence)).bind(static_cast<int64_t>(max));
  int code;
  while ((code = query.step()) == SQLITE_ROW) {
    const auto found = static_cast<uint64_t>(query.integer(0));
    if (found != sequence + commits.size() + 1) {
      return fail(ErrorCode::not_found,
                  "commits after " + std::to_string(sequence) +
                      " are no longer kept; start again from the present state");
    }
    auto record = decode_record(query.bytes(1));
    if (!record) {
      return fail(ErrorCode::internal,
                  "commit " + std::to_string(found) + " is damaged: " + record.error().message);
    }
    commits.push_back({found, std::move(record->events)});
  }
  if (code != SQLITE_DONE) return tl::unexpected(impl_->writer->error());
  return commits;
}

Result<Audit> SqliteJournal::audit(uint64_t sequence, size_t max) {
  Audit audit;
  const auto extent = journal_extent(*impl_->writer);
  if (!extent) return tl::unexpected(extent.error());
  audit.whole_from = extent->first ? extent->first : impl_->sequence + 1;
  Query query = impl_->writer->query(
      "SELECT seq, events FROM audit WHERE seq > ? AND seq < ? ORDER BY seq LIMIT ?");
  query.bind(static_cast<int64_t>(sequence)).bind(static_cast<int64_t>(audit.whole_from));
  query.bind(static_cast<int64_t>(max));
  int code;
  while ((code = query.step()) == SQLITE_ROW) {
    auto record = decode_record(query.bytes(1));
    if (!record) {
      return fail(ErrorCode::internal, "the audit record of commit " +
                                           std::to_string(query.integer(0)) +
                                           " is damaged: " + record.error().message);
    }
    audit.commits.push_back({static_cast<uint64_t>(query.integer(0)), std::move(record->events)});
  }
  if (code != SQLITE_DONE) return tl::unexpected(impl_->writer->error());
  return audit;
}

History& SqliteJournal::history() { return impl_->history; }
const Identity& SqliteJournal::identity() const { return impl_->identity; }

bool SqliteJournal::snapshot_due() const {
  return impl_->bytes_since > std::max(kSnapshotBytesMin, impl_->snapshot_bytes);
}

Result<bool> SqliteJournal::compact_some() {
  impl_->find_snapshots();
  const auto first = impl_->writer->number("SELECT min(seq) FROM journal");
  if (!first) return tl::unexpected(first.error());
  if (*first == 0 || static_cast<uint64_t>(*first) > impl_->covered) return false;
  bool more = false;
  const auto done = impl_->transact([&]() -> Result<void> {
    const auto dropped = drop_commits(*impl_->writer, impl_->covered);
    if (!dropped) return tl::unexpected(dropped.error());
    more = *dropped;
    return {};
  });
  if (!done) return tl::unexpected(done.error());
  return more;
}

Result<std::vector<JobId>> SqliteJournal::prune(Time ended_before, size_t max) {
  std::vector<JobId> gone;
  const auto done = impl_->transact([&]() -> Result<void> {
    auto dropped = drop_ended(*impl_->writer, impl_->archive, ended_before, max);
    if (!dropped) return tl::unexpected(dropped.error());
    gone = std::move(*dropped);
    return drop_workflows(*impl_->writer, impl_->archive, ended_before, max);
  });
  if (!done) return tl::unexpected(done.error());
  impl_->ended -= static_cast<int64_t>(gone.size());
  return gone;
}

}  // namespace atl::journal
