#include "core/metering/meter.h"

#include <gtest/gtest.h>

#include <cmath>

namespace atl::core {
namespace {

constexpr Duration kWeek = hours(168);

Meter using_now(Amounts amounts) {
  Meter meter;
  meter.at = meter.seen = Time{1};
  meter.now = std::move(amounts);
  return meter;
}

TEST(Meter, HalfIsLeftAfterAHalfLife) {
  Meter meter = using_now({});
  meter.past = {1000 * kMeterScale, 0, {{"gpu", 2000 * kMeterScale}}};
  const Amounts then = average_at(meter, meter.at + kWeek, kWeek);
  EXPECT_EQ(then.cpu_milli, 500 * kMeterScale);
  EXPECT_EQ(then.devices_milli.at("gpu"), 1000 * kMeterScale);
  EXPECT_EQ(average_at(meter, meter.at + kWeek * 40, kWeek), Amounts{});
}

TEST(Meter, TheAverageComesToWhatIsInUse) {
  Meter meter = using_now({4000, 1 << 10, {{"gpu", 1000}}});
  for (int day = 1; day <= 100; ++day) advance(meter, Time{1} + hours(24) * day, kWeek);
  EXPECT_NEAR(static_cast<double>(meter.past.cpu_milli) / kMeterScale, 4000, 2);
  EXPECT_NEAR(static_cast<double>(meter.past.devices_milli.at("gpu")) / kMeterScale, 1000, 2);
}

TEST(Meter, StepsOfAnySizeGiveTheSame) {
  for (const Duration step : {milliseconds(7), seconds(1), minutes(1), hours(5)}) {
    Meter meter = using_now({4000, 0, {}});
    Time now{1};
    while (now < Time{1} + hours(10)) advance(meter, now = now + step, kWeek);
    const double exact =
        4000 * kMeterScale *
        (1 - std::exp2(-static_cast<double>(now.us) / static_cast<double>(kWeek.us)));
    EXPECT_NEAR(static_cast<double>(average_at(meter, now, kWeek).cpu_milli), exact, exact / 500)
        << format_duration(step);
  }
}

TEST(Meter, WhatIsInUseForMomentsOnlyCountsToo) {
  Meter meter = using_now({});
  Time now{1};
  for (int i = 0; i < 100'000; ++i) {  // half of the time two cores
    advance(meter, now, kWeek);
    meter.now.cpu_milli = i % 2 ? 0 : 2000;
    now = now + seconds(1);
  }
  const double exact = 1000 * kMeterScale * (1 - std::exp2(-100'000.0 / (168 * 3600)));
  EXPECT_NEAR(static_cast<double>(meter.past.cpu_milli), exact, exact / 100);
}

TEST(Meter, TimeThatStandsStillOrGoesBackChangesNothing) {
  Meter meter = using_now({4000, 0, {}});
  advance(meter, Time{1000}, kWeek);
  const Meter before = meter;
  advance(meter, Time{1000}, kWeek);
  advance(meter, Time{500}, kWeek);
  EXPECT_EQ(meter, before);
}

}  // namespace
}  // namespace atl::core
