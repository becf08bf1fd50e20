#include "core/scheduling/devices.h"

#include <algorithm>
#include <bit>

#include "base/flat.h"

namespace atl::core::scheduling {
namespace {

constexpr int64_t kMib = 1 << 20;

// The place of the device's model in the request's list; nullopt: it would not do.
std::optional<int64_t> preference(const Device& device, const DeviceRequest& request) {
  if (device.kind != request.kind) return std::nullopt;
  if (request.model.empty() || request.model == device.model) return 0;
  for (size_t i = 0; i < request.also.size(); ++i) {
    if (request.also[i].empty() || request.also[i] == device.model)
      return static_cast<int64_t>(i) + 1;
  }
  return std::nullopt;
}

// The share of this very device that the request needs; nullopt: it offers none such.
std::optional<int32_t> share_on(const Device& device, const DeviceRequest& request) {
  if (takes_whole(request)) return kWholeDevice;
  if (device.share_step_milli <= 0) return std::nullopt;
  int64_t share = request.share_milli;
  if (request.memory_bytes > 0) {
    if (device.memory_bytes < request.memory_bytes) return std::nullopt;
    share = (request.memory_bytes / kMib * kWholeDevice + device.memory_bytes / kMib - 1) /
            std::max<int64_t>(1, device.memory_bytes / kMib);
  }
  const int64_t step = device.share_step_milli;
  share = (share + step - 1) / step * step;
  return static_cast<int32_t>(std::min<int64_t>(share, kWholeDevice));
}

const SliceProfile* profile_on(const Device& device, const DeviceRequest& request) {
  for (const SliceProfile& profile : device.profiles) {
    if (profile.name == request.profile) return &profile;
  }
  return nullptr;
}

uint32_t slots_at(const SliceProfile& profile, uint32_t start) {
  return slot_mask(start, profile.size);
}

// Ways to cut one more slice of any kind out of these slots.
int64_t ways(const Device& device, uint32_t slots) {
  int64_t count = 0;
  for (const SliceProfile& profile : device.profiles) {
    for (const uint32_t start : profile.starts)
      count += (slots_at(profile, start) & ~slots) == 0 ? profile.size : 0;
  }
  return count;
}

// Where the slice does least harm to those that may follow.
std::optional<uint32_t> best_start(const DeviceRoom& room, const SliceProfile& profile) {
  std::optional<uint32_t> best;
  int64_t most = -1;
  for (const uint32_t start : profile.starts) {
    const uint32_t slots = slots_at(profile, start);
    if ((slots & ~room.slots) != 0) continue;
    const int64_t left = ways(*room.device, room.slots & ~slots);
    if (left <= most) continue;
    most = left;
    best = start;
  }
  return best;
}

// The part of this device that would serve the request now.
std::optional<Part> part_of(const DeviceRoom& room, size_t at, const DeviceRequest& request) {
  Part part{.device = at, .counts_milli = request.share_milli};
  if (takes_slice(request)) {
    const SliceProfile* profile = profile_on(*room.device, request);
    if (!profile || room.share_milli < kWholeDevice) return std::nullopt;
    const auto start = best_start(room, *profile);
    if (!start) return std::nullopt;
    part.profile = profile;
    part.start = *start;
    part.slots = slots_at(*profile, *start);
    return part;
  }
  const auto share = share_on(*room.device, request);
  if (!share || room.share_milli < *share || room.slots != all_slots(*room.device))
    return std::nullopt;
  part.share_milli = *share;
  if (*share == kWholeDevice) part.slots = all_slots(*room.device);
  return part;
}

class Picker {
 public:
  Picker(const std::vector<DeviceRoom>& available, const Resources& asked, Allowance allowed,
         const std::vector<DeviceRoom>* spare)
      : left_(available.begin(), available.end()),
        asked_(asked),
        allowed_(std::move(allowed)),
        spare_(spare) {}

  bool serve(const DeviceRequest& request) {
    if (!takes_whole(request) || request.count == 1) {
      for (uint32_t i = 0; i < request.count; ++i) {
        if (!serve_one(request)) return false;
      }
      return true;
    }
    return serve_together(request);
  }
  Pick take() { return std::move(made_); }

 private:
  struct Candidate {
    Fitness fitness;
    Part part;
  };

