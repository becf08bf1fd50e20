#include "bin/zone.h"

#include <ctime>

namespace atl::bin {

int32_t utc_offset(Time at) {
  const auto seconds = static_cast<time_t>(at.us / 1'000'000);
  tm local = {};
  localtime_r(&seconds, &local);
  return static_cast<int32_t>(local.tm_gmtoff / 60);
}

void ZoneWatch::operator()() {
  const Time now = clock_.now();
  if (now < look_at_) return;
  look_at_ = now + minutes(1);
  const int32_t offset = utc_offset(now);
  if (runtime_.state().calendar.utc_offset != offset) runtime_.post(core::ZoneSeen{offset});
}

}  // namespace atl::bin
