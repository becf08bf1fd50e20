#include "journal/retention.h"

namespace atl::journal {
namespace {

constexpr int kDropCommits = 200;        // per piece, and
constexpr int64_t kDropBytes = 4 << 20;  // whichever is less: together a few milliseconds

// The last sequence number of the next piece to drop, or zero when nothing is left.
Result<int64_t> piece_end(Database& database, uint64_t covered) {
  Query query =
      database.query("SELECT seq, length(bytes) FROM journal WHERE seq <= ? ORDER BY seq LIMIT ?");
  query.bind(static_cast<int64_t>(covered)).bind(kDropCommits);
  int64_t end = 0;
  int64_t bytes = 0;
  int code;
  while ((code = query.step()) == SQLITE_ROW && bytes < kDropBytes) {
    end = query.integer(0);
    bytes += query.integer(1);
  }
  if (code != SQLITE_ROW && code != SQLITE_DONE) return tl::unexpected(database.error());
  return end;
}

// Deletes at most `rows` attempts of the job and takes them off `rows`; true when none is left.
Result<bool> drop_attempts(Database& database, JobId job, size_t& rows) {
  const auto id = static_cast<int64_t>(job.value);
  int64_t last = -1;
  int64_t found = 0;
  {
    Query query = database.query("SELECT idx FROM attempts WHERE job = ? ORDER BY idx LIMIT ?");
    query.bind(id).bind(static_cast<int64_t>(rows));
    for (; query.step() == SQLITE_ROW; ++found) last = query.integer(0);
  }
  Query remove = database.query("DELETE FROM attempts WHERE job = ? AND idx <= ?");
  if (auto done = database.check(remove.bind(id).bind(last).run()); !done) {
    return tl::unexpected(done.error());
  }
  const bool all = static_cast<size_t>(found) < rows;
  rows -= static_cast<size_t>(found);
  return all;
}

Result<void> drop_job(Database& database, ArchiveWriter& writer, JobId job) {
  const auto id = static_cast<int64_t>(job.value);
  Query keys = database.query("DELETE FROM idempotency WHERE job = ?");
  if (auto done = database.check(keys.bind(id).run()); !done) return done;
  if (auto done = writer.release_payload(job); !done) return done;
  Query row = database.query("DELETE FROM ended_jobs WHERE id = ?");
  return database.check(row.bind(id).run());
}

Result<std::vector<JobId>> ended_before(Database& database, Time time, size_t max) {
  Query query =
      database.query("SELECT id FROM ended_jobs WHERE ended_us < ? ORDER BY ended_us LIMIT ?");
  query.bind(time.us).bind(static_cast<int64_t>(max));
  std::vector<JobId> jobs;
  int code;
  while ((code = query.step()) == SQLITE_ROW) {
    jobs.push_back({static_cast<uint64_t>(query.integer(0))});
  }
  if (code != SQLITE_DONE) return tl::unexpected(database.error());
  return jobs;
}

// Zero: none.
Result<int64_t> oldest_workflow(Database& database, Time before) {
  Query query = database.query(
      "SELECT id FROM workflows WHERE ended_us <> 0 AND ended_us < ? ORDER BY ended_us LIMIT 1");
  const int code = query.bind(before.us).step();
  if (code == SQLITE_DONE) return 0;
  if (code != SQLITE_ROW) return tl::unexpected(database.error());
  return query.integer(0);
}

// Deletes at most `rows` steps and takes them off `rows`; true when none is left.
Result<bool> drop_steps(Database& database, ArchiveWriter& writer, int64_t workflow, size_t& rows) {
  std::vector<int64_t> blobs;
  int64_t last = -1;
  size_t found = 0;
  {
    Query query = database.query(
        "SELECT step, payload, recipe FROM steps WHERE workflow = ? ORDER BY step LIMIT ?");
    query.bind(workflow).bind(static_cast<int64_t>(rows));
    for (; query.step() == SQLITE_ROW; ++found) {
      last = query.integer(0);
      blobs.push_back(query.integer(1));
      blobs.push_back(query.integer(2));
    }
  }
  for (const int64_t blob : blobs) {
    if (auto released = writer.release_blob(blob); !released)
      return tl::unexpected(released.error());
  }
  Query remove = database.query("DELETE FROM steps WHERE workflow = ? AND step <= ?");
  if (auto done = database.check(remove.bind(workflow).bind(last).run()); !done)
    return tl::unexpected(done.error());
  const bool all = found < rows;
  rows -= found;
  return all;
}

// Likewise of what the items of queues left.
Result<bool> drop_fed(Database& database, int64_t workflow, size_t& rows) {
  Query remove = database.query(
      "DELETE FROM fed_outputs WHERE workflow = ?1 AND (step, job) IN "
      "(SELECT step, job FROM fed_outputs WHERE workflow = ?1 ORDER BY step, job LIMIT ?2)");
  remove.bind(workflow).bind(static_cast<int64_t>(rows));
  if (auto done = database.check(remove.run()); !done) return tl::unexpected(done.error());
  const auto found = static_cast<size_t>(sqlite3_changes(database.handle()));
  const bool all = found < rows;
  rows -= found;
  return all;
}

}  // namespace

Result<bool> drop_commits(Database& database, uint64_t covered) {
  const auto end = piece_end(database, covered);
  if (!end) return tl::unexpected(end.error());
  if (*end == 0) return false;
  Query query = database.query("DELETE FROM journal WHERE seq <= ?");
  if (auto done = database.check(query.bind(*end).run()); !done)
    return tl::unexpected(done.error());
  return static_cast<uint64_t>(*end) < covered;
}

Result<std::vector<JobId>> drop_ended(Database& database, ArchiveWriter& writer, Time time,
                                      size_t rows) {
  const auto candidates = ended_before(database, time, rows);
  if (!candidates) return candidates;
  Query old = database.query(
      "DELETE FROM audit WHERE seq IN "
      "(SELECT seq FROM audit WHERE at_us < ? ORDER BY at_us LIMIT ?)");
  old.bind(time.us).bind(static_cast<int64_t>(rows));
  if (auto dropped = database.check(old.run()); !dropped) return tl::unexpected(dropped.error());
  std::vector<JobId> gone;
  for (const JobId job : *candidates) {
    if (rows == 0) break;
    const auto emptied = drop_attempts(database, job, rows);
    if (!emptied) return tl::unexpected(emptied.error());
    if (!*emptied) break;
    if (auto dropped = drop_job(database, writer, job); !dropped)
      return tl::unexpected(dropped.error());
    gone.push_back(job);
    --rows;
  }
  return gone;
}

Result<void> drop_workflows(Database& database, ArchiveWriter& writer, Time time, size_t rows) {
  while (rows > 0) {
    const auto next = oldest_workflow(database, time);
    if (!next) return tl::unexpected(next.error());
    if (*next == 0) return {};
    const auto fed = drop_fed(database, *next, rows);
    if (!fed) return tl::unexpected(fed.error());
    if (!*fed) break;
    const auto emptied = drop_steps(database, writer, *next, rows);
    if (!emptied) return tl::unexpected(emptied.error());
    if (!*emptied) return {};
    for (const char* sql :
         {"DELETE FROM step_kinds WHERE workflow = ?", "DELETE FROM cached WHERE workflow = ?",
          "DELETE FROM workflows WHERE id = ?"}) {
      Query remove = database.query(sql);
      if (auto done = database.check(remove.bind(*next).run()); !done) return done;
    }
    --rows;
  }
  return {};
}

}  // namespace atl::journal
