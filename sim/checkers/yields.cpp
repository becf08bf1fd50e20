#include "sim/checkers/yields.h"

#include "base/overloaded.h"

namespace atl::sim {
namespace {

// In the promise's own words: more in use than the quota says.
bool has_borrowed(const core::Namespace& ns) {
  const core::Quota& quota = ns.quota;
  if (!ns.stake.cohort) return false;
  bool more = quota.cpu_milli && ns.in_use.cpu_milli > *quota.cpu_milli;
  more |= quota.memory_bytes && ns.in_use.memory_bytes > *quota.memory_bytes;
  more |= quota.running && ns.in_use.tasks > *quota.running;
  for (const auto& [key, count] : quota.devices) {
    const auto used = ns.in_use.devices.find(key);
    more |= used != ns.in_use.devices.end() && used->second > int64_t{count} * 1000;
  }
  return more;
}

}  // namespace

void Yields::recorded(uint64_t, const core::Event& event, const core::State& after) {
  match(
      event.body, [&](const core::TaskStopping& e) { stopping(event, e, after); },
      [&](const core::TaskRetried& e) { came_back(event, e, after); },
      [&](const core::TaskPlaced& e) { in_vain_.erase(e.attempt.job); },
      [&](const core::TaskEnded& e) { told_.erase(e.attempt); }, [](const auto&) {});
}

void Yields::stopping(const core::Event& event, const core::TaskStopping& stop,
                      const core::State& after) {
  if (stop.reason != core::StopReason::yielded) {
    told_.erase(stop.attempt);  // somebody cancels it all the same
    return;
  }
  const std::string name = to_string(stop.attempt);
  const core::Job& job = *after.job(stop.attempt.job);
  const core::Terms& terms = after.terms_of(job);
  const core::Namespace& ns = after.namespaces.at(job.ns);
  if (terms.tier != core::Tier::opportunistic && !has_borrowed(ns))
    broke(name + " has to yield, but is neither opportunistic nor on borrowed room");
  if (stop.grace != terms.grace) broke(name + " is not given its own grace");
  const core::Job* other = after.job(stop.beneficiary);
  if (!other) return broke(name + " has to yield to nobody");
  if (after.terms_of(*other).tier == core::Tier::opportunistic)
    broke(name + " has to yield to opportunistic work");
  if (!told_.emplace(stop.attempt, Told{event.at, stop.grace}).second)
    broke(name + " is told twice");
  if (++in_vain_[stop.beneficiary][stop.attempt.task()] > kTimesMax)
    broke(name + " makes room for job " + to_string(stop.beneficiary) +
          " again and again, which does not start");
}

void Yields::ended(const RunEnded& run) {
  const auto told = told_.find(run.attempt);
  if (told != told_.end()) told->second.over = true;
}

void Yields::came_back(const core::Event& event, const core::TaskRetried& retried,
                       const core::State& after) {
  const auto told = told_.extract(retried.attempt);
  if (retried.reason != core::RetryReason::yielded) return;
  const std::string name = to_string(retried.attempt);
  if (!told) return broke(name + " comes back as one that yields, but was not told to");
  const core::Job* job = after.job(retried.attempt.job);
  if (!job || !job->waiting.contains(retried.attempt.index))
    return broke(name + " does not wait again");
  if (retried.not_before > event.at) broke(name + " is made to pause");
  if (!job->yielded.contains(retried.attempt.index)) broke(name + " does not come first");
}

}  // namespace atl::sim
