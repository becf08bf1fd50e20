#include "core/scheduling/world.h"

#include <algorithm>
#include <bit>

#include "core/cohorts.h"
#include "core/index.h"
#include "core/scheduling/filter.h"
#include "core/scheduling/reserved.h"
#include "core/site_choice.h"

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
  const Site* named = sole_site(state, terms.site);
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
  for (const CalendarEntry& entry : state.calendar.entries) {
    for (const auto& [key, count] : entry.limit.devices) keys.insert(key);
  }
  world.models_limited = std::any_of(keys.begin(), keys.end(), [](const std::string& key) {
    return key.find(':') != std::string::npos;
  });
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
void take_room(NodeView& view, Takings takings, const Guest& guest) {
  if (view.lent.empty() && view.kept.empty()) {
    remove(view.free, takings);
    remove(view.later, takings);
    return;
  }
  Takings same = takings;
  for (Kept& kept : view.kept) {
    if (!may_use(*kept.reservation, guest.ns)) continue;
    remove_available(kept.free, takings);
    remove_available(kept.later, same);
  }
  remove_available(view.free, takings);
  remove_available(view.later, same);
  for (Lent& lent : view.lent) {
    if (!lends(lent, guest)) continue;
    remove_available(lent.room, takings);
    remove_available(lent.later, same);
  }
}

// Keeps exactly this room for a time to come: of what is lent until the guest is gone, and for the
// rest of what is anybody's. Until then others may use what is free of it.
void keep(NodeView& view, Takings rest, const Guest& guest, Time until) {
  std::vector<Lent> more;
  const auto lend = [&](Room room) {
    if (until) more.push_back({until, std::move(room), nullptr, {}});
  };
  for (Lent& lent : view.lent) {
    if (!lent.reservation || !lends(lent, guest)) continue;
    remove_available(lent.later, rest);
    lend(shrink(lent.room, lent.later));
  }
  remove(view.later, rest);
  lend(shrink(view.free, view.later));
  view.lent.insert(view.lent.end(), more.begin(), more.end());
}

// Whether it keeps the guest from what is counted for it.
bool withholds(const Reservation& reservation, const Guest& guest, Time now) {
  if (reservation.from <= now) return !may_use(reservation, guest.ns);
  return !lends({reservation.from, {}, &reservation, {}}, guest);
}

}  // namespace

Time ends_by(Time start, const Terms& terms) {
  return terms.wall.us > 0 ? start + terms.wall + terms.grace : Time{};
}

Guest guest_now(const World& world, NamespaceId ns, const Terms& terms) {
  const bool yields = terms.tier == Tier::opportunistic && !world.owed;
  return {ns, &terms, ends_by(world.now, terms), yields};
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
      NodeView view;
      view.site = id;
      view.site_name = &site.name;
      view.node = &node;
      view.device_makes = device_makes_of(node.capacity);
      view.make = make_of(node.capacity, view.device_makes);
      view.only_by_name = by_name;
      view.free = view.later = free_room(node);
      Time busy_until = now;
      for (const auto& [task, holder] : node.holders) {
        const Terms& terms = state.terms.at(holder.terms).terms;
        if (holder.stopping && !handed_on(state, task, holder))
          add(view.later, room_of(node, holder, terms.resources));
        busy_until = std::max(busy_until, holder.until ? holder.until : kNobodyKnows);
        world.some_yield_to_all |= holder.stopping || terms.tier == Tier::opportunistic;
      }
      world.nodes.push_back(std::move(view));
      world.busy_until.push_back(busy_until);
    }
  }
  keep_reserved(world);
  for (size_t i = 0; i < world.nodes.size(); ++i) world.stock.add(world.nodes[i], i);
  world.some_yield = world.some_yield_to_all ||
                     std::any_of(state.namespaces.begin(), state.namespaces.end(),
                                 [](const auto& entry) { return borrows(entry.second); });
  return world;
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

bool lends(const Lent& lent, const Guest& guest) {
  if (guest.end && guest.end <= lent.until) return true;
  return lent.reservation && guest.yields;
}

Room free_for(const NodeView& view, const Guest& guest) {
  Room room = view.free;
  for (const Kept& kept : view.kept) {
    if (may_use(*kept.reservation, guest.ns)) add(room, kept.free);
  }
  for (const Lent& lent : view.lent) {
    if (lends(lent, guest)) add(room, lent.room);
  }
  return room;
}

