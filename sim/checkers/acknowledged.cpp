#include "sim/checkers/acknowledged.h"

#include <algorithm>

#include "base/wire.h"

namespace atl::sim {
namespace {

// As the journal has them: what is derived of a reopened workflow is not recorded.
bool same_record(const core::Event& a, const core::Event& b) {
  return a == b || wire::encode(a) == wire::encode(b);
}

}  // namespace

void Acknowledged::told(const Told& told) {
  const auto* submit = std::get_if<core::SubmitJobs>(&told.request.command);
  if (told.answer) {
    if (told.must_refuse) broke("a command that is wrong on purpose was accepted");
    if (!told.answer->repeated) answers_.push_back(*told.answer);
    for (const JobId job : told.answer->jobs) jobs_.emplace(job, told.payload);
    return acknowledge(told.answer->events);
  }
  if (told.answer.error().code == ErrorCode::unavailable) return;
  if (const auto* flow = std::get_if<core::SubmitWorkflow>(&told.request.command))
    refused_.insert(flow->name);
  if (!submit) return;
  for (const core::SubmitJob& job : submit->jobs) {
    if (job.key.empty()) refused_.insert(job.name);  // a keyed one may be asked again, and succeed
  }
}

void Acknowledged::recorded(uint64_t sequence, const core::Event& event, const core::State&) {
  recorded_[sequence].push_back(event);
  const auto* submitted = std::get_if<core::JobSubmitted>(&event.body);
  const auto* flow = std::get_if<core::WorkflowSubmitted>(&event.body);
  // A step's job goes by the name of its step.
  const bool plain = submitted && !submitted->of.workflow;
  const std::string name = plain ? submitted->name : flow ? flow->name : "";
  if (!name.empty() && refused_.count(name)) broke(name + " was refused, yet it is recorded");
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
      const auto same = [&](const core::Event& other) { return same_record(event, other); };
      if (std::none_of(durable.begin(), durable.end(), same)) {
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

void Acknowledged::acknowledge(const core::Events& events) {
  for (const core::Event& event : events) {
    if (const auto* added = std::get_if<core::StepsAdded>(&event.body))
      workflows_[added->id] = added->first + added->steps.size();
  }
}

void Acknowledged::check_workflows(const Glimpse& glimpse) {
  for (const auto& [id, steps] : workflows_) {
    const core::Workflow* live = glimpse.live.workflow(id);
    const auto kept = glimpse.history.workflow(id);
    if (!kept || (!live && !kept->outcome))
      return broke("acknowledged workflow " + to_string(id) + " is neither live nor in history");
    const auto rows = glimpse.history.steps(id, 0, SIZE_MAX);
    if ((live && live->steps.size() < steps) || !rows || rows->size() < steps)
      return broke("acknowledged steps of workflow " + to_string(id) + " are gone");
  }
}

void Acknowledged::looked(const Glimpse& glimpse) {
  check_answers();
  if (!glimpse.restarted) return;
  check_jobs(glimpse);
  check_workflows(glimpse);
}

}  // namespace atl::sim
