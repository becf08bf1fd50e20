#include "site/slices.h"

namespace atl::site {
namespace {

constexpr int64_t kGib = int64_t{1} << 30;
constexpr uint32_t kSlots = 8;  // of memory; seven of them have processors of their own

struct Table {
  const char* name;
  int64_t slot;  // memory of one
  std::vector<core::SliceProfile> profiles;
};

std::vector<core::SliceProfile> profiles(const char* small, const char* roomy, const char* two,
                                         const char* three, const char* four, const char* all) {
  return {{small, 1, {0, 1, 2, 3, 4, 5, 6}, 0},
          {roomy, 2, {0, 2, 4, 6}, 0},
          {two, 2, {0, 2, 4}, 0},
          {three, 4, {0, 4}, 0},
          {four, 4, {0}, 0},
          {all, 8, {0}, 0}};
}

const std::vector<Table>& tables() {
  static const std::vector<Table> all = {
      {"a100-40gb", 5 * kGib,
       profiles("1g.5gb", "1g.10gb", "2g.10gb", "3g.20gb", "4g.20gb", "7g.40gb")},
      {"a100-80gb", 10 * kGib,
       profiles("1g.10gb", "1g.20gb", "2g.20gb", "3g.40gb", "4g.40gb", "7g.80gb")},
      {"h100-80gb", 10 * kGib,
       profiles("1g.10gb", "1g.20gb", "2g.20gb", "3g.40gb", "4g.40gb", "7g.80gb")},
  };
  return all;
}

}  // namespace

bool set_slices(core::Device& device, const std::string& table) {
  for (const Table& each : tables()) {
    if (each.name != table) continue;
    device.slots = kSlots;
    device.profiles = each.profiles;
    for (core::SliceProfile& profile : device.profiles)
      profile.memory_bytes = profile.size * each.slot;
    return true;
  }
  return false;
}

std::vector<std::string> slice_tables() {
  std::vector<std::string> names;
  for (const Table& each : tables()) names.emplace_back(each.name);
  return names;
}

}  // namespace atl::site
