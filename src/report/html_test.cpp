#include "report/html.h"

#include <gtest/gtest.h>

namespace atl::report {
namespace {

TEST(Escaped, MarkupAndControlCharactersAreShown) {
  EXPECT_EQ(escaped("<a href=\"x\">'&'"), "&lt;a href=&quot;x&quot;&gt;&#39;&amp;&#39;");
  EXPECT_EQ(escaped("a\nb\x1b\xff"), "a\\nb\\x1b\\xff");
}

TEST(Escaped, IsCutBetweenCharacters) {
  EXPECT_EQ(escaped("ééé", 3), "é…");
  EXPECT_EQ(escaped("abc", 3), "abc");
  EXPECT_EQ(escaped(std::string(10, '\x80'), 2).find("…") != std::string::npos, true);
}

TEST(EscapedLog, SequencesOfTerminalsAreDropped) {
  EXPECT_EQ(escaped_log("\x1b[1;31mred\x1b[0m \x1b]0;title\x07plain\x1b(B\n", 1000),
            "red plainB\n");
  EXPECT_EQ(escaped_log("\x1b]8;;http://x\x1b\\link\x1b", 1000), "link\n");
  EXPECT_EQ(escaped_log("\x1b[31", 1000), "\n");
}

TEST(EscapedLog, OfALineWrittenOverTheLastStateIsShown) {
  EXPECT_EQ(escaped_log("10%\r20%\r30%\ndone\r\n", 1000), "30%\ndone\n");
}

TEST(EscapedLog, TheEndIsKeptAndStartsWithALine) {
  EXPECT_EQ(escaped_log("first\nsecond\nthird\n", 12), "…\nthird\n");
}

TEST(EscapedLog, MarkupIsText) {
  EXPECT_EQ(escaped_log("</pre><script>", 1000), "&lt;/pre&gt;&lt;script&gt;\n");
}

}  // namespace
}  // namespace atl::report
