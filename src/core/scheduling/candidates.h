// Stage one: whose work could be placed at all. Namespaces that have used up what they may are left
// out before anybody looks at their jobs.
#pragma once

#include "core/scheduling/world.h"

namespace atl::core::scheduling {

struct Candidate {
  NamespaceId ns;
  const std::map<UserId, Queues>* users = nullptr;  // never empty
};

// With `own_only` those that have something of their own quota left.
std::vector<Candidate> candidates(const World& world, Tier tier, bool own_only = false);

}  // namespace atl::core::scheduling
