#include "base/ids.h"

#include <gtest/gtest.h>

namespace atl {
namespace {

TEST(Ids, AreWrittenAsTheDesignSays) {
  EXPECT_EQ(to_string(JobId{12}), "12");
  EXPECT_EQ(to_string(TaskId{JobId{12}, 7}, true), "12[7]");
  EXPECT_EQ(to_string(TaskId{JobId{12}, 0}, false), "12");
  EXPECT_EQ(to_string(AttemptId{JobId{12}, 7, 2}), "12[7].2");
}

TEST(Selector, NamesAJobOrATask) {
  const auto task = parse_selector("12[7]").value();
  EXPECT_EQ(task.job, JobId{12});
  EXPECT_TRUE(task.has_index);
  EXPECT_EQ(task.index, 7u);
  EXPECT_FALSE(parse_selector("12")->has_index);
  for (const char* bad :
       {"", "0", "-1", "12[", "12[]", "12[-1]", "[3]", "12]", "12[4294967296]", "a"}) {
    EXPECT_FALSE(parse_selector(bad)) << bad;
  }
}

TEST(Digest, HexRoundTrip) {
  Digest digest;
  for (size_t i = 0; i < 32; ++i) digest.bytes[i] = static_cast<uint8_t>(i * 7);
  EXPECT_EQ(parse_digest(to_hex(digest)).value(), digest);
  EXPECT_FALSE(parse_digest("00"));
  EXPECT_FALSE(parse_digest(std::string(64, 'g')));
}

}  // namespace
}  // namespace atl
