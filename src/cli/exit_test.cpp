#include "cli/exit.h"

#include <gtest/gtest.h>

#include "cli/waiting.h"

namespace atl::cli {
namespace {

int of_job(const char* text) { return job_exit_code(Json::parse(text).value()); }

TEST(ExitCode, OfAJobIsItsOwn) {
  EXPECT_EQ(of_job(R"({"outcome":"succeeded","exit_code":0})"), 0);
  EXPECT_EQ(of_job(R"({"outcome":"failed","exit_code":3,"array":false})"), 3);
  EXPECT_EQ(of_job(R"({"outcome":"failed","exit_code":null,"signal":9})"), 137);
  EXPECT_EQ(of_job(R"({"outcome":"failed","exit_code":127})"), 127);
}

TEST(ExitCode, TellsEndsWithoutAnExitCodeApart) {
  EXPECT_EQ(of_job(R"({"outcome":"timed_out","exit_code":143})"), kExitTimeout);
  EXPECT_EQ(of_job(R"({"outcome":"cancelled"})"), kExitCancelled);
  EXPECT_EQ(of_job(R"({"outcome":"lost"})"), kExitLauncher);
  EXPECT_EQ(of_job(R"({"outcome":"skipped"})"), kExitLauncher);
  EXPECT_EQ(of_job(R"({"outcome":"failed","exit_code":null})"),
            kExitLauncher);                                                  // could not be started
  EXPECT_EQ(of_job(R"({"outcome":"failed","exit_code":0})"), kExitFailure);  // never a success
  EXPECT_EQ(of_job(R"({"outcome":"failed","array":true,"exit_code":7})"), kExitFailure);
  EXPECT_EQ(of_job("{}"), kExitLauncher);
}

TEST(ExitCode, OfAnErrorSaysWhetherToTryAgain) {
  EXPECT_EQ(exit_code({ErrorCode::invalid, "", ""}), kExitUsage);
  EXPECT_EQ(exit_code({ErrorCode::unavailable, "", ""}), kExitTryAgain);
  EXPECT_EQ(exit_code({ErrorCode::exhausted, "", ""}), kExitTryAgain);
  EXPECT_EQ(exit_code({ErrorCode::not_found, "", ""}), kExitFailure);
  EXPECT_EQ(exit_code({ErrorCode::timeout, "", ""}), kExitTimeout);
  EXPECT_EQ(launcher_exit_code({ErrorCode::timeout, "", ""}), kExitTimeout);
  EXPECT_EQ(launcher_exit_code({ErrorCode::forbidden, "", ""}), kExitLauncher);
  EXPECT_EQ(launcher_exit_code({ErrorCode::unavailable, "", ""}), kExitTryAgain);
}

TEST(ArrayProgress, ShowsRateAndTimeLeft) {
  const auto job = [](int done, int active) {
    const int waiting = 100 - done - active;
    return Json::parse("{\"id\":\"5\",\"tasks\":{\"total\":100,\"waiting\":" +
                       std::to_string(waiting) + ",\"active\":" + std::to_string(active) +
                       ",\"succeeded\":" + std::to_string(done) + "}}")
        .value();
  };
  ArrayProgress progress;
  const auto start = std::chrono::steady_clock::time_point{};
  EXPECT_EQ(progress.line(job(0, 4), start), "0/100 done, 4 running, 96 waiting");
  EXPECT_EQ(progress.line(job(20, 4), start + std::chrono::seconds(10)),
            "20/100 done, 4 running, 76 waiting, 2.0/s, 40s left");
}

}  // namespace
}  // namespace atl::cli
