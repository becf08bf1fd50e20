#include "base/text.h"

#include <gtest/gtest.h>

namespace atl {
namespace {

TEST(Names, HostileOnesAreRefused) {
  EXPECT_TRUE(check_name("résumé run #3", "name", 128));
  for (const std::string& bad :
       {std::string("a\nb"), std::string("a\0b", 3), std::string("../etc"), std::string("\x1b[31m"),
        std::string("\xff\xfe"), std::string(129, 'x'), std::string("\xed\xa0\x80")}) {
    EXPECT_FALSE(check_name(bad, "name", 128)) << quote(bad);
  }
}

TEST(Identifiers, AreSafeInPathsAndUrls) {
  for (const char* good : {"bio", "a-1", "x_y.z", "0lab"})
    EXPECT_TRUE(check_identifier(good, "namespace")) << good;
  for (const std::string& bad :
       {std::string(), std::string("-a"), std::string("A"), std::string("a/b"), std::string(".."),
        std::string("a..b"), std::string("é"), std::string(64, 'a'), std::string("a\n")}) {
    EXPECT_FALSE(check_identifier(bad, "namespace")) << quote(bad);
  }
}

TEST(Quote, EscapesControlBytesAndCuts) {
  EXPECT_EQ(quote("a\x1b\"b"), "\"a\\x1b\\\"b\"");
  EXPECT_LT(quote(std::string(1000, 'x')).size(), 80u);
}

TEST(DidYouMean, FindsTheNearestOrNothing) {
  EXPECT_EQ(did_you_mean("cpu", {"cpus", "mem", "gpus"}), "cpus");
  EXPECT_EQ(did_you_mean("rnu", {"needs", "run", "argv"}), "run");
  EXPECT_EQ(did_you_mean("walltime", {"time", "mem"}), std::nullopt);
}

TEST(SnakeCase, TurnsEventTypesIntoWords) {
  EXPECT_EQ(snake_case("JobSubmitted"), "job_submitted");
}

}  // namespace
}  // namespace atl
