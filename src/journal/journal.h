// The durable record: events in, state out. One commit is atomic and durable before it returns; it
// holds a batch of events together with the blobs they name and the history rows they cause.
// docs/formats/journal.md specifies the bytes.
//
// Used from the runtime's thread only, except History, whose readers are many.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/effect.h"
#include "core/event.h"
#include "core/state.h"

namespace atl::journal {

struct Blob {
  Digest digest;
  std::string bytes;
};

struct ItemBody {
  QueueId queue;
  ItemId item;
  std::string bytes;
};

struct Batch {
  core::Events events;
  // Every payload that a JobSubmitted in this batch names but those of steps that are known
  // already, and what WorkflowSubmitted and StepsAdded name; each once or more.
  std::vector<Blob> blobs;
  core::Effects archive;  // ArchiveAttempt, ArchiveJob, UnarchiveJob, RememberKey, DropItems only
  std::vector<ItemBody> bodies = {};  // of every item that an ItemsPut in this batch names
};

// What loading found.
struct Loaded {
  core::State state;
  uint64_t sequence = 0;  // of the last commit in it
  uint64_t replayed = 0;  // commits applied on top of the snapshot
  std::string warning;    // damage that was worked around, as sentences for the log
};

// A commit as the event stream shows it.
struct Committed {
  uint64_t sequence = 0;
  core::Events events;
};

// What people asked for outlives the commits it was part of: the audit record. Submissions are not
// in it, because every job's and workflow's own record says who submitted it, and when; nor is the
// daily work on the items of queues, which would be most of it.
struct Audit {
  std::vector<Committed> commits;
  uint64_t whole_from = 0;  // the first commit that read() still has
};
core::Events asked_for(const core::Events& events);

class Journal {
 public:
  virtual ~Journal() = default;

  // The state as of the last durable commit. Corruption is an error that says what was kept and
  // where it stopped.
  [[nodiscard]] virtual Result<Loaded> load() = 0;

  // Makes the batch durable; returns its sequence number. On error nothing of it is durable:
  // `unavailable` (disk full, I/O error) may pass, so the caller reloads and tries again later.
  [[nodiscard]] virtual Result<uint64_t> commit(const Batch& batch) = 0;

  // Whether a write would succeed now; asked while the server is read-only.
  [[nodiscard]] virtual Result<void> trial_write() = 0;

  // The payload that the job was submitted with. Asked by job, not by digest: payloads are stored
  // in the order of jobs, because an index by digest would scatter every commit over the whole of
  // history.
  [[nodiscard]] virtual Result<std::string> payload(JobId job) = 0;

  // Commits after `sequence`, at most `max`; not_found when they were compacted away (the reader
  // must start anew).
  [[nodiscard]] virtual Result<std::vector<Committed>> read(uint64_t sequence, size_t max) = 0;

