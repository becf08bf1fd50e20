// Who holds what of which device: whole, in shares, or in slices. One device is cut in one way at a
// time, its shares are not more than all of it, and no slot is in two slices.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/core.h"

namespace atl::sim {

class DeviceParts {
 public:
  // Records the part; says with what it collides, or nothing.
  std::string take(const std::string& where, AttemptId who, const core::HeldDevice& part);
  void give_back(const std::string& where, AttemptId who, const core::HeldDevice& part);

 private:
  struct Held {
    AttemptId who;
    core::HeldDevice part;
  };
  std::map<std::pair<std::string, std::string>, std::vector<Held>> held_;  // by place and unit
};

// Why the device cannot be cut so, or nothing.
std::string wrongly_cut(const core::Device& device, const core::HeldDevice& part);

// Whether the parts are those that were asked for, each once, on devices that the node has.
bool as_asked(const std::vector<core::Device>& devices, const std::vector<core::HeldDevice>& parts,
              const std::vector<core::DeviceRequest>& requests);

}  // namespace atl::sim
