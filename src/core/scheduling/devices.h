// Which devices: by the models that were preferred, those that are close to each other, and of
// those that would do the smallest, so that large ones stay free for who needs them.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/state.h"

namespace atl::core::scheduling {

// What is free of one device of a node: a share of it, and slots for slices. It is cut in one way
// at a time: while some hold shares of it there are no slices, and the other way round.
struct DeviceRoom {
  const Device* device = nullptr;
  int32_t share_milli = 0;
  uint32_t slots = 0;  // a bit for each
};

// A part of a device that is given to a task.
struct Part {
  size_t device = 0;  // of the node's
  int32_t share_milli = 0;
  uint32_t slots = 0;
  const SliceProfile* profile = nullptr;
  uint32_t start = 0;
  int32_t counts_milli = kWholeDevice;
};

uint32_t all_slots(const Device& device);
// Nobody has any of it.
bool untouched(const DeviceRoom& room);
HeldDevice held(const Device& device, const Part& part);
// What somebody holds of the node's devices, as far as the node still has them.
std::vector<Part> parts_of(const Node& node, const std::vector<HeldDevice>& held);

// How many thousandths of devices of each limited model ("gpu:a100") a quota leaves. A request for
// any model must respect it too, and only the choice of devices can tell.
using Allowance = std::map<std::string, int64_t>;

// How good a choice is; the smaller, the better.
struct Fitness {
  int64_t preference = 0;  // places down the lists of models
  int64_t spare = 0;       // devices that were to be taken last
  int64_t domains = 0;     // more than one for each request
  int64_t memory_mib = 0;  // of the devices: larger ones are for others
  int64_t cuttable = 0;    // whole ones that would serve who needs a part
  int64_t left = 0;        // of the devices and domains that are cut into
  auto operator<=>(const Fitness&) const = default;
};
struct Pick {
  std::vector<Part> parts;
  Fitness fitness;
};

// Devices for every request; nullopt when they do not suffice. Those that are free in `spare` are
// taken last.
std::optional<Pick> pick(const std::vector<DeviceRoom>& available, const Resources& resources,
                         const Allowance& allowed = {},
                         const std::vector<DeviceRoom>* spare = nullptr);

// Whether the device could ever serve the request.
bool serves(const Device& device, const DeviceRequest& request);

}  // namespace atl::core::scheduling
