#include "base/id_map.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>
#include <vector>

#include "base/ids.h"

namespace atl {
namespace {

using Names = IdMap<JobId, std::string>;

TEST(IdMap, IsWhatAnOrderedMapIs) {
  Names names;
  std::map<JobId, std::string> model;
  std::mt19937 random(1);
  for (int i = 0; i < 20'000; ++i) {
    const JobId id{random() % 700 * (random() % 3)};
    if (random() % 2) {
      const std::string name = std::to_string(i);
      EXPECT_EQ(names.emplace(id, name).second, model.emplace(id, name).second);
    } else {
      EXPECT_EQ(names.erase(id), model.erase(id));
    }
    const JobId some{random() % 1500};
    const auto lower = model.lower_bound(some), upper = model.upper_bound(some);
    ASSERT_EQ(names.size(), model.size());
    ASSERT_EQ(names.contains(some), model.contains(some));
    ASSERT_EQ(names.lower_bound(some) == names.end(), lower == model.end());
    ASSERT_EQ(names.upper_bound(some) == names.end(), upper == model.end());
    if (lower != model.end()) ASSERT_EQ(names.lower_bound(some)->first, lower->first);
    if (upper != model.end()) ASSERT_EQ(names.upper_bound(some)->second, upper->second);
    if (i % 100 > 0) continue;
    ASSERT_TRUE(std::equal(names.begin(), names.end(), model.begin(), model.end()));
    ASSERT_TRUE(std::equal(names.rbegin(), names.rend(), model.rbegin(), model.rend()));
  }
}

TEST(IdMap, KeepsValuesWhereTheyAre) {
  Names names;
  const std::string* first = &(names[JobId{500}] = "first");
  for (uint64_t i = 0; i < 1000; ++i) names.emplace(JobId{i}, "other");
  for (uint64_t i = 0; i < 500; ++i) names.erase(JobId{i});
  EXPECT_EQ(&names.at(JobId{500}), first);
  EXPECT_EQ(*first, "first");
}

TEST(IdMap, CopiesAreEqualAndTheirOwn) {
  Names names;
  for (const uint64_t id : {3, 63, 64, 1'000'000}) names.emplace(JobId{id}, "one");
  Names copy = names;
  EXPECT_EQ(copy, names);
  copy.at(JobId{64}) = "two";
  EXPECT_NE(copy, names);
  const Names moved = std::move(names);
  EXPECT_EQ(moved.size(), 4u);
  EXPECT_EQ(moved.at(JobId{64}), "one");
}

TEST(IdMap, WhatIsNotThereIsNotFound) {
  Names names;
  EXPECT_EQ(names.begin(), names.end());
  EXPECT_EQ(names.find(JobId{1}), names.end());
  EXPECT_THROW(names.at(JobId{1}), std::out_of_range);
  names.emplace(JobId{2}, "two");
  EXPECT_EQ(names.find(JobId{1}), names.end());
  EXPECT_EQ(names.erase(JobId{1}), 0u);
}

}  // namespace
}  // namespace atl