  bool allows(const Device& device, const DeviceRequest& request, int64_t count = 1) const {
    if (allowed_.empty()) return true;
    const auto it = allowed_.find(device_name(device.kind, device.model));
    return it == allowed_.end() || it->second >= count * request.share_milli;
  }

  std::optional<Candidate> candidate(size_t at, const DeviceRequest& request) const {
    const DeviceRoom& room = left_[at];
    if (takes_whole(request) && !untouched(room)) return std::nullopt;
    const auto preferred = preference(*room.device, request);
    if (!preferred || !allows(*room.device, request)) return std::nullopt;
    const auto part = part_of(room, at, request);
    if (!part) return std::nullopt;
    Fitness fitness{*preferred, 0, 0, room.device->memory_bytes / kMib, 0, 0};
    if (takes_whole(request)) fitness.cuttable = cuttable(*room.device);
    fitness.spare = spare_ && !spare_->empty() && untouched((*spare_)[at]);
    // One that is cut already is cut further before another is begun.
    fitness.left = untouched(room) && !takes_whole(request) ? kWholeDevice * 2 : room.share_milli;
    if (takes_slice(request)) fitness.left += std::popcount(room.slots);
    return Candidate{fitness, *part};
  }

  // How much a part would miss the device: most if it is asked for with it.
  int64_t cuttable(const Device& device) const {
    const auto part = [&](const DeviceRequest& other) {
      return !takes_whole(other) && serves(device, other);
    };
    if (std::any_of(asked_.devices.begin(), asked_.devices.end(), part)) return 2;
    return device.share_step_milli > 0 || device.slots > 0;
  }

  bool serve_one(const DeviceRequest& request) {
    std::optional<Candidate> best;
    for (size_t i = 0; i < left_.size(); ++i) {
      auto one = candidate(i, request);
      if (!one) continue;
      if (takes_whole(request)) one->fitness.left = free_in_domain(i);
      if (!best || one->fitness < best->fitness) best = one;
    }
    if (!best) return false;
    give(*best);
    return true;
  }

  // Several whole devices: of one domain if one has enough, the fullest such.
  bool serve_together(const DeviceRequest& request) {
    std::vector<Candidate> all;
    all.reserve(left_.size());
    for (size_t i = 0; i < left_.size(); ++i) {
      if (auto one = candidate(i, request)) {
        one->fitness.left = -free_in_domain(i);
        all.push_back(*one);
      }
    }
    if (all.size() < request.count) return false;
    std::sort(all.begin(), all.end(), [&](const Candidate& a, const Candidate& b) {
      if (a.fitness != b.fitness) return a.fitness < b.fitness;
      return std::tie(domain_of(a), a.part.device) < std::tie(domain_of(b), b.part.device);
    });
    auto best = first_of(all, request, nullptr);
    for (size_t i = 0; best && i < all.size(); ++i) {
      const std::string& domain = domain_of(all[i]);
      if (domain.empty()) continue;
      auto close = first_of(all, request, &domain);
      if (close && close->first < best->first) best = std::move(close);
    }
    if (!best) return false;
    for (const Candidate& one : best->second) give(one, false);
    add(best->first);
    return true;
  }

  // The first ones that the quota allows, of one domain or of all.
  std::optional<std::pair<Fitness, std::vector<Candidate>>> first_of(
      const std::vector<Candidate>& all, const DeviceRequest& request,
      const std::string* domain) const {
    std::pair<Fitness, std::vector<Candidate>> chosen;
    chosen.second.reserve(request.count);
    std::map<std::string, int64_t> of_model;
    std::vector<const std::string*> domains;
    for (const Candidate& one : all) {
      if (chosen.second.size() == request.count) break;
      const Device& device = *left_[one.part.device].device;
      if (domain && device.domain != *domain) continue;
      if (!allowed_.empty() && !allows(device, request, ++of_model[device.model])) continue;
      if (std::none_of(domains.begin(), domains.end(),
                       [&](const std::string* each) { return *each == device.domain; }))
        domains.push_back(&device.domain);
      Fitness& sum = chosen.first;
      sum.preference += one.fitness.preference;
      sum.spare += one.fitness.spare;
      sum.memory_mib += one.fitness.memory_mib;
      sum.cuttable += one.fitness.cuttable;
      sum.left = domain ? -one.fitness.left : INT32_MAX;
      chosen.second.push_back(one);
    }
    if (chosen.second.size() < request.count) return std::nullopt;
    chosen.first.domains = static_cast<int64_t>(domains.size()) - 1;
    return chosen;
  }

