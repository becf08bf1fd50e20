#include "core/scheduling/candidates.h"

#include "core/scheduling/filter.h"

namespace atl::core::scheduling {

std::vector<Candidate> candidates(const World& world, Tier tier) {
  std::vector<Candidate> found;
  const auto waiting = world.state->backlog.find(tier);
  if (waiting == world.state->backlog.end()) return found;
  for (const auto& [ns, users] : waiting->second) {
    if (!over_quota(world, ns, world.smallest)) found.push_back({ns, &users});
  }
  return found;
}

}  // namespace atl::core::scheduling
