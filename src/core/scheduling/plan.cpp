#include "core/scheduling/plan.h"

#include <algorithm>

#include "core/scheduling/place.h"

namespace atl::core::scheduling {
namespace {

// Tasks on the node that end by themselves at a known time, the first one first.
std::vector<std::tuple<Time, TaskId, const Holder*>> ends_of(const World& world,
                                                             const NodeView& view) {
  std::vector<std::tuple<Time, TaskId, const Holder*>> known;
  for (const auto& [task, holder] : view.node->holders) {
    if (!holder.stopping && holder.until && !world.yielding.count(task) &&
        !handed_on(*world.state, task, holder))
      known.emplace_back(holder.until, task, &holder);
  }
  std::sort(known.begin(), known.end());
  return known;
}

std::optional<Opening> known_opening(const World& world, size_t node, const Terms& terms) {
  const NodeView& view = world.nodes[node];
  Opening opening{node, world.now, {}};
  Room room = view.later;
  for (const auto& [task, holder] : view.node->holders) {
    if (holder.stopping) opening.at = std::max(opening.at, holder.until);
  }
  for (const auto& [until, task, holder] : ends_of(world, view)) {
    if (fits(room, terms.resources)) break;
    const Room more =
        room_of(*view.node, *holder, world.state->terms.at(holder->terms).terms.resources);
    add(room, more);
    add(opening.ending, more);
    opening.at = std::max(opening.at, until);
  }
  if (!fits(room, terms.resources)) return std::nullopt;
  return opening;
}

}  // namespace

std::optional<Opening> soonest(const World& world, const Terms& terms) {
  std::optional<Opening> best, roomiest;
  for (size_t i = 0; i < world.nodes.size(); ++i) {
    const NodeView& view = world.nodes[i];
    if (view.awaited || !meant(view, terms) || !node_could(*view.node, terms.resources)) continue;
    auto opening = known_opening(world, i, terms);
    if (opening && (!best || opening->at < best->at)) best = std::move(opening);
    if (!roomiest || world.nodes[roomiest->node].later.cpu_milli < view.later.cpu_milli)
      roomiest = Opening{i, {}, {}};
  }
  return best ? best : roomiest;
}

}  // namespace atl::core::scheduling
