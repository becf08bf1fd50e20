#include "journal/memory_journal.h"

#include <algorithm>

#include "base/overloaded.h"
#include "core/core.h"
#include "journal/record.h"
#include "journal/rows.h"
#include "journal/snapshot.h"

namespace atl::journal {
namespace {

tl::unexpected<Error> disk_full() {
  return fail(ErrorCode::unavailable, "the disk is full (a simulated fault)");
}

}  // namespace

Result<Loaded> MemoryJournal::load() {
  Loaded loaded;
  if (!disk_.snapshot.empty()) {
    auto snapshot = decode_snapshot(disk_.snapshot);
    if (!snapshot) return tl::unexpected(snapshot.error());
    loaded.state = std::move(snapshot->state);
    loaded.sequence = snapshot->head.sequence;
    core::rebuild_derived(loaded.state);
  }
  for (const auto& [sequence, bytes] : disk_.records) {
    const auto record = decode_record(bytes);
    if (!record) return tl::unexpected(record.error());
    for (const core::Event& event : record->events) core::apply(loaded.state, event);
    loaded.sequence = sequence;
    ++loaded.replayed;
  }
  return loaded;
}

Result<uint64_t> MemoryJournal::commit(const Batch& batch) {
  if (batch.events.empty() && batch.archive.empty()) return disk_.sequence;
  const auto fault = faults_.find(++commits_);
  if (full_ || fault != faults_.end()) {
    const bool doubtful = !full_ && fault->second == Fault::doubtful;
    if (doubtful) doubtful_ = batch;
    return disk_full();
  }
  if (auto written = write(disk_, batch); !written) return tl::unexpected(written.error());
  doubtful_.reset();
  return disk_.sequence;
}

// One more names the blob.
Result<void> MemoryJournal::hold(Disk& disk, const Digest& digest) {
  if (digest == Digest{}) return {};
  const auto blob = disk.blobs.find(digest);
  if (blob == disk.blobs.end())
    return fail(ErrorCode::internal, "a batch names a blob without its bytes");
  ++blob->second.second;
  return {};
}

Result<void> MemoryJournal::write_event(Disk& disk, const core::Event& event) {
  if (const auto* job = std::get_if<core::JobSubmitted>(&event.body)) {
    if (job->payload == Digest{}) return {};
    disk.payloads[job->id] = job->payload;
    return hold(disk, job->payload);
  }
  return write_workflow_event(disk, event);
}

Result<void> MemoryJournal::write(Disk& disk, const Batch& batch) {
  for (const Blob& blob : batch.blobs) disk.blobs.try_emplace(blob.digest, blob.bytes, 0);
  for (const core::Event& event : batch.events) {
    if (auto written = write_event(disk, event); !written) return written;
  }
  for (const ItemBody& body : batch.bodies) disk.bodies[{body.queue, body.item}] = body.bytes;
  for (const core::Effect& effect : batch.archive) {
    match(
        effect, [&](const core::ArchiveJob& e) { encode_row(e, disk.ended[e.job.id]); },
        [&](const core::ArchiveAttempt& e) { encode_row(e, disk.attempts[e.attempt]); },
        [&](const core::UnarchiveJob& e) { disk.ended.erase(e.id); },
        [&](const core::RememberKey& e) { disk.keys[{e.user, e.key}] = e.job; },
        [&](const core::DropItems& e) {
          core::for_each_item(e.items, [&](ItemId id) { disk.bodies.erase({e.queue, id}); });
        },
        [](const auto&) {});
  }
  ++disk.sequence;
  std::string& bytes = disk.records[disk.sequence];
  disk.chain = encode_record(disk.sequence, disk.chain, batch.events, bytes);
  if (auto kept = asked_for(batch.events); !kept.empty())
    disk.audit[disk.sequence] = std::move(kept);
  return {};
}

Result<void> MemoryJournal::trial_write() {
  if (full_) return disk_full();
  doubtful_.reset();
  return {};
}

Result<std::string> MemoryJournal::payload(JobId job) {
  const auto found = disk_.payloads.find(job);
  if (found == disk_.payloads.end())
    return fail(ErrorCode::not_found, "no payload of job " + to_string(job));
  return disk_.blobs.at(found->second).first;
}

Result<std::vector<Committed>> MemoryJournal::read(uint64_t sequence, size_t max) {
  std::vector<Committed> commits;
  auto at = disk_.records.upper_bound(sequence);
  if (sequence < disk_.sequence && (at == disk_.records.end() || at->first != sequence + 1)) {
    return fail(ErrorCode::not_found,
                "commits after " + std::to_string(sequence) + " are no longer kept");
  }
  for (; at != disk_.records.end() && commits.size() < max; ++at) {
    auto record = decode_record(at->second);
    if (!record) return tl::unexpected(record.error());
    commits.push_back({at->first, std::move(record->events)});
  }
  return commits;
}

Result<Audit> MemoryJournal::audit(uint64_t sequence, size_t max) {
  Audit audit;
  audit.whole_from = disk_.records.empty() ? disk_.sequence + 1 : disk_.records.begin()->first;
  for (auto at = disk_.audit.upper_bound(sequence);
       at != disk_.audit.end() && at->first < audit.whole_from && audit.commits.size() < max; ++at)
    audit.commits.push_back({at->first, at->second});
  return audit;
}

Result<EndedJob> MemoryJournal::job(JobId id) {
  const auto found = disk_.ended.find(id);
  if (found == disk_.ended.end())
    return fail(ErrorCode::not_found, "no ended job " + to_string(id));
  return decode_job_row(found->second);
}

Result<std::vector<EndedJob>> MemoryJournal::jobs(const EndedFilter& filter, JobId before,
                                                  size_t max) {
  std::vector<EndedJob> found;
  auto at = before ? disk_.ended.lower_bound(before) : disk_.ended.end();
  while (at != disk_.ended.begin() && found.size() < max) {
    auto row = decode_job_row((--at)->second);
    if (!row) return tl::unexpected(row.error());
    if (matches(filter, *row)) found.push_back(std::move(*row));
  }
  return found;
}

Result<std::vector<EndedAttempt>> MemoryJournal::attempts(JobId id, AttemptId after, size_t max) {
  std::vector<EndedAttempt> found;
  auto at = disk_.attempts.upper_bound({id, after.index, after.attempt});
  for (; at != disk_.attempts.end() && at->first.job == id && found.size() < max; ++at) {
    auto row = decode_attempt_row(at->second);
    if (!row) return tl::unexpected(row.error());
    found.push_back(std::move(*row));
  }
  return found;
}

Result<std::optional<EndedAttempt>> MemoryJournal::last_attempt(JobId id, uint32_t index) {
  auto at = disk_.attempts.upper_bound({id, index, UINT32_MAX});
  if (at == disk_.attempts.begin()) return std::nullopt;
  --at;
  if (at->first.job != id || at->first.index != index) return std::nullopt;
  auto row = decode_attempt_row(at->second);
  if (!row) return tl::unexpected(row.error());
  return std::move(*row);
}

Result<std::optional<JobId>> MemoryJournal::job_for_key(UserId user, const std::string& key) {
  const auto found = disk_.keys.find({user, key});
  if (found == disk_.keys.end()) return std::nullopt;
  return found->second;
}

Result<std::map<ItemId, std::string>> MemoryJournal::bodies(QueueId queue,
                                                            const std::vector<ItemId>& items) {
  std::map<ItemId, std::string> found;
  for (const ItemId item : items) {
    const auto body = disk_.bodies.find({queue, item});
    if (body != disk_.bodies.end()) found.emplace(item, body->second);
  }
  return found;
}

// One less names the blob.
void MemoryJournal::release(const Digest& digest) {
  const auto blob = disk_.blobs.find(digest);
  if (blob != disk_.blobs.end() && --blob->second.second == 0) disk_.blobs.erase(blob);
}

Result<std::vector<JobId>> MemoryJournal::prune(Time ended_before, size_t max) {
  if (full_) return disk_full();
  std::vector<JobId> gone;
  for (const auto& [id, row] : disk_.ended) {
    const auto job = decode_job_row(row);
    if (!job) return tl::unexpected(job.error());
    if (job->ended < ended_before && gone.size() < max) gone.push_back(id);
  }
  for (const JobId id : gone) {
    disk_.ended.erase(id);
    disk_.attempts.erase(disk_.attempts.lower_bound({id, 0, 0}),
                         disk_.attempts.lower_bound({{id.value + 1}, 0, 0}));
    std::erase_if(disk_.keys, [id](const auto& entry) { return entry.second == id; });
    const auto payload = disk_.payloads.extract(id);
    if (payload) release(payload.mapped());
  }
  drop_workflows(ended_before, max);
  std::erase_if(disk_.audit, [ended_before](const auto& entry) {
    return entry.second.front().at < ended_before;
  });
  return gone;
}

Result<void> MemoryJournal::snapshot() {
  const auto loaded = load();
  if (!loaded) return tl::unexpected(loaded.error());
  std::string bytes;
  const SnapshotHead head{
      .version = kSnapshotVersion, .sequence = disk_.sequence, .chain = disk_.chain};
  auto encoded = encode_snapshot(loaded->state, head, [&](std::string_view piece) -> Result<void> {
    bytes += piece;
    return {};
  });
  if (!encoded) return encoded;
  disk_.snapshot = std::move(bytes);
  disk_.records.clear();
  return {};
}

void MemoryJournal::fail_commit(uint64_t nth, Fault fault) { faults_[commits_ + nth] = fault; }

void MemoryJournal::crash(bool keep_doubtful) {
  if (keep_doubtful && doubtful_) std::ignore = write(disk_, *doubtful_);
  doubtful_.reset();
}

}  // namespace atl::journal
