#include "sim/simulation.h"

#include <gtest/gtest.h>

#include <set>

namespace atl::sim {
namespace {

TEST(Simulation, TheSameSeedGivesTheSameTrace) {
  for (const uint64_t seed : {3u, 7u, 11u}) {
    const SimResult first = simulate({.seed = seed});
    const SimResult second = simulate({.seed = seed});
    EXPECT_EQ(first.broken, "");
    EXPECT_EQ(first.hash, second.hash) << "seed " << seed;
    EXPECT_EQ(first.counts.runs, second.counts.runs);
  }
}

TEST(Simulation, OtherSeedsGiveOtherWorlds) {
  std::set<uint64_t> hashes;
  for (uint64_t seed = 1; seed <= 10; ++seed)
    hashes.insert(simulate({.seed = seed, .asks = 40}).hash);
  EXPECT_EQ(hashes.size(), 10u);
}

TEST(Simulation, ACalmWorldHasNoFaultsAndSettles) {
  const SimResult result = simulate({.seed = 5, .faults = Faults{}});
  EXPECT_EQ(result.broken, "");
  EXPECT_EQ(result.crashes, 0u);
  EXPECT_EQ(result.faults, 0u);
  EXPECT_GT(result.counts.runs, 0u);
}

// Every kind of fault, alone and without mercy.
TEST(Simulation, EachFaultAloneIsSurvived) {
  const auto alone = [](auto set) {
    Faults faults;
    set(faults);
    for (uint64_t seed = 1; seed <= 3; ++seed) {
      EXPECT_EQ(simulate({.seed = seed, .faults = faults, .asks = 80}).broken, "");
    }
  };
  alone([](Faults& f) { f.report_lost = 800; });
  alone([](Faults& f) { f.report_late = 1000, f.late_max = minutes(10); });
  alone([](Faults& f) { f.report_doubled = f.order_doubled = 1000; });
  alone([](Faults& f) { f.answer_lost = 500; });
  alone([](Faults& f) { f.crash_before_commit = 200; });
  alone([](Faults& f) { f.crash_after_commit = 200; });
  alone([](Faults& f) { f.crash_in_answers = 100; });
  alone([](Faults& f) { f.crash_in_effects = 100; });
  alone([](Faults& f) {
    f.commit_refused = 200, f.commit_doubtful = 200, f.crash_every = minutes(1);
  });
  alone(
      [](Faults& f) { f.full_every = minutes(1), f.crash_in_trial = 300, f.crash_in_load = 300; });
  alone([](Faults& f) { f.site_crash_every = minutes(1); });
  alone([](Faults& f) { f.partition_every = minutes(1), f.reshape_every = minutes(1); });
  alone([](Faults& f) { f.jump_every = minutes(1), f.jump_max = hours(1); });
  alone([](Faults& f) { f.zone_every = minutes(1); });
  alone([](Faults& f) { f.steward_silent = 800, f.crash_every = minutes(5); });
  alone([](Faults& f) { f.snapshot_every = seconds(5), f.crash_every = minutes(1); });
}

}  // namespace
}  // namespace atl::sim
