#include "core/forecast.h"

#include <algorithm>
#include <utility>

#include "core/forward.h"
#include "core/scheduling/explain.h"

namespace atl::core {
namespace {

constexpr Duration kFlowSpan = hours(24 * 100);

Time later(Time from, int64_t each_us, int64_t times) {
  if (each_us <= 0 || each_us >= kForecastMax.us / times) return {};
  return from + Duration{each_us * times};
}

// In tasks, with its own first one; zero: it is not ready.
uint64_t position_in(const State& state, JobId id) {
  const Job* job = state.job(id);
  return job && job->ready() ? scheduling::tasks_until(state, *job) : 0;
}

// How many tasks of the namespace, or of all, end in kFlowSpan if each is followed by one like it.
int64_t flow_of(const State& state, const scheduling::Estimates& estimates, Time now,
                NamespaceId ns) {
  int64_t flow = 0;
  for (const auto& [id, site] : state.sites) {
    for (const auto& [name, node] : site.nodes) {
      for (const auto& [task, holder] : node.holders) {
        if (ns && holder.ns != ns) continue;
        const Time ends = estimates.end_of(state, task, holder, now);
        if (ends) flow += kFlowSpan.us / std::max(seconds(1), ends - holder.since).us;
      }
    }
  }
  return flow;
}

// The time from one start to the next of those that wait with the job: the room that work of its
// namespace leaves is for them; if it has none, its part of all. Zero: nobody knows.
Duration between_starts(const State& state, const scheduling::Estimates& estimates, Time now,
                        const Job& job) {
  if (const int64_t own = flow_of(state, estimates, now, job.ns); own > 0)
    return {kFlowSpan.us / own};
  const auto tier = state.backlog.find(state.terms_of(job).tier);
  const size_t sharing = tier == state.backlog.end() ? 1 : tier->second.size();
  const int64_t all = flow_of(state, estimates, now, {});
  if (all == 0) return {};
  return {kFlowSpan.us / all * static_cast<int64_t>(sharing)};
}

class Forecast : Forward::Script {
 public:
  Forecast(State& state, Time now, const std::set<JobId>& jobs, const ForecastOptions& options)
      : begin_(std::max(now, state.now)),
        options_(options),
        estimates_(state, options.quantile_milli),
        lives_(lives_of(state)),
        forward_(state, *this, spacing(), begin_) {
    for (const JobId id : jobs)
      jobs_[id] = {
          position(id),
          {},
          between_starts(forward_.state(), estimates_, begin_, forward_.state().jobs.at(id))};
    for (const Forward::Live& live : lives_) forward_.add(live);
    for (const auto& [leader, task] : forward_.state().followers)
      forward_.begin({task.job, task.index, attempt_of(task)});
    forward_.want_tick();
  }

  Outlooks run() {
    bool stopped = false;
    uint64_t told = UINT64_MAX;  // after so many rounds
    for (Time next = forward_.next(); next && left() && next < begin_ + kForecastMax;
         next = forward_.next()) {
      if (options_.so_far && std::exchange(told, forward_.rounds()) != forward_.rounds())
        options_.so_far(result(true));
      stopped = !options_.go_on(forward_.rounds());
      if (stopped) break;
      const bool all = options_.ends_per_round <= 1;
      forward_.end_until(std::max(next, begin_), all ? SIZE_MAX : options_.ends_per_round);
      forward_.tick();
    }
    return result(stopped);
  }

 private:
  struct Watch {
    uint64_t ahead = 0;  // its position when the run began; zero: not ready
    Time started;
    Duration between;  // starts of those with it, as work ends
  };

  // If the run was not stopped, nothing more would happen: nobody knows.
  Outlooks result(bool stopped) const {
    Outlooks found;
    for (const auto& [id, watch] : jobs_) {
      Outlook outlook{watch.started, watch.started ? Time{} : forward_.now(), false};
      if (!outlook.at && stopped) outlook = carried_on(id, watch);
      found[id] = outlook;
    }
    return found;
  }

