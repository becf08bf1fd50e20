// The verbs of queues against a server that answers what the test says.
#include <filesystem>
#include <fstream>

#include "cli/queue_path.h"
#include "cli/queue_worker.h"
#include "cli/test_server.h"

namespace atl::cli {
namespace {

using testing::has;
using testing::json;
using testing::TestServer;

constexpr const char* kQueue = "/api/v1/namespaces/lab/queues/q";

// A server whose lists of bodies the test reads.
struct Bodies {
  std::mutex mutex;
  std::vector<std::string> seen;
  TestServer::Answer keep(std::string answer) {
    return [this, answer](const http::Request& request) {
      const std::lock_guard lock(mutex);
      seen.push_back(request.body);
      return json(answer);
    };
  }
};

TEST(QueueVerbs, LinesArePutInBatches) {
  Bodies bodies;
  TestServer server;
  server.on("POST", std::string(kQueue) + "/items", bodies.keep(R"({"items":[1,2],"repeated":0})"));
  server.start();
  char name[] = "/tmp/atoll-queue-XXXXXX";
  const std::filesystem::path file = std::string(::mkdtemp(name)) + "/lines";
  {
    std::ofstream out(file);
    for (int i = 0; i < 2500; ++i) out << "line " << i << "\n\n";
  }
  const auto ran = server.run({"queue", "put", "q", "-n", "lab", "-f", file.string()});
  std::filesystem::remove_all(file.parent_path());
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_EQ(ran.out, "put 2500 items into q\n");
  ASSERT_EQ(bodies.seen.size(), 3u);
  EXPECT_TRUE(bodies.seen[2].ends_with(R"({"body":"line 2499"}]})")) << bodies.seen[2];
}

TEST(QueueVerbs, WhatIsNotTextTravelsInBase64) {
  EXPECT_EQ(item_json(std::string("\0\xff", 2), ""), R"({"base64":"AP8="})");
  EXPECT_EQ(item_json("a\"b", R"(,"priority":3)"), R"({"body":"a\"b","priority":3})");
  EXPECT_EQ(item_body(*Json::parse(R"({"base64":"AP8="})")), std::string("\0\xff", 2));
}

TEST(QueueVerbs, BadWordsAreRefusedBeforeAnythingIsSent) {
  TestServer server;
  server.start();
  for (const auto& [words, part] : std::vector<std::pair<std::vector<std::string>, std::string>>{
           {{"put", "q"}, "say what to put"},
           {{"put", "q", "a", "b", "--key", "k"}, "--key is of one item"},
           {{"put", "q", "a", "--priority", "high"}, "--priority"},
           {{"put", "q", "-f", "/nowhere/at/all"}, "cannot read"},
           {{"done", "q", "seven"}, "not the number of a lease"},
           {{"dead", "q", "4"}, "--restore or --remove"},
           {{"dead", "q", "--restore", "--remove"}, "either"},
           {{"purge", "q"}, "--yes"},
           {{"work", "q"}, "say what to run"},
           {{"work", "q", "--parallel", "0", "--", "true"}, "--parallel"}}) {
    std::vector<std::string> args{"queue"};
    args.insert(args.end(), words.begin(), words.end());
    args.insert(args.begin() + 3, {"-n", "lab"});
    const auto ran = server.run(args);
    EXPECT_EQ(ran.code == 0, false) << part;
    EXPECT_TRUE(has(ran.err, part)) << ran.err;
  }
}

TEST(QueueVerbs, NothingToLeaseIsExitCode75) {
  TestServer server;
  server.on("POST", std::string(kQueue) + "/lease",
            R"({"lease":null,"until":null,"items":[],"left":0,"closed":true})");
  server.start();
  const auto ran = server.run({"queue", "lease", "q", "-n", "lab"});
  EXPECT_EQ(ran.code, 75);
  EXPECT_TRUE(has(ran.err, "closed")) << ran.err;
}

TEST(QueueVerbs, PurgeGoesOnUntilNothingIsLeft) {
  std::atomic<int> calls{0};
  TestServer server;
  server.on("POST", std::string(kQueue) + "/purge", [&](const http::Request&) {
    return json(++calls < 3 ? R"({"count":10000,"left":5})" : R"({"count":5,"left":0})");
  });
  server.start();
  const auto ran = server.run({"queue", "purge", "q", "-n", "lab", "--yes"});
  EXPECT_EQ(ran.out, "removed 20005 items of queue q\n") << ran.err;
  EXPECT_EQ(calls, 3);
}

class WorkVerb : public ::testing::Test {
 protected:
  // Two items, then nothing.
  void serve(std::string attempt = "1") {
    server.on("GET", kQueue, R"({"visibility":"1m","attempts":2})");
    server.on("POST", std::string(kQueue) + "/lease", [this, attempt](const http::Request&) {
      const int n = ++leases;
      if (n > 2) return json(R"({"lease":null,"items":[],"left":0,"closed":false})");
      return json(R"({"lease":)" + std::to_string(n) + R"(,"items":[{"id":)" + std::to_string(n) +
                  R"(,"attempt":)" + attempt + R"(,"body":"item )" + std::to_string(n) +
                  R"("}],"left":1,"closed":false})");
    });
    server.on("POST", std::string(kQueue) + "/done", done.keep(R"({"count":1,"left":0})"));
    server.on("POST", std::string(kQueue) + "/retry", retried.keep(R"({"count":1,"left":0})"));
    server.start();
  }
  TestServer server;
  std::atomic<int> leases{0};
  Bodies done, retried;
};

