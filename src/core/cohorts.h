// The tree of cohorts: institute, group, project. What a member leaves unused of its quota the
// others may borrow; so each level is counted with all that is below it.
#pragma once

#include "core/state.h"

namespace atl::core {

// From the namespace's own cohort up to the root.
template <class AnyState, class Fn>
void for_each_cohort(AnyState& state, CohortId id, Fn fn) {
  while (id) {
    auto& cohort = state.cohorts.at(id);
    fn(cohort);
    id = cohort.stake.cohort;
  }
}

// What cohorts are sure of and use, from that of their members; call after a quota or a stake
// changes.
void count_cohorts(State& state);

bool holds(const Quota& nominal, const InUse& in_use);
// Whether the namespace uses more than it is sure of.
bool borrows(const Namespace& ns);

// The first amount that `quotas` together exceed in `limit`, with both: "cpu (12, and it has 8)";
// empty when they fit. Where one of them is not limited, nothing is sure, and that is no
// excess.
std::string exceeded(const std::vector<const Quota*>& quotas, const Quota& limit);

// The quotas of everything that belongs to the cohort itself, without what is further down.
std::vector<const Quota*> member_quotas(const State& state, CohortId cohort);

}  // namespace atl::core
