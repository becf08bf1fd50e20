// Room on a node: what is free of it, or would be, and whether something fits.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/scheduling/devices.h"

namespace atl::core::scheduling {

struct Room {
  int64_t cpu_milli = 0;
  int64_t memory_bytes = 0;
  std::vector<DeviceRoom> devices;  // all of the node's, in their order; empty: nothing of any
};

// What a task takes of a node.
struct Takings {
  int64_t cpu_milli = 0;
  int64_t memory_bytes = 0;
  std::vector<Part> parts;
};

bool fits(const Room& room, const Resources& resources, const Allowance& allowed = {});

// How many such tasks fit together, at most `max`.
uint32_t members_in(Room room, const Resources& resources, uint32_t max);

// Whether another task is in line for the very room of this one: it does not come free.
bool handed_on(const State& state, TaskId task, const Holder& holder);

// No room at all on the node.
Room nothing_of(const Node& node);
// An empty node's room.
Room whole(const Node& node);
// What is free of it.
Room free_room(const Node& node);
// What a task on the node gives back when it ends.
Room room_of(const Node& node, const Holder& holder, const Resources& resources);

void add(Room& room, const Room& more);
void add(Room& room, const Takings& takings);
void remove(Room& room, const Room& less);
void remove(Room& room, const Takings& takings);
// Removes as much of the takings as there is; they keep the rest.
void remove_available(Room& room, Takings& takings);

// Makes `room` no larger than `bound`; gives back what it loses.
Room shrink(Room& room, const Room& bound);

}  // namespace atl::core::scheduling
