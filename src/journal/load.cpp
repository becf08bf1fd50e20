#include "journal/load.h"

#include <optional>

#include "core/core.h"
#include "journal/snapshot_file.h"

namespace atl::journal {
namespace {

constexpr size_t kTransactionBytes = 4 << 20;  // read in one transaction: a few milliseconds' worth

tl::unexpected<Error> damaged(uint64_t sequence, const std::string& how) {
  return fail(ErrorCode::internal,
              "commit " + std::to_string(sequence) + " in the journal is damaged: " + how);
}

// Verifies that the record is the one that must come now.
Result<Record> expect_record(std::string_view bytes, uint64_t sequence, uint32_t chain) {
  auto record = decode_record(bytes);
  if (!record) return damaged(sequence, record.error().message);
  if (record->head.sequence != sequence) {
    return damaged(sequence, "it says to be commit " + std::to_string(record->head.sequence));
  }
  if (record->head.previous != chain) {
    return damaged(sequence, "it does not continue the commit before it");
  }
  return record;
}

// Reads on from `head` for one transaction; false when the end was reached.
Result<bool> read_some(Database& database, RecordHead& head, const EachRecord& each) {
  Query query = database.query("SELECT seq, bytes FROM journal WHERE seq > ? ORDER BY seq");
  query.bind(static_cast<int64_t>(head.sequence));
  int code = query.step();
  for (size_t size = 0; code == SQLITE_ROW && size < kTransactionBytes; code = query.step()) {
    const auto sequence = static_cast<uint64_t>(query.integer(0));
    if (sequence != head.sequence + 1) return damaged(head.sequence + 1, "it is missing");
    const std::string_view bytes = query.bytes(1);
    const auto record = expect_record(bytes, sequence, head.checksum);
    if (!record) return tl::unexpected(record.error());
    each(*record, bytes.size());
    head = record->head;
    size += bytes.size();
  }
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  return damaged(head.sequence + 1, database.error().message);
}

// The newest snapshot that is whole and that the journal continues; what was wrong with newer ones
// goes to `problems`.
std::optional<Snapshot> find_base(Database& database, const std::string& home,
                                  std::string& problems) {
  for (const uint64_t sequence : list_snapshots(home)) {
    auto snapshot = read_snapshot(home, sequence);
    const auto usable = snapshot ? continues(database, snapshot->head)
                                 : Result<void>(tl::unexpected(snapshot.error()));
    if (usable) return std::move(*snapshot);
    problems += " Snapshot " + std::to_string(sequence) + ": " + usable.error().message + ".";
  }
  return std::nullopt;
}

}  // namespace

Result<Extent> journal_extent(Database& database) {
  Query query =
      database.query("SELECT (SELECT min(seq) FROM journal), (SELECT max(seq) FROM journal)");
  if (query.step() != SQLITE_ROW) return tl::unexpected(database.error());
  return Extent{static_cast<uint64_t>(query.integer(0)), static_cast<uint64_t>(query.integer(1))};
}

Result<RecordHead> record_head(Database& database, uint64_t sequence) {
  Query query = database.query("SELECT bytes FROM journal WHERE seq = ?");
  const int code = query.bind(static_cast<int64_t>(sequence)).step();
  if (code == SQLITE_DONE) return fail(ErrorCode::not_found, "no such commit");
  if (code != SQLITE_ROW) return tl::unexpected(database.error());
  auto head = peek_record(query.bytes(0));
  if (!head) return damaged(sequence, head.error().message);
  return head;
}

Result<void> continues(Database& database, const SnapshotHead& head) {
  const auto extent = journal_extent(database);
  if (!extent) return tl::unexpected(extent.error());
  if (head.sequence > extent->last) {
    return fail(ErrorCode::invalid,
                "it is ahead of the journal, which ends at commit " + std::to_string(extent->last));
  }
  if (extent->first > head.sequence + 1) {
    return fail(ErrorCode::invalid,
                "the journal begins only at commit " + std::to_string(extent->first));
  }
  const auto record = record_head(database, head.sequence);
  if (record && record->checksum != head.chain) {
    return fail(ErrorCode::invalid, "it belongs to another journal");
  }
  return {};
}

Result<RecordHead> read_records(Database& database, uint64_t after, uint32_t chain,
                                const EachRecord& each) {
  RecordHead head{.sequence = after, .previous = 0, .checksum = chain};
  for (;;) {
    const auto more = read_some(database, head, each);
    if (!more) return tl::unexpected(more.error());
    if (!*more) return head;
  }
}

Result<LoadedState> load_state(Database& database, const std::string& home) {
  const auto extent = journal_extent(database);
  if (!extent) return tl::unexpected(extent.error());
  std::string problems;
  auto base = find_base(database, home, problems);
  if (!base && (extent->first > 1 || (extent->last == 0 && !problems.empty()))) {
    return fail(ErrorCode::internal,
                "no snapshot can be used and the journal does not reach back to the beginning." +
                    problems + " Run `atoll restore` from the newest backup");
  }
  LoadedState result;
  if (!problems.empty()) result.loaded.warning = "Loading passed over damage." + problems;
  if (base) {
    result.loaded.state = std::move(base->state);
    core::rebuild_derived(result.loaded.state);
  }
  const SnapshotHead start = base ? base->head : SnapshotHead{};
  const auto last =
      read_records(database, start.sequence, start.chain, [&](const Record& record, size_t bytes) {
        for (const core::Event& event : record.events) core::apply(result.loaded.state, event);
        ++result.loaded.replayed;
        result.replayed_bytes += bytes;
      });
  if (!last) {
    return fail(last.error().code,
                last.error().message +
                    ". Everything before it is intact and was kept; nothing has been changed. "
                    "`atoll doctor` says how much is whole; `atoll restore FILE --home NEW` makes "
                    "a platform of the newest backup");
  }
  result.loaded.sequence = last->sequence;
  result.chain = last->checksum;
  return result;
}

}  // namespace atl::journal
