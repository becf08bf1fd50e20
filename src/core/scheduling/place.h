// Stage four: where. Sites in the order that the work likes them, and of those liked alike the node
// with the least left over, so that large nodes stay free for large work.
#pragma once

#include "core/scheduling/filter.h"
#include "core/scheduling/world.h"

namespace atl::core::scheduling {

// What the quotas, and the calendar for their tier, leave of each limited model. A request for any
// model shows only here whether it would borrow.
Allowance allowance(const World& world, NamespaceId ns, const Terms& terms,
                    bool without_borrowing = false);

// The same of what both leave: now, and then, if anybody waits for others to make room.
Allowance allowance(const World& world, const World* then, NamespaceId ns, const Terms& terms,
                    bool without_borrowing);

// Whether the terms are meant for the site, or the node, at all.
bool meant(const State& state, const Site& site, const Terms& terms);
bool meant(const NodeView& view, const Terms& terms);
// How much the node's site is liked, 0 the most; nothing: it is not meant.
std::optional<uint32_t> rank_of(const NodeView& view, const Terms& terms);
// Whether the node, were it empty, could hold them.
bool node_could(const Node& node, const Resources& resources);
// The same for many nodes, of which most are alike.
class Able {
 public:
  explicit Able(const Resources& resources) : resources_(resources) {}
  bool operator()(const NodeView& view);

 private:
  const Resources& resources_;
  HashMap<uint64_t, bool> known_;
};

struct Place {
  Placement placement;
  size_t node = 0;  // of the world's
};
std::optional<Place> find_place(const World& world, const Terms& terms,
                                const Allowance& allowed = {}, NamespaceId ns = {});
std::optional<Placement> place(const World& world, const Terms& terms,
                               const Allowance& allowed = {}, NamespaceId ns = {});

// Whether so many tasks of the job find room together, within what is allowed of limited models.
bool fits_together(const World& world, const Job& job, const Terms& terms, uint32_t members,
                   Allowance allowed = {});

// What the quota of a model says to requests for any model that would otherwise find their devices:
// of one task, or of members of a gang that do so together.
std::optional<Block> over_model_quota(const World& world, const Job& job, const Terms& terms,
                                      uint32_t members = 1);

// "gpu:a100", "gpu:a100|v100|any", "gpu:1g.5gb": what a block calls the devices of a request.
std::string request_name(const DeviceRequest& request);
// "local/n1".
std::string full_name(const NodeView& view);

// Why place finds nothing, for the terms as they are.
Block why_not_placed(const World& world, const Terms& terms, NamespaceId ns = {});

// What is missing for them on that node.
Block missing_on(const World& world, size_t node, const Terms& terms, NamespaceId ns);
// How much of a block's resource is in use there.
int64_t in_use_on(const World& world, size_t node, const Terms& terms, NamespaceId ns,
                  const std::string& resource);

// The reservation without which there would be room, and on which node.
std::optional<Block> reserved_for_others(const World& world, const Terms& terms, NamespaceId ns);

// The largest request of the same kind that some usable node could hold when empty; what a refusal
// suggests. Nullopt when no node has such devices at all, or there is no node.
std::optional<Resources> nearest_feasible(const State& state, const Terms& terms);

// Whether the nodes, were they empty, could hold the terms, and all members of a gang together.
// Draining ones count: they may come back.
bool feasible(const State& state, const Terms& terms);
// How many members of a gang they could hold together, at most as many as it has.
uint32_t members_feasible(const State& state, const Terms& terms);

}  // namespace atl::core::scheduling
