#include <algorithm>

#include "base/overloaded.h"
#include "core/decide.h"
#include "core/limits.h"

namespace atl::core {
namespace {

// The task a report is about, or null when the report is late: its attempt is no longer the current
// one.
const Task* current(const State& state, AttemptId attempt, const Job*& job) {
  job = state.job(attempt.job);
  if (!job) return nullptr;
  const auto it = job->tasks.find(attempt.index);
  if (it == job->tasks.end() || it->second.attempt != attempt.attempt) return nullptr;
  return placement_of(it->second.state) ? &it->second : nullptr;
}

// What became of an attempt: either the task is over, or it is tried again.
struct Verdict {
  std::optional<RetryReason> retry;
  Outcome outcome = Outcome::succeeded;
  Duration pause;
};

Duration backoff_after(const RetryPolicy& policy, uint32_t failures) {
  Duration pause = policy.backoff;
  for (uint32_t i = 0; i < failures && pause < policy.backoff_max; ++i) pause = pause * 2;
  return std::min(pause, policy.backoff_max);
}

bool retryable(const RetryPolicy& policy, const AttemptResult& result) {
  if (result.cause == EndCause::wall_time) return policy.on_timeout;
  if (policy.exit_codes.empty()) return true;
  const int32_t code = result.cause == EndCause::signalled ? 128 + result.signal : result.exit_code;
  return std::find(policy.exit_codes.begin(), policy.exit_codes.end(), code) !=
         policy.exit_codes.end();
}

Verdict judge_failure(const Terms& terms, const Tries& tries, const AttemptResult& result) {
  const Outcome outcome =
      result.cause == EndCause::wall_time ? Outcome::timed_out : Outcome::failed;
  if (tries.failures < terms.retry.max && retryable(terms.retry, result)) {
    return {RetryReason::failed, outcome, backoff_after(terms.retry, tries.failures)};
  }
  return {{}, outcome, {}};
}

Verdict judge(const Terms& terms, const Tries& tries, const TaskState& state,
              const AttemptResult& result) {
  const auto* stop = std::get_if<TaskStop>(&state);
  if (stop && stop->reason == StopReason::cancelled) return {{}, Outcome::cancelled, {}};
  // It ended because we said so, or at least not by itself and well: it comes back as soon as it
  // can.
  const bool by_itself = result.cause == EndCause::exited && !asks_to_resume(result);
  if (stop && stop->reason == StopReason::yielded && !by_itself)
    return {RetryReason::yielded, Outcome::cancelled, {}};
  if (asks_to_resume(result) && tries.attempts < kAttemptsMax) {
    // One that makes no headway must not spin.
    const bool hasty = result.usage.ended - result.usage.started < kCheckpointSpan;
    return {RetryReason::checkpointed, Outcome::failed, hasty ? kCheckpointPause : Duration{}};
  }
  if (stop && stop->reason == StopReason::requeued)
    return {RetryReason::requeued, Outcome::failed, {}};
  if (result.cause == EndCause::recalled) return {RetryReason::recalled, Outcome::failed, {}};
  if (result.cause == EndCause::lost || result.cause == EndCause::stopped) {
    // A stop that we did not ask for is the site's doing, like a loss.
    if (tries.losses < kLostAttemptsMax)
      return {RetryReason::lost, Outcome::lost, backoff_after(terms.retry, tries.losses)};
    return {{}, Outcome::lost, {}};
  }
  if (result.cause == EndCause::exited && result.exit_code == 0)
    return {{}, Outcome::succeeded, {}};
  return judge_failure(terms, tries, result);
}

// The members of a gang go on together: once one has ended nobody is tried again, and one that was
// stopped with the others comes back with them even if it ended well.
Verdict judge_member(const Job& job, const TaskState& state, Verdict verdict) {
  const auto* stop = std::get_if<TaskStop>(&state);
  const bool some_ended =
      std::any_of(job.tally.begin(), job.tally.end(), [](uint32_t count) { return count > 0; });
  if (some_ended && verdict.retry) return {{}, verdict.outcome, {}};
  const bool comes_back =
      stop && (stop->reason == StopReason::requeued || stop->reason == StopReason::yielded);
  if (!some_ended && comes_back && !verdict.retry)
    return {stop->reason == StopReason::yielded ? RetryReason::yielded : RetryReason::requeued,
            verdict.outcome,
            {}};
  return verdict;
}

void stop_others(const Job& job, AttemptId but, StopReason reason, Duration grace, Draft& draft) {
  for (const auto& [index, task] : job.tasks) {
    if (index == but.index || !placement_of(task.state)) continue;
    const auto* stop = std::get_if<TaskStop>(&task.state);
    // A stop for good outweighs one that would bring it back.
    if (stop && (reason != StopReason::cancelled || stop->reason == StopReason::cancelled))
      continue;
    draft.add(TaskStopping{{job.id, index, task.attempt}, reason, grace});
  }
}

// Ends what of the gang has no place, and counts it.
uint64_t end_unplaced(const Job& job, Tally& tally, Draft& draft) {
  IntervalSet unplaced = job.waiting;
  for (const auto& [index, task] : job.tasks) {
    if (!placement_of(task.state)) unplaced.add(index);
  }
  if (unplaced.empty()) return 0;
  draft.add(WaitingEnded{job.id, unplaced, Outcome::cancelled, ""});
  tally[static_cast<size_t>(Outcome::cancelled)] += static_cast<uint32_t>(unplaced.size());
  return unplaced.size();
}

// What a person reads beside the outcome of a job that is not an array.
std::string message_for(const AttemptResult& result, Outcome outcome, const Terms& terms) {
  if (!result.message.empty()) return result.message;
  switch (result.cause) {
    case EndCause::signalled:
      return "killed by signal " + std::to_string(result.signal);
    case EndCause::memory:
      return "went over its memory limit";
    case EndCause::wall_time:
      return "reached its wall-time of " + format_duration(terms.wall);
    case EndCause::lost:
      return "the site could not tell how it ended";
    default:
      break;
  }
  return outcome == Outcome::failed ? "exit code " + std::to_string(result.exit_code) : "";
}

void decide_end(const State& state, const AttemptEnded& report, Draft& draft) {
  const Job* job = nullptr;
  const Task* task = current(state, report.attempt, job);
  if (!task) return;
  const Terms& terms = state.terms_of(*job);
  const auto found = job->tries.find(report.attempt.index);
  const Tries tries = found == job->tries.end() ? Tries{} : found->second;
  Verdict verdict = judge(terms, tries, task->state, report.result);
  if (job->gang) verdict = judge_member(*job, task->state, verdict);
  if (verdict.retry) {
    if (job->gang) stop_others(*job, report.attempt, StopReason::requeued, terms.grace, draft);
    draft.add(
        TaskRetried{report.attempt, *verdict.retry, report.result, draft.now() + verdict.pause});
    return;
  }
  draft.add(TaskEnded{report.attempt, verdict.outcome, report.result});
  auto tally = job->tally;
  ++tally[static_cast<size_t>(verdict.outcome)];
  uint64_t ending = 1;
  if (job->gang && verdict.outcome != Outcome::succeeded) {
    stop_others(*job, report.attempt, StopReason::cancelled, terms.grace, draft);
    ending += end_unplaced(*job, tally, draft);
  }
  end_if_done(state, *job, ending, tally,
              job->array ? "" : message_for(report.result, verdict.outcome, terms), draft);
}

void decide_start(const State& state, const AttemptStarted& report, Draft& draft) {
  const Job* job = nullptr;
  const Task* task = current(state, report.attempt, job);
  if (!task) return;
  const auto* stop = std::get_if<TaskStop>(&task->state);
  if (std::holds_alternative<TaskStarting>(task->state) || (stop && !stop->started)) {
    draft.add(TaskStarted{report.attempt, report.started});
  }
}

void decide_unreachable(const State& state, const AttemptUnreachable& report, Draft& draft) {
  const Job* job = nullptr;
  const Task* task = current(state, report.attempt, job);
  if (!task) return;
  const bool known = match(
      task->state, [](const TaskRunning& s) { return s.unreachable; },
      [](const TaskStop& s) { return s.unreachable; },
      [&](const auto&) { return report.unreachable; });
  if (known != report.unreachable) draft.add(TaskUnreachable{report.attempt, report.unreachable});
}

void decide_probe(const State& state, const SiteProbed& report, Draft& draft) {
  const Site* site = state.site_named(report.site);
  if (!site) return;
  SiteReport known;
  known.abilities = site->abilities;
  for (const auto& [name, node] : site->nodes) {
    if (!node.gone) known.nodes.push_back(node.capacity);
  }
  SiteReport sorted = report.report;
  std::sort(sorted.nodes.begin(), sorted.nodes.end(),
            [](const auto& a, const auto& b) { return a.name < b.name; });
  if (site->reported && known == sorted) return;
  draft.add(SiteReported{site->id, std::move(sorted)});
}

}  // namespace

void decide_report(const State& state, const Report& report, Draft& draft) {
  match(
      report, [&](const SiteProbed& r) { decide_probe(state, r, draft); },
      [&](const AttemptStarted& r) { decide_start(state, r, draft); },
      [&](const AttemptEnded& r) { decide_end(state, r, draft); },
      [&](const AttemptUnreachable& r) { decide_unreachable(state, r, draft); },
      [&](const NoticeReported& r) {
        const auto owed = state.notices.find(r.id);
        if (owed != state.notices.end())
          draft.add(NoticeSettled{r.id, r.delivered, r.message, owed->second.job});
      },
      [&](const ZoneSeen& r) {
        Calendar calendar = state.calendar;
        calendar.utc_offset = r.utc_offset;
        if (calendar != state.calendar) draft.add(CalendarSet{std::move(calendar)});
      },
      [&](const StepPrepared& r) { decide_step(state, r, draft); },
      [&](const StepCollected& r) { decide_step(state, r, draft); },
      [&](const ScheduleTimes& r) { decide_schedule(state, r, draft); },
      [&](const RunPlanned& r) { decide_schedule(state, r, draft); },
      [&](const RunSteps& r) { decide_schedule(state, r, draft); },
      [&](const FilesLooked& r) { decide_schedule(state, r, draft); });
}

}  // namespace atl::core
