#include "core/scheduling/filter.h"

namespace atl::core::scheduling {
namespace {

// How many devices of a quota's key ("gpu" or "gpu:a100") the terms ask for.
int64_t asked_of(const Terms& terms, const std::string& key) {
  int64_t count = 0;
  for (const DeviceRequest& request : terms.resources.devices) {
    if (key == request.kind || key == request.kind + ":" + request.model) count += request.count;
  }
  return count;
}

int64_t in_use_of(const InUse& in_use, const std::string& key) {
  const auto it = in_use.devices.find(key);
  return it == in_use.devices.end() ? 0 : it->second;
}

}  // namespace

std::optional<Block> over_quota(const World& world, NamespaceId id, const Terms& terms) {
  const Quota& quota = world.state->namespaces.at(id).quota;
  const InUse& in_use = world.in_use_of(id);
  const auto over = [](const char* resource, int64_t asked, int64_t used,
                       int64_t limit) -> std::optional<Block> {
    if (asked == 0 || used + asked <= limit) return std::nullopt;
    return Block{Obstacle::quota, resource, asked, used, limit};
  };
  if (quota.cpu_milli) {
    if (auto block = over("cpu", terms.resources.cpu_milli, in_use.cpu_milli, *quota.cpu_milli))
      return block;
  }
  if (quota.memory_bytes) {
    if (auto block =
            over("memory", terms.resources.memory_bytes, in_use.memory_bytes, *quota.memory_bytes))
      return block;
  }
  if (quota.running) {
    if (auto block = over("tasks", 1, static_cast<int64_t>(in_use.tasks),
                          static_cast<int64_t>(*quota.running)))
      return block;
  }
  for (const auto& [key, limit] : quota.devices) {
    if (auto block = over(key.c_str(), asked_of(terms, key), in_use_of(in_use, key), limit))
      return block;
  }
  return std::nullopt;
}

std::optional<Block> over_array_limit(const World& world, const Job& job, const Terms& terms) {
  if (terms.parallel_max == 0) return std::nullopt;
  int64_t placed = job.placed;
  const auto extra = world.placed_of_job.find(job.id);
  if (extra != world.placed_of_job.end()) placed += extra->second;
  if (placed < terms.parallel_max) return std::nullopt;
  return Block{Obstacle::array_limit, "tasks", 1, placed, terms.parallel_max};
}

}  // namespace atl::core::scheduling
