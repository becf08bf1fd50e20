#include "core/scheduling/world.h"

#include <algorithm>
#include <bit>

#include "core/cohorts.h"
#include "core/index.h"
#include "core/scheduling/filter.h"

namespace atl::core::scheduling {

const InUse& World::in_use_of(NamespaceId ns) const {
  const auto it = in_use.find(ns);
  return it == in_use.end() ? state->namespaces.at(ns).in_use : it->second;
}

const InUse& World::in_use_of(CohortId cohort) const {
  const auto it = cohort_in_use.find(cohort);
  return it == cohort_in_use.end() ? state->cohorts.at(cohort).in_use : it->second;
}

const InUse& World::in_use_of(Tier tier) const {
  static const InUse kNothing;
  if (const auto it = tier_in_use.find(tier); it != tier_in_use.end()) return it->second;
  const auto it = state->tier_in_use.find(tier);
  return it == state->tier_in_use.end() ? kNothing : it->second;
}

bool counts(const State& state, const Terms& terms) {
  const Site* named = terms.site.empty() ? nullptr : state.site_named(terms.site);
  return !named || !named->by_name;
}

namespace {

// Devices count by kind and model in all shapes or not at all, so they are left out.
Terms smallest_of(const State& state) {
  Terms least;
  bool first = true;
  for (const auto& [id, entry] : state.shapes) {
    const Resources& each = entry.shape.resources;
    Resources& r = least.resources;
    r.cpu_milli = first ? each.cpu_milli : std::min(r.cpu_milli, each.cpu_milli);
    r.memory_bytes = first ? each.memory_bytes : std::min(r.memory_bytes, each.memory_bytes);
    first = false;
  }
  return least;
}

void list_asks(World& world) {
  const State& state = *world.state;
  std::set<std::string> keys;
  const auto collect = [&](const Quota& quota) {
    for (const auto& [key, count] : quota.devices) keys.insert(key);
  };
  for (const auto& [id, ns] : state.namespaces) collect(ns.quota);
  for (const auto& [id, cohort] : state.cohorts) collect(cohort.nominal);
  world.device_keys.assign(keys.begin(), keys.end());
  world.ask_of.resize(size_t{state.counters.shape} + 1);
  for (const auto& [id, entry] : state.shapes) {
    const Resources& resources = entry.shape.resources;
    world.ask_of[id.value] = static_cast<uint32_t>(world.asks.size());
    Ask& ask = world.asks.emplace_back(Ask{resources.cpu_milli, resources.memory_bytes, {}});
    if (resources.devices.empty()) continue;
    for (size_t i = 0; i < world.device_keys.size(); ++i) {
      if (const int64_t asked = asked_of(resources, world.device_keys[i]))
        ask.devices_milli.emplace_back(i, asked);
    }
  }
}

// Takes room for a task out of what is reserved for it, then of what is free, and for the rest of
// what is lent for so long.
void take_room(NodeView& view, Takings takings, NamespaceId ns, const Terms& terms, Time end) {
  if (view.lent.empty() && view.kept.empty()) {
    remove(view.free, takings);
    remove(view.later, takings);
    return;
  }
  Takings same = takings;
  for (Kept& kept : view.kept) {
    if (!may_use(*kept.reservation, ns)) continue;
    remove_available(kept.free, takings);
    remove_available(kept.later, same);
  }
  remove_available(view.free, takings);
  remove_available(view.later, same);
  for (Lent& lent : view.lent) {
    if (lends(lent, terms, end)) remove_available(lent.room, takings);
  }
}

// Keeps exactly this room for a time to come.
void keep(NodeView& view, const Takings& takings, Time until) {
  remove(view.later, takings);
  Room lent = shrink(view.free, view.later);
  if (until) view.lent.push_back({until, std::move(lent), nullptr});
}

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

// Of what follows each other the same room will do: what is kept is the most that is needed at one
// time, and it is lent until more is needed than ever before.
void keep_for_times_to_come(NodeView& view, const Needs& needs) {
  Room most = nothing_of(*view.node);
  for (const auto& [reservation, rest] : needs.all) {
    const Room more = Needs::raise(most, needs.at(reservation->from));
    remove(view.later, more);
    view.lent.push_back({reservation->from, shrink(view.free, view.later), reservation});
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
    remove(view.later, rest);
    kept.free = shrink(view.free, view.later);
    view.kept.push_back(std::move(kept));
  }
  if (!needs.all.empty()) keep_for_times_to_come(view, needs);
}

void reserve_all(World& world) {
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

}  // namespace

Time ends_by(const World& world, const Terms& terms) {
  return terms.wall.us > 0 ? world.now + terms.wall + terms.grace : Time{};
}

World look(const State& state, Time now) {
  World world;
  world.state = &state;
  world.now = now;
  world.smallest = smallest_of(state);
  world.full = ShapeSet(state.counters.shape);
  list_asks(world);
  for (const auto& [id, site] : state.sites) {
    if (site.draining) continue;
    const bool by_name = only_by_name(state, site);
    for (const auto& [name, node] : site.nodes) {
      if (node.gone || node.draining) continue;
      NodeView view{id,    &site.name, &node, by_name, free_room(node), {}, {}, {},
                    false, now,        {},    {}};
      view.later = view.free;
      for (const auto& [task, holder] : node.holders) {
        const Terms& terms = state.terms.at(holder.terms).terms;
        if (holder.stopping && !handed_on(state, task, holder))
          add(view.later, room_of(node, holder, terms.resources));
        view.busy_until = std::max(view.busy_until, holder.until ? holder.until : kNobodyKnows);
        world.some_yield_to_all |= holder.stopping || terms.tier == Tier::opportunistic;
      }
      world.nodes.push_back(std::move(view));
    }
  }
  reserve_all(world);
  for (size_t i = 0; i < world.nodes.size(); ++i) world.stock.add(world.nodes[i], i);
  world.some_yield = world.some_yield_to_all ||
                     std::any_of(state.namespaces.begin(), state.namespaces.end(),
                                 [](const auto& entry) { return borrows(entry.second); });
  return world;
}

bool may_use(const Reservation& reservation, NamespaceId ns) {
  return std::find(reservation.namespaces.begin(), reservation.namespaces.end(), ns) !=
         reservation.namespaces.end();
}

void mark_full(World& world, ShapeId id) {
  const Shape& shape = world.state->shapes.at(id).shape;
  const bool lends = std::any_of(world.nodes.begin(), world.nodes.end(),
                                 [](const NodeView& view) { return !view.lent.empty(); });
  for (const auto& [other, entry] : world.state->shapes) {
    const bool stays =
        entry.shape.span.us == 0 || (shape.span.us > 0 && entry.shape.span >= shape.span);
    if ((stays || !lends) && entry.shape.gang == shape.gang &&
        entry.shape.resources == shape.resources && entry.shape.site == shape.site)
      world.full.insert(other);
  }
}

bool lends(const Lent& lent, const Terms& terms, Time end) {
  if (end && end <= lent.until) return true;
  return lent.reservation && terms.tier == Tier::opportunistic;
}

Room free_for(const NodeView& view, NamespaceId ns) {
  Room room = view.free;
  for (const Kept& kept : view.kept) {
    if (may_use(*kept.reservation, ns)) add(room, kept.free);
  }
  return room;
}

Room later_for(const NodeView& view, NamespaceId ns) {
  Room room = view.later;
  for (const Kept& kept : view.kept) {
    if (may_use(*kept.reservation, ns)) add(room, kept.later);
  }
  return room;
}

Room left_by(const World& world, size_t node, TaskId task, const Holder& holder, NamespaceId ns) {
  const NodeView& view = world.nodes[node];
  Room room = room_of(*view.node, holder, world.state->terms.at(holder.terms).terms.resources);
  const auto pledged = view.pledged.find(task);
  if (pledged == view.pledged.end()) return room;
  for (const Pledge& pledge : pledged->second) {
    if (pledge.reservation->from <= world.now && may_use(*pledge.reservation, ns)) continue;
    // Of those that follow each other one may count what another does.
    Room rest = pledge.room;
    shrink(rest, room);
    remove(room, rest);
  }
  return room;
}

void give_up(World& world, size_t node, TaskId task, const Holder& holder) {
  NodeView& view = world.nodes[node];
  add(view.later, left_by(world, node, task, holder, {}));
  const auto pledged = view.pledged.find(task);
  if (pledged == view.pledged.end()) return;
  for (const Pledge& pledge : pledged->second) {
    for (Kept& kept : view.kept) {
      if (kept.reservation == pledge.reservation) add(kept.later, pledge.room);
    }
  }
}

void claim(World& world, size_t node, NamespaceId ns, const Resources& resources, Room& ending,
           Time until) {
  NodeView& view = world.nodes[node];
  world.stock.remove(view, node);
  // Devices that come free by themselves or are of tasks that stop rather than free ones.
  Takings rest{resources.cpu_milli, resources.memory_bytes, {}};
  Room then = later_for(view, ns);
  add(then, ending);
  if (!resources.devices.empty()) {
    if (auto picked = pick(then.devices, resources, {}, &view.free.devices))
      rest.parts = std::move(picked->parts);
  }
  remove_available(ending, rest);
  for (Kept& kept : view.kept) {
    if (!may_use(*kept.reservation, ns)) continue;
    remove_available(kept.later, rest);
    shrink(kept.free, kept.later);
  }
  keep(view, rest, until);
  world.stock.add(view, node);
}

void take(World& world, const Job& job, const Terms& terms, const Placement& placement,
          size_t node) {
  const auto in_use = world.in_use.try_emplace(job.ns, world.in_use_of(job.ns)).first;
  add_in_use(in_use->second, terms, placement, +1);
  NodeView& view = world.nodes[node];
  const Amounts amounts = view.only_by_name ? Amounts{} : amounts_of(terms, placement);
  if (!view.only_by_name)
    add_in_use(world.tier_in_use.try_emplace(terms.tier, world.in_use_of(terms.tier)).first->second,
               terms, placement, +1);
  add(world.charged[{CohortId{}, job.ns, UserId{}}], amounts);
  add(world.charged[{CohortId{}, job.ns, job.user}], amounts);
  for_each_cohort(
      *world.state, world.state->namespaces.at(job.ns).stake.cohort, [&](const Cohort& cohort) {
        const auto used = world.cohort_in_use.try_emplace(cohort.id, cohort.in_use).first;
        add_in_use(used->second, terms, placement, +1);
        add(world.charged[{cohort.id, NamespaceId{}, UserId{}}], amounts);
      });
  ++world.placed_of_job[job.id];
  world.stock.remove(view, node);
  take_room(view,
            {terms.resources.cpu_milli, terms.resources.memory_bytes,
             parts_of(*view.node, placement.devices)},
            job.ns, terms, ends_by(world, terms));
  const Time end = ends_by(world, terms);
  view.busy_until = std::max(view.busy_until, end ? end : kNobodyKnows);
  world.stock.add(view, node);
}

}  // namespace atl::core::scheduling
