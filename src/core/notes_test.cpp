#include "core/notes.h"

#include "core/test_world.h"

namespace atl::core {
namespace {

NodeCapacity shared_node(int32_t step_milli, const std::string& model) {
  NodeCapacity capacity = node("n", 8);
  capacity.devices = {{.unit = "g",
                       .kind = "gpu",
                       .model = model,
                       .memory_bytes = 16ll << 30,
                       .share_step_milli = step_milli}};
  return capacity;
}

Terms asks_share(int32_t milli) {
  Terms terms;
  terms.resources.devices = {{"gpu", "", 1, {}, milli}};
  return terms;
}

TEST(Notes, AShareThatIsRoundedUpIsToldWithWhatIsGiven) {
  TestWorld world;
  NodeCapacity both = shared_node(50, "t4");
  both.devices.push_back(shared_node(100, "a100").devices[0]);
  both.devices[1].unit = "h";
  world.nodes({both});
  EXPECT_EQ(rounded_shares(world.state, asks_share(330)),
            std::vector<std::string>{"a share of 0.33 of a gpu is rounded up to what it can be cut "
                                     "into: 0.35 of t4, 0.4 of a100"});
  EXPECT_TRUE(rounded_shares(world.state, asks_share(300)).empty());
  EXPECT_TRUE(rounded_shares(world.state, asks_share(kWholeDevice)).empty());
  Terms slice;
  slice.resources.devices = {{"gpu", "", 1, {}, 143, 0, "1g.5gb"}};
  EXPECT_TRUE(rounded_shares(world.state, slice).empty());
}

TEST(Notes, DevicesOfAQuotaThatNobodyHasAreTold) {
  TestWorld world;
  world.nodes({shared_node(50, "t4")});
  Quota quota;
  quota.devices = {{"gpu", 1}, {"gpu:t4", 1}, {"gpu:t44", 1}, {"fpga", 2}};
  EXPECT_EQ(
      unknown_devices(world.state, quota),
      (std::vector<std::string>{"no node has \"fpga\" at present; there are gpu, gpu:t4",
                                "no node has \"gpu:t44\" at present; there are gpu, gpu:t4"}));
  quota.devices = {{"gpu", 1}};
  EXPECT_TRUE(unknown_devices(world.state, quota).empty());
}

struct Course : TestWorld {
  Course() {
    run(Request{admin(), CreateNamespace{"course", ""}});
    now = Time{hours(24 * 365).us};
    nodes({node("n", 4, 1 << 30, 1)});
  }
  JobId start(const std::string& ns, Duration wall, int64_t cpu_milli, bool gpu = false) {
    SubmitJob one = job(cpu_milli);
    one.ns = ns;
    one.terms.wall = wall;
    one.terms.grace = {};
    if (gpu) one.terms.resources.devices = {{"gpu", "", 1}};
    const JobId id = submit(one);
    settle();
    EXPECT_EQ(state.jobs.at(id).placed, 1u);
    return id;
  }
  std::vector<Occupant> in_the_way(CreateReservation asked) {
    asked.name = "tuesday";
    asked.from = now + hours(2);
    asked.until = now + hours(4);
    asked.namespaces = {"course"};
    const Events events = run(Request{admin(), std::move(asked)});
    return occupants(state, std::get<ReservationMade>(events.at(0).body).reservation);
  }
};

TEST(Notes, WhoHasTheRoomOfAReservationBeyondItsStartIsTold) {
  Course world;
  world.start("lab", hours(1), 1000);
  world.start("course", hours(9), 1000);
  const JobId long_one = world.start("lab", hours(3), 1000);
  const JobId endless = world.start("lab", {}, 1000);
  CreateReservation whole;
  whole.whole_nodes = true;
  const auto found = world.in_the_way(whole);
  ASSERT_EQ(found.size(), 2u) << "not those who are gone by then, nor those it is for";
  EXPECT_EQ(found[0].task.job, long_one);
  EXPECT_EQ(found[0].until, world.now + hours(3));
  EXPECT_EQ(found[0].node, "n");
  EXPECT_EQ(found[1].task.job, endless);
  EXPECT_FALSE(found[1].until);
}

TEST(Notes, WhoLeavesEnoughBesideIsInNobodysWay) {
  Course world;
  world.start("lab", hours(9), 2000);
  CreateReservation half;
  half.each.cpu_milli = 2000;
  EXPECT_TRUE(world.in_the_way(half).empty());
}

TEST(Notes, WhoHoldsAReservedDeviceIsInTheWay) {
  Course world;
  const JobId holder = world.start("lab", hours(9), 1000, true);
  world.start("lab", hours(9), 1000);
  CreateReservation one;
  one.each.cpu_milli = 1000;
  one.each.devices = {{"gpu", "", 1}};
  const auto found = world.in_the_way(one);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].task.job, holder);
}

}  // namespace
}  // namespace atl::core
