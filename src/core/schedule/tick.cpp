// What becomes due, and what the outside reports about it.
#include <algorithm>

#include "base/text.h"
#include "core/decide.h"
#include "core/limits.h"
#include "core/schedule/index.h"

namespace atl::core {
namespace {

std::string missed_message(size_t count, Time first, Time last) {
  if (count == 1) return "the time " + format_time(first) + " was missed";
  return "the times from " + format_time(first) + " to " + format_time(last) + " were missed";
}

// One schedule whose first time has come.
class Dueness {
 public:
  Dueness(const Schedule& schedule, Draft& draft)
      : schedule_(schedule), draft_(draft), number_(schedule.last) {}

  void decide() {
    const auto& due = schedule_.due;
    if (due.empty()) return draft_.add(ScheduleAsked{schedule_.id, ask_after()});
    const auto later = std::upper_bound(due.begin(), due.end(), draft_.now());
    const auto come = static_cast<size_t>(later - due.begin());
    if (come == 0) return;
    const bool fresh = draft_.now() - due[come - 1] <= kMissedAfter;
    const size_t missed = come - (fresh ? 1 : 0);
    if (missed > 0) make_up(missed, fresh);
    if (fresh) fire(due[come - 1], false);
  }

 private:
  // Making up for missed times goes through all of them, up to a bound; else they are left behind.
  Time ask_after() const {
    const bool all = schedule_.terms.missed == Missed::all && schedule_.late < kMadeUpMax;
    return all ? schedule_.through : std::max(schedule_.through, draft_.now());
  }

  void make_up(size_t missed, bool fresh) {
    size_t made = 0;
    if (schedule_.terms.missed == Missed::all)
      made = std::min<size_t>(missed, kMadeUpMax - std::min(schedule_.late, kMadeUpMax));
    for (size_t i = 0; i < made; ++i) fire(schedule_.due[i], true);
    if (made == missed) return;
    // The one that has just come stands for them too.
    if (schedule_.terms.missed == Missed::once && !fresh)
      return fire(schedule_.due[missed - 1], true);
    const Time last = schedule_.due[missed - 1];
    draft_.add(ScheduleSkipped{schedule_.id, schedule_.ns, ++number_, last,
                               missed_message(missed - made, schedule_.due[made], last)});
  }

  void fire(Time planned, bool late) {
    draft_.add(ScheduleFired{
        schedule_.id, schedule_.ns, ++number_, Cause::time, planned, late, {}, {}, {}});
  }

