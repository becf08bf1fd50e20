// Who has what is waited for, since when, and until when at the latest.
#pragma once

#include <vector>

#include "core/scheduling/filter.h"

namespace atl::core::scheduling {

struct HeldBy {
  NamespaceId ns;
  int64_t amount = 0;    // in the unit of the block
  int64_t borrowed = 0;  // of that
  Time since;            // when the first of it was taken
  Time until;            // when all of it has come free at the latest; zero: nobody knows
};

// Whether the namespace belongs to the cohort, or to one below it.
bool below(const State& state, NamespaceId ns, CohortId cohort);

struct Holders {
  std::vector<HeldBy> all;  // those who have most come first
  int64_t sum = 0;          // of what they have
  Time enough_by;           // when as much as is lacking is free at the latest; zero: nobody knows
};

// For a block by capacity, on its node, by quota or by the calendar; the same amounts that the
// block speaks of.
Holders holders_of(const World& world, const Job& job, const Terms& terms, const Block& block);

}  // namespace atl::core::scheduling
