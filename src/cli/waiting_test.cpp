// Waiting for an end: what is told ends a nap, however long it was meant to be.
#include "cli/waiting.h"

#include <gtest/gtest.h>

#include <thread>

#include "cli/test_server.h"

namespace atl::cli {
namespace {

constexpr std::chrono::hours kLong{10};  // a test that sleeps it out hangs

TEST(Ending, IsSeenAtOnce) {
  Ending ending;
  EXPECT_FALSE(ending.within(std::chrono::milliseconds(1)));
  EXPECT_FALSE(ending.told());
  ending.tell();
  EXPECT_TRUE(ending.told());
  EXPECT_TRUE(ending.within(kLong));
}

TEST(Ending, WakesThoseWhoNap) {
  Ending ending;
  std::thread other([&] { EXPECT_TRUE(ending.within(kLong)); });
  ending.tell();
  other.join();
}

TEST(WaitForEnd, EndsInTheMiddleOfANap) {
  testing::TestServer server;
  server.on("GET", "/api/v1/jobs/{id}", R"({"id":"5","state":"running"})");
  server.start();
  auto api = Api::open(server.target());
  ASSERT_TRUE(api);
  Ending looked;
  Ending done;
  std::thread waiter([&] {
    const auto look = [&](const Json&) { return looked.tell(), true; };
    const auto ended =
        wait_for_end(*api, "5", {}, look, {.first = kLong, .last = kLong, .ending = &done});
    ASSERT_TRUE(ended);
    EXPECT_FALSE(*ended);
  });
  EXPECT_TRUE(looked.within(kLong));
  done.tell();
  waiter.join();
  EXPECT_EQ(server.requests().size(), 1u);
}

}  // namespace
}  // namespace atl::cli