  const Schedule& schedule_;
  Draft& draft_;
  uint64_t number_;
};

const Schedule* found_schedule(const State& state, ScheduleId id, uint32_t revision) {
  const auto it = state.schedules.find(id);
  if (it == state.schedules.end() || it->second.revision != revision) return nullptr;
  return &it->second;
}

size_t runs_in(const State& state, NamespaceId ns, const std::string& lane) {
  const auto known = state.lanes.find({ns, lane});
  return known == state.lanes.end() ? 0 : known->second.size();
}

ScheduleOpened not_opened(const Schedule& of, uint64_t number, FiringState how, std::string why) {
  if (why.size() > kReasonBytesMax) why.resize(kReasonBytesMax);
  return {of.id, of.ns, number, how, {}, std::move(why)};
}

// The run as its schedule wants it, unless what it runs has an origin of its own.
SubmitWorkflow run_of(const State& state, const Schedule& of, SubmitWorkflow run) {
  run.ns = state.namespaces.at(of.ns).name;
  if (!run.origin.empty()) return run;
  run.lane = run.origin = schedule_origin(of.name);
  run.overlap = of.terms.overlap;
  return run;
}

}  // namespace

void decide_schedule(const State& state, const ScheduleTimes& report, Draft& draft) {
  const Schedule* of = found_schedule(state, report.id, report.revision);
  if (!of || !of->asked || of->asked != report.after) return;
  std::vector<Time> due = report.times;
  std::erase_if(due, [&](Time at) { return at <= of->through; });
  draft.add(ScheduleTimed{of->id, std::move(due)});
}

void decide_schedule(const State& state, const RunPlanned& report, Draft& draft) {
  const Schedule* of = found_schedule(state, report.id, report.revision);
  const Firing* firing = of ? of->firing(report.number) : nullptr;
  if (!firing || firing->state != FiringState::opening) return;
  if (!report.error.empty())
    return draft.add(not_opened(*of, report.number, FiringState::failed, report.error));
  const Actor owner{of->user};
  if (const auto known = known_actor(state, owner); !known)
    return draft.add(not_opened(*of, report.number, FiringState::failed, known.error().message));
  const SubmitWorkflow run = run_of(state, *of, report.run);
  if (run.overlap == Overlap::wait && runs_in(state, of->ns, run.lane) >= kRunsWaitingMax)
    return draft.add(not_opened(*of, report.number, FiringState::skipped,
                                "100 runs of this schedule wait already"));
  Draft opened(draft.now(), UserId{});
  if (auto ok = decide_command(state, owner, run, opened); !ok) {
    const bool overlaps = run.overlap == Overlap::refuse && ok.error().code == ErrorCode::conflict;
    return draft.add(not_opened(*of, report.number,
                                overlaps ? FiringState::skipped : FiringState::failed,
                                ok.error().message));
  }
  ScheduleOpened event{of->id, of->ns, report.number, FiringState::opened, {}, {}};
  for (const Event& each : opened.events()) {
    if (const auto* made = std::get_if<WorkflowSubmitted>(&each.body)) event.workflow = made->id;
  }
  for (Event& each : opened.take()) draft.add(std::move(each.body));
  draft.add(std::move(event));
}

void decide_schedule(const State& state, const RunSteps& report, Draft& draft) {
  const Schedule* of = found_schedule(state, report.id, report.revision);
  const Firing* firing = of ? of->firing(report.number) : nullptr;
  const Workflow* run = firing ? state.workflow(firing->workflow) : nullptr;
  if (!run || run->sealed) return;
  const Actor owner{of->user};
  AddSteps add = report.steps;
  add.id = run->id;
  Draft added(draft.now(), UserId{});
  const auto ok = decide_command(state, owner, add, added);
  for (Event& each : added.take()) draft.add(std::move(each.body));
  if (ok) return;
  // It could never be completed.
  Draft cancelled(draft.now(), UserId{});
  std::ignore = decide_command(state, owner, CancelWorkflow{run->id}, cancelled);
  for (Event& each : cancelled.take()) draft.add(std::move(each.body));
  draft.add(ScheduleOpened{of->id, of->ns, report.number, FiringState::failed, run->id,
                           ok.error().message});
}

void decide_schedule(const State& state, const FilesLooked& report, Draft& draft) {
  const Schedule* of = found_schedule(state, report.id, report.revision);
  if (!of || of->terms.trigger != Trigger::file || of->paused) return;
  ScheduleLooked looked{of->id, {}, {}};
  for (const std::string& path : report.gone) {
    if (of->files.contains(path)) looked.gone.push_back(path);
  }
  uint64_t number = of->last;
  size_t room = kOpeningMax - std::min<size_t>(of->opening(), kOpeningMax);
  for (const auto& [path, look] : report.changed) {
    const auto known = of->files.find(path);
    if (known != of->files.end() && known->second == look) continue;
    if (!of->looked) {
      looked.seen.push_back({path, look});
    } else if (room > 0) {
      --room;
      draft.add(ScheduleFired{of->id, of->ns, ++number, Cause::file, {}, false, path, {}, look});
    }
  }
  if (!of->looked || !looked.gone.empty()) draft.add(std::move(looked));
}

void fire_schedules(const State& state, Draft& draft) {
  uint32_t budget = kSchedulesPerTickMax;
  for (const auto& [at, id] : state.schedule_timers) {
    if (at > draft.now() || budget-- == 0) break;
    Dueness(state.schedules.at(id), draft).decide();
  }
  for (const ScheduleId id : state.schedules_on_queues) {
    const Schedule& schedule = state.schedules.at(id);
    const Time at = queue_fires_at(state, schedule);
    if (!at || at > draft.now()) continue;
    draft.add(
        ScheduleFired{id, schedule.ns, schedule.last + 1, Cause::queue, {}, false, {}, {}, {}});
  }
}

Time next_schedule_timer(const State& state) {
  Time next;
  if (!state.schedule_timers.empty()) next = state.schedule_timers.begin()->first;
  for (const ScheduleId id : state.schedules_on_queues) {
    const Time at = queue_fires_at(state, state.schedules.at(id));
    if (at && (!next || at < next)) next = at;
  }
  return next;
}

}  // namespace atl::core
