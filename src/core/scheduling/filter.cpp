#include "core/scheduling/filter.h"

#include <algorithm>

#include "core/calendar.h"
#include "core/cohorts.h"

namespace atl::core::scheduling {
namespace {

// A namespace or a cohort, with what it may use.
struct Level {
  const char* kind;
  const std::string* name;
  const Quota* nominal;
  const Quota* borrow;  // null: there is nobody to borrow from
  const InUse* in_use;
};

std::string name_of(const Level& level) { return std::string(level.kind) + " " + *level.name; }

// Calls fn with the namespace and then each cohort above it until it returns true.
template <class Fn>
void walk(const World& world, NamespaceId id, const Fn& fn) {
  const State& state = *world.state;
  const Namespace& ns = state.namespaces.at(id);
  const Quota* borrow = ns.stake.cohort ? &ns.stake.borrow : nullptr;
  if (fn({"namespace", &ns.name, &ns.quota, borrow, &world.in_use_of(id)})) return;
  for (CohortId at = ns.stake.cohort; at;) {
    const Cohort& cohort = state.cohorts.at(at);
    borrow = cohort.stake.cohort ? &cohort.stake.borrow : nullptr;
    if (fn({"cohort", &cohort.name, &cohort.nominal, borrow, &world.in_use_of(at)})) return;
    at = cohort.stake.cohort;
  }
}

template <class T>
std::optional<int64_t> limit_of(const Level& level, std::optional<T> Quota::* entry) {
  const auto& own = level.nominal->*entry;
  if (!own || !level.borrow) return own;
  const auto& more = level.borrow->*entry;
  if (!more) return std::nullopt;
  return static_cast<int64_t>(*own) + static_cast<int64_t>(*more);
}

std::optional<int64_t> device_limit(const Level& level, const std::string& key) {
  const auto own = level.nominal->devices.find(key);
  if (own == level.nominal->devices.end()) return std::nullopt;
  if (!level.borrow) return int64_t{own->second} * kWholeDevice;
  const auto more = level.borrow->devices.find(key);
  if (more == level.borrow->devices.end()) return std::nullopt;
  return (int64_t{own->second} + more->second) * kWholeDevice;
}

int64_t in_use_of(const InUse& in_use, const std::string& key) {
  const auto it = in_use.devices.find(key);
  return it == in_use.devices.end() ? 0 : it->second;
}

std::optional<Block> over(const Level& level, const Resources& asked_for) {
  const auto check = [&](std::string_view resource, int64_t asked, int64_t used,
                         std::optional<int64_t> limit) -> std::optional<Block> {
    if (!limit || asked == 0 || used + asked <= *limit) return std::nullopt;
    return Block{Obstacle::quota, std::string(resource), asked, used, *limit, name_of(level)};
  };
  const InUse& used = *level.in_use;
  if (auto block =
          check("cpu", asked_for.cpu_milli, used.cpu_milli, limit_of(level, &Quota::cpu_milli)))
    return block;
  if (auto block = check("memory", asked_for.memory_bytes, used.memory_bytes,
                         limit_of(level, &Quota::memory_bytes)))
    return block;
  if (auto block =
          check("tasks", 1, static_cast<int64_t>(used.tasks), limit_of(level, &Quota::running)))
    return block;
  if (asked_for.devices.empty()) return std::nullopt;
  for (const auto& [key, count] : level.nominal->devices) {
    if (auto block =
            check(key, asked_of(asked_for, key), in_use_of(used, key), device_limit(level, key)))
      return block;
  }
  return std::nullopt;
}

// Calls fn with each entry of the calendar that limits the terms then, until it returns true.
template <class Fn>
void for_each_entry(const State& state, const Terms& terms, Time at, const Fn& fn) {
  const Calendar& calendar = state.calendar;
  if (calendar.entries.empty() || !counts(state, terms)) return;
  for (const CalendarEntry& entry : calendar.entries) {
    if (entry.tier == terms.tier && holds_at(calendar, entry, at) && fn(entry)) return;
  }
}

std::optional<Block> over(const CalendarEntry& entry, const Amounts& capacity, const InUse& used,
                          const Terms& terms) {
  const TierLimit limit = limit_of(entry, capacity);
  const auto check = [&](const std::string& resource, int64_t asked, int64_t in_use,
                         std::optional<int64_t> most) -> std::optional<Block> {
    if (!most || asked == 0 || in_use + asked <= *most) return std::nullopt;
    return Block{Obstacle::calendar, resource, asked, in_use, *most, entry.name};
  };
  const Resources& r = terms.resources;
  if (auto block = check("cpu", r.cpu_milli, used.cpu_milli, limit.cpu_milli)) return block;
  if (auto block = check("memory", r.memory_bytes, used.memory_bytes, limit.memory_bytes))
    return block;
  if (auto block = check("tasks", 1, static_cast<int64_t>(used.tasks), limit.tasks)) return block;
  for (const auto& [key, most] : limit.devices_milli) {
    if (auto block = check(key, asked_of(terms.resources, key), in_use_of(used, key), most))
      return block;
  }
  return std::nullopt;
}

// Brings down what is left to what this one leaves.
void lower(const World& world, const Level& level, Left& left) {
  const auto to = [](int64_t& amount, std::optional<int64_t> limit, int64_t used) {
    if (limit) amount = std::min(amount, *limit - used);
  };
  const InUse& used = *level.in_use;
  to(left.cpu_milli, limit_of(level, &Quota::cpu_milli), used.cpu_milli);
  to(left.memory_bytes, limit_of(level, &Quota::memory_bytes), used.memory_bytes);
  to(left.tasks, limit_of(level, &Quota::running), static_cast<int64_t>(used.tasks));
  left.devices_milli.resize(world.device_keys.size(), INT64_MAX);
  for (size_t i = 0; i < world.device_keys.size(); ++i)
    to(left.devices_milli[i], device_limit(level, world.device_keys[i]),
       in_use_of(used, world.device_keys[i]));
}

}  // namespace

bool holds(const Left& left, const Ask& ask) {
  if ((ask.cpu_milli > 0 && ask.cpu_milli > left.cpu_milli) ||
      (ask.memory_bytes > 0 && ask.memory_bytes > left.memory_bytes) || left.tasks < 1)
    return false;
  return std::none_of(ask.devices_milli.begin(), ask.devices_milli.end(), [&](const auto& each) {
    return each.second > left.devices_milli[each.first];
  });
}

void lower_to_own(const World& world, NamespaceId id, Left& left) {
  const Namespace& ns = world.state->namespaces.at(id);
  if (ns.stake.cohort)
    lower(world, {"namespace", &ns.name, &ns.quota, nullptr, &world.in_use_of(id)}, left);
}

void lower_to_quota(const World& world, NamespaceId id, Left& left) {
  walk(world, id, [&](const Level& level) {
    lower(world, level, left);
    return false;
  });
}

int64_t asked_of(const Resources& resources, const std::string& key) {
  int64_t sum = 0;
  for (const DeviceRequest& request : resources.devices) {
    const bool counts = key == request.kind ||
                        (request.also.empty() && key == device_name(request.kind, request.model));
    if (counts) sum += int64_t{request.count} * request.share_milli;
  }
  return sum;
}

std::optional<Block> over_quota(const World& world, NamespaceId id, const Terms& terms) {
  std::optional<Block> block;
  walk(world, id,
       [&](const Level& level) { return (block = over(level, terms.resources)).has_value(); });
  return block;
}

CohortId over_quota_of(const World& world, NamespaceId id, const Terms& terms) {
  CohortId at, found;
  walk(world, id, [&](const Level& level) {
    if (over(level, terms.resources)) {
      found = at;
      return true;
    }
    at =
        at ? world.state->cohorts.at(at).stake.cohort : world.state->namespaces.at(id).stake.cohort;
    return false;
  });
  return found;
}

bool would_borrow(const World& world, NamespaceId id, const Resources& resources) {
  const Namespace& ns = world.state->namespaces.at(id);
  if (!ns.stake.cohort) return false;
  return over({"namespace", &ns.name, &ns.quota, nullptr, &world.in_use_of(id)}, resources)
      .has_value();
}

std::optional<Block> over_own_quota(const World& world, NamespaceId id, const Terms& terms) {
  std::optional<Block> block;
  walk(world, id, [&](const Level& level) {
    block = over(level, terms.resources);
    return true;
  });
  return block;
}

bool within_quota(const World& world, NamespaceId id) {
  bool within = true;
  walk(world, id, [&](const Level& level) {
    const InUse& used = *level.in_use;
    within &=
        used.cpu_milli <= limit_of(level, &Quota::cpu_milli).value_or(INT64_MAX) &&
        used.memory_bytes <= limit_of(level, &Quota::memory_bytes).value_or(INT64_MAX) &&
        static_cast<int64_t>(used.tasks) <= limit_of(level, &Quota::running).value_or(INT64_MAX);
    return !within;
  });
  return within;
}

std::map<std::string, DevicesLeft> devices_left(const World& world, NamespaceId id,
                                                const Terms& terms, bool without_borrowing) {
  std::map<std::string, DevicesLeft> left;
  const auto lower = [&](const std::string& key, DevicesLeft rest) {
    const auto it = left.find(key);
    if (it == left.end() || rest.left < it->second.left) left[key] = std::move(rest);
  };
  walk(world, id, [&](Level level) {
    if (std::exchange(without_borrowing, false)) level.borrow = nullptr;  // the namespace's own
    for (const auto& [key, count] : level.nominal->devices) {
      const auto limit = device_limit(level, key);
      if (!limit) continue;
      lower(key, {*limit - in_use_of(*level.in_use, key), *limit, name_of(level)});
    }
    return false;
  });
  for_each_entry(*world.state, terms, world.now, [&](const CalendarEntry& entry) {
    for (const auto& [key, count] : entry.limit.devices) {
      const int64_t limit = int64_t{count} * kWholeDevice;
      lower(key, {limit - in_use_of(world.in_use_of(terms.tier), key), limit, entry.name,
                  Obstacle::calendar});
    }
    return false;
  });
  return left;
}

std::optional<Block> over_calendar(const World& world, const Terms& terms) {
  return over_calendar(*world.state, world.in_use_of(terms.tier), terms, world.now);
}

std::optional<Block> over_calendar(const State& state, const InUse& used, const Terms& terms,
                                   Time at) {
  std::optional<Block> found;
  for_each_entry(state, terms, at, [&](const CalendarEntry& entry) {
    return (found = over(entry, state.capacity, used, terms)).has_value();
  });
  return found;
}

int64_t amount_of(const InUse& in_use, const std::string& resource) {
  if (resource == "cpu") return in_use.cpu_milli;
  if (resource == "memory") return in_use.memory_bytes;
  if (resource == "tasks") return static_cast<int64_t>(in_use.tasks);
  return in_use_of(in_use, resource);
}

std::optional<Block> over_array_limit(const World& world, const Job& job, const Terms& terms) {
  if (terms.parallel_max == 0) return std::nullopt;
  int64_t placed = job.placed;
  const auto extra = world.placed_of_job.find(job.id);
  if (extra != world.placed_of_job.end()) placed += extra->second;
  if (placed < terms.parallel_max) return std::nullopt;
  return Block{Obstacle::array_limit, "tasks", 1, placed, terms.parallel_max, {}};
}

}  // namespace atl::core::scheduling
