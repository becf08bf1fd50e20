// The way of planned steps to what the core understands.
#include "base/text.h"
#include "base/wire.h"
#include "spec/workflow/plan.h"

namespace atl::spec {

Result<NewJob> with_items(const JobSpec& job, const std::optional<Items>& items) {
  auto made = to_submission(job);
  if (!made || !items) return made;
  made->payload.items = items->values;
  made->payload.item_keys = items->keys;
  made->payload_bytes = wire::encode(made->payload);
  made->job.payload = sha256(made->payload_bytes);
  made->job.array = true;
  made->job.indices = IntervalSet({0, static_cast<uint32_t>(items->count() - 1)});
  return made;
}

Result<void> StepMaker::add(const PlannedStep& step, StepsBatch& batch) {
  // Of one that is prepared only what it asks for counts now.
  JobSpec job = step.job;
  if (step.prepared) job.directory.reset();
  auto made = with_items(job, step.prepared ? std::nullopt : step.items);
  if (!made) {
    Error error = made.error();
    error.message = "step " + quote(step.name) + ": " + error.message;
    error.field = "steps." + step.name + "." + error.field;
    return tl::unexpected(std::move(error));
  }
  core::StepKind kind{std::move(made->job.terms), std::move(made->job.labels)};
  kind.terms.parallel_max = step.parallel;
  const auto [known, added] = kinds_.try_emplace(std::move(kind), next_);
  if (added) {
    ++next_;
    batch.kinds.push_back(known->first);
  }
  core::NewStep& into = batch.steps.emplace_back();
  into.name = step.name;
  into.kind = known->second;
  into.prepared = step.prepared;
  into.feed = step.feed;
  for (const PlannedNeed& need : step.needs)
    into.needs.push_back({need.step, need.can_fail, need.can_skip});
  batch.needs_by_name.push_back(step.needs_by_name);
  if (step.recipe) {
    Recipe recipe = *step.recipe;
    into.collected = recipe.outputs || recipe.asserts || recipe.cache.value_or(false);
    if (step.prepared && (!recipe.reuse || recipe.recheck)) recipe.job = step.job;
    std::string bytes = to_json(recipe);
    into.recipe = sha256(bytes);
    batch.blobs.emplace_back(into.recipe, std::move(bytes));
  }
  if (step.prepared) return {};
  into.array = made->job.array;
  into.indices = made->job.indices;
  into.payload = made->job.payload;
  const bool same = !batch.blobs.empty() && batch.blobs.back().first == into.payload;
  if (!same) batch.blobs.emplace_back(into.payload, std::move(made->payload_bytes));
  return {};
}

}  // namespace atl::spec
