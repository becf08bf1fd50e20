#include "base/display.h"

#include <gtest/gtest.h>

namespace atl {
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

TEST(FormatEnergy, InTheUnitPeopleUse) {
  EXPECT_EQ(format_energy(800), "800 J");
  EXPECT_EQ(format_energy(4320), "1.2 Wh");
  EXPECT_EQ(format_energy(8.2e8), "228 kWh");
}

}  // namespace
}  // namespace atl