  const std::string& domain_of(const Candidate& one) const {
    return left_[one.part.device].device->domain;
  }
  int64_t free_in_domain(size_t at) const {
    const std::string& domain = left_[at].device->domain;
    if (domain.empty()) return 0;
    return std::count_if(left_.begin(), left_.end(), [&](const DeviceRoom& each) {
      return each.device->domain == domain && untouched(each);
    });
  }

  void give(const Candidate& one, bool counted = true) {
    DeviceRoom& room = left_[one.part.device];
    room.share_milli -= one.part.share_milli;
    room.slots &= ~one.part.slots;
    if (!allowed_.empty()) {
      const auto it = allowed_.find(device_name(room.device->kind, room.device->model));
      if (it != allowed_.end()) it->second -= one.part.counts_milli;
    }
    if (counted) add(one.fitness);
    made_.parts.push_back(one.part);
  }
  void add(const Fitness& more) {
    made_.fitness.preference += more.preference;
    made_.fitness.spare += more.spare;
    made_.fitness.domains += more.domains;
    made_.fitness.memory_mib += more.memory_mib;
    made_.fitness.cuttable += more.cuttable;
    made_.fitness.left += more.left;
  }

  SmallVector<DeviceRoom, 16> left_;
  const Resources& asked_;
  Allowance allowed_;
  const std::vector<DeviceRoom>* spare_;
  Pick made_;
};

}  // namespace

uint32_t all_slots(const Device& device) { return slot_mask(0, device.slots); }

bool untouched(const DeviceRoom& room) {
  return room.share_milli >= kWholeDevice && room.slots == all_slots(*room.device);
}

HeldDevice held(const Device& device, const Part& part) {
  HeldDevice held{device.unit, device.kind, device.model, part.share_milli, part.counts_milli};
  if (part.profile) {
    held.profile = part.profile->name;
    held.start = part.start;
    held.size = part.profile->size;
    held.memory_bytes = part.profile->memory_bytes;
  } else if (part.share_milli < kWholeDevice) {
    held.memory_bytes = device.memory_bytes * part.share_milli / kWholeDevice;
  }
  return held;
}

std::vector<Part> parts_of(const Node& node, const std::vector<HeldDevice>& held) {
  std::vector<Part> parts;
  for (const HeldDevice& each : held) {
    const auto& devices = node.capacity.devices;
    const auto at = std::find_if(devices.begin(), devices.end(),
                                 [&](const Device& device) { return device.unit == each.unit; });
    if (at == devices.end()) continue;
    Part part{.device = static_cast<size_t>(at - devices.begin()),
              .share_milli = each.share_milli,
              .start = each.start,
              .counts_milli = each.counts_milli};
    if (each.size > 0)
      part.slots = slot_mask(each.start, each.size);
    else if (each.share_milli == kWholeDevice)
      part.slots = all_slots(*at);
    parts.push_back(part);
  }
  return parts;
}

bool serves(const Device& device, const DeviceRequest& request) {
  if (!preference(device, request)) return false;
  return takes_slice(request) ? profile_on(device, request) != nullptr
                              : share_on(device, request).has_value();
}

std::optional<Pick> pick(const std::vector<DeviceRoom>& available, const Resources& resources,
                         const Allowance& allowed, const std::vector<DeviceRoom>* spare) {
  Picker choice(available, resources, allowed, spare);
  // Those that take only one model first: of each kind at most one takes several. Parts before
  // whole devices: not every device can be cut.
  for (const bool choosy : {true, false}) {
    for (const bool whole : {false, true}) {
      for (const DeviceRequest& request : resources.devices) {
        if (takes_whole(request) != whole) continue;
        if ((!request.model.empty() && request.also.empty()) != choosy) continue;
        if (!choice.serve(request)) return std::nullopt;
      }
    }
  }
  return choice.take();
}

}  // namespace atl::core::scheduling
