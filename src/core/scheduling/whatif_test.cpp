#include "core/scheduling/whatif.h"

#include <random>

#include "core/scheduling/explain.h"
#include "core/test_world.h"

namespace atl::core::scheduling {
namespace {

std::vector<std::string> changes(const Explanation& why) {
  std::vector<std::string> all;
  for (const Alternative& each : why.alternatives) all.push_back(each.change);
  return all;
}
bool offers(const Explanation& why, const std::string& change) {
  const auto all = changes(why);
  return std::find(all.begin(), all.end(), change) != all.end();
}

SubmitJob timed(int64_t cpu_milli, Duration wall) {
  SubmitJob job = TestWorld::job(cpu_milli);
  job.terms.wall = wall;
  job.terms.grace = {};
  return job;
}

TEST(WhatIf, SmallerRequestsThatWouldStartNow) {
  TestWorld world;
  world.nodes({node("n", 8, 1ll << 33, 2)});
  SubmitJob first = timed(5000, hours(1));
  first.terms.resources.memory_bytes = 1ll << 32;
  first.terms.resources.devices = {{"gpu", "a100", 1}};
  world.submit(first);
  world.settle();
  SubmitJob job = TestWorld::job(4000);
  const JobId cores = world.submit(job);
  world.settle();
  const auto why = explain(world.state, world.state.jobs.at(cores));
  EXPECT_TRUE(offers(why, "--cpus 3")) << testing::PrintToString(changes(why));
  EXPECT_EQ(why.starts_by, world.now + hours(1)) << "when the other has ended at the latest";
  world.run(Request{TestWorld::admin(), CancelJob{cores, {}, {}}});
  job = TestWorld::job(1000);
  job.terms.resources.devices = {{"gpu", "a100", 2}};
  const JobId gpus = world.submit(job);
  world.settle();
  EXPECT_TRUE(offers(explain(world.state, world.state.jobs.at(gpus)), "--gpus a100:1"));
}

TEST(WhatIf, WhoHasItIsSaid) {
  TestWorld world;
  world.nodes({node("n", 4, 1 << 30, 2)});
  world.run(Request{TestWorld::admin(), CreateNamespace{"chem", ""}});
  SubmitJob other = timed(1000, hours(2));
  other.ns = "chem";
  other.terms.resources.devices = {{"gpu", "", 2}};
  world.submit(other);
  world.settle();
  SubmitJob job = TestWorld::job(1000);
  job.terms.resources.devices = {{"gpu", "a100", 1}};
  const JobId id = world.submit(job);
  world.settle();
  const auto why = explain(world.state, world.state.jobs.at(id));
  ASSERT_EQ(why.held_by.size(), 1u);
  EXPECT_EQ(world.state.namespaces.at(why.held_by[0].ns).name, "chem");
  EXPECT_EQ(why.held_by[0].amount, 2000);
  EXPECT_EQ(why.held_by[0].until, world.now + hours(2));
  EXPECT_NE(why.sentence.find("waiting for 1 gpu:a100: 2 of 2 in use (chem has 2; free by"),
            std::string::npos)
      << why.sentence;
}

TEST(WhatIf, AShorterTimeFitsBeforeSomebodyElsesRoom) {
  TestWorld world;
  world.nodes({node("n", 4)});
  world.submit(timed(2000, hours(1)));
  world.settle();
  world.submit(timed(4000, hours(1)));  // waits for all of it, from an hour from now
  const JobId id = world.submit(timed(2000, hours(3)));
  world.settle();
  const auto why = explain(world.state, world.state.jobs.at(id));
  EXPECT_TRUE(offers(why, "--time 1h")) << testing::PrintToString(changes(why));
}

TEST(WhatIf, DevicesAreWrittenAsTheyWereTried) {
  TestWorld world;
  world.nodes({node("n", 8, int64_t{8} << 30, 2, "a100"), node("m", 8, int64_t{8} << 30, 1, "t4")});
  SubmitJob job = timed(1000, hours(1));
  job.terms.resources.devices = {{"gpu", "a100", 2}};
  world.submit(job);
  world.settle();
  job.terms.resources.devices = {{"gpu", "a100", 2, {"t4"}}};
  const JobId id = world.submit(job);
  world.settle();
  const auto why = explain(world.state, world.state.jobs.at(id));
  EXPECT_TRUE(offers(why, "--gpus 'a100|t4:1'")) << testing::PrintToString(changes(why));
}

// Every change that is offered starts at once when it is made, and nothing is offered to one that
// starts anyway.
TEST(WhatIfProperty, WhatIsOfferedIsTrue) {
  int offered = 0;
  for (uint32_t seed = 1; seed <= 400; ++seed) {
    std::mt19937 random(seed);
    const auto draw = [&](int low, int high) {
      return low + static_cast<int>(random() % static_cast<uint32_t>(high - low + 1));
    };
    TestWorld world;
    std::vector<NodeCapacity> nodes;
    for (int i = 0; i < draw(1, 3); ++i)
      nodes.push_back(node("n" + std::to_string(i), draw(2, 8), int64_t{draw(1, 8)} << 30,
                           draw(0, 3), draw(0, 1) ? "a100" : "v100"));
    world.nodes(nodes);
    const auto draw_job = [&] {
      SubmitJob job = timed(draw(1, 6) * 1000, draw(0, 1) ? hours(draw(1, 4)) : Duration{});
      job.terms.resources.memory_bytes = int64_t{draw(0, 4)} << 30;
      if (draw(0, 2) == 0)
        job.terms.resources.devices = {
            {"gpu", draw(0, 1) ? "a100" : "", static_cast<uint32_t>(draw(1, 2))}};
      return job;
    };
    for (int i = 0; i < 8; ++i)
      (void)world.attempt(Request{TestWorld::admin(), SubmitJobs{{draw_job()}}});
    world.settle();
    const State before = world.state;
    for (const auto& [id, job] : before.jobs) {
      if (!job.ready()) continue;
      const Explanation why = explain(before, job);
      for (const Alternative& each : why.alternatives) {
        ++offered;
        world.state = before;
        world.run(Request{TestWorld::admin(), CancelJob{id, {}, {}}});
        SubmitJob changed = TestWorld::job();
        changed.terms = each.terms;
        const JobId made = world.submit(changed);
        world.settle();
        EXPECT_EQ(world.state.jobs.at(made).placed, 1u)
            << each.change << ", seed " << seed << ", job " << id.value;
      }
    }
  }
  EXPECT_GT(offered, 100);
}

}  // namespace
}  // namespace atl::core::scheduling
