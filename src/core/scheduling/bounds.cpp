#include "core/scheduling/bounds.h"

#include <algorithm>

#include "core/calendar.h"
#include "core/cohorts.h"
#include "core/scheduling/place.h"

namespace atl::core::scheduling {
namespace {

// The namespace, and the cohorts above it, with nothing in use.
World unused(const State& state, NamespaceId ns) {
  World world;
  world.state = &state;
  world.in_use[ns] = {};
  for_each_cohort(state, state.namespaces.at(ns).stake.cohort,
                  [&](const Cohort& cohort) { world.cohort_in_use[cohort.id] = {}; });
  return world;
}

// What all members but one have, as if of each request the very devices had been found.
InUse used_by_others(const Terms& terms) {
  const int64_t others = terms.gang > 0 ? terms.gang - 1 : 0;
  InUse used;
  if (others == 0) return used;
  used.cpu_milli = others * terms.resources.cpu_milli;
  used.memory_bytes = others * terms.resources.memory_bytes;
  used.tasks = static_cast<uint64_t>(others);
  for (const DeviceRequest& request : terms.resources.devices) {
    const std::string model = device_name(request.kind, request.model);
    used.devices[request.kind] = others * asked_of(terms.resources, request.kind);
    if (model != request.kind) used.devices[model] = others * asked_of(terms.resources, model);
  }
  return used;
}

InUse with_others(InUse used, const Terms& terms) {
  const InUse others = used_by_others(terms);
  used.cpu_milli += others.cpu_milli;
  used.memory_bytes += others.memory_bytes;
  used.tasks += others.tasks;
  for (const auto& [key, milli] : others.devices) used.devices[key] += milli;
  return used;
}

// What is left of each thing that is asked for.
struct Remaining {
  Left left;
  std::vector<std::string> keys;  // of the devices

