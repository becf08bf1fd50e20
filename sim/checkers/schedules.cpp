#include "sim/checkers/schedules.h"

#include "base/overloaded.h"
#include "core/limits.h"

namespace atl::sim {
namespace {

std::string schedule_text(ScheduleId id) { return "schedule " + std::to_string(id.value); }

}  // namespace

void Schedules::recorded(uint64_t, const core::Event& event, const core::State&) {
  match(
      event.body, [&](const core::ScheduleSet& e) { set(e, event.at); },
      [&](const core::ScheduleDeleted& e) { schedules_.erase(e.id); },
      [&](const core::ScheduleFired& e) { fired(e, event.at); },
      [&](const core::ScheduleSkipped& e) { skipped(e); },
      [&](const core::ScheduleOpened& e) { opened(e); },
      [&](const core::WorkflowSubmitted& e) {
        if (e.origin.starts_with("schedule/")) of_schedules_.insert(e.id);
      },
      [](const auto&) {});
}

void Schedules::set(const core::ScheduleSet& event, Time at) {
  Track& of = schedules_[event.id];
  const bool timed = event.terms.trigger == core::Trigger::time;
  of.period = timed ? seconds(std::stoll(event.terms.timing)) : Duration{};
  of.missed = event.terms.missed;
  of.through = at;
  of.made_up = 0;
}

Schedules::Track* Schedules::track(ScheduleId id, const char* what) {
  const auto it = schedules_.find(id);
  if (it != schedules_.end()) return &it->second;
  broke(schedule_text(id) + " " + what + " and is not there");
  return nullptr;
}

void Schedules::number(Track& of, ScheduleId id, uint64_t number) {
  if (number != of.last + 1)
    broke(schedule_text(id) + " has firing " + std::to_string(number) + " after " +
          std::to_string(of.last));
  of.last = number;
}

void Schedules::fired(const core::ScheduleFired& event, Time at) {
  Track* of = track(event.id, "fires");
  if (!of) return;
  number(*of, event.id, event.number);
  of->opening.insert(event.number);
  for (const std::string& key : event.keys) {
    if (!of->keys.insert(key).second)
      broke(schedule_text(event.id) + " took delivery " + key + " twice");
  }
  if (event.cause != core::Cause::time) return;
  if (event.planned > at) broke(schedule_text(event.id) + " fires too soon");
  if (event.planned <= of->through) broke(schedule_text(event.id) + " fires twice for one time");
  if (of->period.us == 0 || event.planned.us % of->period.us != 0)
    broke(schedule_text(event.id) + " fires at a time that is not its own");
  // Only who makes up for all that was missed may leave nothing out.
  const Time next{(of->through.us / std::max<int64_t>(1, of->period.us) + 1) * of->period.us};
  const bool all = of->missed == core::Missed::all && of->made_up < core::kMadeUpMax;
  if (all && event.planned != next) broke(schedule_text(event.id) + " lost a time");
  of->through = event.planned;
  of->made_up = event.late ? of->made_up + 1 : 0;
}

void Schedules::skipped(const core::ScheduleSkipped& event) {
  Track* of = track(event.id, "skips");
  if (!of) return;
  number(*of, event.id, event.number);
  if (of->missed == core::Missed::all && of->made_up < core::kMadeUpMax)
    broke(schedule_text(event.id) + " skips what it is to make up for");
  of->through = std::max(of->through, event.through);
}

void Schedules::opened(const core::ScheduleOpened& event) {
  Track* of = track(event.id, "opens a run");
  if (!of) return;
  if (of->opening.erase(event.number) == 0)
    broke(schedule_text(event.id) + " opens firing " + std::to_string(event.number) + " again");
  if (event.state != core::FiringState::opened) return;
  of_schedules_.erase(event.workflow);
  if (!opened_.insert(event.workflow).second)
    broke("workflow " + to_string(event.workflow) + " is the run of two firings");
}

void Schedules::committed(uint64_t, const core::State&) {
  if (!of_schedules_.empty())
    broke("workflow " + to_string(*of_schedules_.begin()) + " is the run of no firing");
}

void Schedules::settled(const Glimpse&) {
  for (const auto& [id, each] : schedules_) {
    if (!each.opening.empty())
      broke(schedule_text(id) + " never opened firing " + std::to_string(*each.opening.begin()));
  }
}

}  // namespace atl::sim
