// The life of a workflow's steps.
#include <algorithm>

#include "base/check.h"
#include "core/application.h"
#include "core/index.h"

namespace atl::core {
namespace {

CollectStep collect_order(const Workflow& of, uint32_t number) {
  const Step& step = of.steps[number];
  if (step.fed)
    return {{of.id, number}, step.recipe, {}, step.opening, workflow::counts(of.feeds.at(number))};
  return {{of.id, number}, step.recipe, step.job, step.opening, {}};
}

void repeat_collecting(const Workflow& of, uint32_t number, Effects& effects) {
  for (const auto& [id, job] : of.feeds.at(number).jobs) {
    if (job.collecting)
      effects.push_back(CollectStep{{of.id, number}, of.steps[number].recipe, id, 0, {}});
  }
}

}  // namespace

Workflow& Application::workflow(WorkflowId id) {
  const auto it = state_.workflows.find(id);
  CHECK(it != state_.workflows.end(), "no live workflow " + to_string(id));
  return it->second;
}

void Application::move_step(StepRef step, StepState to) {
  Workflow& target = workflow(step.workflow);
  CHECK(step.step < target.steps.size(), "no such step of workflow " + to_string(step.workflow));
  workflow::advance(target, step.step, to);
  index_workflow(state_, target);
}

void Application::operator()(const WorkflowSubmitted& e) {
  if (e.id.value > state_.counters.workflow) state_.counters.workflow = e.id.value;
  Workflow made;
  made.id = e.id;
  made.ns = e.ns;
  made.user = e.user;
  made.name = e.name;
  made.submitted = made.touched = at_;
  made.fail_fast = e.fail_fast;
  made.paused = e.paused;
  made.parallel_max = e.parallel_max;
  made.lane = e.lane;
  made.overlap = e.overlap;
  made.origin = e.origin;
  made.time_limit = e.time_limit;
  const auto it = state_.workflows.emplace(e.id, std::move(made)).first;
  count_workflow(state_, it->second, +1);
}

void Application::operator()(const StepsAdded& e) {
  Workflow& target = workflow(e.id);
  CHECK(target.steps.size() == e.first,
        "steps are added to workflow " + to_string(e.id) + " at a place that is not its end");
  target.kinds.insert(target.kinds.end(), e.kinds.begin(), e.kinds.end());
  for (const NewStep& step : e.steps) workflow::add_step(target, step);
  target.touched = at_;
  index_workflow(state_, target);
}

void Application::operator()(const WorkflowSealed& e) {
  Workflow& target = workflow(e.id);
  target.sealed = true;
  begin_workflow(target);
  index_workflow(state_, target);
}

// It starts, unless it has others of its lane before it.
void Application::begin_workflow(Workflow& target) {
  if (!target.sealed || target.began) return;
  const bool waits = target.overlap == Overlap::wait || target.overlap == Overlap::replace;
  const auto lane = state_.lanes.find({target.ns, target.lane});
  if (waits && lane != state_.lanes.end() && *lane->second.begin() < target.id) return;
  target.began = at_;
}

void Application::operator()(const WorkflowPaused& e) {
  Workflow& target = workflow(e.id);
  target.paused = e.paused;
  index_workflow(state_, target);
  if (e.paused) return;
  // What was made for them meanwhile was not taken.
  for (uint32_t i = 0; target.count(StepState::preparing) > 0 && i < target.steps.size(); ++i) {
    const Step& step = target.steps[i];
    if (step.state == StepState::preparing)
      effects_.push_back(PrepareStep{{e.id, i}, step.recipe, step.opening});
  }
}

void Application::operator()(const WorkflowCancelled& e) {
  Workflow& target = workflow(e.id);
  target.cancelled = true;
  target.stopped = e.reason;
  target.overran = e.overran;
  index_workflow(state_, target);
}

void Application::operator()(const StepPreparing& e) {
  move_step(e.step, StepState::preparing);
  Step& step = open_step(e.step, e.opening);
  effects_.push_back(PrepareStep{e.step, step.recipe, e.opening});
}

void Application::operator()(const StepCollecting& e) {
  move_step(e.step, StepState::collecting);
  open_step(e.step, e.opening);
  effects_.push_back(collect_order(state_.workflows.at(e.step.workflow), e.step.step));
}

Step& Application::open_step(StepRef ref, uint64_t opening) {
  Step& step = workflow(ref.workflow).steps[ref.step];
  step.opening = opening;
  state_.counters.opening = std::max(state_.counters.opening, opening);
  return step;
}

void Application::begin_step(const JobSubmitted& e) {
  if (e.lease) feed(e.of).jobs[e.id] = {e.lease};
  move_step(e.of, StepState::running);
  workflow(e.of.workflow).steps[e.of.step].job = e.id;
}

void Application::finish_step(const Job& job, Outcome outcome) {
  const auto it = state_.workflows.find(job.of.workflow);
  if (it == state_.workflows.end()) return;
  Step& step = it->second.steps[job.of.step];
  if (step.fed || step.job != job.id || step.state != StepState::running) return;
  step.outcome = outcome;
  move_step(job.of, StepState::finished);
}

void Application::operator()(const StepsEnded& e) {
  Workflow& target = workflow(e.id);
  for (const Interval& range : e.steps.ranges()) {
    for (uint64_t i = range.first; i <= range.last; ++i)
      workflow::advance(target, static_cast<uint32_t>(i), e.how);
  }
  index_workflow(state_, target);
}

void Application::operator()(const StepsReopened& e) {
  Workflow& target = workflow(e.id);
  target.cancelled = target.overran = false;
  target.stopped.clear();
  if (target.began) target.began = at_;
  workflow::reopen(target, e.steps);
  index_workflow(state_, target);
}

void Application::operator()(const WorkflowEnded& e) {
  const auto it = state_.workflows.find(e.id);
  CHECK(it != state_.workflows.end(), "no live workflow " + to_string(e.id) + " to end");
  CHECK(it->second.under_way == 0, "workflow " + to_string(e.id) + " ends with steps under way");
  count_workflow(state_, it->second, -1);
  const auto key = std::pair(it->second.ns, it->second.lane);
  state_.workflows.erase(it);
  const auto lane = state_.lanes.find(key);
  if (lane == state_.lanes.end()) return;
  for (const WorkflowId id : lane->second) {
    Workflow& next = workflow(id);
    begin_workflow(next);
    index_workflow(state_, next);
  }
}

void Application::operator()(const WorkflowReopened& e) {
  Workflow again = e.workflow;
  workflow::index(again);
  if (again.sealed) again.began = at_;
  const auto it = state_.workflows.emplace(again.id, std::move(again)).first;
  count_workflow(state_, it->second, +1);
}

Effects pending_steps(const State& state) {
  Effects effects;
  for (const auto& [id, each] : state.workflows) {
    if (each.under_way == 0) continue;
    for (uint32_t i = 0; i < each.steps.size(); ++i) {
      const Step& step = each.steps[i];
      if (step.state == StepState::preparing)
        effects.push_back(PrepareStep{{id, i}, step.recipe, step.opening});
      else if (step.state == StepState::collecting)
        effects.push_back(collect_order(each, i));
      else if (step.fed && step.state == StepState::running)
        repeat_collecting(each, i, effects);
    }
  }
  return effects;
}

}  // namespace atl::core
