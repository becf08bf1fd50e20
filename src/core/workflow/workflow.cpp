#include "core/workflow/workflow.h"

#include "core/limits.h"

namespace atl::core::workflow {
namespace {

void set_state(Workflow& workflow, uint32_t step, StepState to) {
  StepState& state = workflow.steps[step].state;
  --workflow.tally[static_cast<size_t>(state)];
  ++workflow.tally[static_cast<size_t>(to)];
  workflow.under_way -= under_way(state);
  workflow.under_way += under_way(to);
  if (state == StepState::ready) workflow.ready.erase(step);
  if (state == StepState::finished) workflow.finished.erase(step);
  if (to == StepState::ready) workflow.ready.insert(step);
  if (to == StepState::finished) workflow.finished.insert(step);
  state = to;
}

// Whether the need is met by how the other one is.
bool met(const Workflow& workflow, uint32_t step, const Edge& edge) {
  const StepState how = workflow.steps[step].state;
  return ended(how) && enough(edge, how);
}

}  // namespace

bool enough(const Edge& edge, StepState how) {
  if (how == StepState::succeeded) return true;
  return how == StepState::skipped ? edge.can_skip : edge.can_fail;
}

void add_step(Workflow& workflow, const NewStep& added) {
  const auto number = static_cast<uint32_t>(workflow.steps.size());
  Step step{.name = added.name,
            .kind = added.kind,
            .payload = added.payload,
            .recipe = added.recipe,
            .prepared = added.prepared,
            .collected = added.collected,
            .array = added.array,
            .fed = !added.feed.queue.empty(),
            .indices = added.indices};
  if (step.fed) workflow.feeds[number].terms = added.feed;
  for (const Need& need : added.needs) {
    Step& other = workflow.steps[need.step];
    const Edge edge{number, need.can_fail, need.can_skip, other.first_edge};
    step.unmet += !met(workflow, need.step, edge);
    other.first_edge = static_cast<uint32_t>(workflow.edges.size());
    workflow.edges.push_back(edge);
  }
  workflow.names.emplace(step.name, number);
  const bool ready = step.unmet == 0;
  workflow.steps.push_back(std::move(step));
  ++workflow.tally[static_cast<size_t>(StepState::waiting)];
  if (ready) set_state(workflow, number, StepState::ready);
}

void advance(Workflow& workflow, uint32_t step, StepState to) {
  set_state(workflow, step, to);
  if (!ended(to)) return;
  for_each_follower(workflow, step, [&](const Edge& edge) {
    if (!enough(edge, to)) return;
    Step& follower = workflow.steps[edge.to];
    if (follower.state == StepState::waiting && --follower.unmet == 0)
      set_state(workflow, edge.to, StepState::ready);
  });
}

void reopen(Workflow& workflow, const IntervalSet& steps) {
  for (const Interval& range : steps.ranges()) {
    for (uint64_t i = range.first; i <= range.last; ++i) {
      const auto step = static_cast<uint32_t>(i);
      set_state(workflow, step, StepState::waiting);
      workflow.steps[step].job = {};
    }
  }
  // Those that wait for one of them already count anew too: it may have been enough before.
  const auto waits = [&](uint32_t step) { return workflow.steps[step].state <= StepState::ready; };
  for (Step& step : workflow.steps) step.unmet = 0;
  for (uint32_t step = 0; step < workflow.steps.size(); ++step) {
    for_each_follower(workflow, step, [&](const Edge& edge) {
      if (waits(edge.to) && !met(workflow, step, edge)) ++workflow.steps[edge.to].unmet;
    });
  }
  for (uint32_t step = 0; step < workflow.steps.size(); ++step) {
    if (waits(step))
      set_state(workflow, step,
                workflow.steps[step].unmet == 0 ? StepState::ready : StepState::waiting);
  }
}

void index(Workflow& workflow) {
  workflow.names.clear();
  workflow.ready.clear();
  workflow.finished.clear();
  workflow.tally = {};
  workflow.under_way = 0;
  workflow.until = {};
  for (uint32_t i = 0; i < workflow.steps.size(); ++i) {
    const Step& step = workflow.steps[i];
    workflow.names.emplace(step.name, i);
    ++workflow.tally[static_cast<size_t>(step.state)];
    workflow.under_way += under_way(step.state);
    if (step.state == StepState::ready) workflow.ready.insert(i);
    if (step.state == StepState::finished) workflow.finished.insert(i);
  }
}

bool tolerated(const Workflow& workflow, uint32_t step) {
  bool any = false, all = true;
  for_each_follower(workflow, step, [&](const Edge& edge) {
    any = true;
    all = all && edge.can_fail;
  });
  return any && all;
}

std::vector<Fallen> fallen_with(const Workflow& workflow, std::vector<Fallen> ending) {
  const size_t given = ending.size();
  std::set<uint32_t> seen;
  for (const Fallen& each : ending) seen.insert(each.step);
  for (size_t at = 0; at < ending.size(); ++at) {
    const Fallen each = ending[at];
    for_each_follower(workflow, each.step, [&](const Edge& edge) {
      if (enough(edge, each.how) || workflow.steps[edge.to].state != StepState::waiting) return;
      if (!seen.insert(edge.to).second) return;
      const bool skips = each.how == StepState::skipped;
      ending.push_back({edge.to, skips ? StepState::skipped : StepState::blocked, each.step});
    });
  }
  ending.erase(ending.begin(), ending.begin() + static_cast<std::ptrdiff_t>(given));
  return ending;
}

bool held(const Workflow& workflow) { return !workflow.lane.empty() && !workflow.began; }

bool due(const Workflow& workflow) {
  if (!workflow.finished.empty()) return true;
  if (!workflow.sealed && !workflow.cancelled) return false;
  const uint64_t left = workflow.count(StepState::waiting) + workflow.ready.size();
  if (left + workflow.under_way == 0) return true;  // it has ended
  if (workflow.paused || workflow.ready.empty() || held(workflow)) return false;
  const uint32_t most = workflow.parallel_max ? workflow.parallel_max : kStepsUnderWayMax;
  return workflow.under_way < most;
}

}  // namespace atl::core::workflow
