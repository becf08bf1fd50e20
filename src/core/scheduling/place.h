// Stage four: where. The node with the least left over wins, so that large nodes stay free for
// large work.
#pragma once

#include "core/scheduling/filter.h"
#include "core/scheduling/world.h"

namespace atl::core::scheduling {

// What the quotas leave of each limited model.
Allowance allowance(const World& world, NamespaceId ns);

// Whether the terms are meant for the node at all.
bool meant(const NodeView& view, const Terms& terms);
// Whether the node, were it empty, could hold them.
bool node_could(const Node& node, const Resources& resources);
// What the node has for a task that ends by then (zero: nobody knows).
Room room_for(const NodeView& view, Time end);

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
