#include "core/cohorts.h"

#include <algorithm>

#include "base/amount.h"

namespace atl::core {
namespace {

// The sum of one entry over all; nullopt when somebody has none.
template <class Get>
std::optional<int64_t> sum_of(const std::vector<const Quota*>& quotas, Get get) {
  int64_t sum = 0;
  for (const Quota* quota : quotas) {
    const std::optional<int64_t> part = get(*quota);
    if (!part) return std::nullopt;
    sum += *part;
  }
  return quotas.empty() ? std::nullopt : std::optional(sum);
}

std::optional<int64_t> cpu_of(const Quota& quota) { return quota.cpu_milli; }
std::optional<int64_t> memory_of(const Quota& quota) { return quota.memory_bytes; }
std::optional<int64_t> running_of(const Quota& quota) { return quota.running; }
auto device_of(const std::string& key) {
  return [&key](const Quota& quota) -> std::optional<int64_t> {
    const auto it = quota.devices.find(key);
    return it == quota.devices.end() ? std::nullopt : std::optional<int64_t>(it->second);
  };
}

// The quota, and where it says nothing the sum of the members'.
Quota nominal_of(const Quota& own, const std::vector<const Quota*>& members) {
  Quota nominal = own;
  if (!nominal.cpu_milli) nominal.cpu_milli = sum_of(members, cpu_of);
  if (!nominal.memory_bytes) nominal.memory_bytes = sum_of(members, memory_of);
  if (!nominal.running) nominal.running = sum_of(members, running_of);
  if (members.empty()) return nominal;
  for (const auto& [key, count] : members.front()->devices) {
    const auto sum = sum_of(members, device_of(key));
    if (sum) nominal.devices.try_emplace(key, static_cast<uint32_t>(*sum));
  }
  return nominal;
}

void add_in_use(InUse& to, const InUse& more) {
  to.cpu_milli += more.cpu_milli;
  to.memory_bytes += more.memory_bytes;
  to.tasks += more.tasks;
  for (const auto& [key, count] : more.devices) to.devices[key] += count;
}

void add_now(Account& to, const Account& more) {
  for (const auto& [tier, meter] : more) add(to[tier].now, meter.now);
}

// Members before those they belong to.
std::vector<CohortId> leaves_first(const State& state) {
  std::vector<std::pair<int, CohortId>> by_depth;
  for (const auto& [id, cohort] : state.cohorts) {
    int depth = 0;
    for_each_cohort(state, id, [&](const Cohort&) { --depth; });
    by_depth.emplace_back(depth, id);
  }
  std::sort(by_depth.begin(), by_depth.end());
  std::vector<CohortId> order;
  for (const auto& [depth, id] : by_depth) order.push_back(id);
  return order;
}

}  // namespace

bool holds(const Quota& nominal, const InUse& in_use) {
  if (in_use.cpu_milli > nominal.cpu_milli.value_or(INT64_MAX)) return false;
  if (in_use.memory_bytes > nominal.memory_bytes.value_or(INT64_MAX)) return false;
  if (in_use.tasks > nominal.running.value_or(UINT64_MAX)) return false;
  return std::all_of(nominal.devices.begin(), nominal.devices.end(), [&](const auto& entry) {
    const auto used = in_use.devices.find(entry.first);
    return used == in_use.devices.end() || used->second <= int64_t{entry.second} * kWholeDevice;
  });
}

bool borrows(const Namespace& ns) { return ns.stake.cohort && !holds(ns.quota, ns.in_use); }

std::vector<const Quota*> member_quotas(const State& state, CohortId cohort) {
  std::vector<const Quota*> quotas;
  for (const auto& [id, ns] : state.namespaces) {
    if (ns.stake.cohort == cohort) quotas.push_back(&ns.quota);
  }
  for (const auto& [id, other] : state.cohorts) {
    if (other.stake.cohort == cohort) quotas.push_back(&other.nominal);
  }
  return quotas;
}

void count_cohorts(State& state) {
  if (state.cohorts.empty()) return;
  for (auto& [id, cohort] : state.cohorts) {
    cohort.in_use = {};
    for (auto& [tier, meter] : cohort.account) meter.now = {};
  }
  for (const auto& [id, ns] : state.namespaces) {
    for_each_cohort(state, ns.stake.cohort, [&](Cohort& cohort) {
      add_in_use(cohort.in_use, ns.in_use);
      add_now(cohort.account, ns.account);
    });
  }
  std::map<CohortId, std::vector<const Quota*>> members;
  for (const auto& [id, ns] : state.namespaces) members[ns.stake.cohort].push_back(&ns.quota);
  for (const CohortId id : leaves_first(state)) {
    Cohort& cohort = state.cohorts.at(id);
    cohort.nominal = nominal_of(cohort.quota, members[id]);
    members[cohort.stake.cohort].push_back(&cohort.nominal);
  }
}

std::string exceeded(const std::vector<const Quota*>& quotas, const Quota& limit) {
  std::string found;
  const auto look = [&](const std::string& name, std::optional<int64_t> most, const auto& get,
                        std::string (*format)(int64_t)) {
    int64_t sum = 0;
    for (const Quota* quota : quotas) sum += get(*quota).value_or(0);
    if (found.empty() && most && sum > *most)
      found = name + " (" + format(sum) + ", and it has " + format(*most) + ")";
  };
  const auto plain = +[](int64_t count) { return std::to_string(count); };
  look("cpu", cpu_of(limit), cpu_of, format_milli);
  look("memory", memory_of(limit), memory_of, format_bytes);
  look("running", running_of(limit), running_of, plain);
  for (const auto& [key, most] : limit.devices) look(key, int64_t{most}, device_of(key), plain);
  return found;
}

}  // namespace atl::core
