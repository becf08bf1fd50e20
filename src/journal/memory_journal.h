// The journal's twin in memory, for the simulator and for tests: the same promises, the same
// codecs, and faults on demand. Deterministic and single-threaded.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "journal/journal.h"

namespace atl::journal {

class MemoryJournal : public Journal, public History {
 public:
  Result<Loaded> load() override;
  Result<uint64_t> commit(const Batch& batch) override;
  Result<void> trial_write() override;
  Result<std::string> payload(JobId job) override;
  Result<std::vector<Committed>> read(uint64_t sequence, size_t max) override;
  Result<Audit> audit(uint64_t sequence, size_t max) override;

  Result<EndedJob> job(JobId id) override;
  Result<std::vector<EndedJob>> jobs(const EndedFilter& filter, JobId before, size_t max) override;
  Result<std::optional<EndedAttempt>> last_attempt(JobId id, uint32_t index) override;
  Result<std::vector<EndedAttempt>> attempts(JobId id, AttemptId after, size_t max) override;
  Result<std::optional<JobId>> job_for_key(UserId user, const std::string& key) override;
  [[nodiscard]] Result<std::map<ItemId, std::string>> bodies(
      QueueId queue, const std::vector<ItemId>& items) override;
  Result<uint64_t> count() override { return disk_.ended.size(); }

  Result<KeptWorkflow> workflow(WorkflowId id) override;
  [[nodiscard]] Result<std::vector<KeptWorkflow>> workflows(const WorkflowFilter& filter,
                                                            WorkflowId before, size_t max) override;
  Result<std::vector<KeptStep>> steps(WorkflowId id, uint32_t first, size_t max) override;
  Result<std::vector<core::StepKind>> step_kinds(WorkflowId id) override;
  Result<std::string> step_bytes(core::StepRef step, bool recipe) override;
  Result<std::string> workflow_files(WorkflowId id) override;
  Result<std::vector<FileVersion>> versions(NamespaceId ns, const std::string& name) override;
  Result<std::vector<FedOutput>> fed_outputs(core::StepRef step, JobId after, size_t max) override;
  Result<std::optional<core::StepRef>> cached(NamespaceId ns, const Digest& key) override;

  History& history() { return *this; }
  uint64_t sequence() const { return disk_.sequence; }

  // As SqliteJournal::prune.
  [[nodiscard]] Result<std::vector<JobId>> prune(Time ended_before, size_t max);

  // Writes a snapshot of what is durable and drops the commits it covers.
  [[nodiscard]] Result<void> snapshot();

  // Faults. A refused commit leaves nothing behind; a doubtful one is refused too, but the bytes
  // may have reached the disk, and only a crash before the next successful write tells.
  enum class Fault { refused, doubtful };
  void fail_commit(uint64_t nth,
                   Fault fault = Fault::refused);  // the nth from now, counting from 1
  void set_full(bool full) { full_ = full; }       // every write is refused while it is set

  // What a machine finds when it comes back: all that was acknowledged, and the doubtful commit
  // when `keep_doubtful`.
  void crash(bool keep_doubtful = false);

 private:
  struct Disk {
    uint64_t sequence = 0;
    uint32_t chain = 0;
    std::string snapshot;                                      // encoded, or empty
    std::map<uint64_t, std::string> records;                   // encoded
    std::map<Digest, std::pair<std::string, uint64_t>> blobs;  // bytes and how many jobs name them
    std::map<JobId, Digest> payloads;
    std::map<JobId, std::string> ended;         // encoded
    std::map<AttemptId, std::string> attempts;  // encoded
    std::map<std::pair<UserId, std::string>, JobId> keys;
    std::map<uint64_t, core::Events> audit;
    std::map<WorkflowId, std::pair<KeptWorkflow, Digest>> workflows;  // with its files
    std::map<core::StepRef, KeptStep> steps;
    std::map<WorkflowId, std::vector<core::StepKind>> kinds;
    std::map<std::pair<NamespaceId, std::string>, std::vector<FileVersion>> versions;
    std::map<std::pair<NamespaceId, Digest>, core::StepRef> cached;
    std::map<core::StepRef, Digest> prepared;  // what steps run that go through queues
    std::map<std::pair<core::StepRef, JobId>, FedOutput> fed;
    std::map<std::pair<QueueId, ItemId>, std::string> bodies;
  };
  [[nodiscard]] static Result<void> hold(Disk& disk, const Digest& digest);
  [[nodiscard]] static Result<void> write_event(Disk& disk, const core::Event& event);
  [[nodiscard]] static Result<void> write_workflow_event(Disk& disk, const core::Event& event);
  [[nodiscard]] static Result<void> write(Disk& disk, const Batch& batch);
  void release(const Digest& digest);
  void drop_workflows(Time ended_before, size_t max);

  Disk disk_;
  std::optional<Batch> doubtful_;
  uint64_t commits_ = 0;
  std::map<uint64_t, Fault> faults_;  // by number of the commit that fails
  bool full_ = false;
};

}  // namespace atl::journal
