#include "site/remote/run_directory.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "site/remote/local_shell.h"
#include "site/remote/placements.h"

namespace atl::site {
namespace {

TEST(HostStatus, ReadsWhatTheWrapperSays) {
  const Result<HostStatus> status = parse_host_status(
      "N 4711 1795013248784009 boot\nE 1.0.1 exited 7 0 100 200 30 4096 6 0 1 1 it said so\n"
      "R 2.5.1 300\nG 2.5.1 400 # atoll progress=50 status=busy\nB 3.0.2\nP 4.0.1\n");
  ASSERT_TRUE(status.has_value());
  EXPECT_EQ(status->uptime_cs, 4711);
  ASSERT_EQ(status->runs.size(), 4u);
  const RunStatus& ended = status->runs[0];
  EXPECT_EQ(ended.stage, RunStage::ended);
  EXPECT_EQ(ended.result.exit_code, 7);
  EXPECT_EQ(ended.result.usage.memory_peak_bytes, 4096);
  EXPECT_EQ(ended.result.stdout_bytes, 6);
  EXPECT_TRUE(ended.result.checkpointed);
  EXPECT_TRUE(ended.left_files);
  EXPECT_EQ(ended.result.message, "it said so");
  EXPECT_EQ(status->runs[1].attempt, (AttemptId{JobId{2}, 5, 1}));
  ASSERT_TRUE(status->runs[1].progress.has_value());
  EXPECT_EQ(status->runs[1].progress->percent_milli, 50'000u);
  EXPECT_EQ(status->runs[2].stage, RunStage::beginning);
  EXPECT_EQ(status->runs[3].stage, RunStage::placed);
}

TEST(HostStatus, WhatIsNoAnswerIsAnError) {
  EXPECT_FALSE(parse_host_status("").has_value());
  EXPECT_FALSE(parse_host_status("N 1 2 b\nE 1.0.1 exploded 7\n").has_value());
}

// What a batch script does: the wrapper in the foreground, with orders that were only placed.
TEST(RunDirectory, RunsInTheForegroundOfABatchScript) {
  const std::string root = "/tmp/atoll-run-directory-" + std::to_string(::getpid());
  LocalShell shell;
  RunDirectory directory(shell, {.installation = "test", .root = root});
  const AttemptId id{JobId{1}, 0, 1};
  RunOrder order{
      .start = {.attempt = id, .payload = {.argv = {"echo", "hello"}, .directory = "/"}}};
  RunDirectory::Refused refused;
  ASSERT_TRUE(directory.start({&order, 1}, false, refused).has_value());
  ASSERT_EQ(directory.poll(0)->runs.at(0).stage, RunStage::placed);
  const Result<std::string> command = directory.foreground_command(id);
  ASSERT_TRUE(command.has_value());
  for (int times = 0; times < 2; ++times) ASSERT_EQ(shell.run({.script = *command})->exit_code, 0);
  const Result<HostStatus> status = directory.poll(0);
  ASSERT_EQ(status->runs.at(0).stage, RunStage::ended);
  EXPECT_EQ(directory.logs(id, LogStream::out, 0, 100)->bytes, "hello\n") << "it ran once";
  EXPECT_FALSE(std::filesystem::exists(root + "/attempts/1.0.1/task")) << "secrets do not stay";
  ASSERT_TRUE(directory.forget({&id, 1}).has_value());
  EXPECT_TRUE(directory.poll(0)->runs.empty());
  EXPECT_EQ(directory.logs(id, LogStream::out, 1, 2)->bytes, "el");
  ASSERT_TRUE(directory.purge(id.job).has_value());
  EXPECT_EQ(directory.logs(id, LogStream::out, 0, 1).error().code, ErrorCode::not_found);
  order.start.payload.isolation = core::Isolation::sandbox;
  ASSERT_TRUE(directory.start({&order, 1}, true, refused).has_value());
  EXPECT_EQ(refused.at(id).code, ErrorCode::invalid);
  std::filesystem::remove_all(root);
}

TEST(Placements, AreReadAgain) {
  const std::string path = "/tmp/atoll-placements-" + std::to_string(::getpid());
  const AttemptId id{JobId{1}, 0, 1}, other{JobId{1}, 3, 2};
  {
    Placements placements(path);
    placements.put(id, "h1", seconds(60));
    placements.put(other, "h2", {});
    placements.started(id);
    placements.forgotten(other);
  }
  Placements placements(path);
  ASSERT_TRUE(placements.find(id).has_value());
  EXPECT_EQ(placements.find(id)->host, "h1");
  EXPECT_EQ(placements.find(id)->lease, seconds(60));
  EXPECT_TRUE(placements.find(id)->started);
  EXPECT_TRUE(placements.find(other)->forgotten);
  EXPECT_EQ(placements.hosts(JobId{1}), (std::vector<std::string>{"h1", "h2"}));
  placements.remove(JobId{1});
  EXPECT_FALSE(placements.find(id).has_value());
  std::filesystem::remove_all(path);
}

}  // namespace
}  // namespace atl::site
