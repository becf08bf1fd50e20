#include "cli/display.h"

#include <gtest/gtest.h>

#include "cli/screen.h"
#include "cli/terminal.h"

namespace atl::cli {
namespace {

TEST(Printable, ControlCharactersNeverPassRaw) {
  EXPECT_EQ(printable("a\x1b[31mred\x07"), "a\\x1b[31mred\\x07");
  EXPECT_EQ(printable("one\ntwo\r\t"), "one\\ntwo\\r\\t");
  EXPECT_EQ(printable("del\x7f c1\xc2\x9b"), "del\\x7f c1\\x9b");
  EXPECT_EQ(printable("one\ntwo\x1b", true), "one\ntwo\\x1b");
}

TEST(Printable, BytesThatAreNotUtf8AreShownAsNumbers) {
  EXPECT_EQ(printable("\xff\xfe"), "\\xff\\xfe");
  EXPECT_EQ(printable("\xc0\xaf"), "\\xc0\\xaf");           // overlong
  EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80");  // a surrogate
  EXPECT_EQ(printable("cut \xe2\x82"), "cut \\xe2\\x82");
}

TEST(Printable, TextThatReordersWhatFollowsIsShown) {
  EXPECT_EQ(printable("a\xe2\x80\xae"
                      "b"),
            "a\\u{202e}b");
  EXPECT_EQ(printable("Zürich 東京 🦀"), "Zürich 東京 🦀");
}

TEST(DisplayWidth, CountsColumnsNotBytes) {
  EXPECT_EQ(display_width("abc"), 3);
  EXPECT_EQ(display_width("Zürich"), 6);
  EXPECT_EQ(display_width("東京"), 4);
  EXPECT_EQ(display_width("e\xcc\x81"), 1);  // a combining accent
}

TEST(Cut, LeavesRoomForTheEllipsisAndSplitsNoCharacter) {
  EXPECT_EQ(cut("training", 8), "training");
  EXPECT_EQ(cut("training", 5), "trai…");
  EXPECT_EQ(cut("東京大阪", 4), "東…");
  EXPECT_EQ(cut("abc", 1), "…");
  EXPECT_EQ(cut("abc", 0), "");
}

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
