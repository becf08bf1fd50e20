// Chance that repeats: integers only, so that a seed gives the same trace on every machine. What
// libm rounds differs between them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace atl::simulate {

inline constexpr int64_t kOne = 1 << 16;  // fixed point of the functions below

// 2 to the power of exponent/kOne, times 1000, for exponents below 30.
int64_t exp2_milli(int64_t exponent);

// SplitMix64.
class Chance {
 public:
  explicit Chance(uint64_t seed) : state_(seed) {}

  uint64_t next();
  uint64_t below(uint64_t bound) { return next() % bound; }  // which is not zero
  bool permille(uint64_t of) { return below(1000) < of; }
  // The sum of twelve evenly spread numbers, which is as good as a normal one within six sigmas:
  // mean 0, deviation kOne.
  int64_t normal();

 private:
  uint64_t state_;
};

// Picks an index by its weight.
class Wheel {
 public:
  void add(uint64_t weight) { sums_.push_back((sums_.empty() ? 0 : sums_.back()) + weight); }
  std::size_t spin(Chance& chance) const;

 private:
  std::vector<uint64_t> sums_;
};

// Weights 1, 1/2, 1/3 …: a few do most of the work.
Wheel zipf(uint32_t count);

}  // namespace atl::simulate
