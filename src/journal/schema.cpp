#include "journal/schema.h"

#include <random>

namespace atl::journal {
namespace {

constexpr int64_t kApplicationId = 0x41544f4c;  // "ATOL", what file(1) shows

// Format 1. Rows of one commit lie side by side: every key but those of `idempotency` grows with
// time, so a commit touches few pages however long the history is.
constexpr const char* kFormat1 = R"(
PRAGMA application_id=1096044364;
CREATE TABLE meta(key TEXT PRIMARY KEY, value) WITHOUT ROWID;
CREATE TABLE journal(seq INTEGER PRIMARY KEY, bytes BLOB NOT NULL);
CREATE TABLE blobs(id INTEGER PRIMARY KEY, refs INTEGER NOT NULL, digest BLOB NOT NULL, bytes BLOB NOT NULL);
CREATE TABLE payloads(job INTEGER PRIMARY KEY, blob INTEGER NOT NULL);
CREATE TABLE ended_jobs(id INTEGER PRIMARY KEY, ns INTEGER NOT NULL, user INTEGER NOT NULL,
                        outcome INTEGER NOT NULL, ended_us INTEGER NOT NULL, name TEXT NOT NULL,
                        body BLOB NOT NULL);
CREATE INDEX ended_by_ns ON ended_jobs(ns, id);
CREATE INDEX ended_by_user ON ended_jobs(user, id);
CREATE INDEX ended_by_time ON ended_jobs(ended_us);
CREATE INDEX ended_badly ON ended_jobs(outcome, id) WHERE outcome <> 0;
CREATE TABLE attempts(job INTEGER, idx INTEGER, attempt INTEGER, body BLOB NOT NULL,
                      PRIMARY KEY(job, idx, attempt)) WITHOUT ROWID;
CREATE TABLE idempotency(user INTEGER, key TEXT, job INTEGER NOT NULL, PRIMARY KEY(user, key)) WITHOUT ROWID;
CREATE INDEX idempotency_by_job ON idempotency(job);
CREATE TABLE audit(seq INTEGER PRIMARY KEY, at_us INTEGER NOT NULL, events BLOB NOT NULL);
CREATE INDEX audit_by_time ON audit(at_us);
INSERT INTO meta VALUES('format', 1), ('epoch', 1), ('trial', 0);
)";

// Format 2: workflows and queues. Rows of `steps` are written when they are added and changed when
// they end.
constexpr const char* kFormat2 = R"(
CREATE TABLE workflows(id INTEGER PRIMARY KEY, ns INTEGER NOT NULL, user INTEGER NOT NULL, name TEXT NOT NULL,
                       version INTEGER NOT NULL, submitted_us INTEGER NOT NULL, ended_us INTEGER NOT NULL,
                       outcome INTEGER NOT NULL, message TEXT NOT NULL, document BLOB NOT NULL,
                       fail_fast INTEGER NOT NULL, parallel_max INTEGER NOT NULL, tally BLOB NOT NULL);
CREATE INDEX workflows_by_time ON workflows(ended_us) WHERE ended_us <> 0;
CREATE TABLE steps(workflow INTEGER, step INTEGER, body BLOB NOT NULL, payload INTEGER NOT NULL, recipe INTEGER NOT NULL,
                   job INTEGER NOT NULL, state INTEGER NOT NULL, ended_us INTEGER NOT NULL, message TEXT NOT NULL,
                   outputs TEXT NOT NULL, reused_workflow INTEGER NOT NULL, reused_step INTEGER NOT NULL,
                   PRIMARY KEY(workflow, step)) WITHOUT ROWID;
CREATE TABLE step_kinds(workflow INTEGER, kind INTEGER, body BLOB NOT NULL, PRIMARY KEY(workflow, kind)) WITHOUT ROWID;
CREATE TABLE versions(ns INTEGER, name TEXT, version INTEGER, digest BLOB NOT NULL, files INTEGER NOT NULL,
                      at_us INTEGER NOT NULL, PRIMARY KEY(ns, name, version)) WITHOUT ROWID;
CREATE TABLE cached(ns INTEGER, key BLOB, workflow INTEGER NOT NULL, step INTEGER NOT NULL, at_us INTEGER NOT NULL,
                    PRIMARY KEY(ns, key)) WITHOUT ROWID;
CREATE INDEX cached_by_workflow ON cached(workflow);
CREATE TABLE item_bodies(id INTEGER PRIMARY KEY, body BLOB NOT NULL);
UPDATE meta SET value = 2 WHERE key = 'format';
)";

