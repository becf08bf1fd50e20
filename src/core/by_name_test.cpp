// Sites that are used by name only: no part of the platform that is shared.
#include "core/scheduling/fairness.h"
#include "core/scheduling/filter.h"
#include "core/test_world.h"

namespace atl::core {
namespace {

using scheduling::look;
using scheduling::Payer;

// `toy` pretends; `real`, once it is there, does not.
class ByName : public ::testing::Test {
 protected:
  ByName() {
    add("toy", "simulated", node("t", 60, 1 << 30, 6));
    world.run(Request{TestWorld::admin(), RemoveSite{"local"}});
    world.run(Request{TestWorld::admin(), CreateNamespace{"bio", ""}});
  }
  void add(const std::string& name, const std::string& kind, NodeCapacity node) {
    world.run(Request{TestWorld::admin(), AddSite{name, kind}});
    world.run(Report{SiteProbed{name, {{std::move(node)}, {}}}});
  }
  void add_real() { add("real", "test", node("r", 4, 1 << 30, 2)); }
  static SubmitJob job_on(const std::string& site, const std::string& ns = "lab",
                          uint32_t tasks = 1) {
    SubmitJob job = TestWorld::job();
    job.ns = ns;
    job.array = tasks > 1;
    job.indices = IntervalSet({0, tasks - 1});
    job.terms.site = site;
    return job;
  }
  int64_t standing(const std::string& ns) {
    const Payer payer{{}, world.state.namespace_named(ns)->id, {}};
    return scheduling::standing(look(world.state, world.now), payer, Tier::batch);
  }
  uint32_t placed(JobId id) { return world.state.job(id)->placed; }
  void limit_batch(std::optional<int32_t> share, Quota limit = {}) {
    world.run(Request{TestWorld::admin(), SetCalendarEntry{{"always", Tier::batch, 0b1111111, 0,
                                                            24 * 60, share, std::move(limit)}}});
  }
  TestWorld world;
};

TEST_F(ByName, WhatThePlatformHasIsWhatWorkMayUseWithoutNamingIt) {
  EXPECT_EQ(world.state.capacity.cpu_milli, 60'000) << "there is nothing else";
  add_real();
  EXPECT_EQ(world.state.capacity.cpu_milli, 4'000);
  EXPECT_EQ(world.state.capacity.devices_milli.at("gpu"), 2'000);
  world.run(Request{TestWorld::admin(), RemoveSite{"real"}});
  EXPECT_EQ(world.state.capacity.cpu_milli, 60'000);
}

TEST_F(ByName, WorkThereIsNotChargedToTheFairShare) {
  add_real();
  const JobId toy = world.submit(job_on("toy", "lab", 10));
  world.settle();
  ASSERT_EQ(placed(toy), 10u);
  world.now = world.now + hours(24);
  EXPECT_EQ(standing("lab"), 0);
  EXPECT_EQ(world.state.namespace_named("lab")->in_use.cpu_milli, 10'000) << "a quota still counts";
  world.submit(job_on("", "bio"));
  world.settle();
  world.now = world.now + hours(24);
  EXPECT_GT(standing("bio"), scheduling::kWhole / 4) << "of four cores one, now and lately";
}

TEST_F(ByName, WhatARoundPlacesThereChangesNobodysTurn) {
  add_real();
  // Both wait for the same round. Were the ten charged, bio would be served first.
  const JobId toys = world.submit(job_on("toy", "lab", 10));
  const JobId lab = world.submit(job_on("real", "lab", 4));
  const JobId bio = world.submit(job_on("real", "bio", 4));
  world.settle();
  EXPECT_EQ(placed(toys), 10u);
  EXPECT_EQ(placed(lab), 2u);
  EXPECT_EQ(placed(bio), 2u);
}

TEST_F(ByName, WhatRunsWhileTheSiteLeavesThePlatformCountsNoMoreAndBack) {
  world.submit(job_on("", "lab", 6));
  world.settle();
  EXPECT_EQ(standing("lab"), scheduling::kWhole / 10) << "six of sixty cores";
  add_real();  // the invariants are looked at after each event
  EXPECT_EQ(standing("lab"), 0);
  EXPECT_TRUE(world.state.tier_in_use.empty());
  world.run(Request{TestWorld::admin(), RemoveSite{"real"}});
  EXPECT_EQ(standing("lab"), scheduling::kWhole / 10);
  EXPECT_EQ(world.state.tier_in_use.at(Tier::batch).cpu_milli, 6'000);
}

TEST_F(ByName, WhatWasUsedBeforeTheSiteLeftIsRemembered) {
  world.submit(job_on("", "lab", 6));
  world.settle();
  world.now = world.now + world.state.policy.half_life;
  add_real();
  const auto& meter = world.state.namespace_named("lab")->account.at(Tier::batch);
  EXPECT_EQ(meter.past.cpu_milli / kMeterScale, 3'000) << "six cores for one half-life";
  EXPECT_EQ(meter.now, Amounts{});
}

TEST_F(ByName, TheCalendarSharesThePlatformAlone) {
  add_real();
  limit_batch(500);
  const JobId real = world.submit(job_on("", "lab", 4));
  const JobId toys = world.submit(job_on("toy", "lab", 10));
  world.settle();
  EXPECT_EQ(placed(real), 2u) << "half of four cores";
  EXPECT_EQ(placed(toys), 10u) << "they take nothing from anybody";
  EXPECT_EQ(world.state.tier_in_use.at(Tier::batch).cpu_milli, 2'000);
}

TEST_F(ByName, TheCalendarsDevicesAreThoseOfThePlatform) {
  add_real();
  Quota one;
  one.devices["gpu:a100"] = 1;
  limit_batch({}, one);
  SubmitJob toys = job_on("toy", "lab", 3), real = job_on("", "lab", 2);
  toys.terms.resources.devices = real.terms.resources.devices = {{"gpu", "", 1}};
  const JobId pretending = world.submit(toys), using_it = world.submit(real);
  world.settle();
  EXPECT_EQ(placed(pretending), 3u);
  EXPECT_EQ(placed(using_it), 1u);
}

}  // namespace
}  // namespace atl::core
