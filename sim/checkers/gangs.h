// Of promises 2 and 7: the members of a gang start together or not at all. They are placed one
// directly after the other; from then on all of them have a place until one ends, and when one
// comes back, fails or is stopped, all others that have a place are stopped with it. Who has ended
// for good is not joined by members that are tried again.
#pragma once

#include <map>
#include <set>

#include "sim/checkers/checker.h"

namespace atl::sim {

class Gangs : public Checker {
 public:
  std::string_view promise() const override { return "7, the members of a gang go together"; }
  void recorded(uint64_t sequence, const core::Event& event, const core::State& after) override;
  void committed(uint64_t sequence, const core::State& after) override;
  void settled(const Glimpse& glimpse) override;

 private:
  struct Gang {
    uint32_t members = 0;
    std::set<uint32_t> placed;
    std::set<uint32_t> stopping;
    std::set<uint32_t> succeeded;
    std::set<uint32_t> failed;  // or cancelled, or lost
    uint32_t ended() const { return static_cast<uint32_t>(succeeded.size() + failed.size()); }
  };

  void known(const core::JobSubmitted& job);
  void placed(AttemptId attempt);
  void member_ended(AttemptId attempt, core::Outcome outcome);
  void retried(AttemptId attempt);
  void waiting_ended(const core::WaitingEnded& end);
  void check(JobId id, const Gang& gang);

  std::map<JobId, Gang> gangs_;
  std::set<JobId> touched_;  // by the commit
  JobId starting_;           // of which not all members are placed yet
};

}  // namespace atl::sim
