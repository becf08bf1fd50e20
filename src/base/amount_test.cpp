#include "base/amount.h"

#include <gtest/gtest.h>

namespace atl {
namespace {

TEST(Milli, ReadsWhatPeopleWriteAndNothingElse) {
  EXPECT_EQ(parse_milli("2").value(), 2000);
  EXPECT_EQ(parse_milli("0.5").value(), 500);
  EXPECT_EQ(parse_milli(".5").value(), 500);
  EXPECT_EQ(parse_milli("0.125").value(), 125);
  EXPECT_EQ(parse_milli("250m").value(), 250);
  EXPECT_EQ(parse_milli("1.5000").value(), 1500);
  for (const char* bad : {"", "-1", "+1", "1.", ".", "-.5", "+.5", "-0", "-0.5", "0.0001", "1e3",
                          "nan", "1 ", "99999999999999999999", "9223372036854775807", "m"}) {
    EXPECT_FALSE(parse_milli(bad)) << bad;
  }
}

TEST(Milli, FormatIsWhatParseReads) {
  for (const int64_t milli : {0, 1, 10, 100, 125, 500, 1000, 1500, 64000}) {
    EXPECT_EQ(parse_milli(format_milli(milli)).value(), milli);
  }
  EXPECT_EQ(format_milli(500), "0.5");
}

TEST(Bytes, ReadsBinaryAndDecimalUnits) {
  EXPECT_EQ(parse_bytes("4096").value(), 4096);
  EXPECT_EQ(parse_bytes("512Mi").value(), 512 << 20);
  EXPECT_EQ(parse_bytes("10G").value(), 10'000'000'000);
  EXPECT_EQ(parse_bytes("1.5GiB").value(), int64_t{3} << 29);
  for (const char* bad : {"", "-5", "Mi", "1X", "9999999999P", "1..5G", "0x10"})
    EXPECT_FALSE(parse_bytes(bad)) << bad;
}

TEST(Bytes, FormatRoundsToOneDigit) {
  EXPECT_EQ(format_bytes(0), "0");
  EXPECT_EQ(format_bytes(1023), "1023");
  EXPECT_EQ(format_bytes(int64_t{3} << 29), "1.5Gi");
  EXPECT_EQ(format_bytes(int64_t{1} << 50), "1Pi");
}

TEST(Bytes, ExactOnesAreWhatParseReads) {
  EXPECT_EQ(exact_bytes(0), "0");
  EXPECT_EQ(exact_bytes(3'000'000'000), "3G");
  EXPECT_EQ(exact_bytes(1'500'000), "1500K");
  EXPECT_EQ(exact_bytes(int64_t{3} << 29), "1.5Gi");
  EXPECT_EQ(exact_bytes((int64_t{5} << 30) / 4), "1280Mi");
  for (const int64_t bytes : {int64_t{1}, int64_t{4097}, int64_t{123'456'789}, int64_t{1} << 50,
                              int64_t{1'999'999'999} << 30, INT64_MAX})
    EXPECT_EQ(parse_bytes(exact_bytes(bytes)).value(), bytes);
}

}  // namespace
}  // namespace atl
