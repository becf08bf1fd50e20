// What leaves the database: commits that snapshots cover, and ended jobs that have been kept long
// enough. Both work in bounded pieces inside the caller's transaction.
#pragma once

#include <cstdint>
#include <vector>

#include "journal/archive_writer.h"
#include "journal/sqlite.h"

namespace atl::journal {

// Deletes some of the commits up to `covered`; true when more are left.
[[nodiscard]] Result<bool> drop_commits(Database& database, uint64_t covered);

// Deletes jobs that ended before the time, oldest first, and returns them; `rows` bounds what is
// touched.
[[nodiscard]] Result<std::vector<JobId>> drop_ended(Database& database, ArchiveWriter& writer,
                                                    Time ended_before, size_t rows);

// Deletes workflows that ended before the time, oldest first, with at most `rows` steps of them.
// Versions of files stay.
[[nodiscard]] Result<void> drop_workflows(Database& database, ArchiveWriter& writer,
                                          Time ended_before, size_t rows);

}  // namespace atl::journal
