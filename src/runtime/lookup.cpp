// What decide may not see by itself: facts about ended things, looked up and put into the input.
#include <algorithm>

#include "core/authorize.h"
#include "runtime/runtime.h"

namespace atl::runtime {
namespace {

constexpr size_t kAttemptsPage = 10'000;

// The last attempt of every index that did not succeed, which is what runs again; with `only`, that
// index alone.
Result<void> collect_unfinished(journal::History& history, const journal::EndedJob& ended,
                                std::optional<uint32_t> only, core::JobReopened& reopened) {
  std::map<uint32_t, uint32_t> attempts;
  IntervalSet succeeded;
  AttemptId after;
  for (;;) {
    const auto page = history.attempts(ended.job.id, after, kAttemptsPage);
    if (!page) return tl::unexpected(page.error());
    for (const journal::EndedAttempt& attempt : *page) {
      attempts[attempt.attempt.index] = attempt.attempt.attempt;
      if (!attempt.retried && attempt.outcome == core::Outcome::succeeded)
        succeeded.add(attempt.attempt.index);
    }
    if (page->size() < kAttemptsPage) break;
    after = page->back().attempt;
  }
  for (const auto& [index, count] : attempts) {
    const bool again = only ? *only == index : !ended.job.array || !succeeded.contains(index);
    if (!again) continue;
    reopened.job.indices.add(index);
    reopened.attempts.push_back(count);
  }
  return {};
}

}  // namespace

Result<std::vector<JobId>> Runtime::known_keys(const Turn& turn, const core::Request& request) {
  std::vector<JobId> known;
  const auto* submit = std::get_if<core::SubmitJobs>(&request.command);
  if (!submit) return known;
  for (const core::SubmitJob& job : submit->jobs) {
    if (job.key.empty()) continue;
    const auto recent = turn.keys.find({request.actor.user, job.key});
    if (recent != turn.keys.end()) {
      known.push_back(recent->second);
      continue;
    }
    const auto stored = history_.job_for_key(request.actor.user, job.key);
    if (!stored) return tl::unexpected(stored.error());
    if (*stored) known.push_back(**stored);
  }
  if (known.empty() || known.size() == submit->jobs.size()) return known;
  return fail(ErrorCode::conflict, "the idempotency key was used for another submission", "key");
}

Result<void> Runtime::complete(core::Request& request) {
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
    if (!ended)
      return fail(ErrorCode::not_found, "there is no job " + to_string(requeue->id), "id");
    const core::Job& job = ended->job;
    core::JobReopened reopened;
    reopened.job = {job.id, job.ns, job.user,   job.name, ended->terms, job.payload, job.array,
                    {},     {},     job.labels, false,    job.notify,   {}};
    reopened.submitted = job.submitted;
    if (auto ok = collect_unfinished(history_, *ended, requeue->index, reopened); !ok) return ok;
    // Indices that never had an attempt (cancelled or skipped while waiting) are not recorded one
    // by one.
    if (reopened.job.indices.empty() && !job.array) {
      reopened.job.indices.add(0);
      reopened.attempts.push_back(0);
    }
    const uint64_t again = reopened.job.indices.size();
    reopened.tally.assign(core::kOutcomes, 0);
    uint64_t left = job.size - again;
    for (size_t outcome = 0; outcome < core::kOutcomes; ++outcome) {
      const uint64_t keep = std::min<uint64_t>(left, job.tally[outcome]);
      reopened.tally[outcome] = keep;
      left -= keep;
    }
    requeue->ended = std::move(reopened);
  }
  return {};
}

}  // namespace atl::runtime
