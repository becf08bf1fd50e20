// What decide may not see by itself: facts about ended things, looked up and put into the input.
#include <algorithm>

#include "core/authorize.h"
#include "runtime/runtime.h"

namespace atl::runtime {
namespace {

constexpr size_t kAttemptsPage = 10'000;

struct LastAttempt {
  uint32_t number = 0;
  core::Outcome outcome = core::Outcome::succeeded;
};
using LastAttempts = std::map<uint32_t, LastAttempt>;

Result<LastAttempts> last_attempts(journal::History& history, JobId job) {
  LastAttempts last;
  AttemptId after;
  for (;;) {
    const auto page = history.attempts(job, after, kAttemptsPage);
    if (!page) return tl::unexpected(page.error());
    for (const journal::EndedAttempt& each : *page) {
      last[each.attempt.index] = {each.attempt.attempt, each.outcome};
    }
    if (page->size() < kAttemptsPage) return last;
    after = page->back().attempt;
  }
}

// How an index ended: as it was told while it waited, else as its last attempt.
std::optional<core::Outcome> outcome_of(const core::Job& job, uint32_t index,
                                        const LastAttempts& last) {
  for (const auto& [outcome, indices] : job.unplaced) {
    if (indices.contains(index)) return outcome;
  }
  const auto known = last.find(index);
  return known == last.end() ? std::nullopt : std::optional(known->second.outcome);
}

// What shall run again: the index named, else every one that did not succeed; a job that is no
// array has only one.
IntervalSet indices_again(const core::Job& job, const LastAttempts& last,
                          std::optional<uint32_t> only) {
  IntervalSet again;
  if (only) {
    if (outcome_of(job, *only, last)) again.add(*only);
    return again;
  }
  for (const auto& [outcome, indices] : job.unplaced) {
    for (const Interval& range : indices.ranges()) again.add(range);
  }
  for (const auto& [index, attempt] : last) {
    if (!job.array || attempt.outcome != core::Outcome::succeeded) again.add(index);
  }
  return again;
}

// Moves the indices from what is over to what shall run, with the number of attempts each had.
void reopen_indices(const core::Job& job, const LastAttempts& last, core::JobReopened& reopened) {
  reopened.tally.assign(job.tally.begin(), job.tally.end());
  reopened.unplaced = job.unplaced;
  for (const Interval& range : reopened.job.indices.ranges()) {
    for (uint64_t i = range.first; i <= range.last; ++i) {
      const auto index = static_cast<uint32_t>(i);
      const auto known = last.find(index);
      reopened.attempts.push_back(known == last.end() ? 0 : known->second.number);
      --reopened.tally[static_cast<size_t>(*outcome_of(job, index, last))];
    }
    for (auto& [outcome, indices] : reopened.unplaced) indices.remove(range);
  }
  for (auto it = reopened.unplaced.begin(); it != reopened.unplaced.end();) {
    it = it->second.empty() ? reopened.unplaced.erase(it) : std::next(it);
  }
  while (!reopened.attempts.empty() && reopened.attempts.back() == 0) reopened.attempts.pop_back();
}

// A workflow as it was when it ended, from what was kept of it.
Result<core::Workflow> ended_workflow(journal::History& history, WorkflowId id) {
  constexpr size_t kPage = 10'000;
  const auto kept = history.workflow(id);
  if (!kept) return tl::unexpected(kept.error());
  auto kinds = history.step_kinds(id);
  if (!kinds) return tl::unexpected(kinds.error());
  core::Workflow again;
  again.id = id;
  again.ns = kept->ns;
  again.user = kept->user;
  again.name = kept->name;
  again.submitted = kept->submitted;
  again.touched = kept->ended;
  again.sealed = true;
  again.fail_fast = kept->fail_fast;
  again.parallel_max = kept->parallel_max;
  again.lane = kept->lane;
  again.overlap = kept->overlap;
  again.origin = kept->origin;
  again.time_limit = kept->time_limit;
  again.kinds = std::move(*kinds);
  for (;;) {
    const auto page = history.steps(id, static_cast<uint32_t>(again.steps.size()), kPage);
    if (!page) return tl::unexpected(page.error());
    for (const journal::KeptStep& each : *page) {
      core::workflow::add_step(again, each.step);
      again.steps.back().job = each.job;
    }
    for (const journal::KeptStep& each : *page)
      core::workflow::advance(again, each.number, each.state.value_or(core::StepState::cancelled));
    if (page->size() < kPage) return again;
  }
}

}  // namespace

Result<std::vector<JobId>> Runtime::known_keys(const Turn& turn, const core::Request& request) {
  std::vector<JobId> known;
  bool same = true;  // as far as what they run tells
  const auto* submit = std::get_if<core::SubmitJobs>(&request.command);
  if (!submit) return known;
  for (const core::SubmitJob& job : submit->jobs) {
    if (job.key.empty()) continue;
    const auto recent = turn.keys.find({request.actor.user, job.key});
    std::optional<JobId> first;
    if (recent != turn.keys.end()) {
      first = recent->second;
    } else {
      const auto stored = history_.job_for_key(request.actor.user, job.key);
      if (!stored) return tl::unexpected(stored.error());
      first = *stored;
    }
    if (!first) continue;
    known.push_back(*first);
    // One that ends in this very turn is neither live nor in history yet.
    const std::optional<Digest> ran = payload_of(*first);
    same = same && (!ran || *ran == job.payload);
  }
  if (known.empty() || (same && known.size() == submit->jobs.size())) return known;
  return fail(ErrorCode::conflict, "the idempotency key was used for another submission", "key");
}

std::optional<Digest> Runtime::payload_of(JobId id) {
  if (const core::Job* live = state_.job(id)) return live->payload;
  const auto ended = history_.job(id);
  return ended ? std::optional(ended->job.payload) : std::nullopt;
}

Result<void> Runtime::complete_retry(core::RetryWorkflow& retry) {
  retry.ended.reset();
  if (state_.workflow(retry.id)) return {};
  auto ended = ended_workflow(history_, retry.id);
  if (!ended) return tl::unexpected(ended.error());
  retry.ended = std::move(*ended);
  return {};
}

Result<void> Runtime::complete(core::Request& request) {
  if (auto* retry = std::get_if<core::RetryWorkflow>(&request.command))
    return complete_retry(*retry);
  if (auto* submit = std::get_if<core::SubmitJobs>(&request.command)) {
    for (core::SubmitJob& job : submit->jobs) {
      for (core::Dependency& dependency : job.dependencies) {
        dependency.outcome.reset();
        if (state_.job(dependency.job)) continue;
        const auto ended = history_.job(dependency.job);
        if (ended && core::may_view(state_, request.actor, ended->job.ns))
          dependency.outcome = ended->outcome;
      }
    }
  }
  if (auto* requeue = std::get_if<core::RequeueJob>(&request.command)) {
    requeue->ended.reset();
    if (state_.job(requeue->id)) return {};
    const auto ended = history_.job(requeue->id);
    if (!ended || !core::may_view(state_, request.actor, ended->job.ns))
      return fail(ErrorCode::not_found, "there is no job " + to_string(requeue->id), "id");
    const core::Job& job = ended->job;
    core::JobReopened reopened;
    reopened.job = {job.id, job.ns, job.user,   job.name, ended->terms, job.payload, job.array,
                    {},     {},     job.labels, false,    job.notify,   {},          job.of};
    reopened.submitted = job.submitted;
    const auto last = last_attempts(history_, job.id);
    if (!last) return tl::unexpected(last.error());
    reopened.job.indices = ended->terms.gang > 0 ? IntervalSet({0, ended->terms.gang - 1})
                                                 : indices_again(job, *last, requeue->index);
    reopen_indices(job, *last, reopened);
    requeue->ended = std::move(reopened);
  }
  return {};
}

}  // namespace atl::runtime
