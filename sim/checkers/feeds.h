// Promise 13: an item that a step takes from a queue is worked on by one job at a time, and what
// that job did counts once. A lease begins with its job, in one commit, and is over with it; what
// the job left is recorded in the commit that ends its items, and never again; a run is given the
// items of its lease, and does not begin once that is over; a step's counts are those of its jobs.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "sim/checkers/checker.h"

namespace atl::sim {

class Feeds : public Checker {
 public:
  std::string_view promise() const override {
    return "13, what a step does with an item of a queue counts once";
  }
  void recorded(uint64_t sequence, const core::Event& event, const core::State& after) override;
  void committed(uint64_t sequence, const core::State& after) override;
  void began(const RunBegan& run) override;
  void ended(const RunEnded& run) override { running_.erase(run.attempt); }

 private:
  using Items = std::vector<core::ItemRange>;
  struct Work {
    core::StepRef step;
    QueueId queue;
    LeaseId lease;
    Items items;
    bool submitted = false;
    bool over = false;      // its step says so
    bool released = false;  // its lease is over
    uint64_t done = 0;      // as its step says
    uint64_t finished = 0;  // as the queue says
  };

  void leased(const core::ItemsLeased& event);
  void submitted(const core::JobSubmitted& event);
  void over(const core::FedJobEnded& event);
  void left(LeaseId lease, const Items& items, bool finished);
  void check_over(JobId job, const Work& work);
  void check_counts(const core::StepsEnded& event, const core::State& after);

  std::map<JobId, Work> works_;
  std::map<LeaseId, JobId> leases_;
  std::set<std::pair<QueueId, ItemId>> effects_;  // that were recorded
  std::map<core::StepRef, uint64_t> done_;        // since the step began
  std::set<JobId> touched_;                       // in the commit that is being recorded
  std::set<AttemptId> running_;
};

}  // namespace atl::sim
