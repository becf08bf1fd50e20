#include "core/cohorts.h"

#include "core/limits.h"
#include "core/test_world.h"

namespace atl::core {
namespace {

Quota cpus(int64_t count) {
  Quota quota;
  quota.cpu_milli = count * 1000;
  return quota;
}

class Cohorts : public ::testing::Test {
 protected:
  Result<Events> cohort(const std::string& name, std::optional<std::string> parent = {},
                        std::optional<Quota> quota = {}, std::optional<uint32_t> weight = {}) {
    return world.attempt(Request{TestWorld::admin(), SetCohort{name, parent, weight, quota, {}}});
  }
  Result<Events> stake(const std::string& ns, std::optional<std::string> cohort,
                       std::optional<uint32_t> weight = {}) {
    return world.attempt(Request{TestWorld::admin(), SetStake{ns, cohort, weight, {}}});
  }
  Result<Events> quota(const std::string& ns, const Quota& quota) {
    return world.attempt(Request{TestWorld::admin(), SetQuota{ns, quota}});
  }
  static void refused(const Result<Events>& result, const std::string& field,
                      const std::string& text) {
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().field, field) << result.error().message;
    EXPECT_NE(result.error().message.find(text), std::string::npos) << result.error().message;
  }
  TestWorld world;
};

TEST_F(Cohorts, AreATree) {
  ASSERT_TRUE(cohort("institute"));
  ASSERT_TRUE(cohort("group", "institute"));
  ASSERT_TRUE(cohort("project", "group"));
  refused(cohort("institute", "project"), "parent", "tree");
  refused(cohort("group", "group"), "parent", "cannot belong to itself");
  refused(cohort("group", "nowhere"), "parent", "no cohort \"nowhere\"");
  std::string last = "project";
  for (int depth = 4; depth <= 8; ++depth) {
    const std::string next = "level" + std::to_string(depth);
    ASSERT_TRUE(cohort(next, last));
    last = next;
  }
  refused(cohort("level9", last), "parent", "8 deep");
}

TEST_F(Cohorts, MembersAreNotPromisedMoreThanThereIs) {
  ASSERT_TRUE(cohort("group", {}, cpus(8)));
  ASSERT_TRUE(quota("lab", cpus(6)));
  ASSERT_TRUE(stake("lab", "group"));
  refused(quota("lab", cpus(9)), "quota", "exceed its own in cpu (9, and it has 8); lower");
  world.run(Request{TestWorld::admin(), CreateNamespace{"bio", ""}});
  ASSERT_TRUE(quota("bio", cpus(3)));
  refused(stake("bio", "group"), "quota", "cohort group");
  ASSERT_TRUE(quota("bio", cpus(2)));
  ASSERT_TRUE(stake("bio", "group"));
  refused(cohort("group", {}, cpus(7)), "quota", "exceed");
  ASSERT_TRUE(cohort("group", {}, cpus(9)));
}

TEST_F(Cohorts, AWeightOfNothingIsRefused) {
  refused(stake("lab", {}, 0), "weight", "quota of 0");
  refused(cohort("group", {}, {}, 0), "weight", "between 0.001");
}

TEST_F(Cohorts, OneWithMembersIsNotDeleted) {
  ASSERT_TRUE(cohort("group"));
  ASSERT_TRUE(stake("lab", "group"));
  refused(world.attempt(Request{TestWorld::admin(), DeleteCohort{"group"}}), "name", "members");
  ASSERT_TRUE(stake("lab", ""));
  ASSERT_TRUE(world.attempt(Request{TestWorld::admin(), DeleteCohort{"group"}}));
}

TEST_F(Cohorts, WithoutAQuotaAreSureOfWhatTheirMembersAre) {
  ASSERT_TRUE(cohort("group"));
  ASSERT_TRUE(quota("lab", cpus(3)));
  ASSERT_TRUE(stake("lab", "group"));
  EXPECT_EQ(world.state.cohort_named("group")->nominal, cpus(3));
  world.run(Request{TestWorld::admin(), CreateNamespace{"bio", ""}});
  ASSERT_TRUE(stake("bio", "group"));
  EXPECT_EQ(world.state.cohort_named("group")->nominal, Quota{}) << "one of them has no limit";
}

TEST_F(Cohorts, AnAccountStaysWhereItWasUsedWhenItsNamespaceMoves) {
  world.nodes({node("n1", 4)});
  ASSERT_TRUE(cohort("old"));
  ASSERT_TRUE(cohort("new"));
  ASSERT_TRUE(stake("lab", "old"));
  world.submit(TestWorld::job(2000));
  world.settle();
  world.now = world.now + hours(24 * 7);
  ASSERT_TRUE(stake("lab", "new"));
  const auto& before = world.state.cohort_named("old")->account.at(Tier::batch);
  EXPECT_EQ(before.past.cpu_milli, 1000 * kMeterScale) << "one half-life with two cores";
  EXPECT_EQ(before.now, Amounts{});
  EXPECT_EQ(world.state.cohort_named("new")->account.at(Tier::batch).now.cpu_milli, 2000);
  EXPECT_EQ(world.state.cohort_named("new")->in_use.cpu_milli, 2000);
}

TEST_F(Cohorts, QuotasThatNobodyCanMeanAreRefused) {
  Quota bytes, many, none;
  bytes.memory_bytes = 4;
  many.devices["gpu"] = kDeviceCountMax + 1;
  none.memory_bytes = 0;
  refused(quota("lab", bytes), "quota.memory", "memory is 4 bytes");
  refused(quota("lab", many), "quota.devices", "gpu is more than 100000");
  EXPECT_TRUE(quota("lab", none));
  ASSERT_TRUE(cohort("physics"));
  refused(stake("lab", "physic"), "cohort", "did you mean physics?");
  refused(stake("lab", "zoology"), "cohort", "`atoll cohort set zoology` makes it");
}

TEST_F(Cohorts, WhatOneMayNotHaveIsNotKeptFromTheOthers) {
  world.nodes({node("n", 8, 1 << 30, 1)});
  world.run(Request{TestWorld::admin(), SetCohort{"all", {}, {}, {}, {}}});
  Quota no_a100, nothing;
  no_a100.devices["gpu:a100"] = 0;
  nothing.cpu_milli = 0;
  for (const auto& [name, quota] : std::map<std::string, Quota>{{"a", no_a100}, {"b", nothing}}) {
    world.run(Request{TestWorld::admin(), CreateNamespace{name, ""}});
    world.run(Request{TestWorld::admin(), SetQuota{name, quota}});
    world.run(Request{TestWorld::admin(), SetStake{name, "all", {}, no_a100}});
  }
  SubmitJob job = TestWorld::job();
  job.terms.resources.devices = {{"gpu", "", 1}};
  job.ns = "a";
  const JobId refused = world.submit(job);
  job.ns = "b";
  const JobId borrower = world.submit(job);
  world.settle();
  EXPECT_EQ(world.state.jobs.at(refused).placed, 0u);
  EXPECT_EQ(world.state.jobs.at(borrower).placed, 1u);
}

}  // namespace
}  // namespace atl::core
