#include "api/work_counts.h"

#include <prometheus/counter.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>

#include <algorithm>

#include "base/overloaded.h"

namespace atl::api {
namespace {

// Beyond it a wait is not measured; as many attempts are never placed at once.
constexpr size_t kWaitsMax = 1'000'000;

// From a slot that was free to a weekend in the queue.
const prometheus::Histogram::BucketBoundaries kWaits{0.01, 0.05, 0.25, 1,     5,     15,    60,
                                                     300,  900,  3600, 14400, 43200, 86400, 259200};

template <class Enum, size_t N>
void add_each(prometheus::Family<prometheus::Counter>& family, const char* label,
              std::array<prometheus::Counter*, N>& counters) {
  for (size_t i = 0; i < N; ++i)
    counters[i] = &family.Add({{label, enum_name(static_cast<Enum>(i))}});
}

}  // namespace

size_t WorkCounts::Hash::operator()(const AttemptId& id) const {
  const uint64_t task = id.job.value * 0x9e3779b97f4a7c15ULL + id.index;
  return std::hash<uint64_t>()(task * 31 + id.attempt);
}

WorkCounts::WorkCounts(prometheus::Registry& registry) {
  const auto counter = [&](const char* name, const char* help) -> auto& {
    return prometheus::BuildCounter().Name(name).Help(help).Register(registry);
  };
  jobs_submitted_ = &counter("atoll_jobs_submitted_total", "Jobs accepted.").Add({});
  add_each<core::Outcome>(counter("atoll_jobs_ended_total", "Jobs that ended, by outcome."),
                          "outcome", jobs_ended_);
  add_each<core::Outcome>(counter("atoll_tasks_ended_total",
                                  "Tasks that ended, by outcome; a job that is no array has one."),
                          "outcome", tasks_ended_);
  add_each<core::RetryReason>(
      counter("atoll_attempts_retried_total", "Attempts that another one follows, by reason."),
      "reason", retried_);
  add_each<core::Cause>(
      counter("atoll_schedules_fired_total", "Times that schedules came to a run, by cause."),
      "cause", fired_);
  auto& settled = counter("atoll_schedules_settled_total",
                          "What became of it: opened with a run, skipped by a policy, or failed.");
  for (const auto state :
       {core::FiringState::opened, core::FiringState::skipped, core::FiringState::failed})
    settled_[static_cast<size_t>(state)] = &settled.Add({{"state", enum_name(state)}});
  wait_seconds_ = &prometheus::BuildHistogram()
                       .Name("atoll_task_wait_seconds")
                       .Help(
                           "From when a task could run (submitted, released, dependencies met) "
                           "to the start of its first attempt.")
                       .Register(registry)
                       .Add({}, kWaits);
}

void WorkCounts::on_commit(const core::State& state, const core::Events& events) {
  for (const core::Event& event : events) {
    if (!since_) since_ = event.at;
    match(
        event.body, [&](const core::JobSubmitted&) { jobs_submitted_->Increment(); },
        [&](const core::JobReleased& e) { ready_[e.id] = event.at; },
        [&](const core::DependenciesSettled& e) { ready_[e.id] = event.at; },
        [&](const core::JobReopened& e) { ready_[e.job.id] = event.at; },
        [&](const core::TaskPlaced& e) { place(state, e); },
        [&](const core::TaskStarted& e) { begin(e.attempt, e.started, event.at); },
        [&](const core::TaskEnded& e) {
          begin(e.attempt, e.result.usage.started, event.at);
          tasks_ended_[static_cast<size_t>(e.outcome)]->Increment();
        },
        [&](const core::TaskRetried& e) {
          begin(e.attempt, e.result.usage.started, event.at);
          retried_[static_cast<size_t>(e.reason)]->Increment();
        },
        [&](const core::WaitingEnded& e) {
          tasks_ended_[static_cast<size_t>(e.outcome)]->Increment(
              static_cast<double>(e.indices.size()));
        },
        [&](const core::JobEnded& e) {
          ready_.erase(e.id);
          jobs_ended_[static_cast<size_t>(e.outcome)]->Increment();
        },
        [&](const core::ScheduleFired& e) { fired_[static_cast<size_t>(e.cause)]->Increment(); },
        [&](const core::ScheduleSkipped&) { settle(core::FiringState::skipped); },
        [&](const core::ScheduleOpened& e) { settle(e.state); }, [](const auto&) {});
  }
}

void WorkCounts::settle(core::FiringState state) {
  settled_[static_cast<size_t>(state)]->Increment();
}

// An attempt that was handed back before it began does not count as one.
void WorkCounts::place(const core::State& state, const core::TaskPlaced& placed) {
  const core::Job* job = state.job(placed.attempt.job);
  if (!job || placed_.size() >= kWaitsMax) return;
  const auto tries = job->tries.find(placed.attempt.index);
  const uint32_t recalls = tries == job->tries.end() ? 0 : tries->second.recalls;
  if (placed.attempt.attempt != recalls + 1) return;
  const auto ready = ready_.find(job->id);
  // Of one that came before the server started, nobody knows since when it could run.
  if (ready == ready_.end() && job->submitted < since_) return;
  placed_[placed.attempt] = ready == ready_.end() ? job->submitted : ready->second;
}

void WorkCounts::begin(AttemptId attempt, Time started, Time at) {
  const auto found = placed_.find(attempt);
  if (found == placed_.end()) return;
  const Time since = found->second;
  placed_.erase(found);
  if (!started) return;
  const Duration waited = std::max(Duration{}, std::min(started, at) - since);
  wait_seconds_->Observe(static_cast<double>(waited.us) / 1e6);
}

}  // namespace atl::api
