// Days, times of the day and moments as people write them.
#include <gtest/gtest.h>

#include <cstdlib>
#include <ctime>

#include "spec/moment.h"
#include "spec/week.h"

namespace atl::spec {
namespace {

TEST(Days, AreWrittenInManyWaysAndReadBack) {
  EXPECT_EQ(*parse_days("mon-fri"), 0b0011111);
  EXPECT_EQ(*parse_days("sat,sun"), 0b1100000);
  EXPECT_EQ(*parse_days("Fri-Mon"), 0b1110001);
  EXPECT_EQ(*parse_days("daily"), kAllDays);
  EXPECT_EQ(*parse_days("tuesday, thu"), 0b0001010);
  for (int days = 1; days <= kAllDays; ++days)
    EXPECT_EQ(*parse_days(format_days(static_cast<uint8_t>(days))), days);
  EXPECT_EQ(format_days(0b0011111), "mon-fri");
  EXPECT_EQ(format_days(0b1100000), "sat,sun");
  for (const char* bad : {"", "mon-", "mo", "mon-fri-sun", "weekdays", "1-5", ","})
    EXPECT_FALSE(parse_days(bad)) << bad;
  EXPECT_NE(parse_days("workdays").error().message.find("write mon-fri"), std::string::npos);
}

TEST(ClockTime, IsHoursAndMinutes) {
  EXPECT_EQ(*parse_clock_time("08:00"), 480u);
  EXPECT_EQ(*parse_clock_time("8:05"), 485u);
  EXPECT_EQ(*parse_clock_time("24:00"), 1440u);
  EXPECT_EQ(format_clock_time(485), "08:05");
  for (const char* bad : {"", "8", "24:01", "12:60", "1:2", "-1:00", "12:00:00", "noon", "8am"})
    EXPECT_FALSE(parse_clock_time(bad)) << bad;
}

class Moment : public ::testing::Test {
 protected:
  Moment() { zone("CET-1CEST,M3.5.0,M10.5.0/3"); }
  ~Moment() override { zone("UTC0"); }
  static void zone(const char* name) {
    setenv("TZ", name, 1);
    tzset();
  }
  static std::string at(const char* text, const char* after = nullptr) {
    const Time now = *parse_time("2026-11-16T12:30:00Z");  // a Monday, 13:30 on the wall
    const auto read = parse_moment(text, now, after ? *parse_time(after) : now);
    return read ? format_time(*read) : read.error().message;
  }
};

TEST_F(Moment, IsReadByTheClockOnTheWall) {
  EXPECT_EQ(at("now"), "2026-11-16T12:30:00Z");
  EXPECT_EQ(at("2026-11-17 10:00"), "2026-11-17T09:00:00Z");
  EXPECT_EQ(at("2026-11-17T10:00"), "2026-11-17T09:00:00Z");
  EXPECT_EQ(at("2026-07-17 10:00"), "2026-07-17T08:00:00Z") << "in summer";
  EXPECT_EQ(at("2026-11-17T10:00:00Z"), "2026-11-17T10:00:00Z");
  EXPECT_EQ(at("2026-11-17T10:00:00+02:00"), "2026-11-17T08:00:00Z");
  EXPECT_EQ(at("today 14:00"), "2026-11-16T13:00:00Z");
  EXPECT_EQ(at("tomorrow 10:00"), "2026-11-17T09:00:00Z");
  EXPECT_EQ(at("tue 10:00"), "2026-11-17T09:00:00Z");
  EXPECT_EQ(at("monday 10:00"), "2026-11-23T09:00:00Z") << "the next one";
  EXPECT_EQ(at("mon 14:00"), "2026-11-16T13:00:00Z");
  EXPECT_EQ(at("14:00"), "2026-11-16T13:00:00Z");
  EXPECT_EQ(at("10:00"), "2026-11-17T09:00:00Z");
  EXPECT_EQ(at("12:00", "2026-11-20T09:00:00Z"), "2026-11-20T11:00:00Z") << "after its beginning";
}

TEST_F(Moment, WhatItIsNotIsSaidWithWhatToWrite) {
  for (const char* bad :
       {"", "soon", "tomorrow", "10", "2026-13-01 10:00", "2026-02-30 10:00", "17.11.2026 10:00",
        "2026-11-17", "2026-11-17 25:00", "noday 10:00", "tue"}) {
    EXPECT_NE(at(bad).find("\"tomorrow 10:00\""), std::string::npos) << bad << ": " << at(bad);
  }
  EXPECT_FALSE(parse_date_time("tomorrow 10:00")) << "not the same whenever it is read";
}

}  // namespace
}  // namespace atl::spec
