// Energy from a tree of counters that the test makes: machines that have real ones are few.
#include "site/local/energy.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace atl::site {
namespace {

namespace fs = std::filesystem;

class Counters : public testing::Test {
 protected:
  Counters() {
    char name[] = "/tmp/atoll-energy-XXXXXX";
    root = ::mkdtemp(name);
    busy(0);
  }
  ~Counters() override { fs::remove_all(root); }

  void write(const std::string& path, const std::string& text) const {
    fs::create_directories((root / path).parent_path());
    std::ofstream(root / path) << text << "\n";
  }
  void zone(const std::string& zone, const std::string& name, int64_t uj, int64_t range) const {
    write(zone + "/name", name);
    write(zone + "/max_energy_range_uj", std::to_string(range));
    count(zone, uj);
  }
  void count(const std::string& zone, int64_t uj) const {
    write(zone + "/energy_uj", std::to_string(uj));
  }
  // Of all processors; a tick is 10 ms.
  void busy(int64_t ticks) const {
    const std::string user = std::to_string(ticks - ticks / 2), system = std::to_string(ticks / 2);
    write("stat", "cpu  " + user + " 0 " + system + " 99999 77 0 0 5 0 0\ncpu0 1 2 3");
  }
  std::vector<EnergyZone> found() const { return find_energy_zones(root); }

  fs::path root;
};

TEST_F(Counters, PackagesAndTheirMemoryAreTheWhole) {
  zone("intel-rapl:0", "package-0", 1, 1000);
  zone("intel-rapl:0:0", "core", 1, 1000);
  zone("intel-rapl:0:1", "dram", 1, 500);
  zone("intel-rapl:1", "package-1", 1, 1000);
  zone("intel-rapl:2", "psys", 1, 1000);
  zone("intel-rapl-mmio:0", "package-0", 1, 1000);
  const auto zones = found();
  ASSERT_EQ(zones.size(), 3u);
  EXPECT_EQ(zones[0].counter, (root / "intel-rapl:0/energy_uj").string());
  EXPECT_EQ(zones[1].range_uj, 500);
  EXPECT_EQ(zones[2].counter, (root / "intel-rapl:1/energy_uj").string());
}

TEST_F(Counters, AnAttemptGetsItsShareOfTheProcessorTime) {
  zone("intel-rapl:0", "package-0", 100, int64_t{1} << 40);
  zone("intel-rapl:0:0", "dram", 7, int64_t{1} << 40);
  const auto zones = found();
  EnergyMeter meter(zones, root / "stat");
  meter.look();
  count("intel-rapl:0", 100 + 8'000'000);
  busy(200);
  meter.look();
  count("intel-rapl:0:0", 7 + 2'000'000);
  busy(400);  // 4 s of all processors together
  meter.look();
  EXPECT_EQ(meter.share_mj(seconds(1)), 2500);
  EXPECT_EQ(meter.share_mj(seconds(4)), 10'000);
  EXPECT_EQ(meter.share_mj(seconds(40)), 10'000) << "no more than all of it";
  EXPECT_EQ(meter.share_mj({}), 0);
}

TEST_F(Counters, ACounterThatBeginsAnewLosesNothing) {
  zone("intel-rapl:0", "package-0", 9'000'000, 10'000'000);
  const auto zones = found();
  EnergyMeter meter(zones, root / "stat");
  meter.look();
  for (const int64_t now : {2'000'000, 9'500'000, 1'500'000}) {
    count("intel-rapl:0", now);
    meter.look();
  }
  busy(100);
  meter.look();
  EXPECT_EQ(meter.share_mj(seconds(1)), 12'500);
}

TEST_F(Counters, WhatCannotBeReadIsNotKnown) {
  zone("intel-rapl:0", "package-0", 1, 1000);
  zone("intel-rapl:1", "package-1", 1, 1000);
  auto zones = found();
  EnergyMeter meter(zones, root / "stat");
  meter.look();
  EXPECT_TRUE(meter.share_mj(seconds(1)));
  count("intel-rapl:1", -1);
  meter.look();
  count("intel-rapl:1", 5);
  meter.look();
  EXPECT_FALSE(meter.share_mj(seconds(1))) << "there is a gap in it";
  fs::remove(root / "intel-rapl:1/energy_uj");
  EXPECT_TRUE(found().empty()) << "one package is not the machine";
  write("intel-rapl:1/energy_uj", "a lot");
  EXPECT_TRUE(found().empty());
  fs::remove(root / "stat");
  EnergyMeter blind(zones, root / "stat");
  blind.look();
  EXPECT_FALSE(blind.share_mj(seconds(1)));
}

TEST_F(Counters, WithoutZonesNothingIsKnown) {
  const auto zones = found();
  EXPECT_TRUE(zones.empty());
  EXPECT_TRUE(find_energy_zones(root / "nowhere").empty());
  EnergyMeter meter(zones, root / "stat");
  meter.look();
  EXPECT_FALSE(meter.share_mj(seconds(1)));
}

}  // namespace
}  // namespace atl::site
