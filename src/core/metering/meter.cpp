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

}  // namespace

int64_t amount_of(const Amounts& amounts, const std::string& kind) {
  const auto it = amounts.devices_milli.find(kind);
  return it == amounts.devices_milli.end() ? 0 : it->second;
}

void add(Amounts& to, const Amounts& more, int64_t times) {
  to.cpu_milli += times * more.cpu_milli;
  to.memory_mib += times * more.memory_mib;
  for (const auto& [kind, amount] : more.devices_milli) {
    const auto it = to.devices_milli.try_emplace(kind, 0).first;
    it->second += times * amount;
    if (it->second == 0) to.devices_milli.erase(it);
  }
}

Averaging::Averaging(const Meter& meter, Time now, Duration half_life) : meter_(meter) {
  if (now <= meter.at) return;
  left_ = left_of_one(now - meter.at, half_life);
  since_ = (now - meter.at).us;
  rest_ = (now - meter.seen).us;
}

// What was in use on average since the meter's `at`, times kMeterScale.
int64_t Averaging::mean(int64_t spent, int64_t in_use) const {
  return static_cast<int64_t>((spent + Wide{in_use} * rest_) * kMeterScale / since_);
}

int64_t Averaging::cpu_milli() const {
  if (since_ == 0) return meter_.past.cpu_milli;
  return blend(meter_.past.cpu_milli, mean(meter_.spent.cpu_milli, meter_.now.cpu_milli), left_);
}

int64_t Averaging::memory_mib() const {
  if (since_ == 0) return meter_.past.memory_mib;
  return blend(meter_.past.memory_mib, mean(meter_.spent.memory_mib, meter_.now.memory_mib), left_);
}

int64_t Averaging::device_milli(const std::string& kind) const {
  const int64_t past = amount_of(meter_.past, kind);
  if (since_ == 0) return past;
  const int64_t since =
      mean(amount_of(meter_.spent, kind), 0) + mean(0, amount_of(meter_.now, kind));
  return blend(past, 0, left_) + blend(0, since, left_);
}

Amounts average_at(const Meter& meter, Time now, Duration half_life) {
  const Averaging averaging(meter, now, half_life);
  Amounts average{averaging.cpu_milli(), averaging.memory_mib(), {}};
  for (const Amounts* amounts : {&meter.past, &meter.spent, &meter.now}) {
    for (const auto& [kind, amount] : amounts->devices_milli) {
      if (average.devices_milli.count(kind)) continue;
      if (const int64_t milli = averaging.device_milli(kind)) average.devices_milli[kind] = milli;
    }
  }
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
