// The life of a workflow's steps.
#include "base/check.h"
#include "core/application.h"
#include "core/index.h"

namespace atl::core {

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
  index_workflow(state_, target);
}

void Application::operator()(const WorkflowPaused& e) {
  Workflow& target = workflow(e.id);
  target.paused = e.paused;
  index_workflow(state_, target);
}

void Application::operator()(const WorkflowCancelled& e) {
  Workflow& target = workflow(e.id);
  target.cancelled = true;
  index_workflow(state_, target);
}

void Application::operator()(const StepPreparing& e) {
  move_step(e.step, StepState::preparing);
  effects_.push_back(
      PrepareStep{e.step, state_.workflows.at(e.step.workflow).steps[e.step.step].recipe});
}

void Application::operator()(const StepCollecting& e) {
  move_step(e.step, StepState::collecting);
  const Step& step = state_.workflows.at(e.step.workflow).steps[e.step.step];
  effects_.push_back(CollectStep{e.step, step.recipe, step.job});
}

void Application::begin_step(const JobSubmitted& e) {
  move_step(e.of, StepState::running);
  workflow(e.of.workflow).steps[e.of.step].job = e.id;
}

void Application::finish_step(const Job& job, Outcome outcome) {
  const auto it = state_.workflows.find(job.of.workflow);
  if (it == state_.workflows.end()) return;
  Step& step = it->second.steps[job.of.step];
  if (step.job != job.id || step.state != StepState::running) return;
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
  target.cancelled = false;
  workflow::reopen(target, e.steps);
  index_workflow(state_, target);
}

void Application::operator()(const WorkflowEnded& e) {
  const auto it = state_.workflows.find(e.id);
  CHECK(it != state_.workflows.end(), "no live workflow " + to_string(e.id) + " to end");
  CHECK(it->second.under_way == 0, "workflow " + to_string(e.id) + " ends with steps under way");
  count_workflow(state_, it->second, -1);
  state_.workflows.erase(it);
}

void Application::operator()(const WorkflowReopened& e) {
  Workflow again = e.workflow;
  workflow::index(again);
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
        effects.push_back(PrepareStep{{id, i}, step.recipe});
      else if (step.state == StepState::collecting)
        effects.push_back(CollectStep{{id, i}, step.recipe, step.job});
    }
  }
  return effects;
}

}  // namespace atl::core
