#include "sim/checkers/steps.h"

#include <algorithm>
#include <array>

#include "base/overloaded.h"
#include "sim/draw.h"

namespace atl::sim {
namespace {

using core::Outcome;
using core::StepState;

std::string name_of(core::StepRef ref) {
  return "step " + std::to_string(ref.step) + " of workflow " + to_string(ref.workflow);
}

bool went_badly(StepState how) {
  return how == StepState::failed || how == StepState::cancelled || how == StepState::blocked;
}

bool is_end(StepState how) {
  return how == StepState::succeeded || how == StepState::skipped || went_badly(how);
}

}  // namespace

void Steps::recorded(uint64_t, const core::Event& event, const core::State&) {
  match(
      event.body, [&](const core::WorkflowSubmitted& e) { submitted(e); },
      [&](const core::StepsAdded& e) { added(e); },
      [&](const core::WorkflowSealed& e) {
        if (Flow* flow = alive(e.id, "is sealed")) flow->sealed = true;
      },
      [&](const core::WorkflowPaused& e) {
        if (Flow* flow = alive(e.id, "is paused")) flow->paused = e.paused;
      },
      [&](const core::WorkflowCancelled& e) {
        if (Flow* flow = alive(e.id, "is cancelled")) flow->cancelled = true;
      },
      [&](const core::StepPreparing& e) { preparing(e.step); },
      [&](const core::StepCollecting& e) { collecting(e.step); },
      [&](const core::JobSubmitted& e) {
        if (e.of.workflow) job_submitted(e);
      },
      [&](const core::StepFeeding& e) { feeding(e.step); },
      [&](const core::FeedStopped& e) { feed_stopped(e.step); },
      [&](const core::FedJobEnded& e) { fed_job_over(e); },
      [&](const core::JobReopened& e) {
        if (jobs_.contains(e.job.id))
          broke("job " + to_string(e.job.id) + " of a step runs again behind its workflow's back");
      },
      [&](const core::JobEnded& e) { job_ended(e); },
      [&](const core::StepsEnded& e) { steps_ended(e); },
      [&](const core::StepsReopened& e) { reopened(e); },
      [&](const core::WorkflowEnded& e) { workflow_ended(e); },
      [&](const core::WorkflowReopened& e) { workflow_reopened(e); }, [](const auto&) {});
}

Steps::Flow* Steps::alive(WorkflowId id, const char* what) {
  const auto found = flows_.find(id);
  if (found != flows_.end() && !found->second.over) return &found->second;
  broke("workflow " + to_string(id) + " " + what +
        (found == flows_.end() ? " and was never submitted" : " after it has ended"));
  return nullptr;
}

Steps::Step* Steps::step_of(core::StepRef ref, const char* what) {
  Flow* flow = alive(ref.workflow, what);
  if (!flow) return nullptr;
  if (ref.step < flow->steps.size()) return &flow->steps[ref.step];
  broke(name_of(ref) + " " + what + " and was never added");
  return nullptr;
}

void Steps::submitted(const core::WorkflowSubmitted& event) {
  const auto [flow, fresh] = flows_.try_emplace(event.id);
  if (!fresh) return broke("workflow " + to_string(event.id) + " is submitted twice");
  flow->second.fail_fast = event.fail_fast;
  flow->second.paused = event.paused;
  flow->second.parallel_max = event.parallel_max;
}

void Steps::added(const core::StepsAdded& event) {
  Flow* flow = alive(event.id, "gets steps");
  if (!flow) return;
  if (event.first != flow->steps.size())
    return broke("steps of workflow " + to_string(event.id) + " are numbered with a gap");
  for (const core::NewStep& each : event.steps) {
    Step step{.name = each.name, .prepared = each.prepared, .collected = each.collected};
    step.fed = !each.feed.queue.empty();
    for (const core::Need& need : each.needs) {
      if (need.step >= flow->steps.size())
        return broke("step " + each.name + " needs one that is not before it");
      step.needs.push_back({need.step, need.can_fail, need.can_skip});
    }
    flow->steps.push_back(std::move(step));
  }
}

bool Steps::enough(const Need& need, StepState how) {
  return how == StepState::succeeded || (how == StepState::skipped && need.can_skip) ||
         (went_badly(how) && need.can_fail);
}

// `starts`: it is the workflow that begins it now, and not an answer to what was begun before.
void Steps::check_begin(const Flow& flow, core::StepRef ref, bool starts) {
  const Step& step = flow.steps[ref.step];
  for (const Need& need : step.needs) {
    const Step& other = flow.steps[need.step];
    if (other.phase != Phase::over)
      return broke(name_of(ref) + " begins before " + other.name + " has ended");
    if (!enough(need, other.how))
      return broke(name_of(ref) + " begins although " + other.name + " ended as " +
                   enum_name(other.how));
  }
  if (flow.paused) return broke(name_of(ref) + " begins in a workflow that is paused");
  if (!starts) return;
  if (!flow.sealed) return broke(name_of(ref) + " begins before all steps are there");
  if (flow.cancelled) return broke(name_of(ref) + " begins in a workflow that is cancelled");
  const auto busy = std::count_if(flow.steps.begin(), flow.steps.end(), under_way);
  if (flow.parallel_max && busy >= static_cast<int64_t>(flow.parallel_max))
    broke(name_of(ref) + " begins beside as many as may be under way at once");
}

void Steps::preparing(core::StepRef ref) {
  Step* step = step_of(ref, "is prepared");
  if (!step) return;
  if (!step->prepared || step->phase != Phase::idle)
    return broke(name_of(ref) + " is prepared out of turn");
  check_begin(flows_.at(ref.workflow), ref, true);
  step->phase = Phase::preparing;
}

void Steps::feeding(core::StepRef ref) {
  Step* step = step_of(ref, "goes through a queue");
  if (!step) return;
  if (!step->fed || step->phase != (step->prepared ? Phase::preparing : Phase::idle))
    return broke(name_of(ref) + " goes through a queue out of turn");
  check_begin(flows_.at(ref.workflow), ref, !step->prepared);
  step->phase = Phase::running;
  step->stopped = false;
}

// It stays so when the workflow goes on with other steps meanwhile.
void Steps::feed_stopped(core::StepRef ref) {
  Step* step = step_of(ref, "is stopped");
  if (!step) return;
  const Flow& flow = flows_.at(ref.workflow);
  if (!flow.cancelled && !flow.fail_fast)
    return broke(name_of(ref) + " is stopped although nobody cancelled it");
  step->stopped = true;
}

void Steps::fed_job(const core::JobSubmitted& event, Step& step) {
  const Flow& flow = flows_.at(event.of.workflow);
  if (step.phase != Phase::running || step.stopped)
    return broke(name_of(event.of) + " gets a job out of turn");
  if (flow.paused || flow.cancelled)
    return broke(name_of(event.of) + " leases items in a workflow that is paused or cancelled");
  step.job = event.id;
  step.jobs.insert(event.id);
  jobs_[event.id] = event.of;
  payloads_[event.id] = event.payload;
}

void Steps::fed_job_over(const core::FedJobEnded& event) {
  Step* step = step_of(event.step, "has a job that is over");
  if (step && step->jobs.erase(event.job) == 0)
    broke("job " + to_string(event.job) + " is over and is not that of " + name_of(event.step));
}

void Steps::job_submitted(const core::JobSubmitted& event) {
  Step* step = step_of(event.of, "gets a job");
  if (!step) return;
  if (step->fed) return fed_job(event, *step);
  if (step->job)
    return broke(name_of(event.of) + " gets job " + to_string(event.id) + " beside job " +
                 to_string(step->job));
  if (step->phase != (step->prepared ? Phase::preparing : Phase::idle))
    return broke(name_of(event.of) + " gets a job out of turn");
  check_begin(flows_.at(event.of.workflow), event.of, !step->prepared);
  step->phase = Phase::running;
  step->job = event.id;
  jobs_[event.id] = event.of;
  payloads_[event.id] = event.payload;
}

void Steps::job_ended(const core::JobEnded& event) {
  const auto of = jobs_.find(event.id);
  if (of == jobs_.end()) return;
  ended_.insert(event.id);
  Step* step = step_of(of->second, "has a job that ends");
  if (!step || step->fed) return;
  if (step->job != event.id || step->phase != Phase::running)
    return broke("job " + to_string(event.id) + " ends and is not that of " + name_of(of->second));
  step->phase = Phase::finished;
  step->outcome = event.outcome;
}

void Steps::collecting(core::StepRef ref) {
  Step* step = step_of(ref, "is collected");
  if (!step) return;
  const bool dry = step->fed && step->phase == Phase::running && step->jobs.empty();
  const bool ran = step->phase == Phase::finished && step->outcome == Outcome::succeeded;
  const bool may = step->collected && (dry || ran);
  if (!may) return broke(name_of(ref) + " is collected out of turn");
  step->phase = Phase::collecting;
}

// One that never began, or that was stopped on the way to its job or after it.
std::string Steps::unreal_fall(const Flow& flow, const Step& step, const core::StepsEnded& event) {
  if (event.how == StepState::cancelled)
    return flow.cancelled || flow.fail_fast || !flow.sealed ? "" : "although nobody cancelled it";
  // Of something it needs, or in a workflow that ends with its first failure of any step.
  const auto names = [&](const Step& other) {
    return other.phase == Phase::over && event.message.find(other.name) != std::string::npos;
  };
  for (const Need& need : step.needs) {
    const Step& other = flow.steps[need.step];
    const bool so =
        event.how == StepState::skipped ? other.how == StepState::skipped : went_badly(other.how);
    if (names(other) && so && !enough(need, other.how)) return {};
  }
  if (event.how == StepState::blocked && flow.fail_fast) {
    for (const Step& other : flow.steps) {
      if (names(other) && (other.how == StepState::failed || other.how == StepState::cancelled))
        return {};
    }
  }
  return "for a reason that is none: " + event.message;
}

std::string Steps::unreal(const Flow& flow, const Step& step, const core::StepsEnded& event) {
  const StepState how = event.how;
  switch (step.phase) {
    case Phase::over:
      return "a second time";
    case Phase::running:
      if (!step.fed || !step.jobs.empty()) return "while its job runs";
      if (how == StepState::cancelled && step.stopped) return {};
      if (how == StepState::cancelled) return unreal_fall(flow, step, event);
      if (how == StepState::succeeded && step.collected) return "before it was collected";
      return how == StepState::succeeded || how == StepState::failed ? "" : "although it had begun";
    case Phase::idle:
      if (how == StepState::succeeded || how == StepState::failed) return "without having begun";
      return unreal_fall(flow, step, event);
    case Phase::preparing:
    case Phase::collecting:
      if (how == StepState::blocked) return "although it had begun";
      if (how == StepState::cancelled) return unreal_fall(flow, step, event);
      if (how == StepState::skipped && step.phase == Phase::collecting) return "after it has run";
      if (how == StepState::succeeded && step.phase == Phase::preparing && !event.reused.workflow)
        return "without having run";
      return {};
    case Phase::finished:
      break;
  }
  const StepState expected = step.outcome == Outcome::succeeded   ? StepState::succeeded
                             : step.outcome == Outcome::cancelled ? StepState::cancelled
                                                                  : StepState::failed;
  if (how != expected) return std::string("although its job ended as ") + enum_name(step.outcome);
  if (how == StepState::succeeded && step.collected && !flow.cancelled)
    return "before it was collected";
  return {};
}

void Steps::steps_ended(const core::StepsEnded& event) {
  Flow* flow = alive(event.id, "has steps that end");
  if (!flow) return;
  if (!is_end(event.how)) return broke("steps end as what is no end");
  for (const Interval& range : event.steps.ranges()) {
    for (uint64_t i = range.first; i <= range.last; ++i) {
      const core::StepRef ref{event.id, static_cast<uint32_t>(i)};
      Step* step = step_of(ref, "ends");
      if (!step) return;
      if (const std::string why = unreal(*flow, *step, event); !why.empty())
        return broke(name_of(ref) + " ends as " + enum_name(event.how) + " " + why);
      step->phase = Phase::over;
      step->how = event.how;
    }
  }
}

void Steps::reopened(const core::StepsReopened& event) {
  Flow* flow = alive(event.id, "has steps that are reopened");
  if (!flow) return;
  flow->cancelled = false;
  for (uint32_t i = 0; i < flow->steps.size(); ++i) {
    const Step& step = flow->steps[i];
    if (event.steps.contains(i) && step.phase != Phase::over)
      return broke(name_of({event.id, i}) + " is reopened and has not ended");
    if (event.steps.contains(i) || step.phase == Phase::idle) continue;
    for (const Need& need : step.needs) {
      if (event.steps.contains(need.step))
        return broke(name_of({event.id, i}) + " goes on with what " + flow->steps[need.step].name +
                     " left before it was reopened");
    }
  }
  for (const Interval& range : event.steps.ranges()) {
    for (uint64_t i = range.first; i <= range.last; ++i) {
      flow->steps[i].phase = Phase::idle;
      flow->steps[i].job = {};
    }
  }
}

bool Steps::tolerated(const Flow& flow, uint32_t step) {
  bool any = false, all = true;
  for (const Step& other : flow.steps) {
    for (const Need& need : other.needs) {
      if (need.step != step) continue;
      any = true;
      all = all && need.can_fail;
    }
  }
  return any && all;
}

Outcome Steps::outcome_of(const Flow& flow) {
  if (flow.cancelled) return Outcome::cancelled;
  Outcome outcome = Outcome::succeeded;
  for (uint32_t i = 0; i < flow.steps.size(); ++i) {
    const StepState how = flow.steps[i].how;
    if ((how != StepState::failed && how != StepState::cancelled) || tolerated(flow, i)) continue;
    if (how == StepState::failed) return Outcome::failed;
    outcome = Outcome::cancelled;
  }
  return outcome;
}

void Steps::workflow_ended(const core::WorkflowEnded& event) {
  Flow* flow = alive(event.id, "ends");
  if (!flow) return;
  const std::string name = "workflow " + to_string(event.id);
  core::StepTally tally{};
  for (const Step& step : flow->steps) {
    if (step.phase != Phase::over)
      return broke(name + " ends although step " + step.name + " has not ended");
    ++tally[static_cast<size_t>(step.how)];
  }
  if (tally != event.tally) return broke(name + " ends with a wrong count of its steps");
  // Not all of its steps arrived: that is an end of its own.
  const Outcome expected = flow->sealed ? outcome_of(*flow) : Outcome::cancelled;
  if (event.outcome != expected)
    return broke(name + " ended as " + enum_name(event.outcome) + " although its steps say " +
                 enum_name(expected));
  flow->over = true;
  ended_now_.push_back(event.id);
}

void Steps::workflow_reopened(const core::WorkflowReopened& event) {
  const core::Workflow& again = event.workflow;
  const auto found = flows_.find(again.id);
  const std::string name = "workflow " + to_string(again.id);
  if (found == flows_.end() || !found->second.over)
    return broke(name + " is reopened and has not ended");
  Flow& flow = found->second;
  if (again.steps.size() != flow.steps.size())
    return broke(name + " is reopened with other steps than it had");
  for (uint32_t i = 0; i < flow.steps.size(); ++i) {
    const Step& was = flow.steps[i];
    if (again.steps[i].name != was.name || again.steps[i].state != was.how ||
        again.steps[i].job != was.job)
      return broke(name_of({again.id, i}) + " is reopened as something else than it was");
  }
  flow.over = flow.cancelled = flow.paused = false;
  flow.sealed = true;
}

// Nothing of a workflow that has ended runs, neither as the journal has it nor as the sites do.
void Steps::committed(uint64_t, const core::State&) {
  for (const WorkflowId id : ended_now_) {
    for (const auto& [job, of] : jobs_) {
      if (of.workflow == id && !ended_.contains(job))
        broke("job " + to_string(job) + " goes on although workflow " + to_string(id) + " ended");
    }
    for (const AttemptId attempt : running_) {
      if (jobs_.at(attempt.job).workflow == id)
        broke(to_string(attempt) + " runs although workflow " + to_string(id) + " has ended");
    }
  }
  ended_now_.clear();
}

void Steps::began(const RunBegan& run) {
  const auto of = jobs_.find(run.attempt.job);
  if (of == jobs_.end()) return;
  running_.insert(run.attempt);
  if (flows_.at(of->second.workflow).over)
    return broke(to_string(run.attempt) + " begins after its workflow has ended");
  if (run.payload.empty()) return;
  if (digest_of(payload_number(run.payload)) != payloads_.at(run.attempt.job))
    broke(to_string(run.attempt) + " runs " + run.payload + ", which is not what its step runs");
}

void Steps::settled(const Glimpse&) {
  for (const auto& [id, flow] : flows_) {
    if (flow.over) continue;
    for (const Step& step : flow.steps) {
      if (step.phase != Phase::over)
        return broke("workflow " + to_string(id) + " hangs: step " + step.name +
                     (step.phase == Phase::idle ? " has not begun" : " has not ended"));
    }
    return broke("workflow " + to_string(id) + " hangs although all of its steps have ended");
  }
}

}  // namespace atl::sim
