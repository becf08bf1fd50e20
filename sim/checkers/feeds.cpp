#include "sim/checkers/feeds.h"

#include "base/overloaded.h"

namespace atl::sim {
namespace {

std::string name_of(JobId job) { return "job " + to_string(job); }

}  // namespace

void Feeds::recorded(uint64_t, const core::Event& event, const core::State& after) {
  match(
      event.body, [&](const core::ItemsLeased& e) { leased(e); },
      [&](const core::JobSubmitted& e) { submitted(e); },
      [&](const core::FedJobEnded& e) { over(e); },
      [&](const core::ItemsFinished& e) { left(e.lease, e.items, true); },
      [&](const core::ItemsReturned& e) { left(e.lease, e.items, false); },
      [&](const core::ItemsBuried& e) { left(e.lease, e.items, false); },
      [&](const core::StepFeeding& e) { done_[e.step] = 0; },
      [&](const core::StepsEnded& e) { check_counts(e, after); },
      [&](const core::StepsReopened& e) {
        std::erase_if(done_, [&](const auto& each) {
          return each.first.workflow == e.id && e.steps.contains(each.first.step);
        });
      },
      [](const auto&) {});
}

void Feeds::leased(const core::ItemsLeased& event) {
  if (!event.job) return;
  if (event.until) broke("the lease of " + name_of(event.job) + " runs out by itself");
  if (!works_.try_emplace(event.job, Work{{}, event.queue, event.lease, event.items}).second)
    return broke(name_of(event.job) + " gets a second lease");
  leases_[event.lease] = event.job;
  touched_.insert(event.job);
}

void Feeds::submitted(const core::JobSubmitted& event) {
  if (!event.lease) return;
  const auto work = works_.find(event.id);
  if (work == works_.end() || work->second.lease != event.lease)
    return broke(name_of(event.id) + " is submitted for a lease that is not its own");
  work->second.submitted = true;
  work->second.step = event.of;
}

void Feeds::over(const core::FedJobEnded& event) {
  const auto work = works_.find(event.job);
  if (work == works_.end() || work->second.over)
    return broke(name_of(event.job) + " is over for a second time, or never began");
  work->second.over = true;
  work->second.done = event.done;
  done_[event.step] += event.done;
  touched_.insert(event.job);
  if (!event.outputs.empty() && event.done == 0)
    broke(name_of(event.job) + " leaves something of items that are not done");
  if (event.done == 0) return;
  core::for_each_item(event.items, [&](ItemId item) {
    if (!effects_.insert({work->second.queue, item}).second)
      broke("what was done with item " + std::to_string(item.value) + " counts twice");
  });
}

void Feeds::left(LeaseId lease, const Items& items, bool finished) {
  const auto job = leases_.find(lease);
  if (job == leases_.end()) return;
  works_.at(job->second).released = true;
  if (finished) works_.at(job->second).finished += core::count_of(items);
  touched_.insert(job->second);
}

void Feeds::check_over(JobId job, const Work& work) {
  if (!work.submitted) broke(name_of(job) + " has a lease and was never submitted");
  if (work.over && !work.released) broke(name_of(job) + " is over and keeps its items");
  if (work.released && !work.over) broke(name_of(job) + " lost its items and goes on");
  if (work.over && work.done != work.finished)
    broke(name_of(job) + " says that " + std::to_string(work.done) + " items are done, and " +
          std::to_string(work.finished) + " are");
  if (!work.over) return;
  for (const AttemptId attempt : running_) {
    if (attempt.job == job) broke(to_string(attempt) + " runs although its lease is over");
  }
}

void Feeds::committed(uint64_t, const core::State&) {
  for (const JobId job : touched_) check_over(job, works_.at(job));
  touched_.clear();
}

void Feeds::began(const RunBegan& run) {
  const auto work = works_.find(run.attempt.job);
  if (work == works_.end()) return;
  running_.insert(run.attempt);
  if (work->second.over) return broke(to_string(run.attempt) + " begins after its lease is over");
  std::string items;
  std::set<uint64_t> sorted;
  core::for_each_item(work->second.items, [&](ItemId item) { sorted.insert(item.value); });
  for (const uint64_t item : sorted) items += (items.empty() ? "" : ",") + std::to_string(item);
  if (run.items != items)
    broke(to_string(run.attempt) + " was given items " + run.items + " and leased " + items);
}

void Feeds::check_counts(const core::StepsEnded& event, const core::State& after) {
  for (const auto& [ref, done] : done_) {
    if (ref.workflow != event.id || !event.steps.contains(ref.step)) continue;
    const core::Workflow* flow = after.workflow(ref.workflow);
    if (flow && flow->feeds.at(ref.step).done != done)
      broke("step " + std::to_string(ref.step) + " of workflow " + to_string(ref.workflow) +
            " miscounts the items that are done");
  }
}

}  // namespace atl::sim
