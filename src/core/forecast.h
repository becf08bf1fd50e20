// When a job that waits is expected to start: the very core, run forward on a state of its own. All
// work ends when it is expected to, nobody new comes, and rounds place what they place.
#pragma once

#include <functional>
#include <set>

#include "core/scheduling/estimate.h"

namespace atl::core {

inline constexpr Duration kForecastMax = hours(24 * 366);  // further ahead nobody knows

struct Outlook {
  Time at;             // when its first task starts; zero: nobody knows
  Time not_before;     // how far the run came without it; zero: it started
  bool rough = false;  // the run was over before: carried on from there, by the pace of starts
};
using Outlooks = std::map<JobId, Outlook>;

struct ForecastOptions {
  int32_t quantile_milli = 500;  // of the run times: how long work takes (scheduling/estimate.h)
  // Ends that share a round, about, as on a busy server. More make the answer coarser and cheaper;
  // one has a round after each moment at which something ends.
  uint32_t ends_per_round = 1;
  // Asked again and again with the rounds so far; false ends the run. Here there is no clock: who
  // has one looks at it.
  std::function<bool(uint64_t rounds)> go_on = [](uint64_t rounds) { return rounds < 10'000; };
  // Told before the first round and after each what the answer would be if the run ended there.
  std::function<void(const Outlooks&)> so_far = {};
};

// Of each of the jobs. The first changes the state, which must be the caller's own; the second
// works on a copy.
Outlooks run_ahead(State& own, Time now, const std::set<JobId>& jobs,
                   const ForecastOptions& options);
Outlooks forecast(const State& state, Time now, const std::set<JobId>& jobs,
                  const ForecastOptions& options);

// Without a run: from its place in the line and how fast work ends.
Outlook rough_forecast(const State& state, Time now, JobId job, int32_t quantile_milli);

// Of one of them, if it asked for something else.
Outlook forecast_changed(const State& state, Time now, JobId job, const Terms& terms,
                         const ForecastOptions& options);

}  // namespace atl::core
