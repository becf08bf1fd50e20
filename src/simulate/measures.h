// What a run of a trace comes to, in the numbers that people compare schedulers by.
#pragma once

#include <array>
#include <map>
#include <string>
#include <vector>

#include "simulate/engine.h"

namespace atl::simulate {

// Of some tasks, in seconds. A wait is from submission to the first start. The bounded slowdown is
// the time from submission to end for each second of running, where a run counts as ten seconds at
// least, so that the very short ones do not drown the rest; it is never below one.
struct Waits {
  uint64_t tasks = 0;
  double mean = 0;
  double median = 0;
  double p95 = 0;
  double slowdown = 0;  // mean
};

struct NamespaceMeasures {
  std::string name;
  double core_hours = 0;
  double used = 0;      // its part of all that was used
  double entitled = 0;  // its part by weight
  Waits waits;
  // Of what was due to it in the hours in which it had work waiting: its part by weight among those
  // who then used or wanted something, or all it wanted where that is less. What others left over
  // makes it more than one. Negative: it never waited.
  double got = -1;
};

struct Measures {
  Waits all;
  std::map<core::Tier, Waits> tiers;
  std::array<Waits, 4> quarters;  // by work (cores times run time), smallest first
  // Of all cores, from the first submission to the last end, and without the first and the last
  // tenth of submissions. Negative: that is no time at all.
  double utilisation = -1;
  double steady = -1;
  double makespan = 0;  // seconds
  uint64_t evictions = 0;
  double lost_core_hours = 0;
  // Jain's index of what the namespaces got of what was due to them, no more than all of it: one
  // when all fared alike. Negative: nothing ran.
  double fairness = -1;
  double worst = -1;  // what the one that fared worst got; negative: nobody waited
  std::vector<NamespaceMeasures> namespaces;
  uint64_t never_started = 0;  // tasks that were let in and waited to the end
  uint64_t too_large = 0;      // jobs
  uint64_t refused = 0;        // jobs
  uint64_t spread = 0;         // jobs wider than a node
};

inline constexpr double kSlowdownBound = 10;  // seconds

// Each namespace's part by weight, level by level: of its cohort's part among its members.
std::vector<double> entitlements(const core::State& state, const Trace& trace);

Measures measure(const Trace& trace, const Outcome& outcome, int64_t cpu_milli,
                 const std::vector<double>& entitled);

// (sum x)^2 / (n * sum x^2); one for none.
double jain(const std::vector<double>& values);

// The value that `part` of them do not exceed. Reorders them; zero for none.
double percentile(std::vector<double>& values, double part);

}  // namespace atl::simulate
