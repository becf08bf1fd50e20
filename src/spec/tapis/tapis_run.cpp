#include "spec/tapis/tapis_run.h"

#include "base/text.h"
#include "spec/tapis/tapis_plan.h"

namespace atl::spec::tapis {
namespace {

constexpr int64_t kPipelineSeconds = 10'800;
constexpr const char* kSuffix = ".json";

core::Overlap overlap_of(const std::string& policy) {
  if (policy == "allow") return core::Overlap::allow;
  if (policy == "deny") return core::Overlap::refuse;
  return policy == "defer" ? core::Overlap::wait : core::Overlap::replace;
}

}  // namespace

std::string run_origin(const std::string& pipeline) { return "tapis/" + pipeline; }

core::SubmitWorkflow run_terms(const Pipeline& pipeline) {
  core::SubmitWorkflow terms;
  terms.name = pipeline.id;
  terms.lane = terms.origin = run_origin(pipeline.id);
  terms.overlap = overlap_of(pipeline.profile.duplicates);
  terms.time_limit = seconds(pipeline.profile.max_exec_time.value_or(kPipelineSeconds));
  return terms;
}

Program to_program(const std::string& pipeline, const PipelineTexts& texts,
                   const std::string& group, const std::string& owner) {
  Program program;
  program.files.emplace();
  for (const auto& [id, text] : texts) (*program.files)[id + kSuffix] = text;
  program.main = pipeline + kSuffix;
  program.name = pipeline;
  program.set = {{"group", group}, {"owner", owner}};
  return program;
}

bool is_pipeline(const Program& program) {
  return program.main && program.main->ends_with(kSuffix);
}

Result<PlannedRun> plan_program(const Program& program) {
  const auto text_of = [&](const std::string& file) -> Result<std::string> {
    const auto found = program.files->find(file);
    if (found != program.files->end()) return found->second;
    return fail(ErrorCode::not_found, "there is no " + quote(file) + " beside the pipeline");
  };
  const auto text = text_of(*program.main);
  if (!text) return tl::unexpected(text.error());
  const auto pipeline =
      read_pipeline(*text, [&](const std::string& id) { return text_of(id + kSuffix); });
  if (!pipeline) return tl::unexpected(pipeline.error());
  auto plan =
      plan_pipeline(*pipeline, {{}, program.set->at("group"), kTenant, program.set->at("owner")});
  if (!plan) return tl::unexpected(plan.error());
  if (plan->steps.empty())
    return fail(ErrorCode::invalid, "pipeline " + quote(pipeline->id) + " has no tasks");
  return PlannedRun{run_terms(*pipeline), std::move(*plan)};
}

}  // namespace atl::spec::tapis
