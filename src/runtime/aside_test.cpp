#include "runtime/aside.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <vector>

namespace atl::runtime {
namespace {

bool alive(pid_t pid) { return ::kill(pid, 0) == 0; }

TEST(Aside, ACopyChangesWhatItSeesAndNobodyElseDoes) {
  Aside aside;
  std::vector<int> seen{1, 2, 3};
  auto copy = aside.begin([&] {
    seen.push_back(4);
    return std::string(seen.size(), 'x');
  });
  ASSERT_TRUE(copy);
  seen.clear();
  EXPECT_EQ((*copy)->answer(), "xxxx");
  EXPECT_TRUE(seen.empty());
}

TEST(Aside, ALongAnswerComesWhole) {
  Aside aside;
  auto copy = aside.begin([] { return std::string(5'000'000, 'a'); });
  ASSERT_TRUE(copy);
  EXPECT_EQ((*copy)->answer()->size(), 5'000'000u);
}

TEST(Aside, OneThatHangsIsEndedAtTheDeadline) {
  Aside aside({.at_once = 1, .deadline = milliseconds(100)});
  const auto begun = std::chrono::steady_clock::now();
  auto copy = aside.begin([] {
    for (;;) ::pause();
    return std::string();
  });
  ASSERT_TRUE(copy);
  const pid_t pid = (*copy)->pid();
  const auto answer = (*copy)->answer();
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, ErrorCode::timeout);
  EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds(1));
  EXPECT_FALSE(alive(pid));
}

TEST(Aside, OneThatIsKilledOrThrowsIsToldApartFromAnAnswer) {
  Aside aside;
  auto killed = aside.begin([] {
    ::raise(SIGKILL);
    return std::string("never");
  });
  ASSERT_TRUE(killed);
  EXPECT_EQ((*killed)->answer().error().code, ErrorCode::unavailable);
  auto thrown = aside.begin([]() -> std::string { throw 1; });
  ASSERT_TRUE(thrown);
  EXPECT_EQ((*thrown)->answer().error().code, ErrorCode::unavailable);
}

TEST(Aside, OnlySoManyAtOnce) {
  Aside aside({.at_once = 2, .deadline = seconds(5)});
  const auto wait = [] {
    ::pause();
    return std::string();
  };
  auto first = aside.begin(wait);
  auto second = aside.begin(wait);
  ASSERT_TRUE(first && second);
  const auto third = aside.begin(wait);
  ASSERT_FALSE(third);
  EXPECT_EQ(third.error().code, ErrorCode::exhausted);
  const pid_t pid = (*first)->pid();
  first->reset();
  EXPECT_FALSE(alive(pid)) << "whoever goes away leaves nothing behind";
  EXPECT_TRUE(aside.begin([] { return std::string("again"); }));
}

TEST(Aside, ACopyMayMakeCopies) {
  Aside aside;
  auto copy = aside.begin([] {
    auto inner = Copy::begin([](const Copy::Tell& tell) { tell("deep"); }, seconds(1));
    return inner ? (*inner)->answer().value_or("lost") : "refused";
  });
  ASSERT_TRUE(copy);
  EXPECT_EQ((*copy)->answer(), "deep");
}

TEST(Aside, WhatWasSaidBeforeTheDeadlineIsHeard) {
  auto copy = Copy::begin(
      [](const Copy::Tell& tell) {
        tell("first ");
        tell("second ");
        ::pause();
        tell("never");
      },
      milliseconds(200));
  ASSERT_TRUE(copy);
  EXPECT_EQ((*copy)->heard(), "first second ");
}

TEST(Aside, ACopyHoldsNothingOpen) {
  Aside aside;
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  auto copy = aside.begin([] {
    ::pause();
    return std::string();
  });
  ASSERT_TRUE(copy);
  ::usleep(50'000);
  ::close(ends[1]);
  char byte;
  EXPECT_EQ(::read(ends[0], &byte, 1), 0) << "the other end is closed";
  ::close(ends[0]);
}

}  // namespace
}  // namespace atl::runtime
