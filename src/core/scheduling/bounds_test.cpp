#include "core/scheduling/bounds.h"

#include "core/test_world.h"

namespace atl::core::scheduling {
namespace {

Quota cores(int64_t milli) {
  Quota quota;
  quota.cpu_milli = milli;
  return quota;
}

class Bounds : public testing::Test {
 protected:
  Bounds() { world.nodes({node("n", 8, int64_t{8} << 30, 4)}); }

  void quota(const Quota& quota) { world.run(Request{TestWorld::admin(), SetQuota{"lab", quota}}); }
  Result<Events> submit(const SubmitJob& job) {
    return world.attempt(Request{TestWorld::admin(), SubmitJobs{{job}}});
  }
  std::string refusal(const SubmitJob& job) {
    const auto done = submit(job);
    EXPECT_FALSE(done);
    if (!done) EXPECT_EQ(done.error().code, ErrorCode::infeasible);
    return done ? "" : done.error().message;
  }
  TestWorld world;
};

TEST_F(Bounds, WhatNoQuotaAllowsIsRefusedWithTheNearestThatFits) {
  quota(cores(2000));
  EXPECT_EQ(refusal(TestWorld::job(3000)),
            "3 cpus is more than the quota of namespace lab ever allows: 2 cores; the nearest that "
            "fits is 2 cpus (keep: true or --keep waits for a larger quota)");
  EXPECT_TRUE(submit(TestWorld::job(2000)));
  SubmitJob kept = TestWorld::job(3000);
  kept.keep = true;
  EXPECT_TRUE(submit(kept));
}

TEST_F(Bounds, WhatMayBeBorrowedCounts) {
  world.run(Request{TestWorld::admin(), SetCohort{"group", {}, {}, {}, {}}});
  world.run(Request{TestWorld::admin(), CreateNamespace{"bio", ""}});
  world.run(Request{TestWorld::admin(), SetQuota{"bio", cores(2000)}});
  quota(cores(2000));
  for (const char* ns : {"lab", "bio"})
    world.run(Request{TestWorld::admin(), SetStake{ns, "group", {}, {}}});
  EXPECT_TRUE(submit(TestWorld::job(4000)));
  EXPECT_NE(refusal(TestWorld::job(5000)).find("quota of cohort group"), std::string::npos);
  world.run(Request{TestWorld::admin(), SetStake{"lab", "group", {}, cores(1000)}});
  EXPECT_TRUE(submit(TestWorld::job(3000)));
  EXPECT_NE(refusal(TestWorld::job(4000)).find("nearest that fits is 3 cpus"), std::string::npos);
}

TEST_F(Bounds, OfAGangAllMembersCount) {
  Quota three = cores(3000);
  quota(three);
  SubmitJob gang = TestWorld::job(1000);
  gang.array = true;
  gang.indices = IntervalSet({0, 3});
  gang.terms.gang = 4;
  EXPECT_NE(refusal(gang).find("the nearest that fits is a gang of 3 "), std::string::npos);
  three.cpu_milli.reset();
  three.running = 2;
  quota(three);
  EXPECT_NE(refusal(gang).find("2 tasks; the nearest that fits is a gang of 2 "),
            std::string::npos);
}

TEST_F(Bounds, DevicesAreCountedByKindAndByModel) {
  Quota two;
  two.devices["gpu"] = 2;
  quota(two);
  SubmitJob job = TestWorld::job();
  job.terms.resources.devices = {{"gpu", "a100", 3}};
  EXPECT_NE(refusal(job).find("nearest that fits is 1 cpu, gpu:a100:2 "), std::string::npos);
  two.devices["gpu:a100"] = 0;
  quota(two);
  EXPECT_EQ(refusal(job).find("nearest"), std::string::npos) << "there is none";
}

TEST_F(Bounds, WhatWaitsGoesOnWaitingWhenAQuotaShrinks) {
  const JobId id = world.submit(TestWorld::job(3000));
  quota(cores(2000));
  ChangeJob change{};
  change.id = id;
  change.priority = 5;
  EXPECT_TRUE(world.attempt(Request{TestWorld::admin(), change}));
  change.cpu_milli = 4000;
  EXPECT_FALSE(world.attempt(Request{TestWorld::admin(), change}));
  change.cpu_milli = 1000;
  EXPECT_TRUE(world.attempt(Request{TestWorld::admin(), change}));
}

}  // namespace
}  // namespace atl::core::scheduling
