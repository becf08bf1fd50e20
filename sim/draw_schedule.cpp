// What people ask of schedules. A timing is so many seconds, and its times are the multiples.
#include "core/limits.h"
#include "sim/draw.h"

namespace atl::sim {

std::vector<Time> schedule_times(const std::string& timing, Time after) {
  const int64_t period = seconds(std::stoll(timing)).us;
  std::vector<Time> times;
  for (int64_t i = 1; i <= core::kTimesKept; ++i)
    times.push_back(Time{(after.us / period + i) * period});
  return times;
}

core::Command Draw::new_schedule() {
  constexpr const char* kPeriods[] = {"20", "60", "300"};
  core::SetSchedule set;
  set.ns = some_namespace();
  set.name = "s" + std::to_string(rng_.below(4));
  set.replace = rng_.chance(500);
  set.paused = rng_.chance(100);
  core::ScheduleTerms& terms = set.terms;
  terms.program = "{}";
  terms.missed = static_cast<core::Missed>(rng_.below(3));
  terms.overlap = static_cast<core::Overlap>(rng_.below(4));
  if (rng_.chance(150)) {
    terms.trigger = core::Trigger::webhook;
  } else {
    terms.timing = kPeriods[rng_.below(3)];
    set.due = schedule_times(terms.timing, moment_.now);
  }
  return set;
}

Ask Draw::about_schedule() {
  const std::string ns = some_namespace(), name = "s" + std::to_string(rng_.below(4));
  const uint64_t die = rng_.below(100);
  core::Command command;
  if (die < 40) {
    command = new_schedule();
  } else if (die < 60) {
    core::FireSchedule fire{ns, name};
    if (rng_.chance(700)) {
      fire.cause = core::Cause::webhook;
      fire.keys = {"k" + std::to_string(rng_.below(20))};
    }
    command = std::move(fire);
  } else if (die < 90) {
    command = core::PauseSchedule{ns, name, rng_.chance(400)};
  } else {
    command = core::DeleteSchedule{ns, name};
  }
  return {{rng_.chance(800) ? root() : someone(), std::move(command)}};
}

}  // namespace atl::sim
