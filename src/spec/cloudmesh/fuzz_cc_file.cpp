#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "spec/cloudmesh/cc_plan.h"
#include "spec/cloudmesh/cc_write.h"

// Whatever is accepted can be planned in an order, drawn, and saved so that reading gives it back.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  namespace cc = atl::spec::cc;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto file = cc::parse_cc(text, "f");
  if (!file) return 0;
  if (!cc::looks_like_cc(text)) std::abort();
  const cc::CcWorkflow& workflow = file->workflow;
  if (cc::in_order(workflow).size() != workflow.nodes.size()) std::abort();
  const auto again = cc::parse_cc(cc::save_cc(workflow), "f");
  if (!again || again->workflow != workflow) std::abort();
  cc::CcPlanOptions options;
  options.directory = "/d";
  options.home = "/h";
  const auto plan = cc::plan_cc(*file, options);
  if (plan && plan->plan.steps.size() != workflow.nodes.size()) std::abort();
  cc::CcRun run;
  run.now = atl::Time{1'700'000'000'000'000};
  run.started = atl::Time{1'600'000'000'000'000};
  const cc::CcWorkflow shown = cc::with_run(workflow, run, true);
  (void)cc::workflow_json(shown);
  (void)cc::jobs_table(shown);
  (void)cc::times_dat(shown, run);
  return 0;
}
