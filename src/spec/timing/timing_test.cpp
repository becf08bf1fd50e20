#include "spec/timing/timing.h"

#include <gtest/gtest.h>

namespace atl::spec {
namespace {

std::string times_text(const Result<Timing>& timing, const char* after, size_t count) {
  if (!timing) return timing.error().message;
  std::string text;
  for (const Time at : next_times(*timing, *parse_time(after), count)) {
    if (!text.empty()) text += ' ';
    text += format_time(at);
  }
  return text;
}
std::string cron(const char* text, const char* after = "2026-11-17T12:00:00Z", size_t count = 2,
                 const char* zone = "UTC") {
  return times_text(parse_cron(text, zone), after, count);
}
std::string calendar(const char* text, const char* after = "2026-11-17T12:00:00Z", size_t count = 2,
                     const char* zone = "UTC") {
  return times_text(parse_calendar(text, zone), after, count);
}

TEST(Cron, HasFiveFields) {
  EXPECT_EQ(cron("0 6 * * *"), "2026-11-18T06:00:00Z 2026-11-19T06:00:00Z");
  EXPECT_EQ(cron("*/15 * * * *"), "2026-11-17T12:15:00Z 2026-11-17T12:30:00Z");
  EXPECT_EQ(cron("5/20 13 * * *"), "2026-11-17T13:05:00Z 2026-11-17T13:25:00Z");
  EXPECT_EQ(cron("10-12,30 13 * * *", "2026-11-17T12:00:00Z", 4),
            "2026-11-17T13:10:00Z 2026-11-17T13:11:00Z 2026-11-17T13:12:00Z 2026-11-17T13:30:00Z");
  EXPECT_EQ(cron("  0\t6 * * *  "), "2026-11-18T06:00:00Z 2026-11-19T06:00:00Z");
  EXPECT_EQ(cron("@daily"), "2026-11-18T00:00:00Z 2026-11-19T00:00:00Z");
  EXPECT_EQ(cron("@hourly"), "2026-11-17T13:00:00Z 2026-11-17T14:00:00Z");
  EXPECT_EQ(cron("@weekly"), "2026-11-22T00:00:00Z 2026-11-29T00:00:00Z") << "on Sundays";
  EXPECT_EQ(cron("@yearly"), "2027-01-01T00:00:00Z 2028-01-01T00:00:00Z");
}

TEST(Cron, NamesMonthsAndDays) {
  EXPECT_EQ(cron("0 6 * JAN mon"), "2027-01-04T06:00:00Z 2027-01-11T06:00:00Z");
  EXPECT_EQ(cron("0 6 * * MON-FRI", "2026-11-20T12:00:00Z"),
            "2026-11-23T06:00:00Z 2026-11-24T06:00:00Z");
  for (const char* sunday : {"0 0 * * 0", "0 0 * * 7", "0 0 * * sun", "0 0 * * Sunday"})
    EXPECT_EQ(cron(sunday), "2026-11-22T00:00:00Z 2026-11-29T00:00:00Z") << sunday;
  EXPECT_EQ(cron("0 0 * * FRI-SUN", "2026-11-17T12:00:00Z", 3),
            "2026-11-20T00:00:00Z 2026-11-21T00:00:00Z 2026-11-22T00:00:00Z");
}

TEST(Cron, TakesADayOfTheMonthOrOfTheWeekWhenBothAreNamed) {
  EXPECT_EQ(cron("0 0 19 * FRI", "2026-11-17T12:00:00Z", 3),
            "2026-11-19T00:00:00Z 2026-11-20T00:00:00Z 2026-11-27T00:00:00Z");
  EXPECT_EQ(cron("0 0 */2 * FRI", "2026-11-17T12:00:00Z", 1), "2026-11-27T00:00:00Z")
      << "a field that begins with a star restricts the other one";
}

TEST(Cron, FindsRareDays) {
  EXPECT_EQ(cron("0 0 29 2 *"), "2028-02-29T00:00:00Z 2032-02-29T00:00:00Z");
  EXPECT_EQ(cron("0 0 31 * *", "2026-11-17T12:00:00Z", 3),
            "2026-12-31T00:00:00Z 2027-01-31T00:00:00Z 2027-03-31T00:00:00Z");
}

TEST(Cron, SaysWhatIsWrong) {
  const auto says = [](const char* text, const char* part) {
    const auto read = parse_cron(text, "UTC");
    ASSERT_FALSE(read) << text;
    EXPECT_NE(read.error().message.find(part), std::string::npos) << read.error().message;
  };
  says("", "has 0 fields");
  says("0 6 * *", "has 4 fields");
  says("0 0 6 * * *", "has 6 fields");
  says("60 * * * *", "the minute \"60\" is not within 0 to 59");
  says("* 24 * * *", "the hour \"24\"");
  says("* * 0 * *", "the day of the month \"0\"");
  says("* * * 13 *", "nor a name such as jan");
  says("* * * * FUNDAY", "nor a name such as mon");
  says("*/0 * * * *", "has a step");
  says("30-10 * * * *", "ends before it begins");
  says("1,,2 * * * *", "the minute \"\"");
  says("-5 * * * *", "the minute");
  says("+5 * * * *", "the minute");
  says("0 0 30 2 *", "names a day that no month has");
  says("@reboot", "@reboot is no time");
  says("@dayly", "has 1 fields");
}

TEST(Calendar, IsSystemds) {
  EXPECT_EQ(calendar("06:00"), "2026-11-18T06:00:00Z 2026-11-19T06:00:00Z");
  EXPECT_EQ(calendar("Mon..Fri 06:00", "2026-11-20T12:00:00Z"),
            "2026-11-23T06:00:00Z 2026-11-24T06:00:00Z");
  EXPECT_EQ(calendar("*:*:*"), "2026-11-17T12:00:01Z 2026-11-17T12:00:02Z");
  EXPECT_EQ(calendar("*:0/10"), "2026-11-17T12:10:00Z 2026-11-17T12:20:00Z");
  EXPECT_EQ(calendar("*-*-01 00:00:30"), "2026-12-01T00:00:30Z 2027-01-01T00:00:30Z");
  EXPECT_EQ(calendar("12-24"), "2026-12-24T00:00:00Z 2027-12-24T00:00:00Z");
  EXPECT_EQ(calendar("2028..2030/2-02-29"), "2028-02-29T00:00:00Z");
  EXPECT_EQ(calendar("2026-11-17 12:00:01"), "2026-11-17T12:00:01Z");
  EXPECT_EQ(calendar("*-*~1 18:00"), "2026-11-30T18:00:00Z 2026-12-31T18:00:00Z");
  EXPECT_EQ(calendar("Sat *-*-01..07 10:00"), "2026-12-05T10:00:00Z 2027-01-02T10:00:00Z")
      << "the first Saturday of each month: both must fit";
  EXPECT_EQ(calendar("quarterly"), "2027-01-01T00:00:00Z 2027-04-01T00:00:00Z");
  EXPECT_EQ(calendar("daily Europe/Berlin"), "2026-11-17T23:00:00Z 2026-11-18T23:00:00Z");
  EXPECT_EQ(calendar("Mon,Wed 06:00 Asia/Kolkata"), "2026-11-18T00:30:00Z 2026-11-23T00:30:00Z");
}

TEST(Calendar, SaysWhatIsWrong) {
  const auto says = [](const char* text, const char* part) {
    const auto read = parse_calendar(text, "UTC");
    ASSERT_FALSE(read) << text;
    EXPECT_NE(read.error().message.find(part), std::string::npos) << read.error().message;
  };
  says("", "says no time");
  says("25:00", "the hour \"25\"");
  says("06:00 Mon..Fri", "there is no time zone");
  says("Monday..Funday 06:00", "the day of the week \"Funday\"");
  says("06:00 2026-01-01", "stands where it does not belong");
  says("06:00:00:00", "is no time of the day");
  says("20261117", "is no date");
  says("1969-01-01", "is no year");
  says("2000/9223372036854775807-01-01", "is no year");
  says("*-02-30", "names a day that never comes");
  says("06:00 Mars/Olympus", "there is no time zone \"Mars/Olympus\"");
  says("06:00 Europe/Berlin UTC", "stands where it does not belong");
}

TEST(Zone, MustBeKnown) {
  EXPECT_TRUE(check_zone("UTC"));
  EXPECT_TRUE(check_zone("America/Argentina/Buenos_Aires"));
  for (const char* bad : {"", "Berlin", "/etc/localtime", "../../etc/passwd", "file:x", "CEST+x y"})
    EXPECT_FALSE(check_zone(bad)) << bad;
}

// Berlin left out 02:00 to 03:00 on 29 March 2026 and had it twice on 25 October.
TEST(Summertime, AMissingTimeIsTheFirstMomentAfter) {
  EXPECT_EQ(cron("30 2 * * *", "2026-03-28T12:00:00Z", 2, "Europe/Berlin"),
            "2026-03-29T01:00:00Z 2026-03-30T00:30:00Z");
  EXPECT_EQ(cron("0,30 2-3 * * *", "2026-03-28T12:00:00Z", 3, "Europe/Berlin"),
            "2026-03-29T01:00:00Z 2026-03-29T01:30:00Z 2026-03-30T00:00:00Z")
      << "02:00, 02:30 and 03:00 are one moment";
  EXPECT_EQ(cron("*/30 * * * *", "2026-03-29T00:15:00Z", 3, "Europe/Berlin"),
            "2026-03-29T00:30:00Z 2026-03-29T01:00:00Z 2026-03-29T01:30:00Z");
}

TEST(Summertime, ATimeThatComesTwiceRunsOnce) {
  EXPECT_EQ(cron("30 2 * * *", "2026-10-24T12:00:00Z", 2, "Europe/Berlin"),
            "2026-10-25T00:30:00Z 2026-10-26T01:30:00Z");
  EXPECT_EQ(cron("30 2 * * *", "2026-10-25T00:45:00Z", 1, "Europe/Berlin"), "2026-10-26T01:30:00Z");
}

TEST(Summertime, EveryHourMeansEveryHour) {
  EXPECT_EQ(cron("30 * * * *", "2026-10-24T23:45:00Z", 3, "Europe/Berlin"),
            "2026-10-25T00:30:00Z 2026-10-25T01:30:00Z 2026-10-25T02:30:00Z");
  EXPECT_EQ(cron("*/30 * * * *", "2026-10-25T00:00:00Z", 4, "Europe/Berlin"),
            "2026-10-25T00:30:00Z 2026-10-25T01:00:00Z 2026-10-25T01:30:00Z 2026-10-25T02:00:00Z");
}

// Lord Howe shifts by half an hour: 02:00 became 02:30 on 4 October 2026, and on 5 April 2026 the
// time from 01:30 to 02:00 came twice.
TEST(Summertime, MayBeHalfAnHour) {
  EXPECT_EQ(cron("15 2 * * *", "2026-10-03T00:00:00Z", 2, "Australia/Lord_Howe"),
            "2026-10-03T15:30:00Z 2026-10-04T15:15:00Z");
  EXPECT_EQ(cron("45 1 * * *", "2026-04-04T00:00:00Z", 2, "Australia/Lord_Howe"),
            "2026-04-04T14:45:00Z 2026-04-05T15:15:00Z");
}

TEST(Zone, IsShownWithATime) {
  EXPECT_EQ(format_in_zone(*parse_time("2026-11-17T05:00:00Z"), "Europe/Berlin"),
            "Tue 2026-11-17 06:00 CET");
  EXPECT_EQ(format_in_zone(*parse_time("2026-11-17T05:00:07Z"), "UTC"),
            "Tue 2026-11-17 05:00:07 UTC");
}

}  // namespace
}  // namespace atl::spec
