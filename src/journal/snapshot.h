// The bytes of a snapshot: the state without what can be derived, in checksummed chunks.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/describe.h"
#include "base/result.h"
#include "core/state.h"

namespace atl::journal {

inline constexpr uint32_t kSnapshotVersion = 1;
inline constexpr size_t kSnapshotChunkJobs = 1000;  // a chunk stays near 200 KiB

struct SnapshotHead {
  uint32_t version = 0;
  uint64_t sequence = 0;  // of the last commit in it
  uint32_t chain = 0;     // and that record's checksum
  bool operator==(const SnapshotHead&) const = default;
};
ATOLL_DESCRIBE(SnapshotHead, version, sequence, chain)

struct Snapshot {
  SnapshotHead head;
  core::State state;  // with its derived parts
};

// Calls `out` with each piece in order; stops at its first error.
using SnapshotSink = std::function<Result<void>(std::string_view)>;
[[nodiscard]] Result<void> encode_snapshot(const core::State& state, const SnapshotHead& head,
                                           const SnapshotSink& out);

// The head alone; nothing after it is looked at.
[[nodiscard]] Result<SnapshotHead> peek_snapshot(std::string_view bytes);

// Checks every chunk without building the state.
[[nodiscard]] Result<SnapshotHead> verify_snapshot(std::string_view bytes);

// The derived parts of the state are left empty: core::rebuild_derived fills them.
[[nodiscard]] Result<Snapshot> decode_snapshot(std::string_view bytes);

}  // namespace atl::journal
