#include "cli/display.h"

#include <gtest/gtest.h>

#include "cli/screen.h"
#include "cli/terminal.h"

namespace atl::cli {
namespace {

TEST(Paint, IsPlainTextWithoutColor) {
  EXPECT_EQ(paint("x", Color::good, false), "x");
  EXPECT_EQ(paint("x", Color::good, true), "\x1b[32mx\x1b[0m");
  EXPECT_EQ(paint("", Color::good, true), "");
}

Environment environment_with(std::map<std::string, const char*> variables) {
  return [variables](const char* name) {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second;
  };
}

TEST(WantsColor, FollowsTheConventionsInOrder) {
  EXPECT_TRUE(wants_color(ColorChoice::automatic, true, environment_with({})));
  EXPECT_FALSE(wants_color(ColorChoice::automatic, false, environment_with({})));
  EXPECT_FALSE(wants_color(ColorChoice::automatic, true, environment_with({{"NO_COLOR", "1"}})));
  EXPECT_TRUE(wants_color(ColorChoice::automatic, true, environment_with({{"NO_COLOR", ""}})));
  EXPECT_FALSE(wants_color(ColorChoice::automatic, true, environment_with({{"TERM", "dumb"}})));
  EXPECT_TRUE(
      wants_color(ColorChoice::automatic, false, environment_with({{"CLICOLOR_FORCE", "1"}})));
  EXPECT_FALSE(
      wants_color(ColorChoice::automatic, false, environment_with({{"CLICOLOR_FORCE", "0"}})));
  EXPECT_TRUE(wants_color(ColorChoice::always, false, environment_with({{"NO_COLOR", "1"}})));
  EXPECT_FALSE(wants_color(ColorChoice::never, true, environment_with({{"CLICOLOR_FORCE", "1"}})));
}

TEST(FitPage, EndsEachLineAndNeverScrolls) {
  EXPECT_EQ(fit_page("a\nb\nc\n", 2), "a\x1b[K\r\nb\x1b[K");
  EXPECT_EQ(fit_page("", 2), "");
}

}  // namespace
}  // namespace atl::cli
