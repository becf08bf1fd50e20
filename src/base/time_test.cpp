#include "base/time.h"

#include <gtest/gtest.h>

namespace atl {
namespace {

TEST(Duration, ReadsWhatPeopleAndSlurmWrite) {
  EXPECT_EQ(parse_duration("90s").value(), seconds(90));
  EXPECT_EQ(parse_duration("90").value(), seconds(90));
  EXPECT_EQ(parse_duration("1h30m").value(), minutes(90));
  EXPECT_EQ(parse_duration("1.5h").value(), minutes(90));
  EXPECT_EQ(parse_duration("250ms").value(), milliseconds(250));
  EXPECT_EQ(parse_duration("02:00:00").value(), hours(2));
  EXPECT_EQ(parse_duration("3-12:00:00").value(), hours(84));
  EXPECT_EQ(parse_duration("1-0").value(), hours(24));
  EXPECT_EQ(parse_duration("05:30").value(), seconds(330));
  for (const char* bad :
       {"", "-1s", "1x", "h", "1h30", "1:2:3:4", "99999999999999d", "1..5h", "1-2-3"}) {
    EXPECT_FALSE(parse_duration(bad)) << bad;
  }
}

TEST(Duration, WhatIsTooLongIsToldSo) {
  EXPECT_EQ(parse_duration("366000d").value(), hours(24 * 366000));
  for (const char* bad : {"366001d", "99999999999999", "999999-00:00:00", "366000d1s"}) {
    const auto read = parse_duration(bad);
    ASSERT_FALSE(read) << bad;
    EXPECT_NE(read.error().message.find("longer than a thousand years"), std::string::npos) << bad;
  }
}

TEST(Duration, FormatIsWhatParseReads) {
  for (const Duration d :
       {seconds(0), milliseconds(350), seconds(1), seconds(59), minutes(90), hours(25)}) {
    EXPECT_EQ(parse_duration(format_duration(d)).value(), d) << format_duration(d);
  }
  EXPECT_EQ(format_duration(milliseconds(4200)), "4.2s");
}

TEST(Time, RoundTripsThroughRfc3339) {
  EXPECT_EQ(format_time(Time{0}), "1970-01-01T00:00:00Z");
  const Time t = parse_time("2026-11-15T21:23:31.5Z").value();
  EXPECT_EQ(format_time(t), "2026-11-15T21:23:31.5Z");
  EXPECT_EQ(parse_time("2026-11-15T22:23:31.5+01:00").value(), t);
  for (const char* bad :
       {"", "yesterday", "2026-13-01T00:00:00Z", "2026-11-15", "2026-11-15T21:23:31"}) {
    EXPECT_FALSE(parse_time(bad)) << bad;
  }
}

TEST(SystemClock, NeverGoesBackwards) {
  SystemClock clock;
  Time last = clock.now();
  for (int i = 0; i < 1000; ++i) {
    const Time next = clock.now();
    ASSERT_GE(next, last);
    last = next;
  }
}

}  // namespace
}  // namespace atl
