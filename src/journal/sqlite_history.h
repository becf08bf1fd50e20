// Ended things, read from the tables of atoll.db. Each call borrows a connection, so any thread may
// ask.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "journal/journal.h"
#include "journal/sqlite.h"

namespace atl::journal {

class SqliteHistory : public History {
 public:
  SqliteHistory(std::string path, const Database::Options& options,
                const std::atomic<int64_t>& count)
      : path_(std::move(path)), options_(options), count_(count) {}

  Result<EndedJob> job(JobId id) override;
  Result<std::vector<EndedJob>> jobs(const EndedFilter& filter, JobId before, size_t max) override;
  Result<std::optional<EndedAttempt>> last_attempt(JobId id, uint32_t index) override;
  Result<std::vector<EndedAttempt>> attempts(JobId id, AttemptId after, size_t max) override;
  Result<std::optional<JobId>> job_for_key(UserId user, const std::string& key) override;
  Result<std::string> payload(JobId job) override;
  [[nodiscard]] Result<std::map<ItemId, std::string>> bodies(
      QueueId queue, const std::vector<ItemId>& items) override;
  Result<uint64_t> count() override;
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

 private:
  // A connection on loan; it goes back to the idle ones.
  class Loan;
  [[nodiscard]] Result<Loan> borrow();
  // What `ask` finds out on a connection of its own.
  template <class Ask>
  auto on_loan(const Ask& ask) -> decltype(ask(std::declval<Database&>()));
  void give_back(std::unique_ptr<Database> database);

  const std::string path_;
  const Database::Options options_;
  const std::atomic<int64_t>& count_;

  std::mutex mutex_;
  std::vector<std::unique_ptr<Database>> idle_;
};

// On any connection.
[[nodiscard]] Result<std::string> read_payload(Database& database, JobId job);

}  // namespace atl::journal