TEST_F(WorkVerb, EachItemIsOnStandardInputAndInTheEnvironment) {
  serve();
  const auto ran = server.run({"queue", "work", "q", "-n", "lab", "--", "sh", "-c",
                               "test \"$(cat)\" = \"$ATOLL_ITEM\" && test -n \"$ATOLL_ITEM_ID\""});
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_EQ(done.seen, (std::vector<std::string>{R"({"lease":1})", R"({"lease":2})"}));
  EXPECT_TRUE(has(ran.err, "done 2")) << ran.err;
}

TEST_F(WorkVerb, AFailureIsGivenBackWithItsExitCode) {
  serve();
  const auto ran = server.run({"queue", "work", "q", "-n", "lab", "--", "sh", "-c",
                               "test \"$ATOLL_ITEM\" = 'item 1' || exit 3"});
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_EQ(retried.seen,
            (std::vector<std::string>{R"({"lease":2,"delay":"1s","message":"exit code 3"})"}));
}

TEST_F(WorkVerb, AnItemThatDiedIsExitCode1) {
  serve("2");
  const auto ran = server.run({"-o", "json", "queue", "work", "q", "-n", "lab", "--", "false"});
  EXPECT_EQ(ran.code, 1) << ran.err;
  EXPECT_TRUE(has(ran.out, "\"dead\": 2")) << ran.out;
}

TEST_F(WorkVerb, ACommandThatIsNotThereEndsTheWork) {
  serve();
  const auto ran = server.run({"queue", "work", "q", "-n", "lab", "--", "/no/such/command"});
  EXPECT_NE(ran.code, 0);
  EXPECT_TRUE(has(ran.err, "cannot run /no/such/command")) << ran.err;
  EXPECT_EQ(retried.seen.size(), 1u);
}

TEST(QueueWorker, BinaryBodiesAreOnStandardInputOnly) {
  std::atomic<int> child{0};
  const auto item = Json::parse(R"({"id":7,"attempt":1,"base64":"AP8="})");
  const auto code = run_item(
      {"sh", "-c", "test \"$(od -An -tx1 | tr -d ' \\n')\" = 00ff && test -z \"$ATOLL_ITEM\""},
      *item, child);
  ASSERT_TRUE(code);
  EXPECT_EQ(*code, 0);
  const auto killed = run_item({"sh", "-c", "kill -9 $$"}, *item, child);
  EXPECT_EQ(killed.value_or(0), 128 + 9);
}

}  // namespace
}  // namespace atl::cli