  int64_t& of(const std::string& key) {
    return left.devices_milli[static_cast<size_t>(std::find(keys.begin(), keys.end(), key) -
                                                  keys.begin())];
  }
};

Remaining all_of_quota(const State& state, NamespaceId ns, const Resources& asked) {
  World world = unused(state, ns);
  for (const DeviceRequest& request : asked.devices) {
    for (const std::string& key : {request.kind, device_name(request.kind, request.model)}) {
      auto& keys = world.device_keys;
      if (std::find(keys.begin(), keys.end(), key) == keys.end()) keys.push_back(key);
    }
  }
  Remaining all;
  lower_to_quota(world, ns, all.left);
  all.keys = world.device_keys;
  return all;
}

// How many tasks that is enough for.
int64_t tasks_in(Remaining& all, const Resources& each) {
  int64_t tasks = all.left.tasks;
  const auto lower = [&](int64_t left, int64_t asked) {
    if (asked > 0) tasks = std::min(tasks, left / asked);
  };
  lower(all.left.cpu_milli, each.cpu_milli);
  lower(all.left.memory_bytes, each.memory_bytes);
  for (const std::string& key : all.keys) lower(all.of(key), asked_of(each, key));
  return std::max<int64_t>(0, tasks);
}

// Fewer of its devices, so that the quotas do; false: not even one of each.
bool fewer_devices(Remaining& all, DeviceRequest& request) {
  std::vector<std::string> keys{request.kind};
  if (request.also.empty() && !request.model.empty())
    keys.push_back(device_name(request.kind, request.model));
  int64_t count = request.count;
  for (const std::string& key : keys) count = std::min(count, all.of(key) / request.share_milli);
  if (count < 1) return false;
  for (const std::string& key : keys) all.of(key) -= count * request.share_milli;
  request.count = static_cast<uint32_t>(count);
  return true;
}

std::optional<Terms> nearest_in_quota(const State& state, NamespaceId ns, Terms terms) {
  Remaining all = all_of_quota(state, ns, terms.resources);
  const int64_t tasks = tasks_in(all, terms.resources);
  if (tasks >= std::max<int64_t>(1, terms.gang)) return terms;
  if (tasks > 0) {
    terms.gang = static_cast<uint32_t>(tasks);
    return terms;
  }
  Resources& r = terms.resources;
  const int64_t memory_asked = r.memory_bytes;
  r.cpu_milli = std::min(r.cpu_milli, all.left.cpu_milli);
  r.memory_bytes = std::min(r.memory_bytes, all.left.memory_bytes);
  const bool none = r.cpu_milli <= 0 || (memory_asked > 0 && r.memory_bytes <= 0);
  if (terms.gang > 0 || all.left.tasks < 1 || none) return std::nullopt;
  for (DeviceRequest& request : r.devices) {
    if (!fewer_devices(all, request)) return std::nullopt;
  }
  return terms;
}

std::optional<Terms> nearest_on_nodes(const State& state, Terms terms) {
  const uint32_t members = members_feasible(state, terms);
  if (members >= std::max<uint32_t>(1, terms.gang)) return terms;
  if (members > 0) {
    terms.gang = members;
    return terms;
  }
  const auto nearest = nearest_feasible(state, terms);
  if (!nearest) return std::nullopt;
  terms.resources = *nearest;
  if (terms.gang > 0) terms.gang = members_feasible(state, terms);
  return terms;
}

// Whether one task would find its devices among models that the quotas allow.
bool finds_models(const State& state, NamespaceId ns, const Terms& terms) {
  if (terms.resources.devices.empty()) return true;
  Allowance allowed;
  for (const auto& [key, rest] : devices_left(unused(state, ns), ns, terms)) {
    if (rest.obstacle == Obstacle::quota && key.find(':') != std::string::npos)
      allowed[key] = rest.left;
  }
  for (const auto& [id, site] : state.sites) {
    for (const auto& [name, node] : site.nodes) {
      if (!node.gone && fits(whole(node), terms.resources, allowed)) return true;
    }
  }
  return false;
}

}  // namespace

std::optional<Block> beyond_quota(const State& state, NamespaceId ns, const Terms& terms) {
  World world = unused(state, ns);
  const InUse others = used_by_others(terms);
  for (auto& [id, used] : world.in_use) used = others;
  for (auto& [id, used] : world.cohort_in_use) used = others;
  return over_quota(world, ns, terms);
}

bool over_limits(const World& world, NamespaceId ns, const Terms& terms) {
  World sums = unused(*world.state, ns);
  for (auto& [id, used] : sums.in_use) used = with_others(world.in_use_of(id), terms);
  for (auto& [id, used] : sums.cohort_in_use) used = with_others(world.in_use_of(id), terms);
  return over_quota(sums, ns, terms) ||
         over_calendar(*world.state, with_others(world.in_use_of(terms.tier), terms), terms,
                       world.now);
}

std::optional<Block> beyond_calendar(const State& state, const Terms& terms, Time now) {
  const InUse others = used_by_others(terms);
  std::optional<Block> most = over_calendar(state, others, terms, now);
  if (!most) return std::nullopt;
  for (const Time at : changes(only_of(state.calendar, terms.tier), now)) {
    const auto block = over_calendar(state, others, terms, at);
    if (!block) return std::nullopt;
    if (block->resource == most->resource && block->limit > most->limit) most = block;
  }
  return most;
}

Time calendar_opens(const World& world, const Terms& terms, const Block& block) {
  const State& state = *world.state;
  const Calendar calendar = only_of(state.calendar, terms.tier);
  const InUse used = with_others(world.in_use_of(terms.tier), terms);
  // One that takes several models is kept from those of which there is too little.
  const auto model_shut = [&](Time at) {
    return std::any_of(
        calendar.entries.begin(), calendar.entries.end(), [&](const CalendarEntry& entry) {
          const auto limit = entry.limit.devices.find(block.resource);
          return limit != entry.limit.devices.end() && holds_at(calendar, entry, at) &&
                 int64_t{limit->second} * kWholeDevice < block.in_use + block.asked;
        });
  };
  for (const Time at : changes(calendar, world.now)) {
    if (!over_calendar(state, used, terms, at) && !model_shut(at)) return at;
  }
  return {};
}

std::optional<Terms> nearest_possible(const State& state, NamespaceId ns, const Terms& terms) {
  auto nearest = nearest_in_quota(state, ns, terms);
  if (nearest) nearest = nearest_on_nodes(state, std::move(*nearest));
  if (!nearest || *nearest == terms || beyond_quota(state, ns, *nearest) ||
      !finds_models(state, ns, *nearest))
    return std::nullopt;
  return nearest;
}

}  // namespace atl::core::scheduling
