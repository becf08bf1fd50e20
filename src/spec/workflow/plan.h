// A workflow with its parameters filled in: what each step runs, ready to become a job when its
// turn comes.
#pragma once

#include <map>

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
};

struct WorkflowPlan {
  std::string name;
  std::map<std::string, std::string> params;
  std::vector<PlannedStep> steps;  // in the order of the file
};

// `given` are the parameters that somebody has set. The error's field is "params.NAME".
[[nodiscard]] Result<WorkflowPlan> plan_workflow(const WorkflowFile& file,
                                                 const std::map<std::string, std::string>& given);

}  // namespace atl::spec
