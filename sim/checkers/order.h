// Promise 7, as far as dependencies go: nothing of a job is placed before the jobs it waits for
// have ended as it asked; when one has not, the job is skipped and never runs; and a job's outcome
// is the worst of what became of its indices.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <vector>

#include "sim/checkers/checker.h"

namespace atl::sim {

class Order : public Checker {
 public:
  std::string_view promise() const override { return "7, order and containment of failure hold"; }
  void recorded(uint64_t sequence, const core::Event& event, const core::State& after) override;

 private:
  struct Known {
    std::vector<core::Dependency> dependencies;  // with the outcome once it is known
    std::map<uint32_t, core::Outcome> ended;     // what became of each index
  };

  void submitted(const core::JobSubmitted& job);
  void placed(AttemptId attempt);
  void skipped(const core::WaitingEnded& end);
  void job_ended(const core::JobEnded& end);
  void end_index(JobId job, uint32_t index, core::Outcome outcome);

  std::map<JobId, Known> jobs_;
  std::map<JobId, core::Outcome> outcomes_;  // of jobs that have ended and were not reopened since
};

}  // namespace atl::sim
