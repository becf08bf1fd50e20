#include "core/decide.h"

#include "base/overloaded.h"
#include "core/calendar.h"
#include "core/limits.h"
#include "core/queue/lease.h"
#include "core/scheduling/round.h"

namespace atl::core {
namespace {

Result<Events> decide_request(const State& state, Time now, const Request& request) {
  if (auto writable = require_writable(request.actor); !writable)
    return tl::unexpected(writable.error());
  // On an empty state there is nobody yet: the server creates its own account, and nothing else is
  // possible.
  const bool first = state.users.empty() && std::holds_alternative<CreateUser>(request.command);
  // A delivery comes from whoever can sign it; the schedule says what became of it.
  const auto* fire = std::get_if<FireSchedule>(&request.command);
  const bool delivered = fire && fire->cause == Cause::webhook;
  if (auto known = known_actor(state, request.actor); !known && !first && !delivered)
    return tl::unexpected(known.error());
  Draft draft(now, request.actor.user);
  const Result<void> done = std::visit(
      [&](const auto& command) { return decide_command(state, request.actor, command, draft); },
      request.command);
  if (!done) return tl::unexpected(done.error());
  return draft.take();
}

void settle_dependencies(const State& state, Draft& draft) {
  uint32_t budget = kSettlementsPerRoundMax;
  for (const JobId id : state.unsettled) {
    if (budget-- == 0) return;
    const Job& job = *state.job(id);
    const Dependency* against = nullptr;
    for (const Dependency& dependency : job.dependencies) {
      if (!against && refuted(dependency)) against = &dependency;
    }
    if (!against) {
      draft.add(DependenciesSettled{id});
      continue;
    }
    const std::string why =
        "skipped: job " + to_string(against->job) + " ended as " + enum_name(*against->outcome);
    draft.add(WaitingEnded{id, job.waiting, Outcome::skipped, why});
    auto tally = job.tally;
    tally[static_cast<size_t>(Outcome::skipped)] += static_cast<uint32_t>(job.waiting.size());
    end_if_done(state, job, job.waiting.size(), tally, why, draft);
  }
}

void end_backoffs(const State& state, Draft& draft) {
  uint32_t budget = kSettlementsPerRoundMax;
  for (const auto& [until, task] : state.backoffs) {
    if (until > draft.now() || budget-- == 0) return;
    draft.add(BackoffEnded{task});
  }
}

void recall_overdue(const State& state, Draft& draft) {
  uint32_t budget = kSettlementsPerRoundMax;
  for (const auto& [until, task] : state.recalls) {
    if (until > draft.now() || budget-- == 0) return;
    recall(state, task, draft);
  }
}

Events decide_tick(const State& state, Time now) {
  Draft draft(now, UserId{});
  settle_dependencies(state, draft);
  end_backoffs(state, draft);
  recall_overdue(state, draft);
  for (const auto& [id, reservation] : state.reservations) {
    if (reservation.until <= now) draft.add(ReservationEnded{id});
  }
  fire_schedules(state, draft);
  advance_workflows(state, draft);
  // What was just settled must be applied before placing looks at it; the runtime ticks again.
  if (!draft.empty()) return draft.take();
  scheduling::Decisions decisions = scheduling::round(state, now, kPlacementsPerRoundMax);
  for (TaskPlaced& placed : decisions.placed) draft.add(std::move(placed));
  queue::tick(state, draft);
  for (TaskStopping& stop : decisions.stops) draft.add(std::move(stop));
  return draft.take();
}

}  // namespace

void recall(const State& state, TaskId id, Draft& draft) {
  draft.add(TaskRecalled{{id.job, id.index, state.job(id.job)->tasks.at(id.index).attempt}});
}

Time next_timer(const State& state, Time after) {
  Time next;
  const auto sooner = [&](Time at) {
    if (at && (!next || at < next)) next = at;
  };
  for (const auto* timers : {&state.backoffs, &state.recalls}) {
    if (!timers->empty()) sooner(timers->begin()->first);
  }
  if (!state.queue_timers.empty()) sooner(state.queue_timers.begin()->at);
  sooner(next_schedule_timer(state));
  for (const auto& [id, reservation] : state.reservations)
    sooner(reservation.from > after ? reservation.from : reservation.until);
  for (const WorkflowId id : state.workflows_unsealed)
    sooner(state.workflows.at(id).touched + kUnsealedMax);
  if (!state.workflow_limits.empty()) sooner(state.workflow_limits.begin()->first);
  if (!state.backlog.empty()) sooner(next_change(state.calendar, after));
  return next;
}

Outcome overall(const Tally& tally) {
  for (const Outcome worst :
       {Outcome::failed, Outcome::timed_out, Outcome::lost, Outcome::cancelled, Outcome::skipped}) {
    if (tally[static_cast<size_t>(worst)] > 0) return worst;
  }
  return Outcome::succeeded;
}

void end_if_done(const State& state, const Job& job, uint64_t ending, const Tally& tally,
                 std::string message, Draft& draft, bool with_step) {
  if (job.waiting.size() + job.tasks.size() != ending) return;
  end_fed_job(state, job, overall(tally), message, with_step, draft);
  draft.add(JobEnded{job.id, overall(tally), std::move(message)});
}

Result<Events> decide(const State& state, const Input& input) {
  return match(
      input.body, [&](const Request& request) { return decide_request(state, input.now, request); },
      [&](const Report& report) -> Result<Events> {
        Draft draft(input.now, UserId{});
        decide_report(state, report, draft);
        return draft.take();
      },
      [&](const Tick&) -> Result<Events> { return decide_tick(state, input.now); });
}

}  // namespace atl::core
