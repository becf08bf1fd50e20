// Writes what a batch carries besides its events: payloads, history rows, idempotency keys. Inside
// the caller's transaction, on the writing connection.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "journal/journal.h"
#include "journal/sqlite.h"

namespace atl::journal {

class ArchiveWriter {
 public:
  explicit ArchiveWriter(Database& database);

  // On error the caller rolls back and calls forget(). `ended` counts rows added to ended_jobs less
  // those removed.
  [[nodiscard]] Result<void> write(const Batch& batch, int64_t& ended);

  // What people asked for in that commit, if anything.
  [[nodiscard]] Result<void> write_audit(uint64_t sequence, const core::Events& events);

  // Drops the payload of a job that history no longer holds.
  [[nodiscard]] Result<void> release_payload(JobId job);

  // One less names the blob; the last one takes it along. Zero is none.
  [[nodiscard]] Result<void> release_blob(int64_t id);

  // Forgets what it knows of the tables, because a transaction was rolled back.
  void forget();

 private:
  struct Known {
    Digest digest;
    int64_t id = 0;
  };
  [[nodiscard]] Result<void> write_payloads(const Batch& batch);
  Result<void> write_event(const core::Event& event, const Batch& batch);
  [[nodiscard]] Result<void> name_payload(const core::JobSubmitted& job, const Batch& batch);
  [[nodiscard]] Result<void> name_step_payload(const core::StepFeeding& step, const Batch& batch);
  Result<void> add_workflow(const core::WorkflowSubmitted& submitted, Time at, const Batch& batch);
  [[nodiscard]] Result<void> add_steps(const core::StepsAdded& added, const Batch& batch);
  // The row of the blob, which one more names; zero for the digest of nothing.
  [[nodiscard]] Result<int64_t> hold_blob(const Digest& digest, const Batch& batch,
                                          core::StepRef of = {});
  [[nodiscard]] Result<void> write_bodies(const std::vector<ItemBody>& bodies);
  [[nodiscard]] Result<void> drop_bodies(const core::DropItems& items);
  [[nodiscard]] Result<int64_t> insert_blob(const Digest& digest, const Batch& batch);
  const Blob* find_blob(const Digest& digest, const std::vector<Blob>& blobs);
  [[nodiscard]] Result<void> add_refs();
  Result<void> write_one(const core::Effect& effect, int64_t& ended);
  Known& slot(const Digest& digest);

  Database& database_;
  std::string buffer_;

  // Payloads seen lately, by digest: a thousand jobs with the same script store it once. A digest
  // that has fallen out is stored again, which costs space and nothing else.
  std::vector<Known> known_;
  int64_t next_blob_ = 0;  // zero: ask the table

  // Within one batch.
  size_t next_in_batch_ = 0;
  std::vector<const Blob*> sorted_;
  int64_t refs_blob_ = 0;
  int64_t refs_ = 0;
};

}  // namespace atl::journal
