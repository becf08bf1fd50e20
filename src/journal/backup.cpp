#include "journal/backup.h"

#include <fcntl.h>
#include <unistd.h>

#include <filesystem>
#include <vector>

#include "journal/home.h"
#include "journal/load.h"
#include "journal/schema.h"
#include "journal/snapshot_file.h"
#include "journal/verify.h"

namespace atl::journal {
namespace {

namespace fs = std::filesystem;

constexpr size_t kPieceBytes = 1 << 20;  // of a snapshot, one row each

Result<void> sync_file(const std::string& path) {
  const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd || fsync(fd.get()) != 0) return io_error("cannot sync", path);
  return {};
}

Result<void> put_in_place(const std::string& partial, const std::string& path) {
  if (auto synced = sync_file(partial); !synced) return synced;
  if (rename(partial.c_str(), path.c_str()) != 0) return io_error("cannot rename to", path);
  return sync_directory(fs::absolute(path).parent_path());
}

// The file's content goes to `copy` in one transaction, tightly packed.
Result<void> copy_database(const std::string& home, const std::string& copy) {
  auto database = Database::open(database_path(home), {});
  if (!database) return tl::unexpected(database.error());
  if (auto ours = check_schema(**database); !ours) return ours;
  return (*database)->check((*database)->query("VACUUM INTO ?").text(copy).run());
}

Result<void> store_snapshot(Database& database, std::string_view bytes) {
  Query query = database.query("INSERT INTO snapshot(bytes) VALUES(?)");
  while (!bytes.empty()) {
    const std::string_view piece = bytes.substr(0, kPieceBytes);
    if (auto done = database.check(query.blob(piece).run()); !done) return done;
    bytes.remove_prefix(piece.size());
  }
  return {};
}

Result<std::string> stored_snapshot(Database& database) {
  std::string bytes;
  Query query = database.query("SELECT bytes FROM snapshot ORDER BY part");
  int code;
  while ((code = query.step()) == SQLITE_ROW) bytes += query.bytes(0);
  if (code != SQLITE_DONE) return tl::unexpected(database.error());
  return bytes;
}

// Adds the newest snapshot that the copied journal continues.
Result<void> add_snapshot(const std::string& copy, const std::vector<MappedFile>& snapshots) {
  auto database = Database::open(copy, {});
  if (!database) return tl::unexpected(database.error());
  Database& db = **database;
  auto done =
      db.must("BEGIN; CREATE TABLE snapshot(part INTEGER PRIMARY KEY, bytes BLOB NOT NULL)");
  if (!done) return done;
  for (const MappedFile& file : snapshots) {
    const auto head = verify_snapshot(file.bytes());
    if (!head || !continues(db, *head)) continue;
    if (done = store_snapshot(db, file.bytes()); !done) return done;
    return db.must("COMMIT");
  }
  const auto extent = journal_extent(db);
  if (!extent) return tl::unexpected(extent.error());
  if (extent->first > 1) {
    return fail(ErrorCode::unavailable,
                "the journal was shortened meanwhile; try the backup again");
  }
  return db.must("COMMIT");
}

// Everything that a server will read from it; the snapshot's bytes go to `snapshot`.
Result<SnapshotHead> verify_backup(Database& database, std::string& snapshot) {
  if (auto ours = check_schema(database); !ours) return tl::unexpected(ours.error());
  const auto tables = database.number("SELECT count(*) FROM sqlite_schema WHERE name='snapshot'");
  if (!tables) return tl::unexpected(tables.error());
  if (*tables == 0) return fail(ErrorCode::invalid, "it is a data file, not a backup");
  if (auto whole = verify_pages(database); !whole) return tl::unexpected(whole.error());
  auto bytes = stored_snapshot(database);
  if (!bytes) return tl::unexpected(bytes.error());
  snapshot = std::move(*bytes);
  SnapshotHead head;
  if (!snapshot.empty()) {
    const auto verified = verify_snapshot(snapshot);
    if (!verified) return tl::unexpected(verified.error());
    head = *verified;
    if (auto fits = continues(database, head); !fits) return tl::unexpected(fits.error());
  }
  const auto last = read_records(database, head.sequence, head.chain, [](const Record&, size_t) {});
  if (!last) return tl::unexpected(last.error());
  if (auto sound = verify_payloads(database); !sound) return tl::unexpected(sound.error());
  return head;
}

Result<void> write_bytes(const std::string& path, std::string_view bytes) {
  const Fd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  if (!fd) return io_error("cannot make", path);
  if (auto written = write_all(fd.get(), bytes, path); !written) return written;
  if (fsync(fd.get()) != 0) return io_error("cannot sync", path);
  return {};
}

// A backup that no restore would take is none.
Result<void> verify_copy(const std::string& copy) {
  auto database = Database::open(copy, {.query_only = true});
  if (!database) return tl::unexpected(database.error());
  std::string snapshot;
  if (const auto head = verify_backup(**database, snapshot); !head) {
    return fail(ErrorCode::internal,
                "the data directory is damaged, and its backup could not be restored: " +
                    head.error().message + "; `atoll doctor` tells the extent");
  }
  return {};
}

Result<void> refuse_used(const std::string& home) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(home, error)) {
    const std::string name = entry.path().filename();
    if (name == "atoll.yaml") continue;
    return fail(ErrorCode::conflict, home + " is not empty (" + name +
                                         " is there); restore into a new directory with --home");
  }
  return {};
}

