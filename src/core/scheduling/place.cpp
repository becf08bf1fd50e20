#include "core/scheduling/place.h"

#include <algorithm>
#include <tuple>

namespace atl::core::scheduling {
namespace {

bool matches(const Device& device, const DeviceRequest& request) {
  return device.kind == request.kind && (request.model.empty() || device.model == request.model);
}

// Whether the quota leaves one more device of its model; if so, it is counted as taken.
bool take_allowed(Allowance& allowed, const Device& device) {
  if (allowed.empty()) return true;
  const auto it = allowed.find(device.kind + ":" + device.model);
  if (it == allowed.end()) return true;
  if (it->second <= 0) return false;
  --it->second;
  return true;
}

// Devices for every request out of `available`; requests for a model choose before those for any.
std::optional<std::vector<HeldDevice>> pick(std::vector<const Device*> available,
                                            const Resources& resources, Allowance allowed = {}) {
  std::vector<HeldDevice> picked;
  std::vector<const DeviceRequest*> order;
  for (const bool modelled : {true, false}) {
    for (const DeviceRequest& request : resources.devices) {
      if (request.model.empty() != modelled) order.push_back(&request);
    }
  }
  for (const DeviceRequest* request : order) {
    for (uint32_t i = 0; i < request->count; ++i) {
      const auto it = std::find_if(available.begin(), available.end(), [&](const Device* device) {
        return matches(*device, *request) && take_allowed(allowed, *device);
      });
      if (it == available.end()) return std::nullopt;
      picked.push_back({(*it)->unit, (*it)->kind, (*it)->model});
      available.erase(it);
    }
  }
  return picked;
}

bool meant(const NodeView& view, const Terms& terms) {
  return terms.site.empty() ? !view.only_by_name : terms.site == *view.site_name;
}

bool meant(const State& state, const Site& site, const Terms& terms) {
  return terms.site.empty() ? !only_by_name(state, site) : terms.site == site.name;
}

std::vector<const Device*> all_devices(const Node& node) {
  std::vector<const Device*> all;
  for (const Device& device : node.capacity.devices) all.push_back(&device);
  return all;
}

bool node_could(const Node& node, const Resources& resources) {
  return node.capacity.cpu_milli >= resources.cpu_milli &&
         node.capacity.memory_bytes >= resources.memory_bytes &&
         pick(all_devices(node), resources).has_value();
}

const Site* draining_that_could(const State& state, const Terms& terms) {
  for (const auto& [id, site] : state.sites) {
    if (!site.draining || !meant(state, site, terms)) continue;
    for (const auto& [name, node] : site.nodes) {
      if (!node.gone && node_could(node, terms.resources)) return &site;
    }
  }
  return nullptr;
}

int64_t count_matching(const std::vector<const Device*>& devices, const DeviceRequest& request) {
  return std::count_if(devices.begin(), devices.end(),
                       [&](const Device* device) { return matches(*device, request); });
}

// A request for any model needs what those for a model leave over, so it is counted with them.
int64_t asked_with_models(const Resources& resources, const DeviceRequest& request) {
  if (!request.model.empty()) return request.count;
  int64_t asked = 0;
  for (const DeviceRequest& each : resources.devices) {
    if (each.kind == request.kind) asked += each.count;
  }
  return asked;
}

// The block of the node that comes nearest: fewest kinds of thing missing there, first of its name.
Block missing_on(const NodeView& view, const Resources& resources, int& missing) {
  Block block{Obstacle::capacity, "", 0, 0, 0, {}};
  missing = 0;
  const auto note = [&](const std::string& resource, int64_t asked, int64_t free, int64_t limit) {
    if (asked <= free) return;
    if (++missing == 1) block = {Obstacle::capacity, resource, asked, limit - free, limit, {}};
  };
  for (const DeviceRequest& request : resources.devices) {
    const std::string name =
        request.model.empty() ? request.kind : request.kind + ":" + request.model;
    note(name, asked_with_models(resources, request), count_matching(view.devices_free, request),
         count_matching(all_devices(*view.node), request));
  }
  note("cpu", resources.cpu_milli, view.cpu_milli_free, view.node->capacity.cpu_milli);
  note("memory", resources.memory_bytes, view.memory_bytes_free, view.node->capacity.memory_bytes);
  return block;
}

}  // namespace

std::optional<Placement> place(const World& world, const Terms& terms, const Allowance& allowed) {
  using Leftover = std::tuple<size_t, int64_t, int64_t>;  // devices, cores, memory
  std::optional<Placement> best;
  Leftover best_leftover{};
  for (const NodeView& view : world.nodes) {
    if (!meant(view, terms) || view.cpu_milli_free < terms.resources.cpu_milli ||
        view.memory_bytes_free < terms.resources.memory_bytes) {
      continue;
    }
    const Leftover leftover{view.devices_free.size(), view.cpu_milli_free, view.memory_bytes_free};
    if (best && best_leftover <= leftover) continue;
    auto devices = terms.resources.devices.empty()
                       ? std::vector<HeldDevice>{}
                       : pick(view.devices_free, terms.resources, allowed);
    if (!devices) continue;
    best = Placement{view.site, view.node->capacity.name, std::move(*devices)};
    best_leftover = leftover;
  }
  return best;
}

Allowance allowance(const World& world, NamespaceId ns) {
  Allowance allowed;
  for (const auto& [key, rest] : devices_left(world, ns)) {
    if (key.find(':') != std::string::npos) allowed[key] = rest.left;
  }
  return allowed;
}

Block why_not_placed(const World& world, const Terms& terms) {
  Block nearest{Obstacle::no_site, terms.site, 0, 0, 0, {}};
  int nearest_missing = INT32_MAX;
  bool seen = false;
  for (const NodeView& view : world.nodes) {
    if (!meant(view, terms)) continue;
    if (!seen) nearest = {Obstacle::infeasible, "", 0, 0, 0, {}};
    seen = true;
    if (!node_could(*view.node, terms.resources)) continue;
    int missing = 0;
    const Block block = missing_on(view, terms.resources, missing);
    if (missing == 0) return {};
    if (missing < nearest_missing) {
      nearest_missing = missing;
      nearest = block;
    }
  }
  if (nearest.obstacle == Obstacle::capacity) return nearest;
  if (const Site* site = draining_that_could(*world.state, terms))
    return {Obstacle::draining, site->name, 0, 0, 0, {}};
  return nearest;
}

std::optional<Block> over_model_quota(const World& world, NamespaceId ns, const Terms& terms) {
  const Allowance allowed = allowance(world, ns);
  if (allowed.empty() || place(world, terms, allowed)) return std::nullopt;
  for (const DeviceRequest& request : terms.resources.devices) {
    const int64_t asked = asked_with_models(terms.resources, request);
    for (const auto& [key, left] : allowed) {
      if (!key.starts_with(request.kind + ":") || asked <= left) continue;
      const DevicesLeft rest = devices_left(world, ns).at(key);
      return Block{Obstacle::quota, key, asked, rest.limit - left, rest.limit, rest.holder};
    }
  }
  return std::nullopt;
}

bool feasible(const State& state, const Terms& terms) {
  for (const auto& [id, site] : state.sites) {
    if (!meant(state, site, terms)) continue;
    for (const auto& [name, node] : site.nodes) {
      if (!node.gone && node_could(node, terms.resources)) return true;
    }
  }
  return false;
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
        request.count = std::min(request.count,
                                 static_cast<uint32_t>(count_matching(all_devices(node), request)));
        some_of_each &= request.count > 0;
      }
      if (some_of_each && node_could(node, fit) && (!nearest || *nearest < fit)) nearest = fit;
    }
  }
  return nearest;
}

}  // namespace atl::core::scheduling
