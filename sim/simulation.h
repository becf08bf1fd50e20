// One seed, from an empty disk to a world in which everything has ended.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "sim/faults.h"
#include "sim/observer.h"

namespace atl::sim {

struct SimOptions {
  uint64_t seed = 1;
  bool print = false;  // the trace, a line per happening
  Sabotage sabotage;
  std::optional<Faults> faults;    // in place of those that the seed draws
  uint64_t asks = 0;               // how many requests people make; zero: drawn
  std::optional<bool> backlogged;  // everybody always has work that waits; else drawn
};

struct SimResult {
  uint64_t hash = 0;   // of the trace: equal for equal seeds
  std::string broken;  // the promise and how, or empty
  Counts counts;
  uint64_t crashes = 0;    // of the server
  uint64_t faults = 0;     // failed commits, outages, jumps, full disks
  Duration settled_after;  // from the end of the faults
};

SimResult simulate(const SimOptions& options);

}  // namespace atl::sim
