#include "journal/sqlite.h"

#include <cstring>

namespace atl::journal {

Query::~Query() {
  if (!statement_) return;
  sqlite3_reset(statement_);
  sqlite3_clear_bindings(statement_);
}

Query& Query::bind(int64_t value) {
  sqlite3_bind_int64(statement_, ++at_, value);
  return *this;
}

Query& Query::text(std::string_view value) {
  sqlite3_bind_text64(statement_, ++at_, value.data() ? value.data() : "", value.size(),
                      SQLITE_STATIC, SQLITE_UTF8);
  return *this;
}

Query& Query::blob(std::string_view value) {
  sqlite3_bind_blob64(statement_, ++at_, value.data() ? value.data() : "", value.size(),
                      SQLITE_STATIC);
  return *this;
}

int Query::step() { return statement_ ? sqlite3_step(statement_) : SQLITE_ERROR; }

std::string_view Query::bytes(int column) const {
  const void* data = sqlite3_column_blob(statement_, column);
  const int size = sqlite3_column_bytes(statement_, column);
  return data ? std::string_view(static_cast<const char*>(data), size) : std::string_view();
}

int Query::run() {
  int code = step();
  while (code == SQLITE_ROW) code = step();
  if (statement_) sqlite3_reset(statement_);
  at_ = 0;
  return code;
}

Result<std::unique_ptr<Database>> Database::open(const std::string& path, const Options& options) {
  // SQLite's count of its memory takes a lock at every allocation, a fifth of the cost of a row. It
  // can be switched off only before the first use.
  [[maybe_unused]] static const int configured = sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
  const int flags =
      SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | (options.create ? SQLITE_OPEN_CREATE : 0);
  sqlite3* handle = nullptr;
  const int code = sqlite3_open_v2(path.c_str(), &handle, flags, options.vfs);
  std::unique_ptr<Database> database(new Database(handle, path));
  if (code != SQLITE_OK) {
    return tl::unexpected(sqlite_error(code, path, std::strerror(sqlite3_system_errno(handle))));
  }
  sqlite3_extended_result_codes(handle, 1);
  sqlite3_busy_timeout(handle, 10000);
  // Debian's build wipes deleted content by default, which triples the cost of compaction and
  // protects nothing here.
  database->exec("PRAGMA secure_delete=OFF");
  database->exec("PRAGMA temp_store=MEMORY");
  database->exec(("PRAGMA cache_size=-" + std::to_string(options.cache_kib)).c_str());
  if (options.query_only) database->exec("PRAGMA query_only=ON");
  return database;
}

Database::~Database() {
  for (auto& [sql, statement] : statements_) sqlite3_finalize(statement);
  sqlite3_close(handle_);
}

int Database::exec(const char* sql) {
  return sqlite3_exec(handle_, sql, nullptr, nullptr, nullptr);
}

Result<void> Database::must(const char* sql) { return check(exec(sql)); }

Query Database::query(std::string_view sql) {
  auto found = statements_.find(sql);
  if (found == statements_.end()) {
    sqlite3_stmt* statement = nullptr;
    const int code = sqlite3_prepare_v3(handle_, sql.data(), static_cast<int>(sql.size()),
                                        SQLITE_PREPARE_PERSISTENT, &statement, nullptr);
    if (code != SQLITE_OK) return Query(nullptr);
    found = statements_.emplace(std::string(sql), statement).first;
  }
  return Query(found->second);
}

Result<int64_t> Database::number(std::string_view sql) {
  Query query = this->query(sql);
  const int code = query.step();
  if (code == SQLITE_ROW) return query.integer(0);
  if (code == SQLITE_DONE) return 0;
  return tl::unexpected(error());
}

Error Database::error() const {
  return sqlite_error(sqlite3_extended_errcode(handle_), path_, sqlite3_errmsg(handle_));
}

Result<void> Database::check(int code) const {
  if (code == SQLITE_OK || code == SQLITE_DONE || code == SQLITE_ROW) return {};
  return tl::unexpected(error());
}

Error sqlite_error(int code, const std::string& path, const std::string& detail) {
  const std::string tail = " (" + detail + ")";
  switch (code & 0xff) {
    case SQLITE_FULL:
      return {
          ErrorCode::unavailable, "the disk that holds " + path + " is full; free some space", {}};
    case SQLITE_IOERR:
      return {
          ErrorCode::unavailable,
          "reading or writing " + path + " failed with I/O error " + std::to_string(code) + tail,
          {}};
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return {ErrorCode::unavailable, path + " is locked by another program" + tail, {}};
    case SQLITE_READONLY:
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
    case SQLITE_AUTH:
      return {ErrorCode::unavailable, path + " cannot be written" + tail, {}};
    case SQLITE_NOTADB:
      return {ErrorCode::invalid,
              path + " is not a database of Atoll; move it away or name another --home",
              {}};
    case SQLITE_CORRUPT:
      return {ErrorCode::internal,
              path + " is damaged" + tail +
                  "; run `atoll doctor`, then `atoll restore` from the newest backup",
              {}};
    default:
      return {ErrorCode::internal, path + ": SQLite error " + std::to_string(code) + tail, {}};
  }
}

}  // namespace atl::journal
