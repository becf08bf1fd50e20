#include "core/scheduling/place.h"

#include "core/test_world.h"

namespace atl::core::scheduling {
namespace {

Terms asks(int64_t cpu_milli, int64_t memory, std::vector<DeviceRequest> devices = {}) {
  Terms terms;
  terms.resources = {cpu_milli, memory, std::move(devices)};
  return terms;
}

TEST(Place, TheTightestNodeThatFitsWins) {
  TestWorld world;
  world.nodes({node("big", 16), node("small", 2), node("gpu", 2, 1 << 30, 4)});
  EXPECT_EQ(place(look(world.state, world.now), asks(1000, 0))->node, "small");
  EXPECT_EQ(place(look(world.state, world.now), asks(4000, 0))->node, "big");
  EXPECT_EQ(place(look(world.state, world.now), asks(1000, 0, {{"gpu", "", 2}}))->node, "gpu");
  EXPECT_FALSE(place(look(world.state, world.now), asks(17000, 0)));
}

TEST(Place, ARequestForAModelChoosesBeforeOneForAny) {
  TestWorld world;
  NodeCapacity mixed = node("n1", 4, 1 << 30, 1, "a100");
  mixed.devices.push_back({"v0", "gpu", "v100", 0, true});
  world.nodes({mixed});
  const auto placement =
      place(look(world.state, world.now), asks(1000, 0, {{"gpu", "", 1}, {"gpu", "a100", 1}}));
  ASSERT_TRUE(placement);
  EXPECT_EQ(placement->devices.size(), 2u);
}

TEST(Place, InfeasibleIsToldApartFromNotNow) {
  TestWorld world;
  world.nodes({node("n1", 2)});
  world.submit(TestWorld::job(2000));
  world.settle();
  EXPECT_EQ(why_not_placed(look(world.state, world.now), asks(1000, 0)),
            (Block{Obstacle::capacity, "cpu", 1000, 2000, 2000, "local/n1"}));
  EXPECT_EQ(why_not_placed(look(world.state, world.now), asks(3000, 0)).obstacle,
            Obstacle::infeasible);
  Terms elsewhere = asks(1000, 0);
  elsewhere.site = "moon";
  EXPECT_EQ(why_not_placed(look(world.state, world.now), elsewhere),
            (Block{Obstacle::no_site, "moon", 0, 0, 0}));
}

TEST(Place, TheNearestFeasibleRequestIsOneThatFits) {
  TestWorld world;
  world.nodes({node("n1", 4, 1 << 30, 2)});
  const auto nearest = nearest_feasible(world.state, asks(9000, 5ll << 30, {{"gpu", "a100", 8}}));
  ASSERT_TRUE(nearest);
  EXPECT_EQ(*nearest, (Resources{4000, 1 << 30, {{"gpu", "a100", 2}}}));
  Terms fits;
  fits.resources = *nearest;
  EXPECT_TRUE(feasible(world.state, fits));
  EXPECT_FALSE(nearest_feasible(world.state, asks(1000, 0, {{"gpu", "h100", 1}})));
}

TEST(Place, ADrainingSiteTakesNothingNew) {
  TestWorld world;
  world.nodes({node("n1", 4)});
  world.run(Request{TestWorld::admin(), DrainSite{"local", true}});
  EXPECT_FALSE(place(look(world.state, world.now), asks(1000, 0)));
  EXPECT_TRUE(feasible(world.state, asks(1000, 0)));
  EXPECT_EQ(why_not_placed(look(world.state, world.now), asks(1000, 0)),
            (Block{Obstacle::draining, "local", 0, 0, 0}));
  EXPECT_EQ(why_not_placed(look(world.state, world.now), asks(5000, 0)).obstacle,
            Obstacle::no_site);
}

TEST(Place, ASiteThatOnlyPretendsIsForWorkThatAsksForIt) {
  TestWorld world;
  world.nodes({node("n1", 4)});
  EXPECT_TRUE(place(look(world.state, world.now), asks(1000, 0))) << "there is no other kind";
  world.run(Request{TestWorld::admin(), AddSite{"real", "local"}});
  EXPECT_FALSE(place(look(world.state, world.now), asks(1000, 0)));
  EXPECT_FALSE(feasible(world.state, asks(1000, 0)));
  Terms named = asks(1000, 0);
  named.site = "local";
  EXPECT_TRUE(place(look(world.state, world.now), named));
  EXPECT_TRUE(feasible(world.state, named));
}

TEST(Place, NodesWhoseDevicesAreCutOtherwiseAreNotAlike) {
  TestWorld world;
  NodeCapacity shared = node("b", 4, 1 << 30, 1);
  shared.devices[0].share_step_milli = 100;
  world.nodes({node("a", 4, 1 << 30, 1), shared});
  const auto found = place(look(world.state, world.now), asks(1000, 0, {{"gpu", "", 1, {}, 500}}));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->node, "b");
}

TEST(Place, ADeviceThatLosesItsSlotsIsNotFreeWhileASliceIsHeld) {
  TestWorld world;
  NodeCapacity cut = node("a", 4, 1 << 30, 1);
  cut.devices[0].slots = 8;
  cut.devices[0].profiles = {{"half", 4, {0, 4}, 0}};
  world.nodes({cut});
  SubmitJob slice = TestWorld::job();
  slice.terms.resources.devices = {{"gpu", "", 1, {}, 1000, 0, "half"}};
  world.submit(slice);
  world.settle();
  world.nodes({node("a", 4, 1 << 30, 1)});
  EXPECT_FALSE(place(look(world.state, world.now), asks(1000, 0, {{"gpu", "", 1}})));
}

}  // namespace
}  // namespace atl::core::scheduling
