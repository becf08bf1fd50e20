// Whatever is sent as a pipeline is read or refused, and what is read can be planned.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "spec/tapis/tapis_plan.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace atl::spec;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto itself = [&](const std::string&) -> atl::Result<std::string> {
    if (tapis::read_pipeline(text)) return std::string(text);
    return atl::fail(atl::ErrorCode::not_found, "there is none");
  };
  std::ignore = tapis::templates_of(text);
  std::ignore = tapis::read_args(text);
  const auto pipeline = tapis::read_pipeline(text, itself);
  if (!pipeline) return 0;
  const auto plan = tapis::plan_pipeline(*pipeline, {});
  if (!plan) return 0;
  StepMaker maker;
  StepsBatch batch;
  for (const PlannedStep& step : plan->steps) std::ignore = maker.add(step, batch);
  return 0;
}
