// A workflow with its parameters filled in: what each step runs, or how that is found out when its
// turn comes; and its way to what the core understands.
#pragma once

#include <map>
#include <memory>

#include "spec/workflow/items.h"
#include "spec/workflow/workflow_file.h"

namespace atl::spec {

struct PlannedNeed {
  uint32_t step = 0;  // by its place in the plan
  bool can_fail = false;
  bool can_skip = false;
  bool operator==(const PlannedNeed&) const = default;
};

struct PlannedStep {
  std::string name;
  JobSpec job;
  std::vector<PlannedNeed> needs;
  // Of one that is prepared when its turn comes, or looked at when it has run.
  std::unique_ptr<Recipe> recipe;
  bool prepared = false;
  uint32_t parallel = 0;       // of its tasks at once; zero: all
  std::optional<Items> items;  // what its tasks go through, where that is known already
  std::vector<std::pair<std::string, core::Need>> needs_by_name;  // of a workflow that runs already
  core::FeedTerms feed;  // of one that goes through a queue
};

struct WorkflowPlan {
  std::string name;
  std::map<std::string, std::string> params;
  std::vector<PlannedStep> steps;  // each behind those it needs
  bool fail_fast = false;
  uint32_t parallel_max = 0;
};

struct PlanOptions {
  std::map<std::string, std::string> params;  // that somebody has set
  std::string directory;                      // where steps run that name none
  FileTexts files;                            // that steps go through
  // Only this step, or it and what comes after: of the others what they left is taken.
  std::string only;
  std::string from;
  std::map<std::string, core::StepRef> earlier;  // the last success of each, by name
  bool check = false;                            // the checks alone, against what was left
};

// The error's field is "params.NAME", "only" or "from".
[[nodiscard]] Result<WorkflowPlan> plan_workflow(const WorkflowFile& file,
                                                 const PlanOptions& options = {});

// What a reference stands for among parameters and variables; nothing for the others.
std::optional<std::string> known_value(const Reference& reference,
                                       const std::map<std::string, std::string>& params,
                                       const TextMap& env);

// Steps as the core takes them, with the bytes that they name.
struct StepsBatch {
  std::vector<core::StepKind> kinds;
  std::vector<core::NewStep> steps;
  std::vector<std::vector<std::pair<std::string, core::Need>>> needs_by_name;
  std::vector<std::pair<Digest, std::string>> blobs;
};

// Turns planned steps into what the core takes, kinds that are equal into one. Numbers of kinds go
// on from one batch to the next.
class StepMaker {
 public:
  explicit StepMaker(uint32_t kinds = 0) : next_(kinds) {}
  // The error names the step.
  [[nodiscard]] Result<void> add(const PlannedStep& step, StepsBatch& batch);

 private:
  uint32_t next_;
  std::map<core::StepKind, uint32_t> kinds_;
};

// A job with its items, as the payload that all of its tasks share.
[[nodiscard]] Result<NewJob> with_items(const JobSpec& job, const std::optional<Items>& items);

}  // namespace atl::spec
