// The life of a task: placed, begun, stopped, ended; and what a restart must repeat of it.
#include <algorithm>
#include <iterator>
#include <utility>

#include "base/check.h"
#include "base/overloaded.h"
#include "core/application.h"
#include "core/index.h"
#include "core/limits.h"

namespace atl::core {
namespace {

// Keeps the indexes of a task true while it changes how far it is: one in line is taken out of them
// meanwhile, of one that has room the node's view is renewed.
class Reindexed {
 public:
  Reindexed(State& state, Job& job, uint32_t index, Task& task)
      : state_(state), job_(job), index_(index), task_(task) {
    if (task_.line) unindex_task(state_, job_, index_, task_);
  }
  ~Reindexed() {
    if (task_.line)
      index_task(state_, job_, index_, task_);
    else
      reindex_holder(state_, job_, index_, task_);
  }
  Reindexed(const Reindexed&) = delete;
  Reindexed& operator=(const Reindexed&) = delete;

 private:
  State& state_;
  Job& job_;
  const uint32_t index_;
  Task& task_;
};

// Of an attempt that is followed by another.
Outcome outcome_of(RetryReason reason) {
  switch (reason) {
    case RetryReason::lost:
      return Outcome::lost;
    case RetryReason::requeued:
    case RetryReason::yielded:
      return Outcome::cancelled;
    case RetryReason::recalled:
      return Outcome::skipped;
    default:
      return Outcome::failed;
  }
}

// Not because somebody said so, nor because its site failed: it says how long such work runs.
bool ended_by_itself(const TaskState& state, const AttemptResult& result) {
  const bool ran = result.cause == EndCause::exited || result.cause == EndCause::signalled ||
                   result.cause == EndCause::wall_time || result.cause == EndCause::memory;
  return ran && result.usage.started && !std::holds_alternative<TaskStop>(state);
}

StartAttempt start_of(const State& state, const Job& job, AttemptId attempt,
                      const TaskStarting& task, const std::optional<InLine>& line) {
  const auto found = job.tries.find(attempt.index);
  const Tries tries = found == job.tries.end() ? Tries{} : found->second;
  // Members are placed in their order, so the first one is there before the others.
  const auto first = job.tasks.begin();
  const bool follows = job.gang && first != job.tasks.end() && first->first < attempt.index &&
                       placement_of(first->second.state);
  return {.attempt = attempt,
          .placement = task.placement,
          .placed = task.placed,
          .array = job.array,
          .resumed = tries.checkpointed,
          .recalls = tries.recalls,
          .behind = line ? std::optional(line->behind) : std::nullopt,
          .user = job.user,
          .ns = job.ns,
          .name = job.name,
          .terms = state.terms_of(job),
          .payload = job.payload,
          .leader = !job.gang ? ""
                    : follows ? placement_of(first->second.state)->node
                              : task.placement.node};
}

StopAttempt stop_of(AttemptId attempt, const TaskStop& stop) {
  return {attempt, stop.placement.site, stop.grace, false, stop.reason, stop.since + stop.grace};
}

void repeat(const State& state, const Job& job, uint32_t index, const Task& task,
            Effects& effects) {
  const AttemptId attempt{job.id, index, task.attempt};
  if (const auto* starting = std::get_if<TaskStarting>(&task.state)) {
    StartAttempt start = start_of(state, job, attempt, *starting, task.line);
    start.repeated = true;
    effects.push_back(std::move(start));
    if (task.line && task.line->recalled)
      effects.push_back(
          StopAttempt{attempt, starting->placement.site, {}, true, StopReason::none, {}});
  } else if (const auto* stop = std::get_if<TaskStop>(&task.state)) {
    effects.push_back(stop_of(attempt, *stop));
  }
}

// Those in line after those they are behind, whom the site then knows.
void repeat_line(const State& state, AttemptId first, Effects& effects) {
  for (std::optional<AttemptId> at = first; at;) {
    const Job& job = *state.job(at->job);
    repeat(state, job, at->index, job.tasks.at(at->index), effects);
    const auto next = state.followers.find(*at);
    at = next == state.followers.end() ? std::nullopt : std::optional(next->second);
  }
}

uint32_t line_length(uint32_t before, const AttemptResult& result) {
  const Duration took = result.usage.ended - result.usage.started;
  if (result.cause != EndCause::exited || took >= kBriskMax) return 0;
  const auto fit = static_cast<uint32_t>(kLineSpan.us / std::max<int64_t>(1, took.us));
  // One more each time: a single short task among long ones says little.
  return std::min({std::max(fit, 1u), before + 1, kLineLengthMax});
}

}  // namespace

Task& Application::task(Job& job, AttemptId attempt) {
  const auto it = job.tasks.find(attempt.index);
  CHECK(it != job.tasks.end(), "no task for attempt " + to_string(attempt));
  CHECK(it->second.attempt == attempt.attempt,
        "attempt " + to_string(attempt) + " is not the current one");
  return it->second;
}

void Application::operator()(const TaskPlaced& e) {
  Job& target = job(e.attempt.job);
  CHECK(target.waiting.contains(e.attempt.index),
        "placed index of " + to_string(e.attempt) + " is not waiting");
  set_yielded(target, e.attempt.index, false);
  target.waiting.remove(e.attempt.index);
  if (target.owed > 0) --target.owed;
  if (target.waiting.empty()) target.owed = 0;
  advance_accounts(state_, target);
  Task placed{e.attempt.attempt, TaskStarting{e.placement, at_}, {}};
  if (e.behind) placed.line = InLine{*e.behind};
  index_task(state_, target, e.attempt.index, placed);
  effects_.push_back(
      start_of(state_, target, e.attempt, std::get<TaskStarting>(placed.state), placed.line));
  target.tasks.emplace(e.attempt.index, std::move(placed));
  index_ready(state_, target);
}

void Application::operator()(const TaskStarted& e) {
  Job& target = job(e.attempt.job);
  Task& started = task(target, e.attempt);
  const Reindexed index(state_, target, e.attempt.index, started);
  if (auto* stop = std::get_if<TaskStop>(&started.state)) {
    stop->started = e.started;
    return;
  }
  const auto& starting = std::get<TaskStarting>(started.state);
  started.state = TaskRunning{starting.placement, starting.placed, e.started};
}

void Application::operator()(const TaskRecalled& e) {
  Job& target = job(e.attempt.job);
  Task& recalled = task(target, e.attempt);
  CHECK(recalled.line, "only one in line is asked back: " + to_string(e.attempt));
  const Reindexed line(state_, target, e.attempt.index, recalled);
  recalled.line->recalled = true;
  state_.terms.at(target.terms).brisk = 0;
  effects_.push_back(
      StopAttempt{e.attempt, placement_of(recalled.state)->site, {}, true, StopReason::none, {}});
}

void Application::operator()(const TaskStopping& e) {
  Job& owner = job(e.attempt.job);
  Task& target = task(owner, e.attempt);
  const Reindexed index(state_, owner, e.attempt.index, target);
  TaskStop stop = match(
      target.state, [](const TaskBackoff&) { return TaskStop{}; },
      [](const TaskStarting& s) { return TaskStop{.placement = s.placement, .placed = s.placed}; },
      [](const TaskRunning& s) {
        return TaskStop{.placement = s.placement,
                        .placed = s.placed,
                        .started = s.started,
                        .unreachable = s.unreachable};
      },
      [](const TaskStop& s) { return s; });
  CHECK(stop.placement.site, "only a placed task is stopped: " + to_string(e.attempt));
  stop.since = at_;
  stop.reason = e.reason;
  stop.grace = e.grace;
  stop.beneficiary = e.beneficiary;
  effects_.push_back(stop_of(e.attempt, stop));
  target.state = std::move(stop);
  const auto beneficiary = state_.jobs.find(e.beneficiary);
  if (beneficiary == state_.jobs.end()) return;
  ++beneficiary->second.owed;
  index_ready(state_, beneficiary->second);
}

void Application::operator()(const TaskUnreachable& e) {
  Job& owner = job(e.attempt.job);
  Task& target = task(owner, e.attempt);
  const Reindexed index(state_, owner, e.attempt.index, target);
  if (auto* running = std::get_if<TaskRunning>(&target.state)) running->unreachable = e.unreachable;
  if (auto* stop = std::get_if<TaskStop>(&target.state)) stop->unreachable = e.unreachable;
}

void Application::archive(const Job& job, AttemptId attempt, const Task& task, Outcome outcome,
                          bool retried, const AttemptResult& result) {
  const Placement& placement = *placement_of(task.state);
  const Time placed = match(
      task.state, [](const TaskBackoff&) { return Time{}; },
      [](const auto& s) { return s.placed; });
  effects_.push_back(
      ArchiveAttempt{attempt, job.array, retried, outcome, placement, placed, result});
  effects_.push_back(ForgetAttempt{attempt, placement.site});
  charge_feed(job, result);
}

// The one behind it, if there is one, gets its room; of one that was in line itself, its place.
void Application::give_up_room(Job& owner, AttemptId attempt, Task& leaving) {
  advance_accounts(state_, owner);
  const auto follower = state_.followers.find(attempt);
  if (follower == state_.followers.end()) {
    unindex_task(state_, owner, attempt.index, leaving);
    leaving.line.reset();
    return;
  }
  const AttemptId next = follower->second;
  Job& target = job(next.job);
  Task& promoted = task(target, next);
  advance_accounts(state_, target);
  unindex_task(state_, target, next.index, promoted);
  unindex_task(state_, owner, attempt.index, leaving);
  const bool recalled = promoted.line->recalled;
  promoted.line = std::exchange(leaving.line, {});
  if (promoted.line) promoted.line->recalled = recalled;
  index_task(state_, target, next.index, promoted);
}

void Application::end_placement(Job& job, AttemptId attempt, Task& task,
                                const AttemptResult& result) {
  give_up_room(job, attempt, task);
  const Placement& placement = *placement_of(task.state);
  auto& nodes = state_.sites.at(placement.site).nodes;
  const auto node = nodes.find(placement.node);
  if (node != nodes.end() && forgettable(node->second)) nodes.erase(node);
  if (result.cause == EndCause::recalled) return;
  if (ended_by_itself(task.state, result))
    record(state_.namespaces.at(job.ns).paces[job.user], result.usage.ended - result.usage.started,
           state_.terms_of(job).wall);
  uint32_t& brisk = state_.terms.at(job.terms).brisk;
  brisk = line_length(brisk, result);
}

void Application::operator()(const TaskEnded& e) {
  Job& target = job(e.attempt.job);
  Task& ended = task(target, e.attempt);
  archive(target, e.attempt, ended, e.outcome, false, e.result);
  end_placement(target, e.attempt, ended, e.result);
  target.tasks.erase(e.attempt.index);
  target.tries.erase(e.attempt.index);
  ++target.tally[static_cast<size_t>(e.outcome)];
  if (target.gang) index_ready(state_, target);
}

void Application::operator()(const TaskRetried& e) {
  Job& target = job(e.attempt.job);
  Task& ended = task(target, e.attempt);
  // Also one that never began: its number must not be given again when the job is requeued.
  archive(target, e.attempt, ended, outcome_of(e.reason), true, e.result);
  end_placement(target, e.attempt, ended, e.result);
  Tries& tries = target.tries[e.attempt.index];
  tries.attempts = e.attempt.attempt;
  tries.failures += e.reason == RetryReason::failed;
  tries.losses += e.reason == RetryReason::lost;
  tries.recalls += e.reason == RetryReason::recalled;
  tries.checkpointed |= e.reason == RetryReason::checkpointed ||
                        (e.reason == RetryReason::yielded && asks_to_resume(e.result));
  if (e.not_before > at_) {
    ended.state = TaskBackoff{e.not_before, e.reason};
    index_task(state_, target, e.attempt.index, ended);
  } else {
    target.tasks.erase(e.attempt.index);
    set_yielded(target, e.attempt.index, e.reason == RetryReason::yielded);
    target.waiting.add(e.attempt.index);
  }
  index_ready(state_, target);
}

void Application::set_yielded(Job& job, uint32_t index, bool yielded) {
  if (job.yielded.contains(index) == yielded) return;
  leave_backlog(state_, job);
  yielded ? job.yielded.add(index) : job.yielded.remove(index);
}

void Application::operator()(const BackoffEnded& e) {
  Job& target = job(e.task.job);
  const auto it = target.tasks.find(e.task.index);
  CHECK(it != target.tasks.end() && !placement_of(it->second.state),
        "no back-off for " + to_string(e.task, true));
  unindex_task(state_, target, e.task.index, it->second);
  target.tasks.erase(it);
  target.waiting.add(e.task.index);
  index_ready(state_, target);
}

Effects pending_effects(const State& state) {
  Effects effects;
  for (const auto& [id, job] : state.jobs) {
    for (const auto& [index, task] : job.tasks) {
      if (!task.line) repeat_line(state, {id, index, task.attempt}, effects);
    }
  }
  for (const auto& [id, notice] : state.notices) effects.push_back(SendNotice{notice});
  Effects steps = pending_steps(state);
  std::move(steps.begin(), steps.end(), std::back_inserter(effects));
  Effects schedules = pending_schedules(state);
  std::move(schedules.begin(), schedules.end(), std::back_inserter(effects));
  return effects;
}

}  // namespace atl::core
