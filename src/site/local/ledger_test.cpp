#include "site/local/ledger.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
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

// The disk ends in the middle of a record: what limits the size of files acts as a full disk does.
class FullDisk {
 public:
  explicit FullDisk(uint64_t bytes) {
    ::signal(SIGXFSZ, SIG_IGN);
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit small = {bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &small);
  }
  ~FullDisk() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    ::signal(SIGXFSZ, SIG_DFL);
  }

 private:
  rlimit before_{};
};

TEST_F(LedgerFile, WhatCouldNotBeWrittenIsWrittenLater) {
  Ledger ledger;
  ASSERT_TRUE(ledger.open(path_, "boot").has_value());
  ledger.accept(a_);
  ASSERT_TRUE(ledger.commit());
  const uint64_t size = std::filesystem::file_size(path_);
  {
    const FullDisk full(size + 10);
    ledger.end(a_, {.exit_code = 4, .message = "long enough for the record to be torn"});
    EXPECT_FALSE(ledger.commit());
    EXPECT_FALSE(ledger.commit());
  }
  EXPECT_FALSE(ledger.written());
  EXPECT_EQ(std::filesystem::file_size(path_), size) << "a torn record stayed";
  ASSERT_TRUE(ledger.commit());
  EXPECT_TRUE(ledger.written());
  Ledger again;
  ASSERT_TRUE(again.open(path_, "boot").has_value());
  ASSERT_TRUE(again.known().at(a_).has_value());
  EXPECT_EQ(again.known().at(a_)->exit_code, 4);
}

TEST_F(LedgerFile, ALongTimeOnAFullDiskLosesNothing) {
  Ledger ledger;
  ASSERT_TRUE(ledger.open(path_, "boot").has_value());
  ledger.accept(a_);
  ASSERT_TRUE(ledger.commit());
  {
    const FullDisk full(std::filesystem::file_size(path_));
    ledger.end(a_, {.exit_code = 4});
    for (uint64_t job = 10; job < 60; ++job) {
      const AttemptId refused{JobId{job}, 0, 1};
      ledger.accept(refused);
      ledger.end(refused, {.message = std::string(100000, 'x')});
      ledger.forget(refused);
      EXPECT_FALSE(ledger.commit());
    }
    EXPECT_FALSE(ledger.written());
  }
  ASSERT_TRUE(ledger.commit());
  EXPECT_LT(std::filesystem::file_size(path_), 1u << 20) << "what was over is written too";
  Ledger again;
  ASSERT_TRUE(again.open(path_, "boot").has_value());
  ASSERT_EQ(again.known().size(), 1u);
  EXPECT_EQ(again.known().at(a_)->exit_code, 4);
}

TEST_F(LedgerFile, OneThatCannotBeReadIsNotOverwritten) {
  const std::string directory = path_ + ".d";
  std::filesystem::create_directories(
      directory);  // reading it fails, and not because it is missing
  Ledger ledger;
  const Result<void> opened = ledger.open(directory, "boot");
  ASSERT_FALSE(opened.has_value());
  EXPECT_NE(opened.error().message.find("cannot read"), std::string::npos);
  std::filesystem::remove_all(directory);
}

TEST_F(LedgerFile, APathThatCannotBeOpenedIsRefused) {
  Ledger ledger;
  ASSERT_FALSE(ledger.open("/dev/full/x", "boot").has_value());
}

}  // namespace
}  // namespace atl::site
