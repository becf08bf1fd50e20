#include "site/progress_line.h"

#include <gtest/gtest.h>

#include <random>

namespace atl::site {
namespace {

Progress scan(std::string_view text) {
  Progress progress;
  ProgressScanner scanner;
  scanner.feed(text, progress);
  scanner.finish(progress);
  return progress;
}

uint32_t milli(std::string_view text) { return scan(text).percent_milli.value_or(UINT32_MAX); }

TEST(Percent, IsANumberUpToAHundredOrAPartOfAWhole) {
  const std::pair<const char*, uint32_t> good[] = {{"0", 0},
                                                   {"1", 1000},
                                                   {"40", 40'000},
                                                   {"100", 100'000},
                                                   {"007", 7000},
                                                   {"40%", 40'000},
                                                   {"40.5", 40'500},
                                                   {"99.9999", 99'999},
                                                   {"100.000", 100'000},
                                                   {"33.3%", 33'300},
                                                   {"3/10", 30'000},
                                                   {"1/3", 33'333},
                                                   {"0/7", 0},
                                                   {"7/7", 100'000},
                                                   {"0.001", 1},
                                                   {"0.0001", 0},
                                                   {"184467440737095/184467440737095", 100'000}};
  for (const auto& [text, expected] : good) EXPECT_EQ(parse_percent(text), expected) << text;
}

TEST(Percent, AnythingElseIsNoneAndNotBentIntoRange) {
  for (const char* text : {"",
                           "150",
                           "101",
                           "100.001",
                           "-1",
                           "-0",
                           "+5",
                           "nan",
                           "NaN",
                           "inf",
                           "ten",
                           "1e2",
                           "0x10",
                           "4 0",
                           "40%%",
                           "%",
                           ".",
                           ".5",
                           "5.",
                           "1.2.3",
                           "11/10",
                           "1/0",
                           "0/0",
                           "/10",
                           "3/",
                           "-1/10",
                           "3/-10",
                           "3/10/20",
                           "1.5/3",
                           "99999999999999999999",
                           "1/99999999999999999999",
                           "184467440737096/184467440737096",
                           "40\x01",
                           "４０"})
    EXPECT_EQ(parse_percent(text), std::nullopt) << text;
  EXPECT_EQ(parse_percent(std::string_view("40\0", 3)), std::nullopt);
}

TEST(ProgressLine, OfCloudmeshIsRead) {
  const Progress seen = scan("# cloudmesh status=running progress=40 pid=123\n");
  EXPECT_EQ(seen.percent_milli, 40'000u);
  EXPECT_EQ(seen.status, "running");
  EXPECT_EQ(seen.pid, 123u);
  EXPECT_EQ(seen.message, "");
  EXPECT_EQ(seen.ignored, 0u);
}

TEST(ProgressLine, OfOurOwnIsRead) {
  const Progress seen = scan("# atoll progress=3/10 status=loading msg=\"part 3 of 10\"\n");
  EXPECT_EQ(seen.percent_milli, 30'000u);
  EXPECT_EQ(seen.status, "loading");
  EXPECT_EQ(seen.message, "part 3 of 10");
  EXPECT_EQ(seen.pid, std::nullopt);
}

TEST(ProgressLine, TheNewestCounts) {
  const Progress seen = scan(
      "# atoll progress=1 status=a msg=first\n# cloudmesh status=b progress=2 pid=7\n"
      "# atoll progress=3\n");
  EXPECT_EQ(seen.percent_milli, 3000u);
  EXPECT_EQ(seen.status, "");
  EXPECT_EQ(seen.message, "");
  EXPECT_EQ(seen.pid, 7u);
  EXPECT_EQ(milli("# atoll progress=9\n# atoll status=done\n"), 9000u);
}

TEST(ProgressLine, StandsAnywhereInALine) {
  EXPECT_EQ(milli("12:00 INFO # atoll progress=5\n"), 5000u);
  EXPECT_EQ(milli("### # # atoll progress=5\n"), 5000u);
  EXPECT_EQ(milli("\rbar 5%\r# atoll progress=5\rbar 6%"), 5000u);
  EXPECT_EQ(milli("+ echo '# atoll progress=5'\n"), 5000u);
  EXPECT_EQ(milli("# atoll progress=5"), 5000u) << "the last line of a stream may lack its end";
  EXPECT_EQ(milli("# atoll progress=5 # atoll progress=6\n"), 6000u);
}

TEST(ProgressLine, WhatOnlyLooksLikeOneIsNone) {
  for (const char* text : {"#atoll progress=5\n", "# atolls progress=5\n", "# atollprogress=5\n",
                           "# Atoll progress=5\n", "# cloudmes progress=5\n", "atoll progress=5\n",
                           "# atoll\nprogress=5\n", "# atoll myprogress=5\n", "# atoll is nice\n",
                           "# atoll msg=hello\n", "# atoll"}) {
    EXPECT_EQ(scan(text), Progress{}) << text;
  }
}

TEST(ProgressLine, ExtrasMayStandOnTheLineOrBehindIt) {
  // What cloudmesh-common 5.0.64 prints for progress(status="running", progress=40, pid=7,
  // time=True, msg="epoch 4 of 10"): the end of the line comes before the extras.
  const Progress next = scan(
      "# cloudmesh status=running progress=40 pid=7\n"
      " time='2026-11-17 10:00:00.123456' msg=epoch 4 of 10 loss=0.5\n");
  EXPECT_EQ(next.message, "epoch 4 of 10");
  const Progress same =
      scan("# cloudmesh status=running progress=40 pid=7 time='2026-11-17' msg=epoch 4 of 10\n");
  EXPECT_EQ(same.message, "epoch 4 of 10");
  EXPECT_EQ(same.status, "running");
  EXPECT_EQ(scan("# cloudmesh progress=1\nmsg=no\n").message, "");
  EXPECT_EQ(scan("# cloudmesh progress=1\n\n msg=no\n").message, "");
  EXPECT_EQ(scan("# atoll progress=1\n msg=no\n").message, "");
  // Its file has no end of line behind the extras.
  const Progress file = scan(
      "# cloudmesh status=a progress=1 pid=7\n msg=one# cloudmesh status=b progress=2 pid=7\n"
      " msg=two");
  EXPECT_EQ(file.percent_milli, 2000u);
  EXPECT_EQ(file.message, "two");
}

TEST(ProgressLine, ForgedOnesAreIgnoredWholeAndCounted) {
  const Progress seen = scan(
      "# atoll progress=10 status=good\n# cloudmesh status=evil progress=150 pid=1\n"
      "# cloudmesh status=evil progress=-5 pid=1\n# atoll progress=nan status=evil\n"
      "# atoll progress= status=evil\n");
  EXPECT_EQ(seen.percent_milli, 10'000u);
  EXPECT_EQ(seen.status, "good");
  EXPECT_EQ(seen.pid, std::nullopt);
  EXPECT_EQ(seen.ignored, 4u);
  EXPECT_EQ(milli("# atoll progress=150\n"), UINT32_MAX);
}

TEST(ProgressLine, APidIsAnyNumberOrNothing) {
  EXPECT_EQ(scan("# cloudmesh progress=1 pid=1\n").pid, 1u);
  EXPECT_EQ(scan("# cloudmesh progress=1 pid=-1\n").pid, std::nullopt);
  EXPECT_EQ(scan("# cloudmesh progress=1 pid=$$\n").pid, std::nullopt);
  EXPECT_EQ(scan("# cloudmesh progress=1 pid=99999999999999999999\n").pid, std::nullopt);
}

TEST(ProgressLine, LongLinesAreIgnoredAndCounted) {
  const std::string filler(kProgressLineMax, 'x');
  const Progress seen =
      scan("# atoll progress=4\n# atoll progress=5 msg=" + filler + "\n# atoll status=after\n");
  EXPECT_EQ(seen.percent_milli, 4000u);
  EXPECT_EQ(seen.status, "after");
  EXPECT_EQ(seen.ignored, 1u);
  EXPECT_EQ(milli("# atoll progress=5" + std::string(100'000, ' ') + "\n# atoll progress=6\n"),
            6000u);
}

TEST(ProgressLine, WordsAndMessagesAreBoundedAndPrintable) {
  EXPECT_EQ(scan("# atoll progress=1 status=" + std::string(32, 'a') + "\n").status.size(), 32u);
  EXPECT_EQ(scan("# atoll progress=1 status=" + std::string(33, 'a') + "\n").status, "");
  EXPECT_EQ(scan("# atoll progress=1 status=\x1b[31m\n").status, "");
  EXPECT_EQ(scan("# atoll progress=1 msg=\x1b[31mred\xff\xc2\x9b\n").message, "?[31mred???");
  EXPECT_EQ(scan("# atoll progress=1 msg=größe ✓\n").message, "größe ✓");
  const std::string umlauts = [] {
    std::string text = "x";
    for (int i = 0; i < 200; ++i) text += "ü";
    return text;
  }();
  EXPECT_EQ(scan("# atoll progress=1 msg=" + umlauts + "\n").message, umlauts.substr(0, 255));
}

TEST(ProgressScanner, ReadsTheSameInAnyCuts) {
  std::string text;
  for (const char* piece : {"noise # # a # cloudmesh\n",
                            "# cloudmesh status=a progress=1 pid=2\n time='x' msg=hi you\n",
                            "## atoll progress=7 status=b\r\n", "# atoll progress=777\n",
                            "x# atoll progress=8 msg='it is'"})
    text += piece;
  text += std::string("\0\xff\n# atoll progress=9", 21);
  const Progress whole = scan(text);
  EXPECT_EQ(whole.percent_milli, 9000u);
  EXPECT_EQ(whole.ignored, 1u);
  for (size_t step = 1; step < 40; ++step) {
    Progress progress;
    ProgressScanner scanner;
    for (size_t at = 0; at < text.size(); at += step)
      scanner.feed(std::string_view(text).substr(at, step), progress);
    scanner.finish(progress);
    EXPECT_EQ(progress, whole) << step;
  }
}

TEST(ProgressScanner, FindsLinesInBinaryOutput) {
  std::mt19937_64 chance(7);
  std::string bytes(1 << 20, '\0');
  for (char& byte : bytes) byte = static_cast<char>(chance());
  for (const size_t at : {size_t{1000}, size_t{500'000}, bytes.size() - 40})
    bytes.replace(at, 21, "\n# atoll progress=55\n\n");
  Progress progress;
  ProgressScanner scanner;
  EXPECT_TRUE(scanner.feed(bytes, progress));
  EXPECT_EQ(progress.percent_milli, 55'000u);
}

TEST(ProgressScanner, TellsOfLinesThatSayTheSameAgain) {
  Progress progress;
  ProgressScanner scanner;
  EXPECT_FALSE(scanner.feed("# atoll progress=5", progress));
  EXPECT_TRUE(scanner.feed("\n", progress));
  EXPECT_TRUE(scanner.feed("# atoll progress=5\n", progress));
  EXPECT_FALSE(scanner.feed("# atoll is a name\n", progress));
  EXPECT_FALSE(scanner.finish(progress));
}

}  // namespace
}  // namespace atl::site
