#include "sim/checkers/fit.h"

#include <algorithm>

namespace atl::sim {
namespace {

constexpr int kTriesMax = 20'000;  // ways to deal out devices; then it counts as one that fits not

// A device and what is left of it.
struct Unit {
  const core::Device* device = nullptr;
  int64_t share = 1000;
  uint32_t slots = 0;  // taken
  bool sliced = false;
  bool shared = false;
};

bool takes(const core::DeviceRequest& request, const core::Device& device) {
  if (request.kind != device.kind) return false;
  if (request.model.empty() || request.model == device.model) return true;
  return std::any_of(request.also.begin(), request.also.end(), [&](const std::string& model) {
    return model.empty() || model == device.model;
  });
}

// Zero: the device gives no such share.
int64_t share_needed(const core::DeviceRequest& request, const core::Device& device) {
  if (request.memory_bytes == 0 && request.share_milli == 1000) return 1000;
  if (device.share_step_milli <= 0) return 0;
  int64_t share = request.share_milli;
  if (request.memory_bytes > 0) {
    if (device.memory_bytes < request.memory_bytes) return 0;
    constexpr int64_t kMib = 1 << 20;
    const int64_t mib = device.memory_bytes / kMib;
    share = (request.memory_bytes / kMib * 1000 + mib - 1) / mib;
  }
  const int64_t steps = (share + device.share_step_milli - 1) / device.share_step_milli;
  return std::min<int64_t>(1000, steps * device.share_step_milli);
}

class Dealing {
 public:
  Dealing(std::vector<Unit> units, const core::Resources& each, uint32_t copies)
      : units_(std::move(units)) {
    for (const core::DeviceRequest& request : each.devices) {
      for (uint32_t i = 0; i < request.count * copies; ++i) items_.push_back(&request);
    }
  }
  bool possible() { return deal(0, 0); }

 private:
  // Equal items go to units in order, so that no way is tried twice.
  bool deal(size_t at, size_t from) {
    if (at == items_.size()) return true;
    const core::DeviceRequest& request = *items_[at];
    for (size_t i = from; i < units_.size(); ++i) {
      if (!takes(request, *units_[i].device)) continue;
      const bool again = at + 1 < items_.size() && items_[at + 1] == items_[at];
      if (request.profile.empty() ? share(request, i, at, again) : slice(request, i, at, again))
        return true;
      if (++tries_ > kTriesMax) return false;
    }
    return false;
  }
  bool share(const core::DeviceRequest& request, size_t i, size_t at, bool again) {
    Unit& unit = units_[i];
    const int64_t needed = share_needed(request, *unit.device);
    if (unit.sliced || needed == 0 || unit.share < needed) return false;
    const Unit before = unit;
    unit.share -= needed;
    unit.shared = true;
    if (deal(at + 1, again ? i : 0)) return true;
    units_[i] = before;
    return false;
  }
  bool slice(const core::DeviceRequest& request, size_t i, size_t at, bool again) {
    if (units_[i].shared) return false;
    for (const core::SliceProfile& profile : units_[i].device->profiles) {
      if (profile.name != request.profile) continue;
      for (const uint32_t start : profile.starts) {
        const Unit before = units_[i];
        const uint32_t slots = ((uint32_t{1} << profile.size) - 1) << start;
        if (before.slots & slots) continue;
        units_[i].slots |= slots;
        units_[i].sliced = true;
        if (deal(at + 1, again ? i : 0)) return true;
        units_[i] = before;
      }
    }
    return false;
  }

  std::vector<Unit> units_;
  std::vector<const core::DeviceRequest*> items_;
  int tries_ = 0;
};

struct Used {
  int64_t cpu_milli = 0;
  int64_t memory_bytes = 0;
  std::vector<core::HeldDevice> parts;
};

Used used_on(const core::State& state, SiteId site, const std::string& node) {
  Used used;
  for (const auto& [id, job] : state.jobs) {
    for (const auto& [index, task] : job.tasks) {
      const core::Placement* at = core::placement_of(task.state);
      if (!at || task.line || at->site != site || at->node != node) continue;
      const core::Resources& each = state.terms_of(job).resources;
      used.cpu_milli += each.cpu_milli;
      used.memory_bytes += each.memory_bytes;
      used.parts.insert(used.parts.end(), at->devices.begin(), at->devices.end());
    }
  }
  return used;
}

std::vector<Unit> units_of(const core::Node& node, const Used& used) {
  std::vector<Unit> units;
  for (const core::Device& device : node.capacity.devices) {
    Unit unit{&device};
    for (const core::HeldDevice& part : used.parts) {
      if (part.unit != device.unit) continue;
      unit.share -= part.share_milli;
      unit.slots |= part.size ? ((uint32_t{1} << part.size) - 1) << part.start : 0;
      (part.profile.empty() ? unit.shared : unit.sliced) = true;
    }
    units.push_back(unit);
  }
  return units;
}

// Whether work that says so may go to the site.
bool wants(const std::string& said, const std::string& site, bool shared) {
  if (said.empty()) return shared;
  if (said.find('|') == std::string::npos) return said == site;
  const std::string listed = "|" + said + "|";
  return shared && (listed.find("|" + site + "|") != std::string::npos || said.ends_with("|any"));
}

}  // namespace

bool of_platform(const core::State& state, const core::Site& site) {
  if (site.kind != "simulated") return true;
  return std::all_of(state.sites.begin(), state.sites.end(),
                     [](const auto& entry) { return entry.second.kind == "simulated"; });
}

uint32_t members_on(const core::State& state, SiteId site, const core::Node& node,
                    const core::Terms& terms, uint32_t most, bool were_it_empty) {
  const Used used = were_it_empty ? Used{} : used_on(state, site, node.capacity.name);
  const core::Resources& each = terms.resources;
  uint32_t count = 0;
  while (count < most) {
    const int64_t next = count + 1;
    if (used.cpu_milli + next * each.cpu_milli > node.capacity.cpu_milli) break;
    if (used.memory_bytes + next * each.memory_bytes > node.capacity.memory_bytes) break;
    if (!each.devices.empty() && !Dealing(units_of(node, used), each, count + 1).possible()) break;
    ++count;
  }
  return count;
}

Fit look_for_room(const core::State& state, const core::Terms& terms) {
  Fit fit;
  const uint32_t wanted = std::max<uint32_t>(1, terms.gang);
  uint32_t empty = 0, now = 0, drained = 0;
  for (const auto& [id, site] : state.sites) {
    if (!wants(terms.site, site.name, of_platform(state, site))) continue;
    for (const auto& [name, node] : site.nodes) {
      if (node.gone) continue;
      const uint32_t could = members_on(state, id, node, terms, wanted, true);
      drained += could;
      fit.reported = true;
      if (site.draining || node.draining) continue;
      fit.any_node = true;
      empty += could;
      now += members_on(state, id, node, terms, wanted, false);
    }
  }
  fit.were_it_empty = empty >= wanted;
  fit.now = now >= wanted;
  fit.drained = drained >= wanted && !fit.were_it_empty;
  return fit;
}

int64_t amount_of(const core::Resources& each, const core::Placement& placement,
                  const std::string& resource) {
  if (resource == "cpu") return each.cpu_milli;
  if (resource == "memory") return each.memory_bytes;
  if (resource == "tasks") return 1;
  int64_t sum = 0;
  for (const core::HeldDevice& part : placement.devices) {
    if (resource == part.kind || resource == part.kind + ":" + part.model) sum += part.counts_milli;
  }
  return sum;
}

}  // namespace atl::sim
