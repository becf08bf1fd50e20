// How long work is expected to run: its wall-time, which people ask for generously, corrected by
// how long such work has run before.
//
// Only for what is told and tried out. What a round promises rests on the wall-time itself:
// backfill that trusted an estimate would delay the head of the line whenever the estimate is
// wrong.
#pragma once

#include "core/state.h"

namespace atl::core::scheduling {

class Estimates {
 public:
  // The run time that so many thousandths of the work do not exceed. With kCertain nothing of the
  // past counts: all work uses up its wall-time.
  Estimates(const State& state, int32_t quantile_milli);

  // In all, of a task that has run for `elapsed` already: as the user's own work in the namespace
  // has run, else as all of the namespace's, else as everybody's, else its wall-time. Nothing:
  // nobody knows.
  std::optional<Duration> run_time(NamespaceId ns, UserId user, const Terms& terms,
                                   Duration elapsed = {}) const;

  // When a task that is there will have ended; zero: nobody knows.
  Time end_of(const State& state, TaskId task, const Holder& holder, Time now) const;

 private:
  const int32_t quantile_milli_;
  std::map<std::pair<NamespaceId, UserId>, Pace> paces_;  // no user: of all
};

}  // namespace atl::core::scheduling