  // What is left of compacted commits after `sequence`, at most `max` of them.
  [[nodiscard]] virtual Result<Audit> audit(uint64_t sequence, size_t max) = 0;
};

// An ended job as history shows it. The Job is as it was when it ended.
struct EndedJob {
  core::Job job;
  core::Terms terms;
  core::Outcome outcome = core::Outcome::succeeded;
  std::string message;
  Time ended;
};

struct EndedAttempt {
  AttemptId attempt;
  bool array = false;
  bool retried = false;
  core::Outcome outcome = core::Outcome::succeeded;
  core::Placement placement;
  Time placed;
  core::AttemptResult result;
};

// A workflow, live or ended: what it was asked for with. How far a live one is, the state says.
struct KeptWorkflow {
  WorkflowId id;
  NamespaceId ns;
  UserId user;
  std::string name;
  uint32_t version = 0;  // of its files, among all that ran under its name
  Time submitted;
  Time ended;  // zero: live
  std::optional<core::Outcome> outcome;
  std::string message;
  std::string document;
  bool fail_fast = false;
  uint32_t parallel_max = 0;
  core::StepTally tally{};  // of one that has ended
  std::string lane;
  core::Overlap overlap = core::Overlap::allow;
  std::string origin;
  Duration time_limit;
};
struct KeptStep {
  uint32_t number = 0;
  core::NewStep step;                    // as it was added
  JobId job;                             // its last one
  std::optional<core::StepState> state;  // how it ended
  Time ended;
  std::string message;
  std::string outputs;  // JSON, or empty
  core::StepRef reused;
  core::FeedUse use;  // of one that went through a queue
};
// What a job left that worked on items of a queue, durable with their being done.
struct FedOutput {
  JobId job;
  std::string items;    // their numbers: "5", "5-8,10"
  std::string outputs;  // JSON
};
struct WorkflowFilter {
  std::optional<NamespaceId> ns;
  std::vector<NamespaceId> visible;  // empty: all; else only these
  std::optional<UserId> user;
  std::string name;    // substring, empty: any
  std::string origin;  // empty: any
};
struct FileVersion {
  uint32_t version = 0;
  Digest digest;
  Time at;  // when it ran first
};

struct EndedFilter {
  std::optional<NamespaceId> ns;
  std::vector<NamespaceId> visible;  // empty: all; else only these
  std::optional<UserId> user;
  std::optional<core::Outcome> outcome;
  std::string name;     // substring, empty: any
  core::Labels labels;  // all must match
  Time ended_after;     // zero: any
};

// Ended things. Thread-safe: each call uses a read connection of its own pool.
class History {
 public:
  virtual ~History() = default;
  [[nodiscard]] virtual Result<EndedJob> job(JobId id) = 0;
  // Newest id first, ids below `before` (zero: from the top), at most `max`.
  [[nodiscard]] virtual Result<std::vector<EndedJob>> jobs(const EndedFilter& filter, JobId before,
                                                           size_t max) = 0;
  // The last attempt of a task that has had an end; nothing when it had none.
  [[nodiscard]] virtual Result<std::optional<EndedAttempt>> last_attempt(JobId id,
                                                                         uint32_t index) = 0;
  // Attempts of a job, live or ended, in order of index and attempt, after `after` (empty: from the
  // first), at most `max`.
  [[nodiscard]] virtual Result<std::vector<EndedAttempt>> attempts(JobId id, AttemptId after,
                                                                   size_t max) = 0;
  [[nodiscard]] virtual Result<std::optional<JobId>> job_for_key(UserId user,
                                                                 const std::string& key) = 0;
  [[nodiscard]] virtual Result<std::string> payload(JobId job) = 0;
  // The bodies of a queue's items that are still there.
  [[nodiscard]] virtual Result<std::map<ItemId, std::string>> bodies(
      QueueId queue, const std::vector<ItemId>& items) = 0;
  [[nodiscard]] virtual Result<uint64_t> count() = 0;

  [[nodiscard]] virtual Result<KeptWorkflow> workflow(WorkflowId id) = 0;
  // Newest first, ids below `before` (zero: from the top), at most `max`.
  [[nodiscard]] virtual Result<std::vector<KeptWorkflow>> workflows(const WorkflowFilter& filter,
                                                                    WorkflowId before,
                                                                    size_t max) = 0;
  // From that number on, in order.
  [[nodiscard]] virtual Result<std::vector<KeptStep>> steps(WorkflowId id, uint32_t first,
                                                            size_t max) = 0;
  [[nodiscard]] virtual Result<std::vector<core::StepKind>> step_kinds(WorkflowId id) = 0;
  // What a step runs, or with `recipe` how it is prepared and collected.
  [[nodiscard]] virtual Result<std::string> step_bytes(core::StepRef step, bool recipe) = 0;
  [[nodiscard]] virtual Result<std::string> workflow_files(WorkflowId id) = 0;
  // Newest first, at most 1,000.
  [[nodiscard]] virtual Result<std::vector<FileVersion>> versions(NamespaceId ns,
                                                                  const std::string& name) = 0;
  // A success that was kept under this key.
  // Of a step that goes through a queue, in the order of the jobs behind `after`.
  [[nodiscard]] virtual Result<std::vector<FedOutput>> fed_outputs(core::StepRef step, JobId after,
                                                                   size_t max) = 0;
  [[nodiscard]] virtual Result<std::optional<core::StepRef>> cached(NamespaceId ns,
                                                                    const Digest& key) = 0;
};

}  // namespace atl::journal
