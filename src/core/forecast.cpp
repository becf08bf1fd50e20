#include "core/forecast.h"

#include <algorithm>
#include <utility>

#include "core/forward.h"
#include "core/scheduling/line.h"

namespace atl::core {
namespace {

constexpr Duration kFlowSpan = hours(24 * 100);

Time later(Time from, int64_t each_us, int64_t times) {
  if (each_us <= 0 || each_us >= kForecastMax.us / times) return {};
  return from + Duration{each_us * times};
}

// In tasks, with the one that counts; zero: it is not ready.
uint64_t position_in(const State& state, JobId id, const ForecastOptions& options) {
  const Job* job = state.job(id);
  if (!job || !job->ready()) return 0;
  const auto task = options.tasks.find(id);
  if (task == options.tasks.end()) return scheduling::tasks_until(state, *job);
  if (!job->waiting.contains(task->second)) return 0;
  uint64_t before = 0;
  for (const Interval& range : job->waiting.ranges()) {
    if (range.first < task->second)
      before += std::min<uint64_t>(range.last + uint64_t{1}, task->second) - range.first;
  }
  return before + scheduling::tasks_until(state, *job);
}

// How many of its tasks have not been placed.
int64_t waiting_of(const State& state, JobId id) {
  const Job* job = state.job(id);
  return job ? static_cast<int64_t>(job->waiting.size()) : 0;
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
          {},
          {},
          between_starts(forward_.state(), estimates_, begin_, forward_.state().jobs.at(id))};
    for (const Forward::Live& live : lives_) forward_.add(live);
    for (const auto& [leader, follower] : forward_.state().followers) forward_.begin(follower);
    // From here on everybody begins with room of their own: short as they are, it is much the same.
    for (auto& [id, site] : state.sites) std::erase(site.abilities, scheduling::kLineAbility);
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
    Time last;                                // that started so far
    std::pair<uint32_t, Duration> made_room;  // how many before that, and the longest grace
    Duration between;                         // starts of those with it, as work ends
  };

