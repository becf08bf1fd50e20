#include "core/scheduling/world.h"

#include <algorithm>

#include "core/index.h"

namespace atl::core::scheduling {

const InUse& World::in_use_of(NamespaceId ns) const {
  const auto it = in_use.find(ns);
  return it == in_use.end() ? state->namespaces.at(ns).in_use : it->second;
}

bool only_by_name(const State& state, const Site& site) {
  const auto pretends = [](const Site& each) { return each.kind == "simulated"; };
  return pretends(site) && !std::all_of(state.sites.begin(), state.sites.end(),
                                        [&](const auto& entry) { return pretends(entry.second); });
}

World look(const State& state) {
  World world;
  world.state = &state;
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
