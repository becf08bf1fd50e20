// How a step goes through a queue: what is leased to how many jobs, and what becomes of the items
// of a job that ends.
#include "core/workflow/feed.h"

#include <algorithm>

#include "base/text.h"
#include "core/decide.h"
#include "core/limits.h"
#include "core/queue/lease.h"

namespace atl::core {
namespace {

// What is wrong when the lease of a job is not there: it is ended with its job and by nobody else.
std::vector<ItemRange> items_of(const State& state, const Feed& feed, JobId job) {
  auto items = queue::held(state.queues.at(feed.queue), feed.jobs.at(job).lease, {});
  return items ? std::move(*items) : std::vector<ItemRange>{};
}

void finish_items(const State& state, const Feed& feed, StepRef step, JobId job,
                  std::string outputs, Draft& draft) {
  std::vector<ItemRange> items = items_of(state, feed, job);
  const uint64_t done = count_of(items);
  draft.add(FedJobEnded{step, job, items, done, 0, 0, std::move(outputs)});
  if (done > 0) draft.add(ItemsFinished{feed.queue, feed.jobs.at(job).lease, std::move(items)});
}

void return_items(const State& state, const Feed& feed, StepRef step, JobId job,
                  const queue::ReturnWish& wish, Draft& draft) {
  Draft returned(draft.now(), {});
  const LeaseId lease = feed.jobs.at(job).lease;
  const auto dead = queue::give_back(state.queues.at(feed.queue), lease, {}, wish, returned);
  std::vector<ItemRange> items = items_of(state, feed, job);
  const uint64_t all = count_of(items);
  draft.add(
      FedJobEnded{step, job, std::move(items), 0, all - dead.value_or(0), dead.value_or(0), {}});
  for (Event& event : returned.take()) draft.add(std::move(event.body));
}

// A cut within a letter would not be text any more.
std::string item_message(std::string text) {
  size_t end = std::min<size_t>(text.size(), kItemMessageBytesMax);
  while (end < text.size() && end > 0 && (static_cast<uint8_t>(text[end]) & 0xc0) == 0x80) --end;
  text.resize(end);
  return text;
}

}  // namespace

namespace workflow {

const Feed* feed_of(const State& state, JobId id) {
  const Job* job = state.job(id);
  const Workflow* of = job ? state.workflow(job->of.workflow) : nullptr;
  if (!of || !of->steps[job->of.step].fed) return nullptr;
  const Feed& feed = of->feeds.at(job->of.step);
  return feed.jobs.contains(id) ? &feed : nullptr;
}

const WorkQueue* queue_of(const State& state, const Feed& feed) {
  const auto found = state.queues.find(feed.queue);
  return found == state.queues.end() ? nullptr : &found->second;
}

bool dry(const WorkQueue& queue, const FeedTerms& terms) {
  return queue.left() == 0 && (!terms.until_closed || queue.closed);
}

uint32_t jobs_wanted(const WorkQueue& queue, const Feed& feed) {
  const FeedTerms& terms = feed.terms;
  const uint64_t live = feed.jobs.size();
  const uint64_t full = live + (queue.ready + terms.batch - 1) / terms.batch;
  const uint64_t target = std::clamp<uint64_t>(full, terms.workers_min, terms.workers_max);
  return static_cast<uint32_t>(target > live ? std::min(target - live, queue.ready) : 0);
}

bool feed_due(const State& state, const Workflow& workflow, uint32_t step) {
  if (workflow.steps[step].state != StepState::running) return false;
  const Feed& feed = workflow.feeds.at(step);
  const WorkQueue* queue = queue_of(state, feed);
  const bool over = feed.stopped || workflow.cancelled;
  if (feed.jobs.empty() && (over || !queue || dry(*queue, feed.terms))) return true;
  return !over && !workflow.paused && queue && jobs_wanted(*queue, feed) > 0;
}

std::string counts(const Feed& feed) {
  return "{\"done\":" + std::to_string(feed.done) + ",\"dead\":" + std::to_string(feed.dead) +
         ",\"given_back\":" + std::to_string(feed.given_back) + "}";
}

}  // namespace workflow

void end_fed_job(const State& state, const Job& job, Outcome outcome, const std::string& message,
                 bool with_step, Draft& draft) {
  const Feed* feed = workflow::feed_of(state, job.id);
  if (!feed) return;
  const Workflow& of = *state.workflow(job.of.workflow);
  const bool collected = of.steps[job.of.step].collected;
  const bool stopped = with_step || feed->stopped || of.cancelled;
  if (outcome == Outcome::succeeded && !collected)
    return finish_items(state, *feed, job.of, job.id, {}, draft);
  if (outcome == Outcome::succeeded && !stopped) return draft.add(FedJobCollecting{job.of, job.id});
  // Who cancels one job says something about its items: without an attempt that counts they would
  // come again for ever. A step that is stopped says nothing about them.
  const bool untried = stopped && (outcome == Outcome::cancelled || outcome == Outcome::succeeded);
  const bool more = !message.empty() && message != enum_name(outcome);
  const std::string why =
      "job " + to_string(job.id) + " ended as " + enum_name(outcome) + (more ? ": " + message : "");
  const Duration pause = untried ? Duration{} : state.terms_of(job).retry.backoff;
  return_items(state, *feed, job.of, job.id,
               {ReturnCause::given_back, pause, item_message(why), untried}, draft);
}

void decide_fed_job(const State& state, const StepCollected& report, Draft& draft) {
  const Workflow& of = *state.workflow(report.step.workflow);
  const Feed& feed = of.feeds.at(report.step.step);
  const auto job = feed.jobs.find(report.job);
  if (job == feed.jobs.end() || !job->second.collecting) return;
  if (!report.failed)
    return finish_items(state, feed, report.step, report.job, report.outputs, draft);
  const Terms& terms = of.kinds[of.steps[report.step.step].kind].terms;
  return_items(state, feed, report.step, report.job,
               {ReturnCause::given_back, terms.retry.backoff,
                item_message("job " + to_string(report.job) + ": " + report.message), false},
               draft);
}

void stop_feed(const State& state, const Workflow& of, uint32_t step, const std::string& why,
               Draft& draft) {
  const Feed& feed = of.feeds.at(step);
  if (!feed.stopped) draft.add(FeedStopped{{of.id, step}, why});
  for (const auto& [id, fed] : feed.jobs) {
    if (const Job* job = state.job(id))
      cancel_whole(state, *job, state.terms_of(*job).grace, true, draft);
    else
      return_items(state, feed, {of.id, step}, id,
                   {ReturnCause::given_back, {}, "its step was cancelled", true}, draft);
  }
}

StepFeeding begin_feed(const State& state, const Workflow& of, uint32_t step,
                       const Digest& payload) {
  const WorkQueue* queue = state.queue_named(of.ns, of.feeds.at(step).terms.queue);
  return {{of.id, step}, queue ? queue->id : QueueId{}, payload};
}

uint32_t feed_jobs(const State& state, const Workflow& of, uint32_t step, uint32_t jobs,
                   uint64_t last_job, Draft& draft) {
  const Feed& feed = of.feeds.at(step);
  const WorkQueue& queue = state.queues.at(feed.queue);
  queue::JobsWish wish;
  wish.batch = feed.terms.batch;
  wish.holder = "step " + of.steps[step].name + " of workflow " + to_string(of.id);
  for (uint32_t i = 0; i < std::min(jobs, workflow::jobs_wanted(queue, feed)); ++i)
    wish.jobs.push_back({++last_job});
  const std::vector<LeaseId> leases = queue::lease_to(state, queue, wish, draft);
  for (size_t i = 0; i < leases.size(); ++i) {
    JobSubmitted job =
        job_of_step(state, of, step, wish.jobs[i], feed.payload, false, IntervalSet({0, 0}), {});
    job.terms.parallel_max = 0;
    job.lease = leases[i];
    draft.add(std::move(job));
  }
  return static_cast<uint32_t>(leases.size());
}

}  // namespace atl::core
