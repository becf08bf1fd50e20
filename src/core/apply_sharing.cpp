// Cohorts, quotas and stakes: what changes them changes every sum above them.
#include "base/check.h"
#include "core/application.h"
#include "core/cohorts.h"
#include "core/index.h"

namespace atl::core {
namespace {

void advance_tiers(State& state, Account& account, const Account& like) {
  for (const auto& [tier, meter] : like) advance(account[tier], state.now, state.policy.half_life);
}

// Before somebody with this account joins or leaves the cohort.
void advance_cohorts(State& state, CohortId id, const Account& account) {
  for_each_cohort(state, id,
                  [&](Cohort& cohort) { advance_tiers(state, cohort.account, account); });
}

}  // namespace

void Application::operator()(const QuotaSet& e) {
  state_.namespaces.at(e.id).quota = e.quota;
  count_cohorts(state_);
}

void Application::operator()(const CohortSet& e) {
  if (e.id.value > state_.counters.cohort) state_.counters.cohort = e.id.value;
  Cohort& cohort = state_.cohorts[e.id];
  const Account account = cohort.account;
  advance_cohorts(state_, cohort.stake.cohort, account);
  advance_cohorts(state_, e.stake.cohort, account);
  cohort.id = e.id;
  cohort.name = e.name;
  cohort.quota = e.quota;
  cohort.stake = e.stake;
  state_.cohort_names[e.name] = e.id;
  count_cohorts(state_);
}

void Application::operator()(const CohortDeleted& e) {
  const auto it = state_.cohorts.find(e.id);
  CHECK(it != state_.cohorts.end() && member_quotas(state_, e.id).empty(),
        "cohort to delete is absent or has members");
  state_.cohort_names.erase(it->second.name);
  state_.cohorts.erase(it);
  count_cohorts(state_);
}

void Application::operator()(const StakeSet& e) {
  Namespace& ns = state_.namespaces.at(e.id);
  advance_cohorts(state_, ns.stake.cohort, ns.account);
  advance_cohorts(state_, e.stake.cohort, ns.account);
  ns.stake = e.stake;
  count_cohorts(state_);
}

void Application::operator()(const ReservationMade& e) {
  const ReservationId id = e.reservation.id;
  if (id.value > state_.counters.reservation) state_.counters.reservation = id.value;
  state_.reservations[id] = e.reservation;
}

void Application::operator()(const PolicySet& e) {
  const auto settle = [&](Account& account) { advance_tiers(state_, account, account); };
  for (auto& [id, ns] : state_.namespaces) {
    settle(ns.account);
    for (auto& [user, account] : ns.user_accounts) settle(account);
  }
  for (auto& [id, cohort] : state_.cohorts) settle(cohort.account);
  state_.policy = e.policy;
  state_.backlog.clear();
  for (const auto& [id, job] : state_.jobs) index_ready(state_, job);
}

}  // namespace atl::core
