// What `atoll simulate` refuses before it begins.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "cli/exit.h"
#include "cli/test_server.h"

namespace atl::cli {
namespace {

using testing::has;
using testing::Ran;
using testing::run_offline;

TEST(Simulate, CountsOfAGeneratedTraceAreHeldToTheirBounds) {
  for (const char* flag : {"--jobs", "--days", "--nodes", "--cores", "--users", "--groups"}) {
    for (const char* bad : {"-1", "many", "1.5"}) {
      const Ran ran = run_offline({"simulate", "generate", flag, bad});
      EXPECT_EQ(ran.code, kExitUsage) << flag << " " << bad;
      EXPECT_TRUE(
          has(ran.err, std::string(flag) + ": \"" + bad + "\" is not a whole number of at least 1"))
          << ran.err;
    }
  }
  EXPECT_TRUE(has(run_offline({"simulate", "generate", "--jobs", "0"}).err,
                  "--jobs is 0; it must be between 1 and"));
  EXPECT_TRUE(has(run_offline({"simulate", "generate", "--jobs", "99999999999999"}).err,
                  "that is small enough"));
  EXPECT_TRUE(has(run_offline({"simulate", "generate", "--seed", "-1"}).err, "at least 0"));
}

TEST(Simulate, PartsOfAGeneratedTraceAreHeldToTheirBounds) {
  for (const char* bad : {"-1", "0", "0.0001", "11", "nan", "much", "900m"}) {
    const Ran ran = run_offline({"simulate", "generate", "--load", bad});
    EXPECT_EQ(ran.code, kExitUsage) << bad;
    EXPECT_TRUE(has(ran.err, std::string("--load is ") + bad +
                                 "; it must be between 0.001 and 10, in steps of 0.001"))
        << ran.err;
  }
  EXPECT_TRUE(has(run_offline({"simulate", "generate", "--interactive", "1.5"}).err,
                  "--interactive is 1.5; it must be between 0 and 1"));
  const Ran ran =
      run_offline({"simulate", "generate", "--interactive", "0.7", "--opportunistic", "0.7"});
  EXPECT_EQ(ran.code, kExitUsage);
  EXPECT_TRUE(has(ran.err,
                  "--interactive 0.7 and --opportunistic 0.7 are 1.4 of the sessions together; "
                  "they may be 1 at most"))
      << ran.err;
}

TEST(Simulate, ADirectoryForPlotsThatCannotBeIsRefusedFirst) {
  const std::string file = ::testing::TempDir() + "/simulate_test_file";
  std::ofstream(file) << "x";
  const Ran ran = run_offline({"simulate", "--trace", "/none", "--plots", file});
  EXPECT_EQ(ran.code, kExitUsage);
  EXPECT_TRUE(has(ran.err, "--plots: cannot write into")) << ran.err;
  std::filesystem::remove(file);
}

// The same code whichever verb is told to read it.
TEST(Files, ThatCannotBeReadAreAUsageErrorEverywhere) {
  for (const std::vector<std::string>& args :
       std::vector<std::vector<std::string>>{{"simulate", "--trace", "/none"},
                                             {"simulate", "--trace", "/"},
                                             {"apply", "-f", "/none"},
                                             {"apply", "-f", "/"},
                                             {"submit", "/none"},
                                             {"submit", "/"}}) {
    const Ran ran = run_offline(args);
    EXPECT_EQ(ran.code, kExitUsage) << args[0] << " " << ran.err;
  }
}

}  // namespace
}  // namespace atl::cli
