// What no device could ever give is refused with what to ask for instead.
#include "core/test_world.h"

namespace atl::core {
namespace {

struct DeviceWorld : TestWorld {
  DeviceWorld() {
    run(Request{admin(), AddSite{"metal", "local"}});
    NodeCapacity small = node("m", 8);
    small.devices = {device("s0", "t4", 16, 50), device("w0", "v100", 80, 0)};
    small.devices.push_back(device("c0", "a100", 40, 0));
    small.devices.back().slots = 8;
    small.devices.back().profiles = {{"3g.20gb", 4, {0, 4}, 20ll << 30}};
    run(Report{SiteProbed{"metal", {{small}, {}}}});
    nodes({node("pretended", 8, 1 << 30, 2, "h100")});
  }
  static Device device(const std::string& unit, const std::string& model, int64_t gib,
                       int32_t step) {
    return {.unit = unit,
            .kind = "gpu",
            .model = model,
            .memory_bytes = gib << 30,
            .share_step_milli = step};
  }
  std::string refusal(DeviceRequest request, const std::string& site = "") {
    SubmitJob one = job();
    one.terms.resources.devices = {std::move(request)};
    one.terms.site = site;
    const auto events = attempt(Request{admin(), SubmitJobs{{one}}});
    return events ? "accepted" : events.error().message;
  }
};

bool says(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(DecideDevices, AModelOfASiteThatMustBeNamedIsFound) {
  DeviceWorld world;
  const std::string message = world.refusal({"gpu", "h100", 1});
  EXPECT_TRUE(says(message,
                   "site local could, and takes only work that names it: write --site "
                   "local"))
      << message;
  EXPECT_EQ(world.refusal({"gpu", "h100", 1}, "local"), "accepted");
  const std::string too_many = world.refusal({"gpu", "h100", 3});
  EXPECT_TRUE(says(too_many,
                   "site local could hold 1 cpu, gpu:h100:2, and takes only work that "
                   "names it: write --site local"))
      << too_many;
  const std::string elsewhere = world.refusal({"gpu", "t4", 1}, "local");
  EXPECT_TRUE(says(elsewhere, "site metal could: write --site metal")) << elsewhere;
}

TEST(DecideDevices, ASiteWithoutNodesIsSaidToHaveNone) {
  TestWorld world;
  world.nodes({node("n", 1)});
  world.run(Request{TestWorld::admin(), AddSite{"empty", "simulated"}});
  SubmitJob job = TestWorld::job(2000);
  job.terms.site = "empty";
  const auto events = world.attempt(Request{TestWorld::admin(), SubmitJobs{{job}}});
  ASSERT_FALSE(events);
  EXPECT_TRUE(says(events.error().message, "site local could hold 1 cpu: write --site local"))
      << events.error().message;
  world.nodes({});
  const auto none = world.attempt(Request{TestWorld::admin(), SubmitJobs{{job}}});
  ASSERT_FALSE(none);
  EXPECT_TRUE(says(none.error().message, "site empty has no node yet")) << none.error().message;
}

TEST(DecideDevices, MoreMemoryThanAnyHasIsRefusedWithTheLargest) {
  DeviceWorld world;
  DeviceRequest request{"gpu", "", 1};
  request.memory_bytes = 50ll << 30;
  const std::string message = world.refusal(request);
  EXPECT_TRUE(says(
      message, "the largest gpu of which a part can be had has 16Gi, and a whole v100 has 80Gi"))
      << message;
  request.memory_bytes = 8ll << 30;
  EXPECT_EQ(world.refusal(request), "accepted");
}

TEST(DecideDevices, MoreSlicesThanThereAreIsRefusedWithTheMost) {
  DeviceWorld world;
  DeviceRequest request{"gpu", "", 3};
  request.profile = "3g.20gb";
  const std::string message = world.refusal(request);
  EXPECT_TRUE(says(message, "the most that it could have of gpu:3g.20gb at once is 2")) << message;
  request.count = 2;
  EXPECT_EQ(world.refusal(request), "accepted");
}

TEST(DecideDevices, TheModelIsLookedAtBeforeTheWayItIsCut) {
  DeviceWorld world;
  DeviceRequest slice{"gpu", "p100", 1};
  slice.profile = "3g.20gb";
  EXPECT_TRUE(says(world.refusal(slice), "the models that there are: a100, t4, v100"));
  slice.model = "t4";
  EXPECT_TRUE(says(world.refusal(slice),
                   "no gpu:t4 is cut into slices: ask for a whole one, or for a share"));
  EXPECT_TRUE(says(world.refusal({"gpu", "v100", 1, {}, 500}), "no gpu:v100 can be shared"));
  EXPECT_TRUE(says(world.refusal({"gpu", "a100", 1, {}, 500}), "or for a slice: 3g.20gb"));
  EXPECT_TRUE(says(world.refusal({"fpga", "", 1}), "no node has a fpga"));
}

}  // namespace
}  // namespace atl::core
