#include "core/schedule/index.h"

#include <algorithm>

#include "core/limits.h"

namespace atl::core {
namespace {

// Zero: it waits for something else than a time.
Time timer_of(const Schedule& schedule) {
  if (schedule.paused || schedule.terms.trigger != Trigger::time || schedule.over) return {};
  if (schedule.opening() >= kOpeningMax || schedule.asked) return {};
  return schedule.due.empty() ? Time{1} : schedule.due.front();
}

bool has_live_run(const State& state, const Schedule& schedule) {
  return std::ranges::any_of(schedule.firings, [&](const Firing& each) {
    return each.state == FiringState::opening || (each.workflow && state.workflow(each.workflow));
  });
}

}  // namespace

const Firing* Schedule::firing(uint64_t number) const {
  const auto at = std::ranges::find(firings, number, &Firing::number);
  return at == firings.end() ? nullptr : &*at;
}

size_t Schedule::opening() const {
  return static_cast<size_t>(std::ranges::count(firings, FiringState::opening, &Firing::state));
}

std::string schedule_origin(const std::string& name) { return "schedule/" + name; }

void unindex_schedule(State& state, Schedule& schedule) {
  if (schedule.timer) state.schedule_timers.erase({schedule.timer, schedule.id});
  schedule.timer = {};
  state.schedules_on_queues.erase(schedule.id);
}

void index_schedule(State& state, Schedule& schedule) {
  unindex_schedule(state, schedule);
  schedule.timer = timer_of(schedule);
  if (schedule.timer) state.schedule_timers.emplace(schedule.timer, schedule.id);
  if (schedule.terms.trigger == Trigger::queue && !schedule.paused)
    state.schedules_on_queues.insert(schedule.id);
}

const Schedule* first_schedule_of(const State& state, NamespaceId ns) {
  const auto at = state.schedule_names.lower_bound({ns, ""});
  const bool found = at != state.schedule_names.end() && at->first.first == ns;
  return found ? &state.schedules.at(at->second) : nullptr;
}

Time queue_fires_at(const State& state, const Schedule& schedule) {
  const WorkQueue* queue = state.queue_named(schedule.ns, schedule.terms.queue);
  if (!queue || queue->ready < schedule.terms.at_least || has_live_run(state, schedule)) return {};
  if (schedule.firings.empty()) return Time{1};
  return schedule.firings.back().fired + schedule.terms.interval;
}

std::string broken_in_schedule(const State& state, const Schedule& schedule) {
  const std::string name = "schedule " + schedule.name;
  if (!state.namespaces.count(schedule.ns)) return name + " has no namespace";
  if (!state.users.count(schedule.user)) return name + " has no user";
  if (!std::is_sorted(schedule.due.begin(), schedule.due.end()))
    return name + " has times out of order";
  if (!schedule.due.empty() && schedule.due.front() <= schedule.through)
    return name + " would fire twice for one time";
  uint64_t before = 0;
  for (const Firing& each : schedule.firings) {
    if (each.number <= before || each.number > schedule.last)
      return name + " has firings out of order";
    before = each.number;
    if (static_cast<bool>(each.workflow) && each.state == FiringState::opening)
      return name + " has a run that is still being made";
  }
  return {};
}

}  // namespace atl::core
