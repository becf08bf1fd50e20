// Promise 6: who has to make room is opportunistic or has borrowed it; they are told, given their
// grace, stopped, and wait again, once, before others of their user; nobody else is stopped for
// somebody's sake, and not again and again for one who does not start.
#pragma once

#include <map>

#include "sim/checkers/checker.h"

namespace atl::sim {

class Yields : public Checker {
 public:
  std::string_view promise() const override { return "6, who yields comes back, nobody else does"; }
  void recorded(uint64_t sequence, const core::Event& event, const core::State& after) override;
  void ended(const RunEnded& run) override;

 private:
  struct Told {
    Time at;
    Duration grace;
    bool over = false;  // its process has ended
  };
  void stopping(const core::Event& event, const core::TaskStopping& stop, const core::State& after);
  void came_back(const core::Event& event, const core::TaskRetried& retried,
                 const core::State& after);

  static constexpr int kTimesMax = 10;

  std::map<AttemptId, Told> told_;
  std::map<JobId, std::map<TaskId, int>> in_vain_;  // how often, since something of the job started
};

}  // namespace atl::sim
