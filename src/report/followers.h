// Those that need each step, in two flat lists.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/workflow/workflow.h"

namespace atl::report {

class Followers {
 public:
  // Of each step what it needs; all of them are steps.
  explicit Followers(const std::vector<std::vector<core::Need>>& needs) : first_(needs.size() + 1) {
    for (const auto& each : needs) {
      for (const core::Need& need : each) ++first_[need.step + 1];
    }
    for (size_t i = 0; i < needs.size(); ++i) first_[i + 1] += first_[i];
    followers_.resize(first_.back());
    std::vector<uint32_t> next(first_.begin(), first_.end() - 1);
    for (size_t i = 0; i < needs.size(); ++i) {
      for (const core::Need& need : needs[i])
        followers_[next[need.step]++] = {static_cast<uint32_t>(i), need.can_fail, need.can_skip};
    }
  }

  // `step` of each is the one that needs it.
  std::span<const core::Need> of(uint32_t step) const {
    return {followers_.data() + first_[step], followers_.data() + first_[step + 1]};
  }

 private:
  std::vector<uint32_t> first_;  // of each step where its followers begin; one more at the end
  std::vector<core::Need> followers_;
};

}  // namespace atl::report
