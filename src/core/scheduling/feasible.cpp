// What could ever be placed, were nothing else there; the declarations are in place.h.
#include <algorithm>

#include "core/scheduling/place.h"

namespace atl::core::scheduling {

bool feasible(const State& state, const Terms& terms) {
  return members_feasible(state, terms) >= std::max<uint32_t>(1, terms.gang);
}

uint32_t members_feasible(const State& state, const Terms& terms) {
  const uint32_t wanted = std::max<uint32_t>(1, terms.gang);
  uint32_t found = 0;
  for (const auto& [id, site] : state.sites) {
    if (!meant(state, site, terms)) continue;
    for (const auto& [name, node] : site.nodes) {
      if (!node.gone) found += members_in(whole(node), terms.resources, wanted - found);
      if (found >= wanted) return found;
    }
  }
  return found;
}

std::optional<Resources> nearest_feasible(const State& state, const Terms& terms) {
  std::optional<Resources> nearest;
  for (const auto& [id, site] : state.sites) {
    if (!meant(state, site, terms)) continue;
    for (const auto& [name, node] : site.nodes) {
      if (node.gone) continue;
      Resources fit = terms.resources;
      fit.cpu_milli = std::min(fit.cpu_milli, node.capacity.cpu_milli);
      fit.memory_bytes = std::min(fit.memory_bytes, node.capacity.memory_bytes);
      bool some_of_each = true;
      for (DeviceRequest& request : fit.devices) {
        const auto& devices = node.capacity.devices;
        const auto some = std::count_if(devices.begin(), devices.end(), [&](const Device& device) {
          return serves(device, request);
        });
        if (takes_whole(request) || some == 0)
          request.count = std::min(request.count, static_cast<uint32_t>(some));
        some_of_each &= request.count > 0;
      }
      if (some_of_each && node_could(node, fit) && (!nearest || *nearest < fit)) nearest = fit;
    }
  }
  return nearest;
}

}  // namespace atl::core::scheduling
