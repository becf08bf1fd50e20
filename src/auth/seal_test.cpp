#include "auth/seal.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

namespace atl::auth {
namespace {

class SealTest : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/atoll-seal-XXXXXX";
    directory_ = ::mkdtemp(name);
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }
  std::string path() const { return directory_ + "/secrets.key"; }

  std::string directory_;
};

TEST_F(SealTest, WhatIsSealedComesOutAgainAndLooksDifferentEachTime) {
  const SealKey key = *seal_key(path());
  const std::string once = seal(key, "hunter2"), twice = seal(key, "hunter2");
  EXPECT_NE(once, twice);
  EXPECT_EQ(once.find("hunter2"), std::string::npos);
  EXPECT_EQ(*open_sealed(key, once), "hunter2");
  EXPECT_EQ(*open_sealed(key, seal(key, "")), "");
}

TEST_F(SealTest, TheKeyIsMadeOnceAndIsItsOwnersAlone) {
  const SealKey key = *seal_key(path());
  EXPECT_EQ(*seal_key(path()), key);
  struct stat found;
  ASSERT_EQ(::stat(path().c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 0777, 0600U);
}

TEST_F(SealTest, WhatWasChangedOrSealedWithAnotherKeyIsRefused) {
  const SealKey key = *seal_key(path()), other = *seal_key(path() + "2");
  std::string sealed = seal(key, "hunter2");
  EXPECT_FALSE(open_sealed(other, sealed));
  for (char& each : sealed) {
    each = static_cast<char>(each ^ 1);
    EXPECT_FALSE(open_sealed(key, sealed));
    each = static_cast<char>(each ^ 1);
  }
  EXPECT_FALSE(open_sealed(key, "short"));
}

TEST_F(SealTest, AKeyThatIsNotWholeIsRefused) {
  std::ofstream(path()) << "half";
  const auto key = seal_key(path());
  ASSERT_FALSE(key);
  EXPECT_NE(key.error().message.find(path()), std::string::npos);
}

}  // namespace
}  // namespace atl::auth
