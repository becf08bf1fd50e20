#include "base/interval_set.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

namespace atl {
namespace {

TEST(IntervalSet, BehavesLikeASetOfIntegers) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    IntervalSet set;
    std::set<uint32_t> model;
    for (int step = 0; step < 60; ++step) {
      const uint32_t first = random() % 40;
      if (random() % 3 != 0) {
        const uint32_t last = first + random() % 5;
        set.add({first, last});
        for (uint32_t i = first; i <= last; ++i) model.insert(i);
      } else {
        const uint32_t last = first + random() % 4;
        set.remove({first, last});
        for (uint32_t i = first; i <= last; ++i) model.erase(i);
      }
      ASSERT_EQ(set.size(), model.size());
      for (uint32_t i = 0; i < 50; ++i) ASSERT_EQ(set.contains(i), model.count(i) == 1) << i;
      for (size_t i = 1; i < set.ranges().size(); ++i) {
        ASSERT_GT(set.ranges()[i].first, set.ranges()[i - 1].last + 1) << "ranges must be apart";
      }
    }
  }
}

TEST(IntervalSet, HoldsTheEndsOfTheNumberRange) {
  IntervalSet set({UINT32_MAX - 1, UINT32_MAX});
  set.add({0, 0});
  EXPECT_EQ(set.size(), 3u);
  set.add({0, UINT32_MAX});
  EXPECT_EQ(set.ranges().size(), 1u);
  EXPECT_EQ(set.size(), uint64_t{1} << 32);
}

TEST(Intervals, AreReadAndWrittenAsPeopleDo) {
  EXPECT_EQ(format_intervals(parse_intervals("1,3,7-9", 100).value()), "1,3,7-9");
  EXPECT_EQ(format_intervals(parse_intervals("0-10:5", 100).value()), "0,5,10");
  EXPECT_EQ(parse_intervals("1-10000000", 10'000'000)->size(), 10'000'000u);
  for (const char* bad :
       {"", "a", "3-1", "1-", "-1", "1-5:0", "1,,2", "1-4294967295", "0-100:-1"}) {
    EXPECT_FALSE(parse_intervals(bad, 1000)) << bad;
  }
  EXPECT_EQ(parse_intervals("1-1001", 1000).error().field, "array");
}

}  // namespace
}  // namespace atl
