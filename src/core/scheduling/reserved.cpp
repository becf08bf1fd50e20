#include "core/scheduling/reserved.h"

#include <algorithm>
#include <bit>

namespace atl::core::scheduling {
namespace {

// A task that has room on a node, and what of that is counted for reservations.
struct Occupant {
  TaskId task;
  NamespaceId ns;
  Time until;           // zero: nobody knows
  bool yields = false;  // to those for whom room is reserved, when their time comes
  Room room;
  std::vector<Pledge> counted;
};

// Those that are stopping are left out: their room comes free. Of those that yield, who came last
// is counted last, so that they rather than others can make room for somebody else.
std::vector<Occupant> occupants_of(const State& state, const Node& node) {
  std::vector<Occupant> all;
  for (const auto& [task, holder] : node.holders) {
    const bool stays = handed_on(state, task, holder);
    if (holder.stopping && !stays) continue;
    const Terms& terms = state.terms.at(holder.terms).terms;
    all.push_back({task,
                   holder.ns,
                   stays ? Time{} : holder.until,
                   terms.tier == Tier::opportunistic,
                   room_of(node, holder, terms.resources),
                   {}});
  }
  std::sort(all.begin(), all.end(), [&](const Occupant& a, const Occupant& b) {
    if (a.yields != b.yields) return b.yields;
    const Time x = node.holders.at(a.task).since, y = node.holders.at(b.task).since;
    return std::tie(x, a.task) < std::tie(y, b.task);
  });
  return all;
}

bool overlap(const Reservation& a, const Reservation& b) {
  return a.from < b.until && b.from < a.until;
}

// Counts what the occupant has for the reservation, as far as it is still needed; once for those
// that last at the same time.
void count_on(NodeView& view, Occupant& occupant, const Reservation& reservation, Takings& rest) {
  const auto amount = [](const Takings& takings) {
    int64_t sum = takings.cpu_milli + takings.memory_bytes;
    for (const Part& part : takings.parts) sum += part.share_milli + std::popcount(part.slots);
    return sum;
  };
  const int64_t before = amount(rest);
  Room left = occupant.room;
  for (const Pledge& pledge : occupant.counted) {
    if (overlap(*pledge.reservation, reservation)) remove(left, pledge.room);
  }
  Room counted = left;
  remove_available(left, rest);
  if (amount(rest) == before) return;
  remove(counted, left);
  occupant.counted.push_back({&reservation, counted});
  view.pledged[occupant.task].push_back({&reservation, std::move(counted)});
}

// What of a reserved part nobody has yet for whom it was reserved, and nobody has who will be gone
// when its time comes.
Takings not_yet_used(NodeView& view, const Reservation& reservation, const ReservedPart& part,
                     std::vector<Occupant>& occupants, Time now) {
  const Node& node = *view.node;
  Takings rest{part.cpu_milli, part.memory_bytes, {}};
  for (size_t i = 0; i < node.capacity.devices.size(); ++i) {
    const Device& device = node.capacity.devices[i];
    if (std::find(part.units.begin(), part.units.end(), device.unit) != part.units.end())
      rest.parts.push_back({.device = i, .share_milli = kWholeDevice, .slots = all_slots(device)});
  }
  for (Occupant& occupant : occupants) {
    const bool goes = reservation.from > now &&
                      (occupant.yields || (occupant.until && occupant.until <= reservation.from));
    if (goes || may_use(reservation, occupant.ns)) count_on(view, occupant, reservation, rest);
  }
  return rest;
}

// What reservations to come need of a node.
struct Needs {
  const Node& node;
  std::vector<std::pair<const Reservation*, Takings>> all;

