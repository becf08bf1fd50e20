// One-file copies of an installation. A backup is an SQLite file with every table of atoll.db and
// one more, `snapshot`, which holds the newest snapshot in pieces.
#pragma once

#include <string>

#include "base/result.h"

namespace atl::journal {

// Copies HOME to `file` while a server may run on it: one read transaction on a connection of its
// own, from any thread or process. The file appears under its name only when it is complete and
// durable. `conflict` when it exists.
[[nodiscard]] Result<void> backup(const std::string& home, const std::string& file);

// Makes HOME from a backup. Refuses a home that holds anything but atoll.yaml, verifies every
// checksum before it writes, and raises the epoch, so that the copy does not take over what the
// original still runs.
[[nodiscard]] Result<void> restore(const std::string& file, const std::string& home);

}  // namespace atl::journal
