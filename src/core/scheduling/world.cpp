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

}  // namespace

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
      NodeView view{id,
                    &site.name,
                    &node,
                    by_name,
                    node.capacity.cpu_milli - node.cpu_milli_used,
                    node.capacity.memory_bytes - node.memory_bytes_used,
                    {}};
      for (const Device& device : node.capacity.devices) {
        if (!node.units_used.count(device.unit)) view.devices_free.push_back(&device);
      }
      world.nodes.push_back(std::move(view));
    }
  }
  return world;
}

void take(World& world, const Job& job, const Terms& terms, const Placement& placement) {
  const auto in_use = world.in_use.try_emplace(job.ns, world.in_use_of(job.ns)).first;
  add_in_use(in_use->second, terms, placement, +1);
  const Amounts amounts = amounts_of(terms);
  add(world.charged[{CohortId{}, job.ns, UserId{}}], amounts);
  add(world.charged[{CohortId{}, job.ns, job.user}], amounts);
  for_each_cohort(*world.state, world.state->namespaces.at(job.ns).stake.cohort,
                  [&](const Cohort& cohort) {
                    const auto used = world.cohort_in_use.try_emplace(cohort.id, cohort.in_use).first;
                    add_in_use(used->second, terms, placement, +1);
                    add(world.charged[{cohort.id, NamespaceId{}, UserId{}}], amounts);
                  });
  ++world.placed_of_job[job.id];
  for (NodeView& view : world.nodes) {
    if (view.site != placement.site || view.node->capacity.name != placement.node) continue;
    view.cpu_milli_free -= terms.resources.cpu_milli;
    view.memory_bytes_free -= terms.resources.memory_bytes;
    std::erase_if(view.devices_free, [&](const Device* device) {
      return std::any_of(placement.devices.begin(), placement.devices.end(),
                         [&](const HeldDevice& held) { return held.unit == device->unit; });
    });
  }
}

}  // namespace atl::core::scheduling
