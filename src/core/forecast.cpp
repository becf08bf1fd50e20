#include "core/forecast.h"

#include <algorithm>

#include "core/forward.h"
#include "core/scheduling/explain.h"

namespace atl::core {
namespace {

class Forecast : Forward::Script {
 public:
  Forecast(State state, Time now, const std::set<JobId>& jobs, const ForecastOptions& options)
      : begin_(std::max(now, state.now)),
        options_(options),
        estimates_(state, options.quantile_milli),
        lives_(lives_of(state)),
        forward_(std::move(state), *this, spacing(), begin_) {
    for (const JobId id : jobs) jobs_[id].ahead = position(id);
    for (const Forward::Live& live : lives_) forward_.add(live);
    for (const auto& [leader, task] : forward_.state().followers)
      forward_.begin({task.job, task.index, attempt_of(task)});
    forward_.want_tick();
  }

  std::map<JobId, Outlook> run() {
    bool stopped = false;
    for (Time next = forward_.next(); next && left() && next < begin_ + kForecastMax;
         next = forward_.next()) {
      stopped = !options_.go_on(forward_.rounds());
      if (stopped) break;
      forward_.end_until(std::max(next, begin_));
      forward_.tick();
    }
    std::map<JobId, Outlook> found;
    for (const auto& [id, watch] : jobs_) {
      Outlook outlook{watch.started, watch.started ? Time{} : forward_.now(), false};
      // Without a budget's end nothing more would happen: nobody knows.
      if (!outlook.at && stopped) outlook = carried_on(id, watch);
      found[id] = outlook;
    }
    return found;
  }

 private:
  struct Watch {
    uint64_t ahead = 0;  // its position when the run began; zero: not ready
    Time started;
  };

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

  uint64_t position(JobId id) const {
    const Job* job = forward_.state().job(id);
    return job && job->ready() ? scheduling::position_of(forward_.state(), *job) : 0;
  }

  bool left() const {
    return std::any_of(jobs_.begin(), jobs_.end(),
                       [](const auto& entry) { return !entry.second.started; });
  }

  // Those before it go on as they did; if none of them has started, as all together did, of whom
  // each namespace has its part.
  Outlook carried_on(JobId id, const Watch& watch) const {
    const Time reached = forward_.now();
    const int64_t span = (reached - begin_).us;
    const auto ahead = static_cast<int64_t>(position(id));
    const int64_t gone = static_cast<int64_t>(watch.ahead) - ahead;
    Outlook outlook{{}, reached, true};
    if (ahead == 0 || span == 0) return outlook;
    int64_t more = kForecastMax.us;
    if (gone > 0) {
      more = span / gone * ahead;
    } else if (started_ > 0) {
      const auto& waiting = forward_.state().backlog;
      const auto tier = waiting.find(forward_.state().terms_of(forward_.state().jobs.at(id)).tier);
      const auto sharing = static_cast<int64_t>(tier == waiting.end() ? 1 : tier->second.size());
      more = span / started_ * ahead * sharing;
    }
    if (more < kForecastMax.us) outlook.at = reached + Duration{more};
    return outlook;
  }

  std::optional<Duration> begins(AttemptId attempt, Time now) override {
    ++started_;
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
  int64_t started_ = 0;
};

}  // namespace

std::map<JobId, Outlook> forecast(State state, Time now, const std::set<JobId>& jobs,
                                  const ForecastOptions& options) {
  return Forecast(std::move(state), now, jobs, options).run();
}

Outlook forecast_changed(State state, Time now, JobId id, const Terms& terms,
                         const ForecastOptions& options) {
  const Job& job = state.jobs.at(id);
  apply(state, {std::max(now, state.now), {}, JobChanged{id, job.name, terms, job.labels}});
  return forecast(std::move(state), now, {id}, options).at(id);
}

}  // namespace atl::core
