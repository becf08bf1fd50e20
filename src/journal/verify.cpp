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

// Every record that is there, from the first one on.
Result<void> verify_records(Database& database, const Health& health) {
  if (health.first == 0) return {};
  const auto head = record_head(database, health.first);
  if (!head) return tl::unexpected(head.error());
  const auto last =
      read_records(database, health.first - 1, head->previous, [](const Record&, size_t) {});
  if (!last) return tl::unexpected(last.error());
  return {};
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
