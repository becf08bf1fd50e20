// The little of SQLite's C interface that the journal needs, with owners for its handles and errors
// as values.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace atl::journal {

// A prepared statement in use: bind, step, read columns. Resets itself when it goes out of scope,
// so that no read transaction stays open.
class Query {
 public:
  explicit Query(sqlite3_stmt* statement) : statement_(statement) {}
  Query(Query&& other) noexcept : statement_(other.statement_), at_(other.at_) {
    other.statement_ = nullptr;
  }
  Query& operator=(Query&&) = delete;
  ~Query();

  // Parameters in order. Bytes must stay alive until the statement has run.
  Query& bind(int64_t value);
  Query& text(std::string_view value);
  Query& blob(std::string_view value);

  // SQLITE_ROW, SQLITE_DONE or an error.
  int step();
  int64_t integer(int column) const { return sqlite3_column_int64(statement_, column); }
  std::string_view bytes(int column) const;  // valid until the next step

  // Runs it to its end and makes it ready for other parameters.
  int run();

 private:
  sqlite3_stmt* statement_;
  int at_ = 0;
};

// A connection with its prepared statements, used by one thread at a time.
class Database {
 public:
  struct Options {
    const char* vfs = nullptr;
    int cache_kib = 1024;
    bool create = false;
    bool query_only = false;
  };
  [[nodiscard]] static Result<std::unique_ptr<Database>> open(const std::string& path,
                                                              const Options& options);
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  sqlite3* handle() const { return handle_; }
  int exec(const char* sql);
  [[nodiscard]] Result<void> must(const char* sql);  // exec, with the error in words

  // The statement for this text, prepared on first use. What cannot be prepared, because the file
  // has not the table, fails at its first step.
  Query query(std::string_view sql);
  // The first column of the first row, or zero.
  [[nodiscard]] Result<int64_t> number(std::string_view sql);

  // What went wrong last, as an error for people: `unavailable` when it may pass, `internal` when
  // the file is damaged.
  Error error() const;
  [[nodiscard]] Result<void> check(int code) const;

 private:
  explicit Database(sqlite3* handle, std::string path) : handle_(handle), path_(std::move(path)) {}
  sqlite3* handle_;
  std::string path_;
  std::map<std::string, sqlite3_stmt*, std::less<>> statements_;
};

// The sentence for an SQLite result code.
Error sqlite_error(int code, const std::string& path, const std::string& detail);

}  // namespace atl::journal
