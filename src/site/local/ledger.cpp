#include "site/local/ledger.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/overloaded.h"
#include "base/wire.h"
#include "site/local/files.h"

namespace atl::site {
namespace {

constexpr size_t kPendingMax = 1 << 20;  // on a full disk; what is known is shorter then
constexpr int64_t kCompactAt = 1 << 20;  // below this a rewrite costs more than it frees

uint32_t checksum(std::string_view bytes) {
  uint32_t hash = 2166136261u;
  for (const char c : bytes) hash = (hash ^ static_cast<uint8_t>(c)) * 16777619u;
  return hash;
}

void put_record(std::string& out, const LedgerEntry& entry) {
  const size_t start = out.size();
  out.append(8, '\0');
  wire::put(out, entry);
  const std::string_view body = std::string_view(out).substr(start + 8);
  const uint32_t head[2] = {static_cast<uint32_t>(body.size()), checksum(body)};
  std::memcpy(out.data() + start, head, 8);
}

}  // namespace

Ledger::~Ledger() {
  if (fd_ >= 0) ::close(fd_);
}

Result<void> Ledger::open(const std::string& path, const std::string& boot_id) {
  path_ = path;
  boot_id_ = boot_id;
  const std::optional<std::string> bytes = read_file(path);
  if (!bytes && errno != ENOENT) {
    return fail(ErrorCode::unavailable,
                "cannot read the ledger " + path + ": " + std::strerror(errno));
  }
  load(bytes.value_or(""));
  rebooted_ = !stored_boot_id_.empty() && stored_boot_id_ != boot_id_;
  if (stored_boot_id_.empty()) stored_boot_id_ = boot_id_;
  return rewrite();
}

void Ledger::load(const std::string& bytes) {
  size_t at = 0;
  while (bytes.size() - at >= 8) {
    uint32_t head[2];
    std::memcpy(head, bytes.data() + at, 8);
    if (head[0] > bytes.size() - at - 8) break;
    const std::string_view body(bytes.data() + at + 8, head[0]);
    if (checksum(body) != head[1]) break;
    // An entry of a newer kind is skipped; its checksum says that it is whole.
    if (Result<LedgerEntry> entry = wire::decode<LedgerEntry>(body)) apply(*entry);
    at += 8 + head[0];
  }
}

void Ledger::apply(const LedgerEntry& entry) {
  match(
      entry, [&](const LedgerBoot& e) { stored_boot_id_ = e.boot_id; },
      [&](const LedgerAccepted& e) { known_.try_emplace(e.attempt); },
      [&](const TaskEnded& e) { known_[e.attempt] = e.result; },
      [&](const LedgerForgotten& e) { known_.erase(e.attempt); });
}

void Ledger::append(const LedgerEntry& entry) {
  put_record(pending_, entry);
  apply(entry);
}

void Ledger::accept(AttemptId attempt) { append(LedgerAccepted{attempt}); }
void Ledger::end(AttemptId attempt, const core::AttemptResult& result) {
  append(TaskEnded{attempt, result});
}
void Ledger::forget(AttemptId attempt) {
  if (known_.contains(attempt)) append(LedgerForgotten{attempt});
}
void Ledger::adopted() {
  if (stored_boot_id_ == boot_id_) return;
  rebooted_ = false;
  append(LedgerBoot{boot_id_});
}

bool Ledger::commit() {
  if (written()) return true;
  if (stale_) {
    pending_.clear();  // all of it is known, which is what is written
    return rewrite().has_value();
  }
  if (!write_all(fd_, pending_)) {
    // A partly written record would hide what follows it, so the file goes back to its last whole
    // state.
    const bool whole = ::ftruncate(fd_, size_) == 0 && ::lseek(fd_, size_, SEEK_SET) == size_;
    if (!whole || pending_.size() > kPendingMax) {
      stale_ = true;
      pending_.clear();
    }
    return false;
  }
  size_ += static_cast<int64_t>(pending_.size());
  pending_.clear();
  const auto live = static_cast<int64_t>(known_.size());
  if (size_ > kCompactAt && size_ > live * 512) static_cast<void>(rewrite());
  return true;
}

Result<void> Ledger::rewrite() {
  std::string bytes;
  put_record(bytes, LedgerBoot{stored_boot_id_});
  for (const auto& [attempt, result] : known_) {
    put_record(bytes, LedgerAccepted{attempt});
    if (result) put_record(bytes, TaskEnded{attempt, *result});
  }
  const std::string fresh = path_ + ".new";
  const int fd = ::open(fresh.c_str(), O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);
  if (fd < 0 || !write_all(fd, bytes) || ::rename(fresh.c_str(), path_.c_str()) != 0) {
    const std::string why = std::strerror(errno);
    if (fd >= 0) ::close(fd);
    ::unlink(fresh.c_str());
    return fail(ErrorCode::unavailable, "cannot write the ledger " + path_ + ": " + why);
  }
  if (fd_ >= 0) ::close(fd_);
  fd_ = fd;
  size_ = static_cast<int64_t>(bytes.size());
  pending_.clear();
  stale_ = false;
  return {};
}

}  // namespace atl::site
