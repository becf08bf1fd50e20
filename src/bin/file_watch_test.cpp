#include "bin/file_watch.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <memory>

namespace atl::bin {
namespace {

namespace fs = std::filesystem;

class FileLooksTest : public testing::Test {
 protected:
  FileLooksTest() {
    char name[] = "/tmp/atoll-watch-XXXXXX";
    root = mkdtemp(name);
    chmod(root.c_str(), 0755);
    fs::create_directories(root + "/in/deep");
    order.id = ScheduleId{1};
    order.revision = 1;
    order.path = root + "/in/*.nc";
    order.quiet = seconds(5);
    order.uid = getuid();
    order.looked = true;
    looks = std::make_unique<FileLooks>(std::vector{root});
  }
  ~FileLooksTest() override { fs::remove_all(root); }

  void write(const std::string& path, const std::string& text = "x") {
    std::ofstream(root + "/" + path) << text;
  }
  // What is reported as changed, by name, and kept as the core would.
  std::vector<std::string> changed(Time now) {
    const auto report = looks->look(order, now);
    std::vector<std::string> names;
    if (!report) return names;
    for (const core::FileMark& each : report->changed) {
      names.push_back(each.path.substr(root.size() + 1));
      order.known[each.path] = each.look;
    }
    for (const std::string& each : report->gone) order.known.erase(each);
    return names;
  }
  using Names = std::vector<std::string>;

  std::string root;
  WatchOrder order;
  std::unique_ptr<FileLooks> looks;
};

TEST_F(FileLooksTest, AFileIsReportedWhenItWasLeftAlone) {
  EXPECT_EQ(changed(Time{1}), Names{});
  write("in/a.nc");
  write("in/b.txt");
  EXPECT_EQ(changed(Time{} + seconds(10)), Names{});
  EXPECT_EQ(changed(Time{} + seconds(14)), Names{});
  write("in/a.nc", "longer");
  EXPECT_EQ(changed(Time{} + seconds(15)), Names{}) << "it is being written";
  EXPECT_EQ(changed(Time{} + seconds(20)), Names{"in/a.nc"});
  EXPECT_EQ(changed(Time{} + seconds(90)), Names{});
  write("in/a.nc", "longer still");
  EXPECT_EQ(changed(Time{} + seconds(91)), Names{});
  EXPECT_EQ(changed(Time{} + seconds(96)), Names{"in/a.nc"});
}

TEST_F(FileLooksTest, AFileThatGoesAndComesBackIsReportedAgain) {
  write("in/a.nc");
  changed(Time{} + seconds(1));
  EXPECT_EQ(changed(Time{} + seconds(6)), Names{"in/a.nc"});
  fs::remove(root + "/in/a.nc");
  changed(Time{} + seconds(7));
  EXPECT_TRUE(order.known.empty());
  write("in/a.nc");
  changed(Time{} + seconds(8));
  EXPECT_EQ(changed(Time{} + seconds(13)), Names{"in/a.nc"});
}

TEST_F(FileLooksTest, TheFirstLookTellsWhatIsThere) {
  order.looked = false;
  EXPECT_TRUE(looks->look(order, Time{1})) << "even when nothing is";
  write("in/a.nc");
  EXPECT_EQ(changed(Time{2}), Names{"in/a.nc"});
}

TEST_F(FileLooksTest, LinksAreNotFollowed) {
  write("secret.nc");
  fs::create_symlink(root + "/secret.nc", root + "/in/link.nc");
  fs::create_directory_symlink(root, root + "/in/up");
  order.path = root + "/in/up/*.nc";
  changed(Time{} + seconds(1));
  EXPECT_EQ(changed(Time{} + seconds(60)), Names{});
  order.path = root + "/in/*.nc";
  changed(Time{} + seconds(61));
  EXPECT_EQ(changed(Time{} + seconds(160)), Names{});
}

TEST_F(FileLooksTest, OnlyListedDirectoriesAreLookedInto) {
  write("in/a.nc");
  looks = std::make_unique<FileLooks>(std::vector{root + "/in/deep", root + "/i"});
  changed(Time{} + seconds(1));
  EXPECT_EQ(changed(Time{} + seconds(60)), Names{});
}

TEST_F(FileLooksTest, WhatTheOwnerMayNotReadIsNotSeen) {
  write("in/mine.nc");
  write("in/open.nc");
  chmod((root + "/in/mine.nc").c_str(), 0600);
  order.uid = 54321;
  changed(Time{} + seconds(1));
  EXPECT_EQ(changed(Time{} + seconds(60)), Names{"in/open.nc"});
  write("in/later.nc");
  chmod((root + "/in").c_str(), 0750);
  changed(Time{} + seconds(61));
  EXPECT_EQ(changed(Time{} + seconds(120)), Names{}) << "the directory is not theirs to list";
  order.uid.reset();
  chmod((root + "/in").c_str(), 0755);
  changed(Time{} + seconds(121));
  EXPECT_EQ(changed(Time{} + seconds(180)), Names({"in/later.nc", "in/open.nc"}))
      << "somebody without an account sees what everybody may";
}

}  // namespace
}  // namespace atl::bin
