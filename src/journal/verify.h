// Looking for damage: what `atoll doctor` prints and what a restore insists on.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "journal/sqlite.h"
#include "journal/sqlite_journal.h"

namespace atl::journal {

struct Health {
  Identity identity;
  uint64_t first = 0;  // commit that the journal holds
  uint64_t last = 0;
  std::vector<uint64_t> snapshots;    // newest first
  std::vector<std::string> problems;  // sentences; empty when all is well
};

// Reads everything in HOME, beside a running server or without one. An error means that not even
// the database can be opened.
[[nodiscard]] Result<Health> examine(const std::string& home);

// SQLite's own structure.
[[nodiscard]] Result<void> verify_pages(Database& database);
// Every payload against its digest.
[[nodiscard]] Result<void> verify_payloads(Database& database);

}  // namespace atl::journal
