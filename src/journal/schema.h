// The tables of atoll.db, their version, and the steps from each older version to the next.
#pragma once

#include "journal/sqlite.h"
#include "journal/sqlite_journal.h"

namespace atl::journal {

inline constexpr int64_t kFormat = 4;

// Brings an empty or older file to the present format, in one transaction. `invalid` when the file
// is somebody else's or newer than this program; nothing is changed then.
[[nodiscard]] Result<void> prepare_schema(Database& database);

// `invalid` unless the file is an Atoll database of a format that this program reads as it is.
[[nodiscard]] Result<void> check_schema(Database& database);

[[nodiscard]] Result<Identity> read_identity(Database& database);

}  // namespace atl::journal
