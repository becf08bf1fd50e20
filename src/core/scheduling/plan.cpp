#include "core/scheduling/plan.h"

#include <algorithm>

#include "core/scheduling/estimate.h"
#include "core/scheduling/place.h"

namespace atl::core::scheduling {
namespace {

// What becomes of one node by itself.
struct Prospect {
  size_t node = 0;
  Room room;  // when those that are stopping have ended
  Time stopped;
  std::vector<std::pair<Time, Room>> ends;  // by themselves, the first one first
};

Prospect prospect_of(const World& world, size_t node, NamespaceId ns) {
  const NodeView& view = world.nodes[node];
  Prospect prospect{node, later_for(view, ns), world.now, {}};
  std::vector<std::tuple<Time, TaskId, const Holder*>> known;
  for (const auto& [task, holder] : view.node->holders) {
    if (holder.stopping) prospect.stopped = std::max(prospect.stopped, holder.until);
    const Time until = world.estimates
                           ? world.estimates->end_of(*world.state, task, holder, world.now)
                           : holder.until;
    if (!holder.stopping && until && !world.yielding.count(task) &&
        !handed_on(*world.state, task, holder))
      known.emplace_back(until, task, &holder);
  }
  std::sort(known.begin(), known.end());
  for (const auto& [until, task, holder] : known) {
    const Resources& resources = world.state->terms.at(holder->terms).terms.resources;
    prospect.ends.emplace_back(until, room_of(*view.node, *holder, resources));
  }
  for (const Kept& kept : view.kept) {
    if (!may_use(*kept.reservation, ns))
      prospect.ends.emplace_back(kept.reservation->until, kept.later);
  }
  for (const Lent& lent : view.lent) {
    if (lent.reservation) prospect.ends.emplace_back(lent.reservation->until, lent.room);
  }
  if (prospect.ends.size() > known.size())
    std::sort(prospect.ends.begin(), prospect.ends.end(),
              [](const auto& a, const auto& b) { return a.first < b.first; });
  return prospect;
}

// What has come free by then.
Opening opening_at(const Prospect& prospect, Time at) {
  Opening opening{prospect.node, at, {}, 0};
  for (const auto& [until, room] : prospect.ends) {
    if (until > at) break;
    add(opening.ending, room);
  }
  return opening;
}

uint32_t members_at(const Prospect& prospect, Time at, const Resources& resources, uint32_t max) {
  if (at < prospect.stopped) return 0;
  Room room = prospect.room;
  add(room, opening_at(prospect, at).ending);
  return members_in(std::move(room), resources, max);
}

std::optional<Opening> known_opening(const Prospect& prospect, const Terms& terms) {
  Opening opening{prospect.node, prospect.stopped, {}};
  Room room = prospect.room;
  for (const auto& [until, more] : prospect.ends) {
    if (fits(room, terms.resources)) break;
    add(room, more);
    add(opening.ending, more);
    opening.at = std::max(opening.at, until);
  }
  if (!fits(room, terms.resources)) return std::nullopt;
  return opening;
}

// How many of the gang fit together by then, at most all.
uint32_t all_at(const std::vector<Prospect>& prospects, Time at, const Terms& terms) {
  uint32_t found = 0;
  for (const Prospect& prospect : prospects) {
    found += members_at(prospect, at, terms.resources, terms.gang - found);
    if (found == terms.gang) break;
  }
  return found;
}

std::vector<Opening> openings_at(const std::vector<Prospect>& prospects, Time at,
                                 const Terms& terms) {
  std::vector<Opening> openings;
  uint32_t left = terms.gang;
  for (const Prospect& prospect : prospects) {
    const uint32_t members = members_at(prospect, at, terms.resources, left);
    if (members == 0) continue;
    openings.push_back(opening_at(prospect, at));
    openings.back().members = members;
    left -= members;
    if (left == 0) break;
  }
  return openings;
}

// Where nobody can tell: nodes on which all of it would fit, the emptiest first.
std::vector<Opening> roomiest(const World& world, std::vector<Prospect> prospects,
                              const Terms& terms) {
  std::sort(prospects.begin(), prospects.end(), [](const Prospect& a, const Prospect& b) {
    if (a.room.cpu_milli != b.room.cpu_milli) return a.room.cpu_milli > b.room.cpu_milli;
    return a.node < b.node;
  });
  std::vector<Opening> openings;
  uint32_t left = std::max<uint32_t>(1, terms.gang);
  for (const Prospect& prospect : prospects) {
    const uint32_t members =
        members_in(whole(*world.nodes[prospect.node].node), terms.resources, left);
    if (members == 0) continue;
    openings.push_back({prospect.node, {}, {}, members});
    left -= members;
    if (left == 0) return openings;
  }
  return {};
}

std::vector<Opening> soonest_together(const World& world, const std::vector<Prospect>& prospects,
                                      const Terms& terms) {
  std::vector<Time> times{world.now};
  for (const Prospect& prospect : prospects) {
    times.push_back(prospect.stopped);
    for (const auto& [until, room] : prospect.ends) times.push_back(until);
  }
  std::sort(times.begin(), times.end());
  const auto first = std::partition_point(times.begin(), times.end(), [&](Time at) {
    return all_at(prospects, at, terms) < terms.gang;
  });
  return first == times.end() ? roomiest(world, prospects, terms)
                              : openings_at(prospects, *first, terms);
}

}  // namespace

std::vector<Opening> soonest(const World& world, NamespaceId ns, const Terms& terms) {
  std::vector<Prospect> prospects;
  for (size_t i = 0; i < world.nodes.size(); ++i) {
    const NodeView& view = world.nodes[i];
    if (!view.awaited && meant(view, terms) && node_could(*view.node, terms.resources))
      prospects.push_back(prospect_of(world, i, ns));
  }
  if (terms.gang > 0) return soonest_together(world, prospects, terms);
  std::optional<Opening> best;
  for (const Prospect& prospect : prospects) {
    auto opening = known_opening(prospect, terms);
    if (opening && (!best || opening->at < best->at)) best = std::move(opening);
  }
  if (best) return {std::move(*best)};
  return roomiest(world, std::move(prospects), terms);
}

}  // namespace atl::core::scheduling
