// A run of a pipeline as steps: each task a step that is prepared when its turn comes, with its
// inputs as variables that its script turns into files.
#pragma once

#include <string>

#include "spec/tapis/pipeline.h"
#include "spec/workflow/plan.h"

namespace atl::spec::tapis {

struct RunOptions {
  Variables args;
  std::string group;
  std::string tenant;
  std::string owner;
};

// A run that lacks arguments is planned too: it fails with the words that Tapis has for that. The
// error's field is a path such as args.N.value.
[[nodiscard]] Result<WorkflowPlan> plan_pipeline(const Pipeline& pipeline,
                                                 const RunOptions& options);

// The variable by which a task is given an input.
std::string input_variable(const std::string& key);

// What the step of a task runs: a script for sh.
std::string task_script(const Task& task);

}  // namespace atl::spec::tapis
