// The rows of workflows: written inside the caller's transaction from the events of a batch, read
// on any connection. Blobs are the caller's business: rows hold their ids.
#pragma once

#include <string>
#include <vector>

#include "journal/journal.h"
#include "journal/sqlite.h"

namespace atl::journal {

// Written from events. Each returns at the first row that cannot be written.
// Under the version that its files have, which is there already.
[[nodiscard]] Result<void> write_workflow(Database& database, const core::WorkflowSubmitted& event,
                                          Time at, uint32_t version);
// `blobs`: of each step the ids of what it runs and of its recipe; zero for none.
[[nodiscard]] Result<void> write_steps(Database& database, const core::StepsAdded& event,
                                       const std::vector<std::pair<int64_t, int64_t>>& blobs);
[[nodiscard]] Result<void> write_steps_ended(Database& database, const core::StepsEnded& event,
                                             Time at);
// The row of what each job of a step runs that goes through a queue, in place of what it was.
[[nodiscard]] Result<int64_t> set_step_payload(Database& database, core::StepRef step,
                                               int64_t blob);
[[nodiscard]] Result<void> write_fed_job(Database& database, const core::FedJobEnded& event);
[[nodiscard]] Result<void> write_steps_reopened(Database& database,
                                                const core::StepsReopened& event);
[[nodiscard]] Result<void> write_workflow_ended(Database& database,
                                                const core::WorkflowEnded& event, Time at);
[[nodiscard]] Result<void> write_workflow_reopened(Database& database, WorkflowId id);

// The number of these files among all that ran under that name, or the next one if they are new.
struct VersionOfFiles {
  uint32_t number = 0;
  bool known = false;
};
[[nodiscard]] Result<VersionOfFiles> version_of(Database& database,
                                                const core::WorkflowSubmitted& event);
[[nodiscard]] Result<void> write_version(Database& database, const core::WorkflowSubmitted& event,
                                         Time at, uint32_t version, int64_t files);

[[nodiscard]] Result<KeptWorkflow> read_workflow(Database& database, WorkflowId id);
[[nodiscard]] Result<std::vector<KeptWorkflow>> read_workflows(Database& database,
                                                               const WorkflowFilter& filter,
                                                               WorkflowId before, size_t max);
[[nodiscard]] Result<std::vector<KeptStep>> read_steps(Database& database, WorkflowId id,
                                                       uint32_t first, size_t max);
[[nodiscard]] Result<std::vector<FedOutput>> read_fed_outputs(Database& database,
                                                              core::StepRef step, JobId after,
                                                              size_t max);
[[nodiscard]] Result<std::vector<core::StepKind>> read_kinds(Database& database, WorkflowId id);
[[nodiscard]] Result<int64_t> step_blob(Database& database, core::StepRef step, bool recipe);
[[nodiscard]] Result<std::string> read_blob(Database& database, int64_t id,
                                            const std::string& what);
[[nodiscard]] Result<std::vector<FileVersion>> read_versions(Database& database, NamespaceId ns,
                                                             const std::string& name);
[[nodiscard]] Result<std::string> read_files(Database& database, WorkflowId id);
[[nodiscard]] Result<std::optional<core::StepRef>> read_cached(Database& database, NamespaceId ns,
                                                               const Digest& key);

}  // namespace atl::journal