// From the verified copy to a data directory that a server may open.
Result<void> settle(Database& database, const std::string& home, const SnapshotHead& head,
                    const std::string& snapshot) {
  if (!snapshot.empty()) {
    if (auto made = make_directory(home + "/snapshots"); !made) return made;
    auto written = write_bytes(snapshot_path(home, head.sequence), snapshot);
    if (written) written = sync_directory(home + "/snapshots");
    if (!written) return written;
  }
  return database.must(
      "BEGIN; DROP TABLE snapshot; UPDATE meta SET value = value + 1 WHERE key = 'epoch'; COMMIT");
}

// What is wrong with the copy is wrong with the file that was given.
tl::unexpected<Error> unusable(const Error& error, const std::string& partial,
                               const std::string& file) {
  std::string why = error.message;
  if (const size_t hint = why.find("; run `atoll doctor`"); hint != std::string::npos)
    why.resize(hint);
  if (const size_t at = why.find(partial); at != std::string::npos)
    why.replace(at, partial.size(), "it");
  return fail(ErrorCode::invalid, file + " cannot be restored: " + why);
}

Result<void> restore_copy(const std::string& file, const std::string& home,
                          const std::string& partial) {
  std::error_code error;
  fs::copy_file(file, partial, error);
  if (error) {
    errno = error.value();
    return io_error("cannot copy", file);
  }
  {
    auto database = Database::open(partial, {.cache_kib = 8192});
    if (!database) return unusable(database.error(), partial, file);
    std::string snapshot;
    const auto head = verify_backup(**database, snapshot);
    if (!head) return unusable(head.error(), partial, file);
    if (auto settled = settle(**database, home, *head, snapshot); !settled) return settled;
  }
  return put_in_place(partial, database_path(home));
}

}  // namespace

Result<void> backup(const std::string& home, const std::string& file) {
  if (access(file.c_str(), F_OK) == 0)
    return fail(ErrorCode::conflict, file + " exists; name a new file");
  const std::string partial = file + ".partial";
  if (auto writable = write_bytes(partial, ""); !writable)
    return fail(ErrorCode::invalid, writable.error().message, "file");
  unlink(partial.c_str());
  // Held open, so that a snapshot made meanwhile does not take them away.
  std::vector<MappedFile> snapshots;
  for (const uint64_t sequence : list_snapshots(home))
    snapshots.emplace_back(snapshot_path(home, sequence));
  auto done = copy_database(home, partial);
  if (done) done = add_snapshot(partial, snapshots);
  if (done) done = verify_copy(partial);
  if (done) done = put_in_place(partial, file);
  if (!done) unlink(partial.c_str());
  return done;
}

Result<void> restore(const std::string& file, const std::string& home) {
  if (auto unused = refuse_used(home); !unused) return unused;
  const auto lock = take_home(home);
  if (!lock) return tl::unexpected(lock.error());
  const std::string partial = home + "/restoring.db";
  auto done = restore_copy(file, home, partial);
  if (!done) {
    std::error_code ignored;
    fs::remove(partial, ignored);
    fs::remove_all(home + "/snapshots", ignored);
    fs::remove(home + "/lock", ignored);
  }
  return done;
}

}  // namespace atl::journal