  // At one time, all that last then together.
  Room at(Time time) const {
    Room sum = nothing_of(node);
    for (const auto& [reservation, rest] : all) {
      if (reservation->from <= time && time < reservation->until) add(sum, rest);
    }
    return sum;
  }
  // At most, from then on.
  Room from(Time time) const {
    Room most = at(time);
    for (const auto& [reservation, rest] : all) {
      if (reservation->from > time) raise(most, at(reservation->from));
    }
    return most;
  }
  // Makes `most` as large as `need`; what that adds.
  static Room raise(Room& most, const Room& need) {
    Room more = need;
    more.cpu_milli = std::max<int64_t>(0, need.cpu_milli - most.cpu_milli);
    more.memory_bytes = std::max<int64_t>(0, need.memory_bytes - most.memory_bytes);
    for (size_t i = 0; i < more.devices.size(); ++i) {
      more.devices[i].share_milli =
          std::max(0, need.devices[i].share_milli - most.devices[i].share_milli);
      more.devices[i].slots = need.devices[i].slots & ~most.devices[i].slots;
    }
    add(most, more);
    return more;
  }
};

// What others still have of a slot is missing in what there will be; it cannot be missing twice.
void there_only(Room& room, const Room& later) {
  for (size_t i = 0; i < room.devices.size(); ++i) room.devices[i].slots &= later.devices[i].slots;
}

// Of what follows each other the same room will do: what is kept is the most that is needed at one
// time, and it is lent until more is needed than ever before.
void keep_for_times_to_come(NodeView& view, const Needs& needs) {
  Room most = nothing_of(*view.node);
  for (const auto& [reservation, rest] : needs.all) {
    Room more = Needs::raise(most, needs.at(reservation->from));
    const Room before = view.later;
    remove(view.later, more);
    there_only(more, before);
    view.lent.push_back(
        {reservation->from, shrink(view.free, view.later), reservation, std::move(more)});
  }
  std::set<Time> ends;
  for (const auto& [reservation, rest] : needs.all) ends.insert(reservation->until);
  for (const Time end : ends) {
    Room still = needs.from(end);
    view.given_back.emplace_back(end, Needs::raise(still, most));
    most = needs.from(end);
  }
}

// Keeps what is reserved on a node, now or soon; those that begin first come first.
void reserve(World& world, NodeView& view,
             const std::vector<std::pair<const Reservation*, const ReservedPart*>>& parts) {
  const Node& node = *view.node;
  std::vector<Occupant> occupants = occupants_of(*world.state, node);
  Needs needs{node, {}};
  for (const auto& [reservation, part] : parts) {
    const Takings rest = not_yet_used(view, *reservation, *part, occupants, world.now);
    if (reservation->from > world.now) {
      needs.all.emplace_back(reservation, rest);
      continue;
    }
    Kept kept{reservation, {}, nothing_of(node)};
    add(kept.later, rest);
    there_only(kept.later, view.later);
    remove(view.later, rest);
    kept.free = shrink(view.free, view.later);
    view.kept.push_back(std::move(kept));
  }
  if (!needs.all.empty()) keep_for_times_to_come(view, needs);
}

}  // namespace

void keep_reserved(World& world) {
  std::map<std::pair<SiteId, std::string>,
           std::vector<std::pair<const Reservation*, const ReservedPart*>>>
      places;
  for (const auto& [id, reservation] : world.state->reservations) {
    if (reservation.until <= world.now) continue;
    for (const ReservedPart& part : reservation.parts)
      places[{part.site, part.node}].emplace_back(&reservation, &part);
  }
  if (places.empty()) return;
  for (NodeView& view : world.nodes) {
    const auto here = places.find({view.site, view.node->capacity.name});
    if (here == places.end()) continue;
    std::sort(here->second.begin(), here->second.end(), [](const auto& a, const auto& b) {
      return std::tie(a.first->from, a.first->id, a.second) <
             std::tie(b.first->from, b.first->id, b.second);
    });
    reserve(world, view, here->second);
  }
}

bool may_use(const Reservation& reservation, NamespaceId ns) {
  return std::find(reservation.namespaces.begin(), reservation.namespaces.end(), ns) !=
         reservation.namespaces.end();
}

}  // namespace atl::core::scheduling
