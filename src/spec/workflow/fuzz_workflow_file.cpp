#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "spec/workflow/plan.h"

// Whatever is accepted has an order, and its plan is as long as itself.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto file = atl::spec::parse_workflow(text, "f");
  if (!file) return 0;
  if (atl::spec::in_order(*file).size() != file->steps.size()) std::abort();
  const auto plan = atl::spec::plan_workflow(*file, {});
  if (plan && plan->steps.size() != file->steps.size()) std::abort();
  return 0;
}
