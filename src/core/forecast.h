// When a job that waits is expected to start: the very core, run forward on a state of its own. All
// work ends when it is expected to, nobody new comes, and rounds place what they place.
#pragma once

#include <functional>
#include <set>

#include "core/scheduling/estimate.h"
#include "core/scheduling/explain.h"

namespace atl::core {

inline constexpr Duration kForecastMax = hours(24 * 366);  // further ahead nobody knows

struct Outlook {
  Time at;              // when the first task that waits starts; zero: nobody knows
  Time not_before;      // how far the run came without it; zero: it started
  bool rough = false;   // the run was over before: carried on from there, by the pace of starts
  Time last;            // when its last task starts, if that was asked for; zero: nobody knows
  uint32_t yields = 0;  // so many tasks were told to make room for it before
  Duration grace;       // the longest that one of them had
  bool operator==(const Outlook&) const = default;
};
using Outlooks = std::map<JobId, Outlook>;

struct ForecastOptions {
  int32_t quantile_milli = 500;  // of the run times: how long work takes (scheduling/estimate.h)
  // Ends that share a round, about, as on a busy server. More make the answer coarser and cheaper;
  // one has a round after each moment at which something ends.
  uint32_t ends_per_round = 1;
  std::map<JobId, uint32_t> tasks = {};  // of these jobs this task counts, not the first
  bool to_the_last = false;              // goes on until the last tasks have started too
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
Outlook rough_forecast(const State& state, Time now, JobId job, const ForecastOptions& options);

// Of one of them, if it asked for something else.
Outlook forecast_changed(const State& state, Time now, JobId job, const Terms& terms,
                         const ForecastOptions& options);
// The same, if it were cancelled and submitted anew with these terms; nullopt: that is refused.
std::optional<Outlook> forecast_instead(const State& state, Time now, JobId job, const Terms& terms,
                                        const ForecastOptions& options);

// Tries what an explanation offers, of a job of which nothing is placed: what starts because others
// make room, and what starts sooner. Leaves out what does not, and says when and to whom they
// yield.
void confirm(const State& state, Time now, const Job& job, scheduling::Explanation& why,
             const ForecastOptions& options);

}  // namespace atl::core
