#include "journal/archive_writer.h"

#include <algorithm>
#include <cstring>

#include "base/overloaded.h"
#include "journal/record.h"
#include "journal/rows.h"
#include "journal/workflow_rows.h"

namespace atl::journal {
namespace {

constexpr size_t kKnownPayloads = 4096;  // of 40 bytes each

std::string_view view(const Digest& digest) {
  return {reinterpret_cast<const char*>(digest.bytes.data()), digest.bytes.size()};
}

bool digest_less(const Blob* a, const Blob* b) { return a->digest < b->digest; }

}  // namespace

ArchiveWriter::ArchiveWriter(Database& database) : database_(database), known_(kKnownPayloads) {}

void ArchiveWriter::forget() {
  std::ranges::fill(known_, Known{});
  next_blob_ = 0;
}

Result<void> ArchiveWriter::write(const Batch& batch, int64_t& ended) {
  if (auto written = write_payloads(batch); !written) return written;
  if (auto written = write_bodies(batch.bodies); !written) return written;
  for (const core::Effect& effect : batch.archive) {
    if (auto written = write_one(effect, ended); !written) return written;
  }
  return {};
}

Result<void> ArchiveWriter::write_bodies(const std::vector<ItemBody>& bodies) {
  for (const ItemBody& body : bodies) {
    Query query = database_.query("INSERT INTO item_bodies VALUES(?, ?)");
    const int code = query.bind(body_key(body.queue, body.item)).blob(body.bytes).run();
    if (auto done = database_.check(code); !done) return done;
  }
  return {};
}

Result<void> ArchiveWriter::drop_bodies(const core::DropItems& items) {
  for (const core::ItemRange& range : items.items) {
    Query query = database_.query("DELETE FROM item_bodies WHERE id BETWEEN ? AND ?");
    query.bind(body_key(items.queue, range.first)).bind(body_key(items.queue, range.last));
    if (auto done = database_.check(query.run()); !done) return done;
  }
  return {};
}

Result<void> ArchiveWriter::write_audit(uint64_t sequence, const core::Events& events) {
  const core::Events kept = asked_for(events);
  if (kept.empty()) return {};
  Query query = database_.query("INSERT INTO audit VALUES(?, ?, ?)");
  query.bind(static_cast<int64_t>(sequence)).bind(kept.front().at.us);
  encode_record(sequence, 0, kept, buffer_);  // a chain of its own: others may go by retention
  return database_.check(query.blob(buffer_).run());
}

ArchiveWriter::Known& ArchiveWriter::slot(const Digest& digest) {
  uint64_t hash;
  std::memcpy(&hash, digest.bytes.data(), sizeof hash);
  return known_[hash % kKnownPayloads];
}

Result<void> ArchiveWriter::write_payloads(const Batch& batch) {
  next_in_batch_ = 0;
  sorted_.clear();
  refs_blob_ = refs_ = 0;
  for (const core::Event& event : batch.events) {
    if (auto written = write_event(event, batch); !written) return written;
  }
  return add_refs();
}

Result<void> ArchiveWriter::write_event(const core::Event& event, const Batch& batch) {
  return match(
      event.body, [&](const core::JobSubmitted& e) { return name_payload(e, batch); },
      [&](const core::WorkflowSubmitted& e) { return add_workflow(e, event.at, batch); },
      [&](const core::StepsAdded& e) { return add_steps(e, batch); },
      [&](const core::StepsEnded& e) { return write_steps_ended(database_, e, event.at); },
      [&](const core::StepFeeding& e) { return name_step_payload(e, batch); },
      [&](const core::FedJobEnded& e) { return write_fed_job(database_, e); },
      [&](const core::StepsReopened& e) { return write_steps_reopened(database_, e); },
      [&](const core::WorkflowEnded& e) { return write_workflow_ended(database_, e, event.at); },
      [&](const core::WorkflowReopened& e) {
        return write_workflow_reopened(database_, e.workflow.id);
      },
      [](const auto&) -> Result<void> { return {}; });
}

Result<int64_t> ArchiveWriter::hold_blob(const Digest& digest, const Batch& batch,
                                         core::StepRef of) {
  if (digest == Digest{}) return 0;
  Known& known = slot(digest);
  if (known.id == 0 || known.digest != digest) {
    // A step that was not prepared runs what it was added with.
    const bool stored = of.workflow && !find_blob(digest, batch.blobs);
    const auto id = stored ? step_blob(database_, of, false) : insert_blob(digest, batch);
    if (!id) return id;
    known = {.digest = digest, .id = *id};
  }
  if (known.id != refs_blob_) {
    if (auto added = add_refs(); !added) return tl::unexpected(added.error());
    refs_blob_ = known.id;
  }
  ++refs_;
  return known.id;
}

Result<void> ArchiveWriter::name_payload(const core::JobSubmitted& job, const Batch& batch) {
  const auto blob = hold_blob(job.payload, batch, job.of);
  if (!blob) return tl::unexpected(blob.error());
  // The digest of nothing: a job of a simulated site may have no payload.
  if (*blob == 0) return {};
  Query query = database_.query("INSERT INTO payloads VALUES(?, ?)");
  return database_.check(query.bind(static_cast<int64_t>(job.id.value)).bind(*blob).run());
}

// Only of one that was prepared; another one runs what it was added with.
Result<void> ArchiveWriter::name_step_payload(const core::StepFeeding& step, const Batch& batch) {
  if (!find_blob(step.payload, batch.blobs)) return {};
  const auto blob = hold_blob(step.payload, batch);
  if (!blob) return tl::unexpected(blob.error());
  const auto before = set_step_payload(database_, step.step, *blob);
  if (!before) return tl::unexpected(before.error());
  // The reference that was just taken counts before one to the same bytes is given up.
  if (auto added = add_refs(); !added) return added;
  return release_blob(*before);
}

Result<void> ArchiveWriter::add_workflow(const core::WorkflowSubmitted& submitted, Time at,
                                         const Batch& batch) {
  const auto version = version_of(database_, submitted);
  if (!version) return tl::unexpected(version.error());
  if (!version->known) {
    const auto files = hold_blob(submitted.files, batch);
    if (!files) return tl::unexpected(files.error());
    auto written = write_version(database_, submitted, at, version->number, *files);
    if (!written) return written;
  }
  return write_workflow(database_, submitted, at, version->number);
}

Result<void> ArchiveWriter::add_steps(const core::StepsAdded& added, const Batch& batch) {
  std::vector<std::pair<int64_t, int64_t>> blobs;
  blobs.reserve(added.steps.size());
  for (const core::NewStep& step : added.steps) {
    const auto payload = hold_blob(step.payload, batch);
    if (!payload) return tl::unexpected(payload.error());
    const auto recipe = hold_blob(step.recipe, batch);
    if (!recipe) return tl::unexpected(recipe.error());
    blobs.emplace_back(*payload, *recipe);
  }
  return write_steps(database_, added, blobs);
}

Result<int64_t> ArchiveWriter::insert_blob(const Digest& digest, const Batch& batch) {
  const Blob* blob = find_blob(digest, batch.blobs);
  if (!blob) {
    return fail(ErrorCode::internal,
                "a batch names the payload " + to_hex(digest) + " without its bytes");
  }
  if (next_blob_ == 0) {
    const auto last = database_.number("SELECT max(id) FROM blobs");
    if (!last) return last;
    next_blob_ = *last + 1;
  }
  Query query = database_.query("INSERT INTO blobs VALUES(?, 0, ?, ?)");
  const int code = query.bind(next_blob_).blob(view(digest)).blob(blob->bytes).run();
  if (auto inserted = database_.check(code); !inserted) return tl::unexpected(inserted.error());
  return next_blob_++;
}

// Blobs mostly come in the order of the jobs that name them; when not, they are sorted once.
const Blob* ArchiveWriter::find_blob(const Digest& digest, const std::vector<Blob>& blobs) {
  if (next_in_batch_ < blobs.size() && blobs[next_in_batch_].digest == digest) {
    return &blobs[next_in_batch_++];
  }
  if (sorted_.empty()) {
    for (const Blob& blob : blobs) sorted_.push_back(&blob);
    std::ranges::sort(sorted_, digest_less);
  }
  const Blob wanted{.digest = digest, .bytes = {}};
  const auto found = std::ranges::lower_bound(sorted_, &wanted, digest_less);
  return found != sorted_.end() && (*found)->digest == digest ? *found : nullptr;
}

Result<void> ArchiveWriter::add_refs() {
  if (refs_ == 0) return {};
  Query query = database_.query("UPDATE blobs SET refs = refs + ? WHERE id = ?");
  const int code = query.bind(refs_).bind(refs_blob_).run();
  refs_ = 0;
  return database_.check(code);
}

Result<void> ArchiveWriter::write_one(const core::Effect& effect, int64_t& ended) {
  return match(
      effect,
      [&](const core::ArchiveAttempt& e) {
        encode_row(e, buffer_);
        Query query = database_.query("INSERT INTO attempts VALUES(?, ?, ?, ?)");
        query.bind(static_cast<int64_t>(e.attempt.job.value)).bind(e.attempt.index);
        return database_.check(query.bind(e.attempt.attempt).blob(buffer_).run());
      },
      [&](const core::ArchiveJob& e) {
        encode_row(e, buffer_);
        ++ended;
        Query query = database_.query("INSERT INTO ended_jobs VALUES(?, ?, ?, ?, ?, ?, ?)");
        query.bind(static_cast<int64_t>(e.job.id.value))
            .bind(e.job.ns.value)
            .bind(e.job.user.value);
        query.bind(static_cast<int64_t>(e.outcome)).bind(e.ended.us).text(e.job.name);
        return database_.check(query.blob(buffer_).run());
      },
      [&](const core::UnarchiveJob& e) {
        Query query = database_.query("DELETE FROM ended_jobs WHERE id = ?");
        const int code = query.bind(static_cast<int64_t>(e.id.value)).run();
        ended -= sqlite3_changes(database_.handle());
        return database_.check(code);
      },
      [&](const core::RememberKey& e) {
        Query query = database_.query("INSERT OR REPLACE INTO idempotency VALUES(?, ?, ?)");
        query.bind(e.user.value).text(e.key).bind(static_cast<int64_t>(e.job.value));
        return database_.check(query.run());
      },
      [&](const core::DropItems& e) { return drop_bodies(e); },
      [&](const auto&) -> Result<void> {
        return fail(ErrorCode::internal, "a batch archives an effect that is not for the journal");
      });
}

Result<void> ArchiveWriter::release_payload(JobId job) {
  int64_t blob = 0;
  {
    Query query = database_.query("DELETE FROM payloads WHERE job = ? RETURNING blob");
    const int code = query.bind(static_cast<int64_t>(job.value)).step();
    if (code == SQLITE_DONE) return {};
    if (code != SQLITE_ROW) return tl::unexpected(database_.error());
    blob = query.integer(0);
    if (auto done = database_.check(query.step()); !done) return done;
  }
  return release_blob(blob);
}

Result<void> ArchiveWriter::release_blob(int64_t blob) {
  if (blob == 0) return {};
  Query release = database_.query("UPDATE blobs SET refs = refs - 1 WHERE id = ?");
  if (auto done = database_.check(release.bind(blob).run()); !done) return done;
  Query remove = database_.query("DELETE FROM blobs WHERE id = ? AND refs <= 0 RETURNING digest");
  int code = remove.bind(blob).step();
  if (code == SQLITE_ROW) {
    Digest digest;
    std::memcpy(digest.bytes.data(), remove.bytes(0).data(),
                std::min(remove.bytes(0).size(), digest.bytes.size()));
    if (slot(digest).id == blob) slot(digest) = {};
    code = remove.step();
  }
  return database_.check(code);
}

}  // namespace atl::journal
