#include "core/scheduling/devices.h"

#include "core/scheduling/room.h"
#include "core/test_world.h"

namespace atl::core::scheduling {
namespace {

Device gpu(std::string unit, std::string model, int64_t gib, std::string domain = "") {
  Device device{std::move(unit), "gpu", std::move(model), gib << 30, true};
  device.domain = std::move(domain);
  device.share_step_milli = 50;
  return device;
}

// As an A100 of 40 GB is cut.
Device sliced(std::string unit) {
  Device device = gpu(std::move(unit), "a100", 40);
  device.slots = 8;
  device.profiles = {{"1g.5gb", 1, {0, 1, 2, 3, 4, 5, 6}, 5ll << 30},
                     {"2g.10gb", 2, {0, 2, 4}, 10ll << 30},
                     {"3g.20gb", 4, {0, 4}, 20ll << 30},
                     {"4g.20gb", 4, {0}, 20ll << 30},
                     {"7g.40gb", 8, {0}, 40ll << 30}};
  return device;
}

DeviceRequest asks(uint32_t count, std::string model = "", std::vector<std::string> also = {}) {
  return {"gpu", std::move(model), count, std::move(also)};
}
DeviceRequest slice(std::string profile) {
  DeviceRequest request = asks(1);
  request.profile = std::move(profile);
  return request;
}
DeviceRequest share(int32_t milli) {
  DeviceRequest request = asks(1);
  request.share_milli = milli;
  return request;
}

// A node on which one request after the other is served.
class Bench {
 public:
  explicit Bench(std::vector<Device> devices) {
    node_.capacity.devices = std::move(devices);
    room_ = whole(node_);
  }
  // The units that serve the requests: "g0 g1", "g0@4" for a slice; empty when none do.
  std::string serve(std::vector<DeviceRequest> requests, const Allowance& allowed = {}) {
    const auto picked = pick(room_.devices, {0, 0, std::move(requests)}, allowed);
    if (!picked) return "";
    remove(room_, Takings{0, 0, picked->parts});
    std::string text;
    for (const Part& part : picked->parts) {
      text += (text.empty() ? "" : " ") + node_.capacity.devices[part.device].unit;
      if (part.profile) text += "@" + std::to_string(part.start);
    }
    return text;
  }