// Format 3: workflows that know of each other, and what made them; what was left of the items of
// queues that steps went through.
constexpr const char* kFormat3 = R"(
ALTER TABLE workflows ADD COLUMN lane TEXT NOT NULL DEFAULT '';
ALTER TABLE workflows ADD COLUMN overlap INTEGER NOT NULL DEFAULT 0;
ALTER TABLE workflows ADD COLUMN origin TEXT NOT NULL DEFAULT '';
ALTER TABLE workflows ADD COLUMN time_limit_us INTEGER NOT NULL DEFAULT 0;
CREATE INDEX workflows_by_origin ON workflows(ns, origin, id) WHERE origin <> '';
CREATE TABLE fed_outputs(workflow INTEGER, step INTEGER, job INTEGER, items TEXT NOT NULL, outputs TEXT NOT NULL,
                         PRIMARY KEY(workflow, step, job)) WITHOUT ROWID;
UPDATE meta SET value = 3 WHERE key = 'format';
)";

// Format 4: what the jobs used of a step that went through a queue.
constexpr const char* kFormat4 = R"(
ALTER TABLE steps ADD COLUMN use BLOB NOT NULL DEFAULT x'';
UPDATE meta SET value = 4 WHERE key = 'format';
)";

std::string random_installation() {
  std::random_device device;
  const uint64_t value = (static_cast<uint64_t>(device()) << 32) | device();
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(value));
  return text;
}

// Zero for a file without tables.
Result<int64_t> read_format(Database& database) {
  const auto tables = database.number("SELECT count(*) FROM sqlite_schema");
  if (!tables) return tl::unexpected(tables.error());
  if (*tables == 0) return 0;
  const auto application = database.number("PRAGMA application_id");
  if (!application) return tl::unexpected(application.error());
  if (*application != kApplicationId) {
    return tl::unexpected(
        sqlite_error(SQLITE_NOTADB, sqlite3_db_filename(database.handle(), "main"), ""));
  }
  return database.number("SELECT value FROM meta WHERE key='format'");
}

tl::unexpected<Error> too_new(int64_t format) {
  return fail(ErrorCode::invalid, "the data directory has format " + std::to_string(format) +
                                      " and this program reads up to " + std::to_string(kFormat) +
                                      "; use the newer Atoll that wrote it");
}

Result<void> create_format_1(Database& database) {
  if (auto made = database.must(kFormat1); !made) return made;
  const std::string installation = random_installation();
  Query insert = database.query("INSERT INTO meta VALUES('installation', ?)");
  return database.check(insert.text(installation).run());
}

// One case per older format, each falling through to the next.
Result<void> migrate(Database& database, int64_t from) {
  switch (from) {
    case 0:
      if (auto made = create_format_1(database); !made) return made;
      [[fallthrough]];
    case 1:
      if (auto made = database.must(kFormat2); !made) return made;
      [[fallthrough]];
    case 2:
      if (auto made = database.must(kFormat3); !made) return made;
      [[fallthrough]];
    case 3:
      return database.must(kFormat4);
    case kFormat:
      return {};
    default:
      return too_new(from);
  }
}

}  // namespace

Result<void> prepare_schema(Database& database) {
  // Only now is the file really read, so this is where a file of another kind is noticed.
  const auto format = read_format(database);
  if (!format) return tl::unexpected(format.error());
  if (*format == kFormat) return {};
  if (auto began = database.must("BEGIN IMMEDIATE"); !began) return began;
  auto migrated = migrate(database, *format);
  if (migrated) migrated = database.must("COMMIT");
  if (!migrated) database.exec("ROLLBACK");
  return migrated;
}

Result<void> check_schema(Database& database) {
  const auto format = read_format(database);
  if (!format) return tl::unexpected(format.error());
  if (*format > kFormat) return too_new(*format);
  if (*format < kFormat) {
    return fail(ErrorCode::invalid, "the database has the older format " + std::to_string(*format) +
                                        "; start `atoll up` once to bring it up to date");
  }
  return {};
}

Result<Identity> read_identity(Database& database) {
  const auto epoch = database.number("SELECT value FROM meta WHERE key='epoch'");
  if (!epoch) return tl::unexpected(epoch.error());
  Query query = database.query("SELECT value FROM meta WHERE key='installation'");
  if (query.step() != SQLITE_ROW) return tl::unexpected(database.error());
  return Identity{.installation = std::string(query.bytes(0)),
                  .epoch = static_cast<uint64_t>(*epoch)};
}

}  // namespace atl::journal
