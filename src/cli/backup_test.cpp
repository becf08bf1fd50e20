// restore: what it says, and what it leaves when it fails.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "cli/exit.h"
#include "cli/test_server.h"

namespace atl::cli {
namespace {

bool says(const std::ostringstream& stream, const std::string& part) {
  return stream.str().find(part) != std::string::npos;
}

TEST(Restore, SaysWhatItDid) {
  const http::testing::TempDir dir;
  const std::string file = dir / "b.atoll";
  std::ofstream(file) << "SQLite format 3" << std::string(53, '\0') << "ATOL";  // its header
  Hooks hooks;
  hooks.restore = [](const std::string&, const std::string&) { return 0; };
  std::ostringstream out;
  std::ostringstream err;
  EXPECT_EQ(run_args({"--home", dir / "h", "restore", file}, hooks, out, err), kExitOk);
  EXPECT_TRUE(says(out, "restored " + file + " into " + (dir / "h"))) << out.str() << err.str();
  out.str("");
  EXPECT_EQ(run_args({"--home", dir / "h", "restore", file, "-o", "json"}, hooks, out, err),
            kExitOk);
  const auto document = Json::parse(out.str());
  ASSERT_TRUE(document) << out.str();
  EXPECT_EQ(document->text("file"), file);
  EXPECT_EQ(document->text("home"), dir / "h");
}

TEST(Restore, OfWhatIsNoBackupIsRefusedBeforeAnythingIsMade) {
  const http::testing::TempDir dir;
  std::ofstream(dir / "text") << "no backup";
  Hooks hooks;
  hooks.restore = [](const std::string&, const std::string&) { return ADD_FAILURE(), 0; };
  std::ostringstream out;
  std::ostringstream err;
  EXPECT_EQ(run_args({"--home", dir / "h", "restore", dir / "text"}, hooks, out, err), kExitUsage);
  EXPECT_TRUE(says(err, "text is not a backup of Atoll")) << err.str();
  EXPECT_EQ(run_args({"--home", dir / "h", "restore", dir / "none"}, hooks, out, err), kExitUsage);
  EXPECT_FALSE(std::filesystem::exists(dir / "h"));
}

TEST(Restore, ThatFailsLeavesNoneOfItsDirectories) {
  const http::testing::TempDir dir;
  const std::string file = dir / "b.atoll";
  std::ofstream(file) << "SQLite format 3" << std::string(53, '\0') << "ATOL";
  std::filesystem::create_directory(dir / "kept");
  Hooks hooks;
  hooks.restore = [](const std::string&, const std::string& home) {
    std::filesystem::create_directories(home);
    return kExitFailure;
  };
  std::ostringstream out;
  std::ostringstream err;
  for (const char* home : {"a/b", "kept/a/b/c/", "kept"}) {
    EXPECT_EQ(run_args({"--home", dir / home, "restore", file}, hooks, out, err), kExitFailure);
    EXPECT_FALSE(std::filesystem::exists(dir / "a")) << home;
    EXPECT_TRUE(std::filesystem::is_empty(dir / "kept")) << home;
  }
}

}  // namespace
}  // namespace atl::cli
