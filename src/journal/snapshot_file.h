// Snapshots on disk: HOME/snapshots/<sequence>.snap, written under another name and renamed when
// complete, so a file of that name was whole once. Two are kept; the journal reaches back to the
// older one.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "journal/snapshot.h"

namespace atl::journal {

// Loads what is durable in HOME and writes it as a new snapshot; returns its sequence number. Meant
// for a process of its own at low priority: it holds a whole State, reads the database in short
// transactions beside a running server, and never takes the lock. Does nothing when the newest
// snapshot is up to date.
[[nodiscard]] Result<uint64_t> make_snapshot(const std::string& home);

// Sequence numbers of the snapshots in HOME, newest first.
std::vector<uint64_t> list_snapshots(const std::string& home);
std::string snapshot_path(const std::string& home, uint64_t sequence);

// `invalid` when the file is damaged; the message names it and says where.
[[nodiscard]] Result<Snapshot> read_snapshot(const std::string& home, uint64_t sequence);

// Durable when it returns; then all but the two newest are removed.
[[nodiscard]] Result<void> write_snapshot(const std::string& home, const core::State& state,
                                          const SnapshotHead& head);

}  // namespace atl::journal
