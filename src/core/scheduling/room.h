// Room on a node: what is free of it, or would be, and whether something fits.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/state.h"

namespace atl::core::scheduling {

struct Room {
  int64_t cpu_milli = 0;
  int64_t memory_bytes = 0;
  std::vector<const Device*> devices;
};

// How many more devices of each limited model ("gpu:a100") a quota leaves. A request for any model
// must respect it too, and only the choice of devices can tell.
using Allowance = std::map<std::string, int64_t>;

// Devices for every request, in the order they are available; requests for a model choose before
// those for any. Nullopt when they do not suffice.
std::optional<std::vector<const Device*>> pick(const std::vector<const Device*>& available,
                                               const Resources& resources,
                                               const Allowance& allowed = {});

// The same, as far as they go.
std::vector<const Device*> pick_some(const std::vector<const Device*>& available,
                                     const Resources& resources);

bool fits(const Room& room, const Resources& resources, const Allowance& allowed = {});

// Whether another task is in line for the very room of this one: it does not come free.
bool handed_on(const State& state, TaskId task, const Holder& holder);

// An empty node's room.
Room whole(const Node& node);
// What a task on the node gives back when it ends.
Room room_of(const Node& node, const Holder& holder, const Resources& resources);

void add(Room& room, const Room& more);
void remove(Room& room, const Resources& resources, const std::vector<const Device*>& devices);

}  // namespace atl::core::scheduling
