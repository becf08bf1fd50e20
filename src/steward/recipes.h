// A step's recipe with everything that it refers to. For the sources of this room only.
#pragma once

#include <optional>

#include "spec/workflow/plan.h"
#include "steward/steward.h"

namespace atl::steward {

// The variable of a step's job that says by what its success may be found again.
inline constexpr const char* kCacheKey = "ATOLL_CACHE_KEY";

class Kitchen {
 public:
  Kitchen(journal::History& history, core::StepRef step) : history_(history), step_(step) {}

  // Reads the recipe.
  [[nodiscard]] Result<void> open();
  const spec::Recipe& recipe() const { return recipe_; }

  // What a reference stands for: parameters, variables, and what steps before it have left. A file
  // is its path.
  [[nodiscard]] Result<std::string> value(const Reference& reference);
  // The job with all of it put in.
  [[nodiscard]] Result<spec::JobSpec> job();
  [[nodiscard]] Result<std::optional<spec::Items>> items();
  // The recipe with what its checks refer to.
  [[nodiscard]] Result<spec::Recipe> filled(spec::Recipe recipe);
  // The same for the same script, inputs, parameters and items.
  [[nodiscard]] Result<Digest> cache_key(const spec::JobSpec& job,
                                         const std::optional<spec::Items>& items);
  // In which the workflow is.
  [[nodiscard]] Result<NamespaceId> space();

 private:
  // Sets the variables that come from what others left, of a recipe with types.
  [[nodiscard]] Result<void> bind(spec::JobSpec& job);
  [[nodiscard]] Result<std::string> output_of(const std::string& step, const std::string& name);
  // The step of that name that this one needs.
  [[nodiscard]] Result<std::optional<journal::KeptStep>> needed(const std::string& name);

  journal::History& history_;
  const core::StepRef step_;
  spec::Recipe recipe_;
  std::map<std::string, std::string> outputs_;  // of steps, JSON
};

// One value of a step's outputs as JSON; of a file its path.
[[nodiscard]] Result<std::string> output_in(const std::string& outputs, const std::string& step,
                                            const std::string& name);
// What stands for it in a text.
std::string text_in(const std::string& json);

}  // namespace atl::steward
