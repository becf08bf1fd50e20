#include "simulate/chance.h"

#include <algorithm>

#include "base/check.h"

namespace atl::simulate {
namespace {

// 2 to the power of 2^(i-16), times 2^30.
constexpr int64_t kRoots[16] = {
    1073753181, 1073764537, 1073787251, 1073832680, 1073923544, 1074105294, 1074468888, 1075196443,
    1076653033, 1079572136, 1085434106, 1097253708, 1121280436, 1170923762, 1276901417, 1518500250};

}  // namespace

int64_t exp2_milli(int64_t exponent) {
  CHECK(exponent < 30 * kOne, "the power is too large");
  const int64_t whole = exponent >> 16;
  if (whole < -20) return 0;
  int64_t power = int64_t{1} << 30;
  for (int bit = 0; bit < 16; ++bit) {
    if (exponent >> bit & 1) power = power * kRoots[bit] >> 30;
  }
  return power * 1000 >> (30 - whole);
}

uint64_t Chance::next() {
  uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

int64_t Chance::normal() {
  int64_t sum = 0;
  for (int i = 0; i < 3; ++i) {
    const uint64_t four = next();
    for (int part = 0; part < 4; ++part) sum += static_cast<int64_t>(four >> (16 * part) & 0xffff);
  }
  return sum - 6 * kOne;
}

size_t Wheel::spin(Chance& chance) const {
  const uint64_t at = chance.below(sums_.back());
  return static_cast<size_t>(std::upper_bound(sums_.begin(), sums_.end(), at) - sums_.begin());
}

Wheel zipf(uint32_t count) {
  Wheel wheel;
  for (uint32_t i = 1; i <= count; ++i) wheel.add(1'000'000'000 / i);
  return wheel;
}

}  // namespace atl::simulate
