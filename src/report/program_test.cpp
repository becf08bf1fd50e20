#include "report/program.h"

#include <gtest/gtest.h>

namespace atl::report {
namespace {

constexpr ProgramLimits kRoomy{
    .time = seconds(60), .answer_max = 1 << 20, .memory_max = size_t{4} << 30};

TEST(Program, AnswersWhatItIsGiven) {
  const std::string large(300'000, 'x');  // more than a pipe would hold
  EXPECT_EQ(run_program({"cat"}, large, kRoomy), large);
}

TEST(Program, ThatIsMissingIsUnavailable) {
  const auto answer = run_program({"no-such-program"}, "", kRoomy);
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, ErrorCode::unavailable);
  EXPECT_EQ(answer.error().message, "no-such-program is not installed on the server");
}

TEST(Program, ThatFailsIsUnavailable) {
  EXPECT_EQ(run_program({"false"}, "", kRoomy).error().code, ErrorCode::unavailable);
}

TEST(Program, ThatDoesNotEndIsKilled) {
  ProgramLimits limits = kRoomy;
  limits.time = milliseconds(100);
  EXPECT_EQ(run_program({"sleep", "1000"}, "", limits).error().code, ErrorCode::timeout);
}

TEST(Program, ThatSaysTooMuchIsStopped) {
  EXPECT_EQ(run_program({"yes"}, "", kRoomy).error().code, ErrorCode::too_large);
}

TEST(Program, SeesNothingOfTheServersEnvironment) {
  ::setenv("ATOLL_TOKEN", "secret", 1);
  const auto answer = run_program({"env"}, "", kRoomy);
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->find("secret"), std::string::npos);
  ::unsetenv("ATOLL_TOKEN");
}

}  // namespace
}  // namespace atl::report
