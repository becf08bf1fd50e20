// Promise 1: what was acknowledged survives. Every answer names a commit that the journal holds
// with exactly the events that were acknowledged; every acknowledged job is live or in history for
// ever after, runs the payload it came with; so is every workflow, with all steps it was given; a
// refused command leaves no trace; what must be refused is.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "sim/checkers/checker.h"

namespace atl::sim {

class Acknowledged : public Checker {
 public:
  std::string_view promise() const override { return "1, what was acknowledged survives"; }
  void told(const Told& told) override;
  void recorded(uint64_t sequence, const core::Event& event, const core::State& after) override;
  void began(const RunBegan& run) override;
  void looked(const Glimpse& glimpse) override;
  void settled(const Glimpse& glimpse) override {
    check_jobs(glimpse);
    check_workflows(glimpse);
  }

 private:
  void check_answers();
  void check_jobs(const Glimpse& glimpse);
  void check_workflows(const Glimpse& glimpse);
  void acknowledge(const core::Events& events);

  std::vector<runtime::Accepted> answers_;     // since the last look
  std::map<uint64_t, core::Events> recorded_;  // commits since then
  std::map<JobId, std::string> jobs_;          // acknowledged, with their payload
  std::map<WorkflowId, size_t> workflows_;     // acknowledged, with how many steps
  std::set<std::string> refused_;  // names of jobs and workflows that were refused for good
};

}  // namespace atl::sim
