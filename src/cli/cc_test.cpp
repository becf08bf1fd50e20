// The command line of cc against a scripted server.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "cli/exit.h"
#include "cli/test_server.h"

namespace atl::cli {
namespace {

using testing::has;
using testing::Ran;
using testing::TestServer;

class Cc : public ::testing::Test {
 protected:
  void SetUp() override {
    server.on("GET", "/api/v1/whoami", R"({"namespaces":{"default":"member"}})");
    server.on("POST", "/cloudmesh/workflow/{w}/job/{j}", R"({"jobs":{}})");
    server.on("POST", "/cloudmesh/workflow/{w}", R"({"nodes":{}})");
    server.on("POST", "/cloudmesh/workflow", R"({"message":"x","warnings":["f.yaml:1:1: odd"]})");
    server.on("DELETE", "/cloudmesh/workflow/{w}", R"({"message":"x"})");
    server.on("GET", "/cloudmesh/workflows", R"({"workflows":["a","b"]})");
    server.on("GET", "/cloudmesh/workflow/{w}", R"({"workflow":"done","jobs":{}})");
    server.start();
  }
  std::string last() const { return server.requests().back(); }
  TestServer server;
};

TEST_F(Cc, AJobIsAddedOncePerNameWithItsAttributes) {
  const Ran ran = server.run(
      {"cc", "workflow", "add", "--name=flood", "--job=a[1-2]", "script=a b.sh", "host=x"});
  EXPECT_EQ(ran.code, kExitOk) << ran.err;
  EXPECT_TRUE(has(last(), "POST /cloudmesh/workflow/flood/job/a2?namespace=default&")) << last();
  EXPECT_TRUE(has(last(), "&attribute=script%3Da%20b.sh&attribute=host%3Dx")) << last();
  EXPECT_EQ(ran.out, "job a1 is in workflow flood\njob a2 is in workflow flood\n");
}

TEST_F(Cc, DependenciesBelongToTheWorkflow) {
  const Ran ran = server.run({"cc", "workflow", "--name=flood", "--dependencies=a,b[1-2]"});
  EXPECT_EQ(ran.code, kExitOk) << ran.err;
  EXPECT_TRUE(has(last(), "dependencies=a%2Cb%5B1-2%5D")) << last();
  EXPECT_EQ(server.run({"cc", "workflow"}).code, kExitUsage);
}

TEST_F(Cc, AFileIsKeptUnderItsNameAndWarningsAreTold) {
  char name[] = "/tmp/atoll-cc-XXXXXX";
  const std::string folder = mkdtemp(name);
  std::ofstream(folder + "/flood.v1.yaml") << "workflow: {nodes: {a: {}}}";
  const Ran ran = server.run({"cc", "workflow", "add", "--filename", folder + "/flood.v1.yaml"});
  EXPECT_EQ(ran.code, kExitOk) << ran.err;
  EXPECT_TRUE(has(last(), "workflow_name=flood&run_directory=")) << last();
  EXPECT_TRUE(has(ran.err, "f.yaml:1:1: odd")) << ran.err;
  EXPECT_NE(server.run({"cc", "workflow", "add", "--filename", folder + "/none"}).code, kExitOk);
  std::filesystem::remove_all(folder);
}

TEST_F(Cc, ListsAndStatusesForPeopleAndPrograms) {
  EXPECT_EQ(server.run({"cc", "workflow", "list"}).out, "a\nb\n");
  EXPECT_TRUE(has(server.run({"cc", "workflow", "list", "-o", "json"}).out, "\"workflows\""));
  server.run({"cc", "workflow", "status", "--name=flood"});
  EXPECT_TRUE(has(last(), "output=table")) << last();
  server.run({"cc", "workflow", "status", "--name=flood", "--output=json"});
  EXPECT_TRUE(has(last(), "output=status")) << last();
  EXPECT_EQ(server.run({"cc", "workflow", "status", "--output=odd"}).code, kExitUsage);
}

TEST_F(Cc, WhatIsDeletedIsNamed) {
  EXPECT_EQ(server.run({"cc", "workflow", "delete"}).code, kExitUsage);
  EXPECT_EQ(server.run({"cc", "workflow", "delete", "--name=a,b"}).out,
            "workflow a deleted\nworkflow b deleted\n");
  EXPECT_EQ(server.run({"cc", "workflow", "delete", "--name=a[1-"}).code, kExitUsage);
}

}  // namespace
}  // namespace atl::cli
