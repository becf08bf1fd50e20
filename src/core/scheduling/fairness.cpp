#include "core/scheduling/fairness.h"

#include <algorithm>

namespace atl::core::scheduling {
namespace {

__extension__ using Wide = __int128;

const Account* account_of(const State& state, const Payer& payer) {
  if (payer.cohort) return &state.cohorts.at(payer.cohort).account;
  const Namespace& ns = state.namespaces.at(payer.ns);
  if (!payer.user) return &ns.account;
  const auto it = ns.user_accounts.find(payer.user);
  return it == ns.user_accounts.end() ? nullptr : &it->second;
}

uint32_t weight_of(const State& state, const Payer& payer) {
  if (payer.user) return 1000;
  return payer.cohort ? state.cohorts.at(payer.cohort).stake.weight_milli
                      : state.namespaces.at(payer.ns).stake.weight_milli;
}

int64_t part(int64_t amount, int64_t whole) {
  return whole <= 0 ? 0 : static_cast<int64_t>(Wide{amount} * kWhole / whole);
}

}  // namespace

int64_t dominant_share(const Amounts& amounts, const Amounts& capacity) {
  int64_t most = std::max(part(amounts.cpu_milli, capacity.cpu_milli),
                          part(amounts.memory_mib, capacity.memory_mib));
  for (const auto& [kind, amount] : amounts.devices_milli) {
    const auto whole = capacity.devices_milli.find(kind);
    if (whole != capacity.devices_milli.end()) most = std::max(most, part(amount, whole->second));
  }
  return most;
}

Counted counted_before(const World& world, const Payer& payer, Tier tier) {
  const State& state = *world.state;
  Counted sums;
  sums.devices_milli.resize(state.capacity.devices_milli.size());
  const Account* account = account_of(state, payer);
  if (!account) return sums;
  Counted past = sums;
  for (const auto& [each, meter] : *account) {
    if (each > tier) break;
    const Averaging lately(meter, world.now, state.policy.half_life);
    sums.cpu_milli += meter.now.cpu_milli;
    past.cpu_milli += lately.cpu_milli();
    sums.memory_mib += meter.now.memory_mib;
    past.memory_mib += lately.memory_mib();
    size_t i = 0;
    for (const auto& [kind, whole] : state.capacity.devices_milli) {
      sums.devices_milli[i] += amount_of(meter.now, kind);
      past.devices_milli[i++] += lately.device_milli(kind);
    }
  }
  sums.cpu_milli += past.cpu_milli / kMeterScale;
  sums.memory_mib += past.memory_mib / kMeterScale;
  for (size_t i = 0; i < past.devices_milli.size(); ++i)
    sums.devices_milli[i] += past.devices_milli[i] / kMeterScale;
  return sums;
}

Amounts counted(const World& world, const Payer& payer, Tier tier) {
  const Counted before = counted_before(world, payer, tier);
  Amounts sums{before.cpu_milli, before.memory_mib, {}};
  size_t i = 0;
  for (const auto& [kind, whole] : world.state->capacity.devices_milli) {
    if (const int64_t milli = before.devices_milli[i++]) sums.devices_milli[kind] = milli;
  }
  const auto placed = world.charged.find(payer);
  if (placed != world.charged.end()) add(sums, placed->second);
  return sums;
}

const Counted& Counting::before(const Payer& payer, Tier tier) {
  const auto [known, added] = known_[tier].try_emplace(payer);
  if (added) known->second = counted_before(world_, payer, tier);
  return known->second;
}

int64_t standing(const World& world, const Payer& payer, const Counted& before) {
  static const Amounts kNothing;
  const State& state = *world.state;
  const auto placed = world.charged.find(payer);
  const Amounts& more = placed == world.charged.end() ? kNothing : placed->second;
  int64_t share = std::max(part(before.cpu_milli + more.cpu_milli, state.capacity.cpu_milli),
                           part(before.memory_mib + more.memory_mib, state.capacity.memory_mib));
  size_t i = 0;
  for (const auto& [kind, whole] : state.capacity.devices_milli)
    share = std::max(share, part(before.devices_milli[i++] + amount_of(more, kind), whole));
  return static_cast<int64_t>(Wide{share} * 1000 / weight_of(state, payer));
}

int64_t standing(const World& world, const Payer& payer, Tier tier) {
  return standing(world, payer, counted_before(world, payer, tier));
}

}  // namespace atl::core::scheduling
