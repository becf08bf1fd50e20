#include "site/local/ledger.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "site/local/files.h"

namespace atl::site {
namespace {

class LedgerFile : public testing::Test {
 protected:
  void TearDown() override { std::filesystem::remove(path_); }
  const std::string path_ = "/tmp/atoll-ledger-" + std::to_string(::getpid());
  const AttemptId a_{JobId{1}, 0, 1}, b_{JobId{2}, 5, 3};
};

TEST_F(LedgerFile, RemembersWhatWasAcceptedAndHowItEnded) {
  {
    Ledger ledger;
    ASSERT_TRUE(ledger.open(path_, "boot").has_value());
    ledger.accept(a_);
    ledger.accept(b_);
    ledger.end(b_, {.exit_code = 3, .message = "m"});
    ASSERT_TRUE(ledger.commit());
  }
  Ledger again;
  ASSERT_TRUE(again.open(path_, "boot").has_value());
  ASSERT_EQ(again.known().size(), 2u);
  EXPECT_FALSE(again.known().at(a_).has_value());
  EXPECT_EQ(again.known().at(b_)->exit_code, 3);
  EXPECT_FALSE(again.rebooted());
  again.forget(b_);
  ASSERT_TRUE(again.commit());
  Ledger third;
  ASSERT_TRUE(third.open(path_, "boot").has_value());
  EXPECT_EQ(third.known().size(), 1u);
}

TEST_F(LedgerFile, ATornTailIsCutOffAtEveryByte) {
  std::string whole;
  {
    Ledger ledger;
    ASSERT_TRUE(ledger.open(path_, "boot").has_value());
    ledger.accept(a_);
    ledger.end(a_, {.exit_code = 1});
    ASSERT_TRUE(ledger.commit());
    whole = *read_file(path_);
  }
  for (size_t length = 0; length < whole.size(); ++length) {
    ASSERT_TRUE(write_file(path_, whole.substr(0, length)));
    Ledger ledger;
    ASSERT_TRUE(ledger.open(path_, "boot").has_value());
    ledger.accept(b_);
    ASSERT_TRUE(ledger.commit());
    Ledger again;
    ASSERT_TRUE(again.open(path_, "boot").has_value());
    EXPECT_TRUE(again.known().contains(b_)) << length;
  }
}

TEST_F(LedgerFile, ARebootIsToldUntilTheServerAdopted) {
  {
    Ledger ledger;
    ASSERT_TRUE(ledger.open(path_, "boot 1").has_value());
  }
  {
    Ledger ledger;
    ASSERT_TRUE(ledger.open(path_, "boot 2").has_value());
    EXPECT_TRUE(ledger.rebooted());
  }
  {
    Ledger ledger;
    ASSERT_TRUE(ledger.open(path_, "boot 2").has_value());
    EXPECT_TRUE(ledger.rebooted());
    ledger.adopted();
    ASSERT_TRUE(ledger.commit());
  }
  Ledger ledger;
  ASSERT_TRUE(ledger.open(path_, "boot 2").has_value());
  EXPECT_FALSE(ledger.rebooted());
}

TEST_F(LedgerFile, StaysSmallWhenEverythingIsForgotten) {
  Ledger ledger;
  ASSERT_TRUE(ledger.open(path_, "boot").has_value());
  for (uint64_t job = 1; job <= 40000; ++job) {
    const AttemptId id{JobId{job}, 0, 1};
    ledger.accept(id);
    ledger.end(id, {.message = "some words to fill the file"});
    ledger.forget(id);
    ASSERT_TRUE(ledger.commit());
  }
  EXPECT_LT(std::filesystem::file_size(path_), 2u << 20);
}

TEST_F(LedgerFile, APathThatCannotBeOpenedIsRefused) {
  Ledger ledger;
  ASSERT_FALSE(ledger.open("/dev/full/x", "boot").has_value());
}

}  // namespace
}  // namespace atl::site
