// A schedule every ten minutes, and somebody who tells its times and makes its runs: for tests.
#pragma once

#include <utility>

#include "core/decide.h"
#include "core/limits.h"
#include "core/test_world.h"

namespace atl::core {
template <class Body>
std::vector<Body> schedule_events(const Events& events) {
  std::vector<Body> found;
  for (const Event& event : events) {
    if (const auto* body = std::get_if<Body>(&event.body)) found.push_back(*body);
  }
  return found;
}
template <class Kind>
std::vector<Kind> schedule_effects(Effects& effects) {
  std::vector<Kind> found;
  for (const Effect& effect : effects) {
    if (const auto* each = std::get_if<Kind>(&effect)) found.push_back(*each);
  }
  effects.clear();
  return found;
}

class ScheduleWorld : public TestWorld {
 public:
  ScheduleWorld() {
    now = Time{} + minutes(100);
    nodes({node("n1", 4)});
    effects.clear();
  }

  static SetSchedule every_ten(Time after, size_t count = 3) {
    SetSchedule set;
    set.ns = "lab";
    set.name = "nightly";
    set.terms.timing = "*/10 * * * *";
    set.terms.zone = "UTC";
    set.terms.program = "{}";
    for (size_t i = 1; i <= count; ++i)
      set.due.push_back(after + minutes(static_cast<int64_t>(10 * i)));
    return set;
  }
  void make(const SetSchedule& set) { run(Request{admin(), set}); }
  const Schedule& it() const { return state.schedules.begin()->second; }

  // Ticks until nothing happens, and returns all that did.
  Events settled() {
    Events all;
    for (;;) {
      const Events events = run(Tick{});
      if (events.empty()) return all;
      all.insert(all.end(), events.begin(), events.end());
    }
  }
  static SubmitWorkflow flow() {
    SubmitWorkflow run;
    run.name = "flow";
    run.kinds.emplace_back();
    run.kinds.back().terms.resources.cpu_milli = 1000;
    run.steps.push_back({.name = "a"});
    return run;
  }
  Events open(const OpenRun& order, SubmitWorkflow what = flow()) {
    return run(Report{RunPlanned{order.id, order.revision, order.number, std::move(what), {}}});
  }
  // Ten times from after what was asked for.
  void tell_times(const TimeSchedule& order) {
    ScheduleTimes times{order.id, order.revision, order.after, {}};
    const int64_t slot = order.after.us / minutes(10).us;
    for (int64_t i = 1; i <= 10; ++i) times.times.push_back(Time{(slot + i) * minutes(10).us});
    run(Report{times});
  }
  // Everything asked for is answered until nothing more happens.
  Events answered() {
    Events all = settled();
    while (!effects.empty()) {
      const Effects asked = std::exchange(effects, {});
      for (const Effect& effect : asked) {
        if (const auto* times = std::get_if<TimeSchedule>(&effect)) tell_times(*times);
        if (const auto* order = std::get_if<OpenRun>(&effect)) {
          const Events opened = open(*order);
          all.insert(all.end(), opened.begin(), opened.end());
        }
      }
      const Events more = settled();
      all.insert(all.end(), more.begin(), more.end());
    }
    return all;
  }
};

}  // namespace atl::core
