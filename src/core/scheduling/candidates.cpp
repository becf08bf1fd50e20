#include "core/scheduling/candidates.h"

#include "core/scheduling/filter.h"

namespace atl::core::scheduling {

namespace {

// Whether the namespace has work of its own that makes room for the rest.
bool yields_itself(const World& world, NamespaceId id) {
  const Account& account = world.state->namespaces.at(id).account;
  const auto meter = account.find(Tier::opportunistic);
  return meter != account.end() && meter->second.now != Amounts{};
}

}  // namespace

std::vector<Candidate> candidates(const World& world, Tier tier, bool own_only) {
  std::vector<Candidate> found;
  const auto waiting = world.state->backlog.find(tier);
  if (waiting == world.state->backlog.end()) return found;
  for (const auto& [ns, users] : waiting->second) {
    if (own_only && would_borrow(world, ns, world.smallest.resources)) continue;
    // As long as others yield, what they have is not lost for good.
    const bool used_up =
        (own_only ? world.some_yield : world.some_yield_to_all)
            ? over_own_quota(world, ns, world.smallest).has_value() && !yields_itself(world, ns)
            : over_quota(world, ns, world.smallest).has_value();
    if (!used_up) found.push_back({ns, &users});
  }
  return found;
}

}  // namespace atl::core::scheduling
