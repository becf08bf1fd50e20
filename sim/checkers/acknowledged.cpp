#include "sim/checkers/acknowledged.h"

#include <algorithm>

namespace atl::sim {

void Acknowledged::told(const Told& told) {
  const auto* submit = std::get_if<core::SubmitJobs>(&told.request.command);
  if (told.answer) {
    if (told.must_refuse) broke("a command that is wrong on purpose was accepted");
    if (!told.answer->repeated) answers_.push_back(*told.answer);
    for (const JobId job : told.answer->jobs) jobs_.emplace(job, told.payload);
    return;
  }
  if (!submit || told.answer.error().code == ErrorCode::unavailable) return;
  for (const core::SubmitJob& job : submit->jobs) {
    if (job.key.empty()) refused_.insert(job.name);  // a keyed one may be asked again, and succeed
  }
}

void Acknowledged::recorded(uint64_t sequence, const core::Event& event, const core::State&) {
  recorded_[sequence].push_back(event);
  const auto* submitted = std::get_if<core::JobSubmitted>(&event.body);
  if (submitted && refused_.count(submitted->name))
    broke(submitted->name + " was refused, yet it is recorded");
}

void Acknowledged::began(const RunBegan& run) {
  const auto job = jobs_.find(run.attempt.job);
  if (job != jobs_.end() && job->second != run.payload) {
    broke(to_string(run.attempt) + " runs " + run.payload + " instead of " + job->second);
  }
}

void Acknowledged::check_answers() {
  for (const runtime::Accepted& answer : answers_) {
    if (answer.events.empty()) continue;
    const auto commit = recorded_.find(answer.sequence);
    if (commit == recorded_.end()) {
      return broke("commit " + std::to_string(answer.sequence) +
                   " was acknowledged and is not in the journal");
    }
    for (const core::Event& event : answer.events) {
      const core::Events& durable = commit->second;
      if (std::find(durable.begin(), durable.end(), event) == durable.end()) {
        return broke("commit " + std::to_string(answer.sequence) + " lacks an acknowledged " +
                     core::event_name(event.body));
      }
    }
  }
  answers_.clear();
  recorded_.clear();
}

void Acknowledged::check_jobs(const Glimpse& glimpse) {
  for (const auto& [id, payload] : jobs_) {
    if (!glimpse.live.job(id) && !glimpse.history.job(id)) {
      return broke("acknowledged job " + to_string(id) + " is neither live nor in history");
    }
  }
}

void Acknowledged::looked(const Glimpse& glimpse) {
  check_answers();
  if (glimpse.restarted) check_jobs(glimpse);
}

}  // namespace atl::sim
