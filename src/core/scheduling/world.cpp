#include "core/scheduling/world.h"

#include <algorithm>

#include "core/cohorts.h"
#include "core/index.h"

namespace atl::core::scheduling {

const InUse& World::in_use_of(NamespaceId ns) const {
  const auto it = in_use.find(ns);
  return it == in_use.end() ? state->namespaces.at(ns).in_use : it->second;
}

const InUse& World::in_use_of(CohortId cohort) const {
  const auto it = cohort_in_use.find(cohort);
  return it == cohort_in_use.end() ? state->cohorts.at(cohort).in_use : it->second;
}

bool only_by_name(const State& state, const Site& site) {
  const auto pretends = [](const Site& each) { return each.kind == "simulated"; };
  return pretends(site) && !std::all_of(state.sites.begin(), state.sites.end(),
                                        [&](const auto& entry) { return pretends(entry.second); });
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

// Takes room for a task that ends by then (zero: nobody knows) out of what is free, and for the
// rest out of what is lent for so long.
void take_room(NodeView& view, Takings takings, Time end) {
  if (view.lent.empty()) {
    remove(view.free, takings);
    remove(view.later, takings);
    return;
  }
  Takings same = takings;
  remove_available(view.free, takings);
  remove_available(view.later, same);
  for (Lent& lent : view.lent) {
    if (end && end <= lent.until) remove_available(lent.room, takings);
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
  for (const auto& [id, site] : state.sites) {
    if (site.draining) continue;
    const bool by_name = only_by_name(state, site);
    for (const auto& [name, node] : site.nodes) {
      if (node.gone) continue;
      NodeView view{id, &site.name, &node, by_name, free_room(node), {}, {}, false};
      view.later = view.free;
      for (const auto& [task, holder] : node.holders) {
        const Terms& terms = state.terms.at(holder.terms).terms;
        if (holder.stopping && !handed_on(state, task, holder))
          add(view.later, room_of(node, holder, terms.resources));
        world.some_yield |= holder.stopping || terms.tier == Tier::opportunistic;
      }
      world.nodes.push_back(std::move(view));
    }
  }
  world.some_yield |= std::any_of(state.namespaces.begin(), state.namespaces.end(),
                                  [](const auto& entry) { return borrows(entry.second); });
  return world;
}

void claim(NodeView& view, const Resources& resources, const Room& ending, Time until) {
  // Devices that come free by themselves or are of tasks that stop rather than free ones.
  Takings rest{resources.cpu_milli, resources.memory_bytes, {}};
  Room then = view.later;
  add(then, ending);
  if (!resources.devices.empty()) {
    if (auto picked = pick(then.devices, resources, {}, &view.free.devices))
      rest.parts = std::move(picked->parts);
  }
  Room coming = ending;
  remove_available(coming, rest);
  remove(view.later, rest);
  Room lent = shrink(view.free, view.later);
  if (until) view.lent.push_back({until, std::move(lent)});
}

void take(World& world, const Job& job, const Terms& terms, const Placement& placement) {
  const auto in_use = world.in_use.try_emplace(job.ns, world.in_use_of(job.ns)).first;
  add_in_use(in_use->second, terms, placement, +1);
  const Amounts amounts = amounts_of(terms, placement);
  add(world.charged[{CohortId{}, job.ns, UserId{}}], amounts);
  add(world.charged[{CohortId{}, job.ns, job.user}], amounts);
  for_each_cohort(
      *world.state, world.state->namespaces.at(job.ns).stake.cohort, [&](const Cohort& cohort) {
        const auto used = world.cohort_in_use.try_emplace(cohort.id, cohort.in_use).first;
        add_in_use(used->second, terms, placement, +1);
        add(world.charged[{cohort.id, NamespaceId{}, UserId{}}], amounts);
      });
  ++world.placed_of_job[job.id];
  for (NodeView& view : world.nodes) {
    if (view.site == placement.site && view.node->capacity.name == placement.node)
      take_room(view,
                {terms.resources.cpu_milli, terms.resources.memory_bytes,
                 parts_of(*view.node, placement.devices)},
                ends_by(world, terms));
  }
}

}  // namespace atl::core::scheduling
