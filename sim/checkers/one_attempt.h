// Promise 2: a task has at most one live attempt, no attempt begins twice, and nothing keeps
// running that the platform does not hold as placed. A site reports an end only after it, so not
// even a short-lived orphan is allowed.
#pragma once

#include <map>
#include <set>

#include "sim/checkers/checker.h"

namespace atl::sim {

class OneAttempt : public Checker {
 public:
  std::string_view promise() const override { return "2, at most one live attempt and no orphan"; }
  void recorded(uint64_t sequence, const core::Event& event, const core::State& after) override;
  void began(const RunBegan& run) override;
  void ended(const RunEnded& run) override;
  void looked(const Glimpse& glimpse) override;

 private:
  std::set<AttemptId> begun_;
  std::map<TaskId, AttemptId> live_;
};

}  // namespace atl::sim
