#include "sim/checkers/parts.h"

#include <algorithm>

namespace atl::sim {
namespace {

bool is_slice(const core::HeldDevice& part) { return !part.profile.empty(); }

bool collide(const core::HeldDevice& a, const core::HeldDevice& b) {
  if (is_slice(a) != is_slice(b)) return true;
  return is_slice(a) && a.start < b.start + b.size && b.start < a.start + a.size;
}

const core::Device* device_of(const std::vector<core::Device>& devices, const std::string& unit) {
  for (const core::Device& device : devices) {
    if (device.unit == unit) return &device;
  }
  return nullptr;
}

bool serves(const core::Device& device, const core::HeldDevice& part,
            const core::DeviceRequest& request) {
  if (part.kind != request.kind || part.counts_milli != request.share_milli) return false;
  const auto takes = [&](const std::string& model) { return model.empty() || model == part.model; };
  if (!takes(request.model) && std::none_of(request.also.begin(), request.also.end(), takes))
    return false;
  if (part.profile != request.profile) return false;
  if (is_slice(part)) return true;
  if (request.memory_bytes > 0)
    return device.memory_bytes / 1000 * part.share_milli >= request.memory_bytes / 1000 * 999;
  return part.share_milli >= request.share_milli;
}

bool assign(const std::vector<core::Device>& devices, const std::vector<core::HeldDevice>& parts,
            size_t at, std::vector<core::DeviceRequest>& left) {
  if (at == parts.size())
    return std::all_of(left.begin(), left.end(), [](const auto& each) { return each.count == 0; });
  const core::Device* device = device_of(devices, parts[at].unit);
  if (!device) return false;
  for (core::DeviceRequest& request : left) {
    if (request.count == 0 || !serves(*device, parts[at], request)) continue;
    --request.count;
    if (assign(devices, parts, at + 1, left)) return true;
    ++request.count;
  }
  return false;
}

}  // namespace

std::string DeviceParts::take(const std::string& where, AttemptId who,
                              const core::HeldDevice& part) {
  std::vector<Held>& here = held_[{where, part.unit}];
  std::string wrong;
  int32_t shares = part.share_milli;
  for (const Held& other : here) {
    shares += other.part.share_milli;
    if (wrong.empty() && (collide(part, other.part) || shares > 1000)) wrong = to_string(other.who);
  }
  here.push_back({who, part});
  return wrong;
}

void DeviceParts::give_back(const std::string& where, AttemptId who, const core::HeldDevice& part) {
  const auto here = held_.find({where, part.unit});
  if (here == held_.end()) return;
  const auto mine = std::find_if(here->second.begin(), here->second.end(), [&](const Held& each) {
    return each.who == who && each.part == part;
  });
  if (mine != here->second.end()) here->second.erase(mine);
  if (here->second.empty()) held_.erase(here);
}

std::string wrongly_cut(const core::Device& device, const core::HeldDevice& part) {
  if (device.kind != part.kind || device.model != part.model) return "is another one";
  if (!is_slice(part)) {
    if (part.share_milli == 1000) return "";
    if (device.share_step_milli <= 0) return "is not shared";
    const bool steps = part.share_milli > 0 && part.share_milli % device.share_step_milli == 0;
    return steps && part.share_milli < 1000 ? "" : "has no such share";
  }
  for (const core::SliceProfile& profile : device.profiles) {
    if (profile.name != part.profile || profile.size != part.size) continue;
    const auto& starts = profile.starts;
    if (std::find(starts.begin(), starts.end(), part.start) == starts.end())
      return "has no slice there";
    return part.start + part.size <= device.slots && part.share_milli == 0 ? "" : "is too small";
  }
  return "has no such slice";
}

bool as_asked(const std::vector<core::Device>& devices, const std::vector<core::HeldDevice>& parts,
              const std::vector<core::DeviceRequest>& requests) {
  std::vector<core::DeviceRequest> left = requests;
  return assign(devices, parts, 0, left);
}

}  // namespace atl::sim
