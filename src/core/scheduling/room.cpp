#include "core/scheduling/room.h"

#include <algorithm>

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

std::vector<const Device*> pick_allowed(std::vector<const Device*> left, const Resources& resources,
                                        Allowance allowed) {
  std::vector<const Device*> picked;
  for (const bool modelled : {true, false}) {
    for (const DeviceRequest& request : resources.devices) {
      if (request.model.empty() == modelled) continue;
      for (uint32_t i = 0; i < request.count; ++i) {
        const auto it = std::find_if(left.begin(), left.end(), [&](const Device* device) {
          return matches(*device, request) && take_allowed(allowed, *device);
        });
        if (it == left.end()) break;
        picked.push_back(*it);
        left.erase(it);
      }
    }
  }
  return picked;
}

}  // namespace

std::optional<std::vector<const Device*>> pick(const std::vector<const Device*>& available,
                                               const Resources& resources,
                                               const Allowance& allowed) {
  size_t asked = 0;
  for (const DeviceRequest& request : resources.devices) asked += request.count;
  auto picked = pick_allowed(available, resources, allowed);
  if (picked.size() < asked) return std::nullopt;
  return picked;
}

std::vector<const Device*> pick_some(const std::vector<const Device*>& available,
                                     const Resources& resources) {
  return pick_allowed(available, resources, {});
}

bool fits(const Room& room, const Resources& resources, const Allowance& allowed) {
  if (room.cpu_milli < resources.cpu_milli || room.memory_bytes < resources.memory_bytes)
    return false;
  return resources.devices.empty() || pick(room.devices, resources, allowed).has_value();
}

bool handed_on(const State& state, TaskId task, const Holder& holder) {
  return !state.followers.empty() &&
         state.followers.count({task.job, task.index, holder.attempt}) > 0;
}

Room whole(const Node& node) {
  Room room{node.capacity.cpu_milli, node.capacity.memory_bytes, {}};
  for (const Device& device : node.capacity.devices) room.devices.push_back(&device);
  return room;
}

Room room_of(const Node& node, const Holder& holder, const Resources& resources) {
  Room room{resources.cpu_milli, resources.memory_bytes, {}};
  for (const HeldDevice& held : holder.devices) {
    for (const Device& device : node.capacity.devices) {
      if (device.unit == held.unit) room.devices.push_back(&device);
    }
  }
  return room;
}

void add(Room& room, const Room& more) {
  room.cpu_milli += more.cpu_milli;
  room.memory_bytes += more.memory_bytes;
  room.devices.insert(room.devices.end(), more.devices.begin(), more.devices.end());
}

void remove(Room& room, const Resources& resources, const std::vector<const Device*>& devices) {
  room.cpu_milli -= resources.cpu_milli;
  room.memory_bytes -= resources.memory_bytes;
  std::erase_if(room.devices, [&](const Device* device) {
    return std::find(devices.begin(), devices.end(), device) != devices.end();
  });
}

}  // namespace atl::core::scheduling
