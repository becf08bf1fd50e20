#include "sim/checkers/gangs.h"

#include "base/overloaded.h"

namespace atl::sim {

void Gangs::recorded(uint64_t, const core::Event& event, const core::State&) {
  const auto* place = std::get_if<core::TaskPlaced>(&event.body);
  if (starting_ && (!place || place->attempt.job != starting_)) {
    broke("job " + to_string(starting_) + " is half started: something comes between its members");
    starting_ = {};
  }
  match(
      event.body, [&](const core::JobSubmitted& e) { known(e); },
      [&](const core::JobReopened& e) { known(e.job); },
      [&](const core::TaskPlaced& e) { placed(e.attempt); },
      [&](const core::TaskStopping& e) {
        const auto gang = gangs_.find(e.attempt.job);
        if (gang == gangs_.end()) return;
        gang->second.stopping.insert(e.attempt.index);
        touched_.insert(e.attempt.job);
      },
      [&](const core::TaskEnded& e) { member_ended(e.attempt, e.outcome); },
      [&](const core::TaskRetried& e) { retried(e.attempt); },
      [&](const core::WaitingEnded& e) { waiting_ended(e); },
      [&](const core::JobEnded& e) { gangs_.erase(e.id); }, [](const auto&) {});
}

void Gangs::known(const core::JobSubmitted& job) {
  if (job.terms.gang == 0) return;
  if (job.indices.size() != job.terms.gang)
    broke("job " + to_string(job.id) + " has another number of members than it says");
  gangs_[job.id] = {job.terms.gang, {}, {}, {}, {}};
}

void Gangs::placed(AttemptId attempt) {
  const auto found = gangs_.find(attempt.job);
  if (found == gangs_.end()) return;
  Gang& gang = found->second;
  const std::string name = "job " + to_string(attempt.job);
  if (!starting_ && !gang.placed.empty())
    broke(name + " starts a member while it still has others from before");
  if (gang.ended() > 0) broke(name + " starts again although a member has ended for good");
  gang.placed.insert(attempt.index);
  starting_ = gang.placed.size() < gang.members ? attempt.job : JobId{};
  touched_.insert(attempt.job);
}

void Gangs::member_ended(AttemptId attempt, core::Outcome outcome) {
  const auto found = gangs_.find(attempt.job);
  if (found == gangs_.end()) return;
  Gang& gang = found->second;
  gang.placed.erase(attempt.index);
  gang.stopping.erase(attempt.index);
  (outcome == core::Outcome::succeeded ? gang.succeeded : gang.failed).insert(attempt.index);
  touched_.insert(attempt.job);
}

void Gangs::retried(AttemptId attempt) {
  const auto found = gangs_.find(attempt.job);
  if (found == gangs_.end()) return;
  Gang& gang = found->second;
  if (gang.ended() > 0)
    broke(to_string(attempt) + " is tried again although another member has ended for good");
  gang.placed.erase(attempt.index);
  gang.stopping.erase(attempt.index);
  touched_.insert(attempt.job);
}

void Gangs::waiting_ended(const core::WaitingEnded& end) {
  const auto found = gangs_.find(end.id);
  if (found == gangs_.end()) return;
  for (const Interval& range : end.indices.ranges()) {
    for (uint64_t index = range.first; index <= range.last; ++index)
      found->second.failed.insert(static_cast<uint32_t>(index));
  }
  touched_.insert(end.id);
}

void Gangs::check(JobId id, const Gang& gang) {
  const std::string name = "job " + to_string(id);
  if (starting_ == id) return broke(name + " is half started");
  if (gang.placed.empty()) return;
  const bool stops = gang.stopping == gang.placed;
  if (!gang.stopping.empty() && !stops)
    return broke(name + " has members that stop and members that go on");
  if (!gang.failed.empty() && !stops)
    return broke(name + " goes on although a member has not ended well");
  if (gang.placed.size() + gang.ended() < gang.members && !stops)
    broke(name + " runs without all of its members");
}

void Gangs::committed(uint64_t, const core::State&) {
  for (const JobId id : touched_) {
    const auto gang = gangs_.find(id);
    if (gang != gangs_.end()) check(id, gang->second);
  }
  touched_.clear();
}

void Gangs::settled(const Glimpse&) {
  if (!gangs_.empty()) broke("job " + to_string(gangs_.begin()->first) + " never ended");
}

}  // namespace atl::sim
