// The life of schedules.
#include <algorithm>

#include "base/check.h"
#include "core/application.h"
#include "core/limits.h"
#include "core/schedule/index.h"

namespace atl::core {
namespace {

OpenRun open_run(const State& state, const Schedule& of, const Firing& firing) {
  return {of.id,           of.revision,  firing.number,  state.namespaces.at(of.ns).name,
          of.name,         firing.cause, firing.planned, firing.body,
          of.terms.program};
}

TimeSchedule time_schedule(const Schedule& of) {
  return {of.id, of.revision, of.terms.timing, of.terms.calendar, of.terms.zone, of.asked};
}

// Those that are opening stay, and the last few others.
void forget_firings(std::vector<Firing>& firings) {
  size_t ended = 0;
  for (const Firing& each : firings) ended += each.state != FiringState::opening;
  std::erase_if(firings, [&](const Firing& each) {
    if (each.state == FiringState::opening || ended <= kFiringsKept) return false;
    --ended;
    return true;
  });
}

void pass(Schedule& schedule, Time through) {
  if (through <= schedule.through) return;
  schedule.through = through;
  const auto later = std::upper_bound(schedule.due.begin(), schedule.due.end(), through);
  schedule.due.erase(schedule.due.begin(), later);
}

}  // namespace

Schedule& Application::schedule(ScheduleId id) {
  const auto it = state_.schedules.find(id);
  CHECK(it != state_.schedules.end(), "there is no schedule " + std::to_string(id.value));
  return it->second;
}

void Application::operator()(const ScheduleSet& e) {
  if (e.id.value > state_.counters.schedule) state_.counters.schedule = e.id.value;
  const auto [it, fresh] = state_.schedules.try_emplace(e.id);
  Schedule& set = it->second;
  if (fresh) {
    set.created = at_;
    set.id = e.id;
    set.ns = e.ns;
    set.name = e.name;
    state_.schedule_names.emplace(std::pair(e.ns, e.name), e.id);
  } else if (set.terms.path != e.terms.path || set.terms.trigger != e.terms.trigger) {
    set.looked = false;
    set.files.clear();
  }
  set.revision = e.revision;
  set.user = e.user;
  set.terms = e.terms;
  set.changed = set.through = at_;
  set.paused = e.paused;
  set.due = e.due;
  set.asked = {};
  set.over = false;
  set.late = 0;
  index_schedule(state_, set);
  // What is being made of the terms before this change no longer counts.
  for (const Firing& firing : set.firings) {
    if (firing.state == FiringState::opening) effects_.push_back(open_run(state_, set, firing));
  }
}

void Application::operator()(const ScheduleDeleted& e) {
  Schedule& gone = schedule(e.id);
  unindex_schedule(state_, gone);
  state_.schedule_names.erase({gone.ns, gone.name});
  state_.schedules.erase(e.id);
}

void Application::operator()(const SchedulePaused& e) {
  Schedule& target = schedule(e.id);
  target.paused = e.paused;
  index_schedule(state_, target);
}

void Application::operator()(const ScheduleAsked& e) {
  Schedule& target = schedule(e.id);
  target.asked = e.after;
  index_schedule(state_, target);
  effects_.push_back(time_schedule(target));
}

void Application::operator()(const ScheduleTimed& e) {
  Schedule& target = schedule(e.id);
  target.due = e.due;
  target.asked = {};
  target.over = e.due.empty();
  index_schedule(state_, target);
}

void Application::operator()(const ScheduleFired& e) {
  Schedule& target = schedule(e.id);
  target.last = e.number;
  if (e.cause == Cause::time) {
    pass(target, e.planned);
    target.late = e.late ? target.late + 1 : 0;
  }
  target.keys.insert(target.keys.end(), e.keys.begin(), e.keys.end());
  if (target.keys.size() > kDeliveriesKept)
    target.keys.erase(target.keys.begin(),
                      target.keys.end() - static_cast<std::ptrdiff_t>(kDeliveriesKept));
  if (e.cause == Cause::file) target.files[e.body] = e.look;
  Firing& firing = target.firings.emplace_back();
  firing.number = e.number;
  firing.cause = e.cause;
  firing.planned = e.planned;
  firing.fired = at_;
  firing.body = e.body;
  effects_.push_back(open_run(state_, target, firing));
  index_schedule(state_, target);
}

void Application::operator()(const ScheduleSkipped& e) {
  Schedule& target = schedule(e.id);
  target.last = e.number;
  pass(target, e.through);
  target.firings.push_back(
      {e.number, Cause::time, e.through, at_, FiringState::skipped, {}, e.message, {}});
  forget_firings(target.firings);
  index_schedule(state_, target);
}

void Application::operator()(const ScheduleOpened& e) {
  Schedule& target = schedule(e.id);
  const auto at = std::ranges::find(target.firings, e.number, &Firing::number);
  CHECK(at != target.firings.end(),
        "schedule " + target.name + " has no firing " + std::to_string(e.number) + " to open");
  at->state = e.state;
  at->workflow = e.workflow;
  at->message = e.message;
  at->body.clear();
  forget_firings(target.firings);
  index_schedule(state_, target);
}

void Application::operator()(const ScheduleLooked& e) {
  Schedule& target = schedule(e.id);
  target.looked = true;
  for (const auto& [path, look] : e.seen) target.files[path] = look;
  for (const std::string& path : e.gone) target.files.erase(path);
}

Effects pending_schedules(const State& state) {
  Effects effects;
  for (const auto& [id, each] : state.schedules) {
    if (each.asked) effects.push_back(time_schedule(each));
    for (const Firing& firing : each.firings) {
      if (firing.state == FiringState::opening) effects.push_back(open_run(state, each, firing));
    }
  }
  return effects;
}

}  // namespace atl::core
