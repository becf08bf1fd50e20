// What the warden has accepted and how it ended, in a file that outlives it.
//
// An attempt is written down before its process exists and its result before the server hears of
// it, so whoever reads the ledger after a kill -9 knows of every attempt either its result or that
// it is lost. One write() per turn of the warden's loop; no fsync: a power loss is told by the boot
// id, and then everything without a result is lost anyway.
//
//   file   := record ...      record := u32 length, u32 checksum (FNV-1a of the body), body =
//   wire-encoded Entry
//
// A torn tail is cut off when the file is opened. Used on the warden's thread only.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/result.h"
#include "site/local/protocol.h"

namespace atl::site {

struct LedgerBoot {
  std::string boot_id;  // of the machine when the server last adopted
  bool operator==(const LedgerBoot&) const = default;
};
struct LedgerAccepted {
  AttemptId attempt;
  bool operator==(const LedgerAccepted&) const = default;
};
struct LedgerForgotten {
  AttemptId attempt;
  bool operator==(const LedgerForgotten&) const = default;
};
using LedgerEntry = std::variant<LedgerBoot, LedgerAccepted, TaskEnded, LedgerForgotten>;

class Ledger {
 public:
  // Attempts not yet forgotten; an empty result means accepted and, as far as the ledger knows,
  // alive.
  using Known = std::map<AttemptId, std::optional<core::AttemptResult>>;

  Ledger() = default;
  Ledger(const Ledger&) = delete;
  Ledger& operator=(const Ledger&) = delete;
  ~Ledger();

  // Reads the file, or makes it. `unavailable` when the directory cannot be written.
  [[nodiscard]] Result<void> open(const std::string& path, const std::string& boot_id);

  const Known& known() const { return known_; }
  bool rebooted() const { return rebooted_; }

  // Each takes effect in memory at once and in the file with the next commit().
  void accept(AttemptId attempt);
  void end(AttemptId attempt, const core::AttemptResult& result);
  void forget(AttemptId attempt);
  void adopted();

  // False when the file could not be written (disk full): nothing accepted since the last commit
  // may be started. What was to be written is kept and tried again by the next commit().
  [[nodiscard]] bool commit();
  // Everything is in the file.
  bool written() const { return pending_.empty() && !stale_; }

 private:
  void append(const LedgerEntry& entry);
  void apply(const LedgerEntry& entry);
  void load(const std::string& bytes);
  [[nodiscard]] Result<void> rewrite();

  std::string path_;
  std::string boot_id_;
  std::string stored_boot_id_;
  bool rebooted_ = false;
  int fd_ = -1;
  int64_t size_ = 0;
  std::string pending_;
  bool stale_ = false;  // the file lacks more than pending_ holds: only writing it anew helps
  Known known_;
};

ATOLL_DESCRIBE(LedgerBoot, boot_id)
ATOLL_DESCRIBE(LedgerAccepted, attempt)
ATOLL_DESCRIBE(LedgerForgotten, attempt)

}  // namespace atl::site
