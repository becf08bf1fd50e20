// Promise 14: each firing of a schedule opens at most one run, no time fires twice, a delivery is
// taken once, and none is lost but by the schedule's own policy. Counts for itself, from the
// events.
#pragma once

#include <map>
#include <set>
#include <string>

#include "sim/checkers/checker.h"

namespace atl::sim {

class Schedules : public Checker {
 public:
  std::string_view promise() const override {
    return "14, a schedule opens one run for each of its times";
  }
  void recorded(uint64_t sequence, const core::Event& event, const core::State& after) override;
  void committed(uint64_t sequence, const core::State& after) override;
  void settled(const Glimpse& glimpse) override;

 private:
  struct Track {
    Duration period;  // zero: it has no times
    core::Missed missed = core::Missed::skip;
    Time through;          // times up to here have been dealt with
    uint32_t made_up = 0;  // in a row
    uint64_t last = 0;
    std::set<uint64_t> opening;
    std::set<std::string> keys;
  };

  void set(const core::ScheduleSet& event, Time at);
  void fired(const core::ScheduleFired& event, Time at);
  void skipped(const core::ScheduleSkipped& event);
  void opened(const core::ScheduleOpened& event);
  Track* track(ScheduleId id, const char* what);
  void number(Track& of, ScheduleId id, uint64_t number);

  std::map<ScheduleId, Track> schedules_;
  std::set<WorkflowId> opened_;        // by a firing
  std::set<WorkflowId> of_schedules_;  // in the commit that is being recorded: not yet explained
};

}  // namespace atl::sim
