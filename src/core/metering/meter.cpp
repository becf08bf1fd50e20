#include "core/metering/meter.h"

#include <array>
#include <cstdint>

namespace atl::core {
namespace {

__extension__ using Wide = __int128;

constexpr int kFractionBits = 32;
constexpr int64_t kOne = int64_t{1} << 32;

// 2^(-1/2), 2^(-1/4), 2^(-1/8) and so on, times 2^32.
constexpr std::array<int64_t, kFractionBits> kRoots{
    3037000500, 3611622603, 3938502376, 4112874773, 4202935003, 4248701965, 4271771996, 4283353945,
    4289156690, 4292061010, 4293513907, 4294240540, 4294603903, 4294785595, 4294876445, 4294921870,
    4294944583, 4294955939, 4294961618, 4294964457, 4294965876, 4294966586, 4294966941, 4294967119,
    4294967207, 4294967252, 4294967274, 4294967285, 4294967290, 4294967293, 4294967295, 4294967295};

// The past is averaged in steps of this part of a half-life, large enough not to drown in rounding.
constexpr int64_t kSteps = 1 << 16;

// What is left of one after so long, times 2^32.
int64_t left_of_one(Duration elapsed, Duration half_life) {
  const int64_t halvings = elapsed.us / half_life.us;
  if (halvings > 32) return 0;
  int64_t left = kOne >> halvings;
  const auto fraction =
      static_cast<uint32_t>((Wide{elapsed.us % half_life.us} << kFractionBits) / half_life.us);
  for (int bit = 0; bit < kFractionBits; ++bit) {
    if (fraction >> (kFractionBits - 1 - bit) & 1)
      left = static_cast<int64_t>((Wide{left} * kRoots[static_cast<size_t>(bit)]) >> 32);
  }
  return left;
}

int64_t blend(int64_t past, int64_t now, int64_t left) {
  return static_cast<int64_t>((Wide{past} * left + Wide{now} * (kOne - left) + kOne / 2) >> 32);
}

// What was in use on average since the meter's `at`, times kMeterScale.
Amounts lately(const Meter& meter, Time now) {
  const Wide since = (now - meter.at).us;
  const Wide rest = (now - meter.seen).us;
  const auto mean = [&](int64_t spent, int64_t in_use) {
    return static_cast<int64_t>((spent + in_use * rest) * kMeterScale / since);
  };
  Amounts amounts;
  amounts.cpu_milli = mean(meter.spent.cpu_milli, meter.now.cpu_milli);
  amounts.memory_mib = mean(meter.spent.memory_mib, meter.now.memory_mib);
  for (const auto& [kind, spent] : meter.spent.devices_milli)
    amounts.devices_milli[kind] = mean(spent, 0);
  for (const auto& [kind, in_use] : meter.now.devices_milli)
    amounts.devices_milli[kind] += mean(0, in_use);
  return amounts;
}

}  // namespace

void add(Amounts& to, const Amounts& more, int64_t times) {
  to.cpu_milli += times * more.cpu_milli;
  to.memory_mib += times * more.memory_mib;
  for (const auto& [kind, amount] : more.devices_milli) {
    const auto it = to.devices_milli.try_emplace(kind, 0).first;
    it->second += times * amount;
    if (it->second == 0) to.devices_milli.erase(it);
  }
}

Amounts average_at(const Meter& meter, Time now, Duration half_life) {
  if (now <= meter.at) return meter.past;
  const int64_t left = left_of_one(now - meter.at, half_life);
  const Amounts since = lately(meter, now);
  Amounts average;
  average.cpu_milli = blend(meter.past.cpu_milli, since.cpu_milli, left);
  average.memory_mib = blend(meter.past.memory_mib, since.memory_mib, left);
  for (const auto& [kind, past] : meter.past.devices_milli) {
    if (const int64_t rest = blend(past, 0, left)) average.devices_milli[kind] = rest;
  }
  for (const auto& [kind, amount] : since.devices_milli)
    average.devices_milli[kind] += blend(0, amount, left);
  return average;
}

void advance(Meter& meter, Time now, Duration half_life) {
  if (!meter.at) meter.at = meter.seen = now;
  if (now <= meter.seen) return;
  if (now - meter.at >= Duration{half_life.us / kSteps}) {
    meter.past = average_at(meter, now, half_life);
    meter.at = now;
    meter.spent = {};
  } else {
    add(meter.spent, meter.now, (now - meter.seen).us);
  }
  meter.seen = now;
}

}  // namespace atl::core