  std::vector<Forward::Live> lives_of(const State& state) const {
    std::vector<Forward::Live> lives;
    for (const auto& [id, site] : state.sites) {
      for (const auto& [name, node] : site.nodes) {
        for (const auto& [task, holder] : node.holders)
          lives.push_back({{task.job, task.index, holder.attempt},
                           holder.since,
                           estimates_.end_of(state, task, holder, begin_),
                           holder.stopping,
                           {}});
      }
    }
    return lives;
  }

  // In which so many end.
  Duration spacing() const {
    std::vector<Time> ends;
    for (const Forward::Live& live : lives_) {
      if (live.ends) ends.push_back(live.ends);
    }
    if (options_.ends_per_round <= 1 || ends.size() <= options_.ends_per_round) return {};
    const auto last = ends.begin() + options_.ends_per_round;
    std::nth_element(ends.begin(), last, ends.end());
    return *last - begin_;
  }

  uint32_t attempt_of(TaskId task) const {
    return forward_.state().jobs.at(task.job).tasks.at(task.index).attempt;
  }

  uint64_t position(JobId id) const { return position_in(forward_.state(), id); }

  bool left() const {
    return std::any_of(jobs_.begin(), jobs_.end(),
                       [](const auto& entry) { return !entry.second.started; });
  }

  // Those before it go on as they did; if too few of them have started to tell, as work ends.
  Outlook carried_on(JobId id, const Watch& watch) const {
    constexpr int64_t kTelling = 5;
    const auto ahead = static_cast<int64_t>(position(id));
    const int64_t gone = static_cast<int64_t>(watch.ahead) - ahead;
    Outlook outlook{{}, forward_.now(), true};
    if (ahead == 0) return outlook;
    const int64_t each = gone >= kTelling ? (forward_.now() - begin_).us / gone : watch.between.us;
    outlook.at = later(forward_.now(), each, ahead);
    return outlook;
  }

  std::optional<Duration> begins(AttemptId attempt, Time now) override {
    if (const auto it = jobs_.find(attempt.job); it != jobs_.end() && !it->second.started)
      it->second.started = now;
    const Job& job = forward_.state().jobs.at(attempt.job);
    return estimates_.run_time(job.ns, job.user, forward_.state().terms_of(job));
  }
  Forward::Stop stops(const Forward::Live&, Duration grace, Time) override { return {grace, {}}; }
  void ended(const Forward::Live&, Time) override {}

  const Time begin_;
  const ForecastOptions& options_;
  const scheduling::Estimates estimates_;
  const std::vector<Forward::Live> lives_;
  Forward forward_;
  std::map<JobId, Watch> jobs_;
};

}  // namespace

Outlooks run_ahead(State& own, Time now, const std::set<JobId>& jobs,
                   const ForecastOptions& options) {
  return Forecast(own, now, jobs, options).run();
}

Outlooks forecast(const State& state, Time now, const std::set<JobId>& jobs,
                  const ForecastOptions& options) {
  State own = state;
  return run_ahead(own, now, jobs, options);
}

Outlook rough_forecast(const State& state, Time now, JobId id, int32_t quantile_milli) {
  const Time begin = std::max(now, state.now);
  const auto ahead = static_cast<int64_t>(position_in(state, id));
  if (ahead == 0) return {{}, begin, true};
  const scheduling::Estimates estimates(state, quantile_milli);
  const Duration each = between_starts(state, estimates, begin, state.jobs.at(id));
  return {later(begin, each.us, ahead), begin, true};
}

Outlook forecast_changed(const State& state, Time now, JobId id, const Terms& terms,
                         const ForecastOptions& options) {
  State own = state;
  const Job& job = own.jobs.at(id);
  apply(own, {std::max(now, own.now), {}, JobChanged{id, job.name, terms, job.labels}});
  return run_ahead(own, now, {id}, options).at(id);
}

}  // namespace atl::core
