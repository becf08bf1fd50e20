#include "journal/verify.h"

#include <openssl/evp.h>

#include "journal/home.h"
#include "journal/load.h"
#include "journal/record.h"
#include "journal/schema.h"
#include "journal/snapshot_file.h"

namespace atl::journal {
namespace {

bool has_digest(std::string_view bytes, std::string_view digest) {
  unsigned char sum[EVP_MAX_MD_SIZE];
  unsigned int size = 0;
  EVP_Digest(bytes.data(), bytes.size(), sum, &size, EVP_sha256(), nullptr);
  return digest == std::string_view(reinterpret_cast<const char*>(sum), size);
}

void note(Health& health, const Result<void>& found) {
  if (!found) health.problems.push_back(found.error().message);
}

// How many commits there are behind one, and how many of them are whole by themselves.
std::pair<uint64_t, uint64_t> count_behind(Database& database, uint64_t sequence) {
  uint64_t behind = 0, readable = 0;
  Query query = database.query("SELECT bytes FROM journal WHERE seq > ?");
  query.bind(static_cast<int64_t>(sequence));
  for (; query.step() == SQLITE_ROW; ++behind)
    readable += decode_record(query.bytes(0)).has_value();
  return {behind, readable};
}

// Every record that is there, from the first one on.
Result<void> verify_records(Database& database, const Health& health) {
  if (health.first == 0) return {};
  const auto head = record_head(database, health.first);
  if (!head) return tl::unexpected(head.error());
  uint64_t whole = health.first - 1;
  const auto last =
      read_records(database, whole, head->previous,
                   [&](const Record& record, size_t) { whole = record.head.sequence; });
  if (last) return {};
  const auto [behind, readable] = count_behind(database, whole + 1);
  const std::string before = whole < health.first
                                 ? "none before it is kept"
                                 : "commits " + std::to_string(health.first) + " to " +
                                       std::to_string(whole) + " are whole";
  return fail(last.error().code, last.error().message + "; " + before + ", and of the " +
                                     std::to_string(behind) + " behind it " +
                                     std::to_string(readable) + " can be read");
}

// What people asked for, each by its own checksum.
Result<void> verify_audit(Database& database) {
  Query query = database.query("SELECT seq, events FROM audit");
  int code;
  while ((code = query.step()) == SQLITE_ROW) {
    if (const auto record = decode_record(query.bytes(1)); !record) {
      return fail(ErrorCode::invalid, "the audit record of commit " +
                                          std::to_string(query.integer(0)) +
                                          " is damaged: " + record.error().message);
    }
  }
  return database.check(code);
}

Result<void> verify_snapshot_file(Database& database, const std::string& home, uint64_t sequence) {
  const std::string path = snapshot_path(home, sequence);
  const MappedFile file(path);
  const auto head = verify_snapshot(file.bytes());
  if (!head) return fail(ErrorCode::invalid, path + " is damaged: " + head.error().message);
  if (const auto fits = continues(database, *head); !fits) {
    return fail(ErrorCode::invalid, path + " cannot be used: " + fits.error().message);
  }
  return {};
}

}  // namespace

Result<void> verify_payloads(Database& database) {
  Query query = database.query("SELECT id, digest, bytes FROM blobs");
  int code;
  while ((code = query.step()) == SQLITE_ROW) {
    if (!has_digest(query.bytes(2), query.bytes(1))) {
      return fail(ErrorCode::invalid,
                  "payload " + std::to_string(query.integer(0)) + " is damaged");
    }
  }
  return database.check(code);
}

Result<void> verify_pages(Database& database) {
  Query query = database.query("PRAGMA quick_check(1)");
  if (query.step() != SQLITE_ROW) return tl::unexpected(database.error());
  if (query.bytes(0) == "ok") return {};
  return fail(ErrorCode::invalid, std::string(query.bytes(0)));
}

Result<Health> examine(const std::string& home) {
  auto opened = Database::open(database_path(home), {.query_only = true});
  if (!opened) return tl::unexpected(opened.error());
  Database& database = **opened;
  if (auto ours = check_schema(database); !ours) return tl::unexpected(ours.error());
  const auto identity = read_identity(database);
  const auto extent = journal_extent(database);
  if (!identity) return tl::unexpected(identity.error());
  if (!extent) return tl::unexpected(extent.error());
  Health health{.identity = *identity,
                .first = extent->first,
                .last = extent->last,
                .snapshots = list_snapshots(home),
                .problems = {}};
  note(health, verify_pages(database));
  note(health, verify_records(database, health));
  note(health, verify_payloads(database));
  note(health, verify_audit(database));
  for (const uint64_t sequence : health.snapshots) {
    note(health, verify_snapshot_file(database, home, sequence));
  }
  return health;
}

}  // namespace atl::journal
