// Promise 5: with all queues backlogged, usage converges to the weights. While every namespace has
// work that waits, all of it of one shape, and nothing else limits anybody, what each has used is
// added up from the events; after many half-lives it must be what the weights say, in cohorts as
// among namespaces.
#pragma once

#include <map>
#include <optional>

#include "sim/checkers/checker.h"

namespace atl::sim {

class Shares : public Checker {
 public:
  std::string_view promise() const override { return "5, usage converges to the weights"; }
  void recorded(uint64_t sequence, const core::Event& event, const core::State& after) override;

 private:
  static constexpr int kHalfLives = 100;  // as long a time counts at least
  static constexpr double kOffMax = 0.04;

  struct Held {
    NamespaceId ns;
    int64_t cpu_milli = 0;
    std::optional<AttemptId> behind;
  };

  void advance(Time to);
  void hold(const core::TaskPlaced& placed, const core::State& after);
  void release(AttemptId attempt);
  void check(const core::State& state, Time at);

  std::map<AttemptId, Held> held_;
  std::map<NamespaceId, int64_t> in_use_;
  std::map<NamespaceId, double> used_;  // in cores times seconds
  Time since_;                          // zero: not all are backlogged
  Time at_;
  Time check_at_;
};

// The part of the platform that is the namespace's by its weight and those of the cohorts above it.
double part_of(const core::State& state, NamespaceId ns);

}  // namespace atl::sim
