// The life of a step that goes through a queue.
#include "base/check.h"
#include "core/application.h"
#include "core/index.h"

namespace atl::core {

Feed& Application::feed(StepRef step) {
  const auto found = workflow(step.workflow).feeds.find(step.step);
  CHECK(found != workflow(step.workflow).feeds.end(),
        "step " + std::to_string(step.step) + " of workflow " + to_string(step.workflow) +
            " goes through no queue");
  return found->second;
}

void Application::operator()(const StepFeeding& e) {
  Feed& target = feed(e.step);
  target = Feed{.terms = target.terms};
  target.queue = e.queue;
  target.payload = e.payload;
  target.use.queued = at_;
  move_step(e.step, StepState::running);
}

void Application::operator()(const FeedStopped& e) {
  Feed& target = feed(e.step);
  target.stopped = true;
  target.reason = e.reason;
  index_workflow(state_, workflow(e.step.workflow));
}

void Application::operator()(const FedJobCollecting& e) {
  const auto job = feed(e.step).jobs.find(e.job);
  CHECK(job != feed(e.step).jobs.end(), "job " + to_string(e.job) + " is of no step that is fed");
  job->second.collecting = true;
  effects_.push_back(
      CollectStep{e.step, workflow(e.step.workflow).steps[e.step.step].recipe, e.job, 0, {}});
}

void Application::operator()(const FedJobEnded& e) {
  Feed& target = feed(e.step);
  CHECK(target.jobs.erase(e.job) == 1, "job " + to_string(e.job) + " is of no step that is fed");
  target.done += e.done;
  target.given_back += e.given_back;
  target.dead += e.dead;
  index_workflow(state_, workflow(e.step.workflow));
}

void Application::charge_feed(const Job& job, const AttemptResult& result) {
  if (!job.of.workflow || result.cause == EndCause::recalled) return;
  if (!workflow::feed_of(state_, job.id)) return;
  FeedUse& use = feed(job.of).use;
  ++use.attempts;
  add_up(use.usage, result.usage);
}

}  // namespace atl::core
