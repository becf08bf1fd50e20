#include "core/metering/pace.h"

#include <gtest/gtest.h>

#include <numeric>

#include "core/scheduling/estimate.h"
#include "core/test_world.h"

namespace atl::core {
namespace {

TEST(Pace, TooFewSayNothing) {
  Pace pace;
  for (uint32_t i = 0; i + 1 < kPaceLeast; ++i) record(pace, minutes(6), hours(1));
  EXPECT_FALSE(run_time(pace, hours(1), 500));
  record(pace, minutes(6), hours(1));
  EXPECT_TRUE(run_time(pace, hours(1), 500));
  EXPECT_FALSE(run_time(pace, {}, 500)) << "of work without a wall-time nothing is known";
}

TEST(Pace, APartOfTheWallIsUsed) {
  Pace pace;
  for (int i = 0; i < 10; ++i) record(pace, minutes(30), hours(2));  // a quarter
  const auto half = run_time(pace, hours(8), 500);
  ASSERT_TRUE(half);
  EXPECT_GT(*half, hours(1)) << "between an eighth";
  EXPECT_LE(*half, hours(2)) << "and a quarter of it";
  EXPECT_LT(run_time(pace, hours(8), 200), half);
  EXPECT_GT(run_time(pace, hours(8), 800), half);
}

TEST(Pace, WhoeverHasRunForLongIsComparedWithThoseWhoRanLonger) {
  Pace pace;
  for (int i = 0; i < 90; ++i) record(pace, minutes(1), hours(10));
  for (int i = 0; i < 10; ++i) record(pace, hours(10), hours(10));
  EXPECT_LT(*run_time(pace, hours(10), 500), minutes(10));
  EXPECT_GT(*run_time(pace, hours(10), 500, hours(1)), hours(7));
  EXPECT_FALSE(run_time(pace, hours(10), 500, hours(10))) << "nobody has run longer";
}

TEST(Pace, TheNewOutweighsTheOld) {
  Pace pace;
  for (int i = 0; i < 1000; ++i) record(pace, hours(1), {});
  for (int i = 0; i < 300; ++i) record(pace, seconds(3), {});
  EXPECT_LE(*run_time(pace, {}, 500), seconds(4));
  EXPECT_LT(std::accumulate(pace.spans.begin(), pace.spans.end(), 0u), kPaceFull);
}

TEST(Pace, ShortRunsAreToldApart) {
  const auto median_of = [](Duration ran) {
    Pace pace;
    for (int i = 0; i < 1000; ++i) record(pace, ran, {});
    EXPECT_LE(pace.brief[0] + pace.brief[1] + pace.brief[2] + pace.brief[3], pace.spans[0]);
    return *run_time(pace, {}, 500);
  };
  const auto ms = [](int64_t count) { return Duration{count * 1000}; };
  EXPECT_LE(median_of(ms(50)), ms(63));
  EXPECT_GT(median_of(ms(100)), ms(62));
  EXPECT_LE(median_of(ms(100)), ms(125));
  EXPECT_GT(median_of(ms(400)), ms(250));
  EXPECT_LE(median_of(ms(400)), ms(500));
  EXPECT_GT(median_of(ms(900)), ms(500));
  EXPECT_LE(median_of(ms(900)), seconds(1));
}

TEST(Pace, AnOldSnapshotsShortRunsAreUpToASecond) {
  Pace pace;
  pace.spans[0] = 10;
  EXPECT_GT(*run_time(pace, {}, 500), Duration{500'000});
  EXPECT_LE(*run_time(pace, {}, 500), seconds(1));
}

void end(TestWorld& world, JobId id, EndCause cause, Duration ran) {
  AttemptResult result;
  result.cause = cause;
  result.usage.started = world.now;
  result.usage.ended = world.now + ran;
  world.run(Report{AttemptEnded{{id, 0, 1}, result}});
}

TEST(Pace, OnlyWorkThatEndsByItselfCounts) {
  TestWorld world;
  world.nodes({node("n", 4)});
  SubmitJob job = TestWorld::job();
  job.terms.wall = hours(1);
  const auto counted = [&] {
    const auto& paces = world.state.namespaces.begin()->second.paces;
    uint32_t sum = 0;
    for (const auto& [user, pace] : paces)
      sum = std::accumulate(pace.of_wall.begin(), pace.of_wall.end(), sum);
    return sum;
  };
  const JobId cancelled = world.submit(job);
  world.settle();
  world.run(Request{TestWorld::admin(), CancelJob{cancelled, {}, {}}});
  end(world, cancelled, EndCause::exited, minutes(1));
  const JobId lost = world.submit(job);
  world.settle();
  end(world, lost, EndCause::lost, minutes(1));
  EXPECT_EQ(counted(), 0u);
  const JobId done = world.submit(job);
  world.settle();
  end(world, done, EndCause::exited, minutes(1));
  EXPECT_EQ(counted(), 1u);
}

TEST(Estimates, TheUsersOwnPastThenTheNamespacesThenEverybodysThenTheWall) {
  TestWorld world;
  world.run(Request{TestWorld::admin(), CreateNamespace{"bio", ""}});
  const NamespaceId lab = world.state.namespace_named("lab")->id;
  const NamespaceId bio = world.state.namespace_named("bio")->id;
  Terms terms;
  terms.wall = hours(64);
  const auto median = [&](NamespaceId ns, UserId user) {
    return scheduling::Estimates(world.state, 500).run_time(ns, user, terms);
  };
  EXPECT_EQ(median(lab, {1}), hours(64));
  auto& paces = world.state.namespaces.at(lab).paces;
  for (int i = 0; i < 10; ++i) record(paces[UserId{1}], hours(1), hours(64));
  EXPECT_LE(median(lab, {1}), hours(1));
  EXPECT_LE(median(lab, {2}), hours(1)) << "as the others of the namespace";
  EXPECT_LE(median(bio, {3}), hours(1)) << "as everybody";
  for (int i = 0; i < 10; ++i) record(paces[UserId{2}], hours(60), hours(64));
  EXPECT_GT(median(lab, {2}), hours(48));
  EXPECT_EQ(scheduling::Estimates(world.state, kCertain).run_time(lab, {1}, terms), hours(64));
  terms.wall = {};
  EXPECT_FALSE(median(lab, {1})) << "nobody has run without a wall-time";
}

}  // namespace
}  // namespace atl::core
