#include "sim/checkers/shares.h"

#include <algorithm>
#include <cmath>

#include "base/overloaded.h"

namespace atl::sim {
namespace {

// Every namespace has work that could start, and only room is in the way.
bool all_backlogged(const core::State& state) {
  if (state.namespaces.size() < 2 || state.shapes.size() != 1) return false;
  if (!state.reservations.empty() || !state.calendar.entries.empty()) return false;
  for (const auto& [id, cohort] : state.cohorts) {
    if (cohort.quota != core::Quota{}) return false;
  }
  for (const auto& [id, ns] : state.namespaces) {
    if (ns.quota != core::Quota{} || ns.jobs == 0) return false;
    const auto waits = [&, ns_id = id](const auto& entry) {
      return entry.second.ns == ns_id && entry.second.ready();
    };
    if (std::none_of(state.jobs.begin(), state.jobs.end(), waits)) return false;
  }
  return true;
}

bool changes_weights(const core::EventBody& body) {
  return std::holds_alternative<core::StakeSet>(body) ||
         std::holds_alternative<core::CohortSet>(body) ||
         std::holds_alternative<core::PolicySet>(body) ||
         std::holds_alternative<core::NamespaceCreated>(body);
}

// Of all that belongs directly to the cohort, or to none.
double weights_in(const core::State& state, CohortId cohort) {
  double sum = 0;
  for (const auto& [id, ns] : state.namespaces) {
    if (ns.stake.cohort == cohort) sum += ns.stake.weight_milli;
  }
  for (const auto& [id, other] : state.cohorts) {
    const bool has_members =
        std::any_of(state.namespaces.begin(), state.namespaces.end(),
                    [&, at = id](const auto& entry) { return entry.second.stake.cohort == at; });
    if (other.stake.cohort == cohort && has_members) sum += other.stake.weight_milli;
  }
  return sum;
}

}  // namespace

double part_of(const core::State& state, NamespaceId id) {
  const core::Stake* stake = &state.namespaces.at(id).stake;
  double part = 1;
  for (;;) {
    part *= stake->weight_milli / weights_in(state, stake->cohort);
    if (!stake->cohort) return part;
    stake = &state.cohorts.at(stake->cohort).stake;
  }
}

void Shares::recorded(uint64_t, const core::Event& event, const core::State& after) {
  advance(event.at);
  match(
      event.body, [&](const core::TaskPlaced& e) { hold(e, after); },
      [&](const core::TaskEnded& e) { release(e.attempt); },
      [&](const core::TaskRetried& e) { release(e.attempt); }, [](const auto&) {});
  const bool backlogged = after.shapes.size() == 1 && all_backlogged(after);
  if (!backlogged || changes_weights(event.body)) {
    since_ = {};
    return;
  }
  if (!since_) {
    since_ = event.at;
    used_.clear();
    check_at_ = since_ + after.policy.half_life * kHalfLives;
  }
  if (event.at >= check_at_) check(after, event.at);
}

void Shares::advance(Time to) {
  const double seconds = to > at_ && at_ ? static_cast<double>((to - at_).us) / 1e6 : 0;
  at_ = std::max(at_, to);
  if (!since_) return;
  for (const auto& [ns, cpu_milli] : in_use_)
    used_[ns] += static_cast<double>(cpu_milli) / 1000 * seconds;
}

void Shares::hold(const core::TaskPlaced& placed, const core::State& after) {
  const core::Job& job = *after.job(placed.attempt.job);
  const Held held{job.ns, after.terms_of(job).resources.cpu_milli, placed.behind};
  held_[placed.attempt] = held;
  if (!held.behind) in_use_[held.ns] += held.cpu_milli;
}

void Shares::release(AttemptId attempt) {
  const auto found = held_.extract(attempt);
  if (!found) return;
  const auto leader = found.mapped().behind;
  if (!leader) in_use_[found.mapped().ns] -= found.mapped().cpu_milli;
  for (auto& [other, held] : held_) {
    if (held.behind != attempt) continue;
    held.behind = leader;
    if (!leader) in_use_[held.ns] += held.cpu_milli;
  }
}

void Shares::check(const core::State& state, Time at) {
  check_at_ = at + state.policy.half_life;
  double sum = 0;
  for (const auto& [ns, used] : used_) sum += used;
  // Where few tasks fill the platform, shares can be no finer than they are.
  const double grain = static_cast<double>(state.shapes.begin()->second.shape.resources.cpu_milli) /
                       static_cast<double>(std::max<int64_t>(1, state.capacity.cpu_milli));
  for (const auto& [id, ns] : state.namespaces) {
    const double got = sum > 0 ? used_[id] / sum : 0;
    if (std::abs(got - part_of(state, id)) <= kOffMax + grain / 2) continue;
    broke("namespace " + ns.name + " has used " + std::to_string(got) + " of the platform since " +
          format_time(since_) + ", by its weight it is " + std::to_string(part_of(state, id)));
  }
}

}  // namespace atl::sim
