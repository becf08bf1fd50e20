// Chance that repeats: the same seed gives the same numbers on every machine.
#pragma once

#include <cstdint>
#include <vector>

#include "base/time.h"

namespace atl::sim {

// SplitMix64. Each part of the world has a stream of its own, so that adding a draw to one does not
// disturb the others.
class Rng {
 public:
  explicit Rng(uint64_t seed) : state_(seed) {}

  uint64_t next() {
    uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  Rng fork() { return Rng(next()); }

  // Below `bound`, which is not zero.
  uint64_t below(uint64_t bound) { return next() % bound; }
  // Both ends included.
  int64_t between(int64_t low, int64_t high) {
    return low + static_cast<int64_t>(below(static_cast<uint64_t>(high - low + 1)));
  }
  Duration between(Duration low, Duration high) { return {between(low.us, high.us)}; }
  bool chance(uint64_t permille) { return below(1000) < permille; }

  template <class T>
  const T& pick(const std::vector<T>& items) {
    return items[below(items.size())];
  }

 private:
  uint64_t state_;
};

}  // namespace atl::sim
