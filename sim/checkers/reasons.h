// Promise 4: every waiting job has a true reason. Two tests on a sample of the waiting jobs, at
// moments when a tick would decide nothing: the stated obstacle is there, as counted here from the
// tasks and nodes themselves; and when it is taken away in a copy of the state, something of the
// job starts or another obstacle is named.
#pragma once

#include <functional>

#include "core/scheduling/explain.h"
#include "sim/checkers/checker.h"

namespace atl::sim {

class Reasons : public Checker {
 public:
  using Explain =
      std::function<core::scheduling::Explanation(const core::State&, const core::Job&, Time)>;

  Reasons();
  explicit Reasons(Explain explain) : explain_(std::move(explain)) {}

  std::string_view promise() const override { return "4, every waiting job has a true reason"; }
  void looked(const Glimpse& glimpse) override;

  // The two tests, on one job; exposed so that a test need not bring a whole run.
  void check(const core::State& state, const core::Job& job, Time now);

 private:
  static constexpr uint64_t kLookEvery = 4;
  static constexpr int kJobsPerLook = 3;

  std::string untrue(const core::State& state, const core::Job& job, Time now,
                     const core::scheduling::Explanation& why);
  // What it says when the obstacle is gone and it still waits; empty: it starts, or has another
  // reason.
  std::string stuck_without(core::State copy, const core::Job& job, Time now,
                            core::scheduling::Obstacle obstacle);

  const Explain explain_;
  uint64_t looks_ = 0;
  JobId last_;  // the sample goes round
};

}  // namespace atl::sim
