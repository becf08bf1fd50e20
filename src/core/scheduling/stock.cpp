#include "core/scheduling/stock.h"

#include <string_view>

#include "core/scheduling/world.h"

namespace atl::core::scheduling {
namespace {

uint64_t mix(uint64_t value) {
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9ull;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebull;
  return value ^ (value >> 31);
}

uint64_t fingerprint(std::string_view text, uint64_t seed) {
  uint64_t hash = seed ^ 0xcbf29ce484222325ull;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ull;
  return hash;
}

// By what it is, and how it can be cut.
bool alike(const Device& a, const Device& b) {
  return a.memory_bytes == b.memory_bytes && a.slots == b.slots &&
         a.share_step_milli == b.share_step_milli && a.kind == b.kind && a.model == b.model &&
         a.domain == b.domain && a.profiles == b.profiles;
}
uint64_t fingerprint(const Device& device) {
  uint64_t hash = fingerprint(device.kind, static_cast<uint64_t>(device.memory_bytes));
  hash = fingerprint(device.model, hash);
  hash = fingerprint(device.domain, hash);
  hash =
      mix(hash) ^ (uint64_t{device.slots} << 32) ^ static_cast<uint32_t>(device.share_step_milli);
  for (const SliceProfile& profile : device.profiles) {
    hash = fingerprint(profile.name, mix(hash) ^ profile.size);
    for (const uint32_t start : profile.starts) hash = mix(hash ^ start);
  }
  return mix(hash);
}

// Equal for nodes with the same devices in the same state, in whatever order.
uint64_t key_of(const NodeView& view) {
  uint64_t sum = mix(view.site.value + 1);
  for (size_t i = 0; i < view.free.devices.size(); ++i) {
    const DeviceRoom& room = view.free.devices[i];
    sum += mix(view.device_makes[i] ^ (uint64_t{room.slots} << 32) ^
               static_cast<uint32_t>(room.share_milli));
  }
  return sum;
}

bool plain(const NodeView& view) { return view.lent.empty() && view.kept.empty(); }

}  // namespace

std::vector<uint64_t> device_makes_of(const NodeCapacity& capacity) {
  const std::vector<Device>& devices = capacity.devices;
  std::vector<uint64_t> makes(devices.size());
  for (size_t i = 0; i < devices.size(); ++i)
    makes[i] = i > 0 && alike(devices[i], devices[i - 1]) ? makes[i - 1] : fingerprint(devices[i]);
  return makes;
}

uint64_t make_of(const NodeCapacity& capacity, const std::vector<uint64_t>& device_makes) {
  uint64_t sum = mix(static_cast<uint64_t>(capacity.cpu_milli)) ^
                 mix(~static_cast<uint64_t>(capacity.memory_bytes));
  for (const uint64_t make : device_makes) sum += make;
  return sum;
}

void Stock::add(const NodeView& view, size_t node) {
  if (!plain(view)) {
    others_.insert(node);
    return;
  }
  Alike& alike = alike_[key_of(view)];
  if (alike.nodes.empty()) {
    alike.some = node;
    alike.devices_milli = 0;
    for (const DeviceRoom& room : view.free.devices) alike.devices_milli += room.share_milli;
  }
  alike.nodes.emplace(view.free.cpu_milli, view.free.memory_bytes, node);
}

void Stock::remove(const NodeView& view, size_t node) {
  if (others_.erase(node) > 0) return;
  const auto it = alike_.find(key_of(view));
  it->second.nodes.erase({view.free.cpu_milli, view.free.memory_bytes, node});
  if (it->second.nodes.empty())
    alike_.erase(it);
  else if (it->second.some == node)
    it->second.some = std::get<2>(*it->second.nodes.begin());
}

}  // namespace atl::core::scheduling
