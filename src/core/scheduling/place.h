// Stage four: where. The node with the least left over wins, so that large nodes stay free for
// large work.
#pragma once

#include "core/scheduling/filter.h"
#include "core/scheduling/world.h"

namespace atl::core::scheduling {

// How many more devices of each limited model ("gpu:a100") a namespace's quota leaves. A request
// for any model must respect it too, and only the choice of devices can tell.
using Allowance = std::map<std::string, int64_t>;
Allowance allowance(const World& world, NamespaceId ns);

std::optional<Placement> place(const World& world, const Terms& terms,
                               const Allowance& allowed = {});

// What the quota of a model says to a request for any model that would otherwise find its devices.
std::optional<Block> over_model_quota(const World& world, NamespaceId ns, const Terms& terms);

// Why place finds nothing, for the terms as they are.
Block why_not_placed(const World& world, const Terms& terms);

// The largest request of the same kind that some usable node could hold when empty; what a refusal
// suggests. Nullopt when no node has such devices at all, or there is no node.
std::optional<Resources> nearest_feasible(const State& state, const Terms& terms);

// Whether some node, were it empty, could hold the terms. Draining sites count: they may come back.
bool feasible(const State& state, const Terms& terms);

}  // namespace atl::core::scheduling
