#include "sim/checkers/order.h"

#include <algorithm>

#include "base/overloaded.h"

namespace atl::sim {
namespace {

// The promise in its own words, not the core's: does this outcome let the job go on?
bool satisfied(const core::Dependency& dependency) {
  if (!dependency.outcome) return false;
  switch (dependency.kind) {
    case core::DependencyKind::after_success:
      return *dependency.outcome == core::Outcome::succeeded;
    case core::DependencyKind::after_failure:
      return *dependency.outcome != core::Outcome::succeeded;
    default:
      return true;
  }
}

core::Outcome worst(const std::map<uint32_t, core::Outcome>& ended) {
  using core::Outcome;
  for (const Outcome bad :
       {Outcome::failed, Outcome::timed_out, Outcome::lost, Outcome::cancelled, Outcome::skipped}) {
    const auto has = [bad](const auto& entry) { return entry.second == bad; };
    if (std::any_of(ended.begin(), ended.end(), has)) return bad;
  }
  return Outcome::succeeded;
}

}  // namespace

void Order::recorded(uint64_t, const core::Event& event, const core::State&) {
  match(
      event.body, [&](const core::JobSubmitted& e) { submitted(e); },
      [&](const core::JobReopened& e) {
        outcomes_.erase(e.job.id);
        Known& job = jobs_[e.job.id];
        job.dependencies.clear();
        for (const Interval& range : e.job.indices.ranges()) {
          job.ended.erase(job.ended.lower_bound(range.first), job.ended.upper_bound(range.last));
        }
      },
      [&](const core::TaskPlaced& e) { placed(e.attempt); },
      [&](const core::TaskEnded& e) { end_index(e.attempt.job, e.attempt.index, e.outcome); },
      [&](const core::WaitingEnded& e) { skipped(e); },
      [&](const core::JobEnded& e) { job_ended(e); }, [](const auto&) {});
}

void Order::submitted(const core::JobSubmitted& job) {
  for (const core::Dependency& dependency : job.dependencies) {
    const auto ended = outcomes_.find(dependency.job);
    const std::optional<core::Outcome> known =
        ended == outcomes_.end() ? std::nullopt : std::optional(ended->second);
    if (dependency.outcome != known) {
      broke("job " + to_string(job.id) + " was submitted with a wrong outcome of job " +
            to_string(dependency.job));
    }
  }
  jobs_[job.id].dependencies = job.dependencies;
}

void Order::placed(AttemptId attempt) {
  for (const core::Dependency& dependency : jobs_[attempt.job].dependencies) {
    if (satisfied(dependency)) continue;
    broke(to_string(attempt) + " is placed although job " + to_string(dependency.job) +
          (dependency.outcome ? " ended otherwise than asked" : " has not ended"));
  }
}

void Order::skipped(const core::WaitingEnded& end) {
  const Known& job = jobs_[end.id];
  const auto refuted = [](const core::Dependency& d) { return d.outcome && !satisfied(d); };
  if (end.outcome == core::Outcome::skipped &&
      std::none_of(job.dependencies.begin(), job.dependencies.end(), refuted)) {
    broke("job " + to_string(end.id) + " is skipped for no reason");
  }
  for (const Interval& range : end.indices.ranges()) {
    for (uint64_t index = range.first; index <= range.last; ++index) {
      end_index(end.id, static_cast<uint32_t>(index), end.outcome);
    }
  }
}

void Order::end_index(JobId job, uint32_t index, core::Outcome outcome) {
  if (!jobs_[job].ended.emplace(index, outcome).second) {
    broke(to_string(TaskId{job, index}, true) + " ended twice");
  }
}

void Order::job_ended(const core::JobEnded& end) {
  const core::Outcome expected = worst(jobs_[end.id].ended);
  if (end.outcome != expected) {
    broke("job " + to_string(end.id) + " ended as " + enum_name(end.outcome) +
          " although its tasks say " + enum_name(expected));
  }
  outcomes_[end.id] = end.outcome;
  for (auto& [id, job] : jobs_) {
    if (outcomes_.count(id)) continue;
    for (core::Dependency& dependency : job.dependencies) {
      if (dependency.job == end.id && !dependency.outcome) dependency.outcome = end.outcome;
    }
  }
}

}  // namespace atl::sim
