// Output of an array's tasks: whole lines behind the task's name, and no more of it than is useful.
#include "cli/log_view.h"

#include <gtest/gtest.h>

#include <atomic>
#include <mutex>
#include <set>
#include <thread>

#include "cli/test_server.h"

namespace atl::cli {
namespace {

using testing::TestServer;

TEST(PrefixedLines, GivesOutWholeLinesOnly) {
  std::vector<std::string> written;
  PrefixedLines lines("12[7] | ", [&](std::string_view text) { written.emplace_back(text); });
  lines.add("one\ntw");
  lines.add("o");
  EXPECT_EQ(written, (std::vector<std::string>{"12[7] | one\n"}));
  lines.add("\n\nthree");
  lines.end();
  lines.end();
  EXPECT_EQ(written, (std::vector<std::string>{"12[7] | one\n", "12[7] | two\n12[7] | \n",
                                               "12[7] | three\n"}));
}

TEST(PrefixedLines, BreaksALineThatDoesNotEnd) {
  std::string written;
  PrefixedLines lines("> ", [&](std::string_view text) { written += text; });
  lines.add(std::string(kLineMax - 1, 'a'));
  lines.add("bc\n" + std::string(2 * kLineMax, 'd') + "\n");
  EXPECT_EQ(written, "> " + std::string(kLineMax - 1, 'a') + "b\n> c\n> " +
                         std::string(kLineMax, 'd') + "\n> " + std::string(kLineMax, 'd') + "\n");
}

// An array of 150 of which the first 30 have started.
class LongArray : public ::testing::Test {
 protected:
  using Ran = testing::Ran;

  LongArray() {
    std::string tasks;
    for (int i = 1; i <= 30; ++i)
      tasks += (tasks.empty() ? "" : ",") + ("{\"index\":" + std::to_string(i) + "}");
    const std::string job =
        R"({"id":"5","array":true,"state":"ended","outcome":"failed","tasks":{"total":150}})";
    server.on("GET", "/api/v1/jobs/{id}", job);
    server.on("GET", "/api/v1/jobs/{id}/tasks",
              R"({"waiting":"31-150","next":null,"tasks":[)" + tasks + "]}");
    server.handle("GET", "/api/v1/jobs/{id}/logs", [this](std::shared_ptr<http::Exchange> asked) {
      {
        const std::lock_guard lock(mutex);
        streams.insert(asked->request().target);
      }
      if (asked->request().headers.get("Accept") != "text/event-stream")
        return asked->respond(http::problem(404, "it has not started yet"));
      auto stream = asked->stream(200, {{"Content-Type", "text/event-stream"}});
      static_cast<void>(
          stream->write(http::format_event({.id = "1.3", .event = "output", .data = "one"}) +
                        http::format_event({.id = "", .event = "end", .data = "{}"})));
      stream->close();
    });
    server.start();
  }
  Ran run(const std::vector<std::string>& args) {
    ::testing::internal::CaptureStdout();
    ::testing::internal::CaptureStderr();
    Ran ran = server.run(args);
    ran.out += ::testing::internal::GetCapturedStdout();
    ran.err += ::testing::internal::GetCapturedStderr();
    return ran;
  }

  TestServer server;
  std::mutex mutex;
  std::set<std::string> streams;
};

TEST_F(LongArray, FollowsTheFirstHundredTasksAndSaysHowToSeeTheOthers) {
  const Ran ran = run({"logs", "-f", "--stdout", "5"});
  EXPECT_EQ(ran.code, 1);
  EXPECT_EQ(streams.size(), 100u);
  EXPECT_EQ(std::count(ran.out.begin(), ran.out.end(), '\n'), 100);
  EXPECT_NE(ran.out.find("5[100] | one\n"), std::string::npos) << ran.out;
  EXPECT_EQ(ran.out.find("5[101]"), std::string::npos);
  EXPECT_NE(ran.err.find("first 100 of 150 tasks"), std::string::npos) << ran.err;
  EXPECT_NE(ran.err.find("atoll logs '5[INDEX]'"), std::string::npos) << ran.err;
}

TEST_F(LongArray, PrintsNothingOfTasksThatHaveNotStarted) {
  const Ran ran = run({"logs", "5"});
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_EQ(ran.out, "");
  EXPECT_EQ(streams.size(), 200u);
  EXPECT_NE(ran.err.find("atoll logs '5[INDEX]'"), std::string::npos) << ran.err;
}

// Of three tasks the second may not be followed; the others go on for as long as they are listened
// to, and end when that is too long for the test.
TEST(FollowArray, AFailureIsToldAndStopsTheOthers) {
  std::atomic<int> ends{0};
  std::mutex mutex;
  std::vector<std::jthread> writers;
  TestServer server;
  server.on("GET", "/api/v1/jobs/{id}",
            R"({"id":"5","array":true,"state":"running","tasks":{"total":3}})");
  server.on("GET", "/api/v1/jobs/{id}/tasks", R"({"waiting":"1-3","next":null,"tasks":[]})");
  server.handle("GET", "/api/v1/jobs/{id}/logs", [&](std::shared_ptr<http::Exchange> asked) {
    if (asked->request().target.find("%5B2%5D") != std::string::npos)
      return asked->respond(http::problem(403, "not for you"));
    auto stream = asked->stream(200, {{"Content-Type", "text/event-stream"}});
    const std::lock_guard lock(mutex);
    writers.emplace_back([stream, &ends] {
      for (int beats = 0; beats < 1000 && stream->is_open(); ++beats) {
        static_cast<void>(stream->write(http::kSseHeartbeat));
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
      }
      if (stream->write(http::format_event({.id = "", .event = "end", .data = "{}"}))) ++ends;
      stream->close();
    });
  });
  server.start();
  ::testing::internal::CaptureStderr();
  const testing::Ran ran = server.run({"logs", "-f", "5"});
  const std::string notes = ::testing::internal::GetCapturedStderr();
  EXPECT_EQ(ends, 0);
  EXPECT_NE(ran.code, 0);
  EXPECT_NE(notes.find("atoll: 5[2]: not for you"), std::string::npos) << notes;
  EXPECT_NE(ran.err.find("the output of 5 was not followed to its end"), std::string::npos)
      << ran.err;
}

}  // namespace
}  // namespace atl::cli