 private:
  Node node_;
  Room room_;
};

TEST(Devices, TheFirstModelOfTheListThatIsThereIsTaken) {
  Bench bench({gpu("t", "t4", 16), gpu("v", "v100", 32), gpu("a", "a100", 40)});
  const std::vector<DeviceRequest> list{asks(1, "a100", {"v100", ""})};
  EXPECT_EQ(bench.serve(list), "a");
  EXPECT_EQ(bench.serve(list), "v");
  EXPECT_EQ(bench.serve(list), "t");
  EXPECT_EQ(bench.serve(list), "");
  Bench strict({gpu("t", "t4", 16)});
  EXPECT_EQ(strict.serve({asks(1, "a100", {"v100"})}), "");
}

TEST(Devices, OfThoseThatWouldDoTheSmallestIsTaken) {
  Bench bench({gpu("big", "a100", 80), gpu("small", "t4", 16), gpu("middle", "v100", 32)});
  EXPECT_EQ(bench.serve({asks(1)}), "small");
  EXPECT_EQ(bench.serve({asks(1)}), "middle");
  EXPECT_EQ(bench.serve({asks(1)}), "big");
}

TEST(Devices, ARequestForAModelChoosesBeforeOneForAny) {
  Bench bench({gpu("a", "a100", 16), gpu("v", "v100", 32)});
  EXPECT_EQ(bench.serve({asks(1), asks(1, "a100")}), "a v");
}

TEST(Devices, SeveralComeFromOneDomainThatHasJustEnough) {
  Bench bench({gpu("g0", "a100", 40, "x"), gpu("g1", "a100", 40, "x"), gpu("g2", "a100", 40, "x"),
               gpu("g3", "a100", 40, "x"), gpu("g4", "a100", 40, "y"), gpu("g5", "a100", 40, "y")});
  EXPECT_EQ(bench.serve({asks(2)}), "g4 g5");
  EXPECT_EQ(bench.serve({asks(3)}), "g0 g1 g2");
  Bench split({gpu("g0", "a100", 40, "x"), gpu("g1", "a100", 40, "y"), gpu("g2", "a100", 40, "y")});
  EXPECT_EQ(split.serve({asks(3)}).size(), 8u) << "a hint, no condition";
}

TEST(Devices, OneDeviceDoesNotBreakUpADomainThatIsWhole) {
  Bench bench({gpu("g0", "a100", 40, "x"), gpu("g1", "a100", 40, "x"), gpu("g2", "a100", 40, "y")});
  EXPECT_EQ(bench.serve({asks(1)}), "g2");
}

TEST(Devices, SharesFillOneDeviceBeforeTheNextIsBegun) {
  Bench bench({gpu("g0", "t4", 16), gpu("g1", "t4", 16)});
  EXPECT_EQ(bench.serve({share(250)}), "g0");
  EXPECT_EQ(bench.serve({share(500)}), "g0");
  EXPECT_EQ(bench.serve({asks(1)}), "g1") << "a whole one must be untouched";
  EXPECT_EQ(bench.serve({share(500)}), "");
  EXPECT_EQ(bench.serve({share(250)}), "g0");
  EXPECT_EQ(bench.serve({share(50)}), "");
}

TEST(Devices, AShareByMemoryIsAsLargeAsTheDeviceMakesIt) {
  DeviceRequest request = asks(1);
  request.memory_bytes = 10ll << 30;
  Bench large({gpu("g0", "a100", 40)});
  for (int i = 0; i < 4; ++i) EXPECT_EQ(large.serve({request}), "g0");
  EXPECT_EQ(large.serve({request}), "");
  Bench small({gpu("g0", "t4", 16)});
  EXPECT_EQ(small.serve({request}), "g0");
  EXPECT_EQ(small.serve({request}), "");
  Bench tiny({gpu("g0", "k80", 8)});
  EXPECT_EQ(tiny.serve({request}), "");
}

TEST(Devices, WhatIsNotSharedIsGivenWholeOnly) {
  Device plain = gpu("g0", "t4", 16);
  plain.share_step_milli = 0;
  Bench bench({plain});
  EXPECT_EQ(bench.serve({share(250)}), "");
  EXPECT_EQ(bench.serve({asks(1)}), "g0");
}

TEST(Devices, SlicesHaveOnlyLegalPlaces) {
  Bench bench({sliced("m")});
  EXPECT_EQ(bench.serve({slice("3g.20gb")}), "m@4") << "where 4g.20gb can still go";
  EXPECT_EQ(bench.serve({slice("4g.20gb")}), "m@0");
  EXPECT_EQ(bench.serve({slice("1g.5gb")}), "");
  Bench seven({sliced("m")});
  for (int i = 0; i < 7; ++i) EXPECT_NE(seven.serve({slice("1g.5gb")}), "") << i;
  EXPECT_EQ(seven.serve({slice("1g.5gb")}), "") << "the eighth slot has no processors";
  Bench other({sliced("m")});
  EXPECT_EQ(other.serve({slice("4g.20gb")}), "m@0");
  EXPECT_EQ(other.serve({slice("4g.20gb")}), "");
  EXPECT_EQ(other.serve({slice("9g.90gb")}), "");
}

TEST(Devices, ASmallSliceLeavesRoomForLargeOnes) {
  Bench bench({sliced("m")});
  EXPECT_EQ(bench.serve({slice("1g.5gb")}), "m@6");
  EXPECT_EQ(bench.serve({slice("4g.20gb")}), "m@0");
}

TEST(Devices, ADeviceIsCutInOneWayAtATime) {
  Bench bench({sliced("m")});
  EXPECT_EQ(bench.serve({slice("1g.5gb")}), "m@6");
  EXPECT_EQ(bench.serve({share(100)}), "");
  EXPECT_EQ(bench.serve({asks(1)}), "");
  Bench shared({sliced("m")});
  EXPECT_EQ(shared.serve({share(100)}), "m");
  EXPECT_EQ(shared.serve({slice("1g.5gb")}), "");
}

TEST(Devices, TheQuotaOfAModelTurnsARequestForAnyToAnother) {
  Bench bench({gpu("a", "a100", 16), gpu("v", "v100", 32)});
  EXPECT_EQ(bench.serve({asks(1)}, {{"gpu:a100", 0}}), "v");
  EXPECT_EQ(bench.serve({asks(1)}, {{"gpu:a100", 500}}), "");
  EXPECT_EQ(bench.serve({share(500)}, {{"gpu:a100", 500}}), "a");
}

// Through the whole core: what one gives back the next can have, and quotas count parts.
TEST(Devices, PartsAreHeldCountedAndGivenBack) {
  TestWorld world;
  NodeCapacity capacity = node("n", 8);
  capacity.devices = {sliced("m"), gpu("g", "t4", 16)};
  world.nodes({capacity});
  SubmitJob job = TestWorld::job();
  job.terms.resources.devices = {share(250)};
  std::vector<JobId> sharers;
  for (int i = 0; i < 4; ++i) sharers.push_back(world.submit(job));
  job.terms.resources.devices = {slice("3g.20gb")};
  const JobId third = world.submit(job);
  world.settle();
  const Node& held = world.state.sites.begin()->second.nodes.at("n");
  EXPECT_EQ(held.units_used.at("g").share_milli, 1000) << "the smallest that would do";
  EXPECT_EQ(held.units_used.at("m").slots, 0xf0u);
  EXPECT_EQ(world.state.namespaces.begin()->second.in_use.devices.at("gpu"), 4 * 250 + 500);
  for (const JobId id : sharers) world.run(Report{AttemptEnded{{id, 0, 1}, {}}});
  world.run(Report{AttemptEnded{{third, 0, 1}, {}}});
  EXPECT_TRUE(held.units_used.empty());
  EXPECT_TRUE(world.state.namespaces.begin()->second.in_use.devices.empty());
}

TEST(Devices, WhatAPartCountsAsStaysWhileOtherThingsChange) {
  TestWorld world;
  NodeCapacity capacity = node("n", 8);
  capacity.devices = {gpu("g", "t4", 16)};
  world.nodes({capacity});
  SubmitJob job = TestWorld::job();
  job.array = true;
  job.indices = IntervalSet({0, 2});
  job.terms.resources.devices = {asks(1)};
  job.terms.resources.devices[0].memory_bytes = 8ll << 30;
  const JobId id = world.submit(job);
  world.settle();
  ASSERT_EQ(world.state.jobs.at(id).placed, 2u);
  capacity.devices = {gpu("g", "t4", 32)};
  world.nodes({capacity});
  ChangeJob change;
  change.id = id;
  change.priority = 5;
  EXPECT_TRUE(world.attempt(Request{TestWorld::admin(), change}));
}

TEST(Devices, AFractionThatNoDeviceOffersIsRefusedWithWhatThereIs) {
  TestWorld world;
  world.nodes({node("n", 8, 1 << 30, 2)});
  SubmitJob job = TestWorld::job();
  const auto refusal = [&](DeviceRequest request) {
    job.terms.resources.devices = {std::move(request)};
    const auto events = world.attempt(Request{TestWorld::admin(), SubmitJobs{{job}}});
    return events ? "" : events.error().message;
  };
  EXPECT_NE(refusal(share(250)).find("no gpu can be shared: ask for a whole one"),
            std::string::npos);
  EXPECT_NE(refusal(slice("1g.5gb")).find("no gpu is cut into slices"), std::string::npos);
  EXPECT_NE(refusal(asks(1, "h100")).find("the models that there are: a100"), std::string::npos);
  DeviceRequest fpga = asks(1);
  fpga.kind = "fpga";
  EXPECT_NE(refusal(fpga).find("no node has a fpga"), std::string::npos);
  EXPECT_NE(refusal(asks(3)).find("the nearest that fits is 1 cpu, gpu:2"), std::string::npos);
}

TEST(Devices, AWholeOneLeavesThoseThatCanBeCut) {
  Device plain = gpu("g1", "h100", 80);
  plain.share_step_milli = 0;
  Bench bench({gpu("g0", "h100", 80), plain});
  EXPECT_EQ(bench.serve({asks(1, "h100"), share(500)}), "g1 g0");
  Bench slices({sliced("g0"), gpu("g1", "a100", 40)});
  EXPECT_EQ(slices.serve({asks(1, "a100")}), "g0") << "both can be cut";
  DeviceRequest part = asks(1, "h100");
  part.share_milli = 500;
  Bench same({gpu("g0", "h100", 80), plain});
  EXPECT_EQ(same.serve({part, asks(1, "h100")}), "g0 g1");
}

}  // namespace
}  // namespace atl::core::scheduling
