#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "api/testing.h"
#include "site/safe_files.h"

namespace atl::api {
namespace {

namespace fs = std::filesystem;

class Files : public ApiTest {
 protected:
  void SetUp() override {
    ApiTest::SetUp();
    char name[] = "/tmp/atoll-files-XXXXXX";
    root = mkdtemp(name);
    driver->directory = root / "job";
    fs::create_directories(root / "job/sub");
    std::ofstream(root / "secret") << "secret";
    std::ofstream(root / "job/a.txt") << "hello";
    fs::create_symlink(root / "secret", root / "job/link");
    fs::create_directory_symlink(root, root / "job/out");
    mkfifo((root / "job/pipe").c_str(), 0600);
    submit("ada", R"({"command":["x"]})");
  }
  void TearDown() override {
    ApiTest::TearDown();
    fs::remove_all(root);
  }
  fs::path root;
};

TEST_F(Files, AreListedAndRead) {
  const std::string list = as("watcher", "GET", "/api/v1/jobs/1/files").body;
  EXPECT_NE(list.find(R"("path":"a.txt","kind":"file","size_bytes":5)"), std::string::npos) << list;
  EXPECT_NE(list.find(R"("path":"link","kind":"link")"), std::string::npos);
  EXPECT_EQ(list.find("secret"), std::string::npos);
  const auto got = send({.target = "/api/v1/jobs/1/files/a.txt", .uid = 1000});
  ASSERT_TRUE(got->streamed);
  EXPECT_EQ(got->streamed->text(), "hello");
  EXPECT_FALSE(got->streamed->is_open());
}

TEST_F(Files, NothingLeadsOutOfTheDirectory) {
  for (const char* path :
       {"link", "out/secret", "pipe", "sub", "missing", "a.txt/x", "%2Fetc%2Fpasswd"}) {
    const http::Response response = as("ada", "GET", std::string("/api/v1/jobs/1/files/") + path);
    EXPECT_GE(response.status, 400) << path;
    EXPECT_LT(response.status, 500) << path << response.body;
  }
  for (const char* path : {"out/x", "link/x"}) {
    EXPECT_GE(as("ada", "PUT", std::string("/api/v1/jobs/1/files/") + path, "x").status, 400)
        << path;
  }
  EXPECT_EQ(as("ada", "PUT", "/api/v1/jobs/1/files/link", "mine").status, 204);
  std::string secret;
  std::ifstream(root / "secret") >> secret;
  EXPECT_EQ(secret, "secret");
}

// The server refuses such paths before they reach us; we do not rely on it.
TEST_F(Files, PathsAreCheckedHereToo) {
  for (const char* path :
       {"../secret", "sub/../../secret", "/etc/passwd", "", ".", "a//b", "sub/./x"}) {
    EXPECT_EQ(site::open_below(driver->directory, path).error().code, ErrorCode::invalid) << path;
    EXPECT_EQ(site::write_below(driver->directory, path, "x").error().code, ErrorCode::invalid)
        << path;
  }
}

TEST_F(Files, AreWrittenByThoseWhoMayAct) {
  EXPECT_EQ(
      as("ada", "PUT", "/api/v1/jobs/1/files/new/deep/b.bin", std::string("\0\xff", 2)).status,
      204);
  EXPECT_EQ(fs::file_size(root / "job/new/deep/b.bin"), 2u);
  const std::string seen = as("ada", "GET", "/api/v1/events").body;
  EXPECT_TRUE(has(seen, R"("data":{"id":"1","path":"new/deep/b.bin","bytes":2})")) << seen;
  const std::string endless(300, 'a');
  EXPECT_EQ(as("ada", "PUT", "/api/v1/jobs/1/files/" + endless, "x").status, 400);
  EXPECT_FALSE(has(as("ada", "GET", "/api/v1/events").body, endless)) << "nothing was attempted";
  EXPECT_EQ(as("watcher", "PUT", "/api/v1/jobs/1/files/c", "x").status, 403);
  EXPECT_EQ(as("rival", "PUT", "/api/v1/jobs/1/files/c", "x").status, 404);
}

}  // namespace
}  // namespace atl::api
