#include "core/scheduling/room.h"

#include <algorithm>

namespace atl::core::scheduling {

Room nothing_of(const Node& node) {
  Room room;
  room.devices.reserve(node.capacity.devices.size());
  for (const Device& device : node.capacity.devices) room.devices.push_back({&device, 0, 0});
  return room;
}

bool fits(const Room& room, const Resources& resources, const Allowance& allowed) {
  if (room.cpu_milli < resources.cpu_milli || room.memory_bytes < resources.memory_bytes)
    return false;
  return resources.devices.empty() || pick(room.devices, resources, allowed).has_value();
}

uint32_t members_in(Room room, const Resources& resources, uint32_t max) {
  if (resources.devices.empty()) {
    int64_t count =
        std::max<int64_t>(0, room.cpu_milli) / std::max<int64_t>(1, resources.cpu_milli);
    if (resources.memory_bytes > 0)
      count = std::min(count, std::max<int64_t>(0, room.memory_bytes) / resources.memory_bytes);
    return static_cast<uint32_t>(std::min<int64_t>(count, max));
  }
  uint32_t count = 0;
  while (count < max && fits(room, resources)) {
    remove(room, Takings{resources.cpu_milli, resources.memory_bytes,
                         pick(room.devices, resources)->parts});
    ++count;
  }
  return count;
}

bool handed_on(const State& state, TaskId task, const Holder& holder) {
  return !state.followers.empty() &&
         state.followers.count({task.job, task.index, holder.attempt}) > 0;
}

Room whole(const Node& node) {
  Room room = nothing_of(node);
  room.cpu_milli = node.capacity.cpu_milli;
  room.memory_bytes = node.capacity.memory_bytes;
  for (DeviceRoom& each : room.devices) {
    each.share_milli = kWholeDevice;
    each.slots = all_slots(*each.device);
  }
  return room;
}

Room free_room(const Node& node) {
  Room room = whole(node);
  room.cpu_milli -= node.cpu_milli_used;
  room.memory_bytes -= node.memory_bytes_used;
  if (node.units_used.empty()) return room;
  for (DeviceRoom& each : room.devices) {
    const auto used = node.units_used.find(each.device->unit);
    if (used == node.units_used.end()) continue;
    each.share_milli -= used->second.share_milli;
    // Somebody may hold a slice of what has no such slots any more: nothing is free until it ends.
    if ((used->second.slots & ~all_slots(*each.device)) != 0) each.share_milli = 0;
    each.slots = used->second.whole ? 0 : each.slots & ~used->second.slots;
  }
  return room;
}

Room room_of(const Node& node, const Holder& holder, const Resources& resources) {
  if (holder.devices.empty()) return {resources.cpu_milli, resources.memory_bytes, {}};
  Room room = nothing_of(node);
  room.cpu_milli = resources.cpu_milli;
  room.memory_bytes = resources.memory_bytes;
  for (const Part& part : parts_of(node, holder.devices)) {
    room.devices[part.device].share_milli += part.share_milli;
    room.devices[part.device].slots |= part.slots;
  }
  return room;
}

void add(Room& room, const Room& more) {
  room.cpu_milli += more.cpu_milli;
  room.memory_bytes += more.memory_bytes;
  if (room.devices.empty()) {
    room.devices = more.devices;
    return;
  }
  for (size_t i = 0; i < more.devices.size(); ++i) {
    room.devices[i].share_milli += more.devices[i].share_milli;
    room.devices[i].slots |= more.devices[i].slots;
  }
}

void add(Room& room, const Takings& takings) {
  room.cpu_milli += takings.cpu_milli;
  room.memory_bytes += takings.memory_bytes;
  for (const Part& part : takings.parts) {
    room.devices[part.device].share_milli += part.share_milli;
    room.devices[part.device].slots |= part.slots;
  }
}

void remove(Room& room, const Room& less) {
  room.cpu_milli -= less.cpu_milli;
  room.memory_bytes -= less.memory_bytes;
  if (room.devices.empty()) return;
  for (size_t i = 0; i < less.devices.size(); ++i) {
    room.devices[i].share_milli -= less.devices[i].share_milli;
    room.devices[i].slots &= ~less.devices[i].slots;
  }
}

void remove(Room& room, const Takings& takings) {
  room.cpu_milli -= takings.cpu_milli;
  room.memory_bytes -= takings.memory_bytes;
  for (const Part& part : takings.parts) {
    room.devices[part.device].share_milli -= part.share_milli;
    room.devices[part.device].slots &= ~part.slots;
  }
}

void remove_available(Room& room, Takings& takings) {
  const auto take = [](auto& from, auto& wanted) {
    const auto part = std::clamp<std::decay_t<decltype(from)>>(from, 0, wanted);
    from -= part;
    wanted -= part;
  };
  take(room.cpu_milli, takings.cpu_milli);
  take(room.memory_bytes, takings.memory_bytes);
  if (room.devices.empty()) return;
  for (Part& part : takings.parts) {
    DeviceRoom& device = room.devices[part.device];
    take(device.share_milli, part.share_milli);
    const uint32_t slots = device.slots & part.slots;
    device.slots &= ~slots;
    part.slots &= ~slots;
  }
}

Room shrink(Room& room, const Room& bound) {
  Room lost = room;
  const auto beyond = [](auto& value, auto limit) {
    value = std::max<std::decay_t<decltype(value)>>(
        0, value - std::max<std::decay_t<decltype(value)>>(0, limit));
  };
  beyond(lost.cpu_milli, bound.cpu_milli);
  beyond(lost.memory_bytes, bound.memory_bytes);
  for (size_t i = 0; i < lost.devices.size(); ++i) {
    beyond(lost.devices[i].share_milli, bound.devices.empty() ? 0 : bound.devices[i].share_milli);
    if (!bound.devices.empty()) lost.devices[i].slots &= ~bound.devices[i].slots;
  }
  remove(room, lost);
  return lost;
}

}  // namespace atl::core::scheduling