  // If the run was not stopped, nothing more would happen: nobody knows.
  Outlooks result(bool stopped) const {
    Outlooks found;
    for (const auto& [id, watch] : jobs_) {
      Outlook outlook{.at = watch.started,
                      .not_before = watch.started ? Time{} : forward_.now(),
                      .yields = watch.made_room.first,
                      .grace = watch.made_room.second};
      if (stopped && unfinished(id, watch)) carry_on(id, watch, outlook);
      if (options_.to_the_last && waiting_of(forward_.state(), id) == 0) outlook.last = watch.last;
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

  uint64_t position(JobId id) const { return position_in(forward_.state(), id, options_); }

  bool unfinished(JobId id, const Watch& watch) const {
    return !watch.started || (options_.to_the_last && waiting_of(forward_.state(), id) > 0);
  }
  bool left() const {
    return std::any_of(jobs_.begin(), jobs_.end(),
                       [&](const auto& entry) { return unfinished(entry.first, entry.second); });
  }

  // Those before it go on as they did; if too few of them have started to tell, as work ends.
  void carry_on(JobId id, const Watch& watch, Outlook& outlook) const {
    constexpr int64_t kTelling = 5;
    const auto ahead = static_cast<int64_t>(position(id));
    const int64_t gone = static_cast<int64_t>(watch.ahead) - ahead;
    outlook.rough = true;
    if (ahead == 0) return;
    const int64_t each = gone >= kTelling ? (forward_.now() - begin_).us / gone : watch.between.us;
    if (!outlook.at) outlook.at = later(forward_.now(), each, ahead);
    const int64_t all = ahead - 1 + waiting_of(forward_.state(), id);
    if (options_.to_the_last) outlook.last = later(forward_.now(), each, all);
  }

  // Whether it is the task that counts, of a job that does.
  bool counts(AttemptId attempt) const {
    const auto task = options_.tasks.find(attempt.job);
    return task == options_.tasks.end() || task->second == attempt.index;
  }

  std::optional<Duration> begins(AttemptId attempt, Time now) override {
    if (const auto it = jobs_.find(attempt.job); it != jobs_.end() && counts(attempt)) {
      if (!it->second.started) it->second.started = now;
      it->second.last = now;
    }
    const Job& job = forward_.state().jobs.at(attempt.job);
    return estimates_.run_time(job.ns, job.user, forward_.state().terms_of(job));
  }
  Forward::Stop stops(const Forward::Live& live, Duration grace, Time) override {
    const Job& job = forward_.state().jobs.at(live.attempt.job);
    const auto* stop = std::get_if<TaskStop>(&job.tasks.at(live.attempt.index).state);
    const auto watch = stop ? jobs_.find(stop->beneficiary) : jobs_.end();
    if (watch != jobs_.end() && !watch->second.started) {
      auto& [count, longest] = watch->second.made_room;
      ++count;
      longest = std::max(longest, grace);
    }
    return {grace, {}};
  }
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

Outlook rough_forecast(const State& state, Time now, JobId id, const ForecastOptions& options) {
  const Time begin = std::max(now, state.now);
  const auto ahead = static_cast<int64_t>(position_in(state, id, options));
  Outlook outlook{.not_before = begin, .rough = true};
  if (ahead == 0) return outlook;
  const scheduling::Estimates estimates(state, options.quantile_milli);
  const Duration each = between_starts(state, estimates, begin, state.jobs.at(id));
  outlook.at = later(begin, each.us, ahead);
  if (options.to_the_last) outlook.last = later(begin, each.us, ahead - 1 + waiting_of(state, id));
  return outlook;
}

Outlook forecast_changed(const State& state, Time now, JobId id, const Terms& terms,
                         const ForecastOptions& options) {
  State own = state;
  const Job& job = own.jobs.at(id);
  apply(own, {std::max(now, own.now), {}, JobChanged{id, job.name, terms, job.labels}});
  return run_ahead(own, now, {id}, options).at(id);
}

std::optional<Outlook> forecast_instead(const State& state, Time now, JobId id, const Terms& terms,
                                        const ForecastOptions& options) {
  State own = state;
  const Time begin = std::max(now, own.now);
  const Job& job = own.jobs.at(id);
  const Actor actor{job.user, false, {}, {}};
  const IntervalSet members = terms.gang > 0 ? IntervalSet({0, terms.gang - 1}) : job.waiting;
  const SubmitJob again{.ns = own.namespaces.at(job.ns).name,
                        .name = job.name,
                        .terms = terms,
                        .payload = job.payload,
                        .array = job.array || terms.gang > 0,
                        .indices = members,
                        .keep = true};
  const JobId made{own.counters.job + 1};
  for (const Request& request :
       {Request{actor, CancelJob{id, {}, {}}}, Request{actor, SubmitJobs{{again}}}}) {
    const auto events = decide(own, {begin, request});
    if (!events) return std::nullopt;
    for (const Event& event : *events) apply(own, event);
  }
  return run_ahead(own, now, {made}, options).at(made);
}

void confirm(const State& state, Time now, const Job& job, scheduling::Explanation& why,
             const ForecastOptions& options) {
  const Time begin = std::max(now, state.now);
  std::erase_if(why.alternatives, [&](scheduling::Alternative& each) {
    if (each.yields == 0) return false;
    const auto outlook = forecast_instead(state, now, job.id, each.terms, options);
    if (!outlook || !outlook->at || outlook->at > begin + outlook->grace) return true;
    each.yields = outlook->yields;
    return false;
  });
  if (why.sooner.empty() || job.gang) return;
  const Time own = forecast(state, now, {job.id}, options).at(job.id).at;
  std::erase_if(why.sooner, [&](scheduling::Alternative& each) {
    each.starts = forecast_changed(state, now, job.id, each.terms, options).at;
    return !each.starts || (own && each.starts >= own);
  });
}

}  // namespace atl::core
