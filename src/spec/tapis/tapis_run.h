// A run of a pipeline beside its steps: what it is called, what it means for other runs of the
// pipeline, and how it is kept to be made later.
#pragma once

#include "core/input.h"
#include "spec/tapis/pipeline.h"
#include "spec/workflow/program.h"

namespace atl::spec::tapis {

inline constexpr const char* kTenant = "atoll";

// What the runs of a pipeline are found by.
std::string run_origin(const std::string& pipeline);

// Without its steps.
core::SubmitWorkflow run_terms(const Pipeline& pipeline);

// The texts of a pipeline and of those whose tasks it uses, by their ids.
using PipelineTexts = std::map<std::string, std::string>;

// What a schedule runs for the pipeline's cron.
Program to_program(const std::string& pipeline, const PipelineTexts& texts,
                   const std::string& group, const std::string& owner);
bool is_pipeline(const Program& program);

struct PlannedRun {
  core::SubmitWorkflow terms;
  WorkflowPlan plan;
};
[[nodiscard]] Result<PlannedRun> plan_program(const Program& program);

}  // namespace atl::spec::tapis