Room later_for(const NodeView& view, const Guest& guest) {
  Room room = view.later;
  for (const Kept& kept : view.kept) {
    if (may_use(*kept.reservation, guest.ns)) add(room, kept.later);
  }
  for (const Lent& lent : view.lent) {
    if (lends(lent, guest)) add(room, lent.later);
  }
  return room;
}

Room left_by(const World& world, size_t node, TaskId task, const Holder& holder,
             const Guest& guest) {
  const NodeView& view = world.nodes[node];
  Room room = room_of(*view.node, holder, world.state->terms.at(holder.terms).terms.resources);
  const auto pledged = view.pledged.find(task);
  if (pledged == view.pledged.end()) return room;
  for (const Pledge& pledge : pledged->second) {
    if (!withholds(*pledge.reservation, guest, world.now)) continue;
    // Of those that follow each other one may count what another does.
    Room rest = pledge.room;
    shrink(rest, room);
    remove(room, rest);
  }
  return room;
}

void give_up(World& world, size_t node, TaskId task, const Holder& holder) {
  NodeView& view = world.nodes[node];
  const Room left = left_by(world, node, task, holder, {});
  add(view.later, left);
  const auto pledged = view.pledged.find(task);
  if (pledged == view.pledged.end()) return;
  Room withheld = nothing_of(*view.node);
  add(withheld, room_of(*view.node, holder, world.state->terms.at(holder.terms).terms.resources));
  remove(withheld, left);
  for (const Pledge& pledge : pledged->second) {
    Room part = pledge.room;  // without what is counted for one that begins before
    shrink(part, withheld);
    remove(withheld, part);
    const auto its = [&](const auto& each) { return each.reservation == pledge.reservation; };
    if (const auto kept = std::find_if(view.kept.begin(), view.kept.end(), its);
        kept != view.kept.end())
      add(kept->later, part);
    if (const auto lent = std::find_if(view.lent.begin(), view.lent.end(), its);
        lent != view.lent.end())
      add(lent->later, part);
  }
}

void claim(World& world, size_t node, const Guest& guest, Room& ending, const Room& yielding,
           Time until) {
  const NodeView& view = world.nodes[node];
  const Resources& resources = guest.terms->resources;
  // Devices that come free by themselves or are of tasks that stop rather than free ones.
  Takings takings{resources.cpu_milli, resources.memory_bytes, {}};
  Room then = later_for(view, guest);
  add(then, ending);
  add(then, yielding);
  if (!resources.devices.empty()) {
    if (auto picked = pick(then.devices, resources, {}, &view.free.devices))
      takings.parts = std::move(picked->parts);
  }
  claim(world, node, guest, std::move(takings), ending, until);
}

void claim(World& world, size_t node, const Guest& guest, Takings rest, Room& ending, Time until) {
  NodeView& view = world.nodes[node];
  world.stock.remove(view, node);
  remove_available(ending, rest);
  for (Kept& kept : view.kept) {
    if (!may_use(*kept.reservation, guest.ns)) continue;
    remove_available(kept.later, rest);
    shrink(kept.free, kept.later);
  }
  keep(view, std::move(rest), guest, until);
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
  add(world.charged[{{}, job.ns, {}}], amounts);
  add(world.charged[{{}, job.ns, job.user}], amounts);
  for_each_cohort(
      *world.state, world.state->namespaces.at(job.ns).stake.cohort, [&](const Cohort& cohort) {
        const auto used = world.cohort_in_use.try_emplace(cohort.id, cohort.in_use).first;
        add_in_use(used->second, terms, placement, +1);
        add(world.charged[{cohort.id, {}, {}}], amounts);
      });
  ++world.placed_of_job[job.id];
  world.stock.remove(view, node);
  take_room(view,
            {terms.resources.cpu_milli, terms.resources.memory_bytes,
             parts_of(*view.node, placement.devices)},
            guest_now(world, job.ns, terms));
  const Time end = ends_by(world.now, terms);
  world.busy_until[node] = std::max(world.busy_until[node], end ? end : kNobodyKnows);
  world.stock.add(view, node);
}

}  // namespace atl::core::scheduling
