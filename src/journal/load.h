// From durable bytes to a state: the newest usable snapshot, then every record after it.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "journal/journal.h"
#include "journal/record.h"
#include "journal/snapshot.h"
#include "journal/sqlite.h"

namespace atl::journal {

struct LoadedState {
  Loaded loaded;
  uint32_t chain = 0;           // checksum of the last record
  uint64_t replayed_bytes = 0;  // of records after the snapshot
};

// Reads in short transactions, so that it may run beside a server.
[[nodiscard]] Result<LoadedState> load_state(Database& database, const std::string& home);

// Calls `each` with every record after `after`, verified against its predecessor's checksum
// `chain`. An error says which record is damaged and what came before it. Returns the head of the
// last record, or {after, _, chain}.
using EachRecord = std::function<void(const Record& record, size_t bytes)>;
[[nodiscard]] Result<RecordHead> read_records(Database& database, uint64_t after, uint32_t chain,
                                              const EachRecord& each);

// The first and the last sequence number that the journal holds; both zero when it is empty.
struct Extent {
  uint64_t first = 0;
  uint64_t last = 0;
};
[[nodiscard]] Result<Extent> journal_extent(Database& database);

// Whether the journal goes on where the snapshot ends; the error says why not.
[[nodiscard]] Result<void> continues(Database& database, const SnapshotHead& head);

// The head of one record; not_found when it is not there.
[[nodiscard]] Result<RecordHead> record_head(Database& database, uint64_t sequence);

}  // namespace atl::journal
