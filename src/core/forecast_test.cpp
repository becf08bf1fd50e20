#include "core/forecast.h"

#include <algorithm>
#include <random>

#include "core/limits.h"
#include "core/test_world.h"

namespace atl::core {
namespace {

SubmitJob lasting(int64_t cpus, Duration wall) {
  SubmitJob job = TestWorld::job(cpus * 1000);
  job.terms.wall = wall;
  return job;
}

Outlook certain(const TestWorld& world, JobId id) {
  ForecastOptions options;
  options.quantile_milli = kCertain;
  return forecast(world.state, world.now, {id}, options).at(id);
}

TEST(Forecast, StartsWhenTheOneBeforeItEnds) {
  TestWorld world;
  world.nodes({node("n", 4)});
  world.submit(lasting(4, hours(1)));
  const JobId second = world.submit(lasting(3, hours(2)));
  const JobId third = world.submit(lasting(4, hours(1)));
  const JobId beside = world.submit(lasting(1, hours(2)));
  world.settle();
  EXPECT_EQ(certain(world, second).at, world.now + hours(1));
  EXPECT_EQ(certain(world, third).at, world.now + hours(3));
  EXPECT_EQ(certain(world, beside).at, world.now + hours(1)) << "as backfill";
  EXPECT_FALSE(certain(world, third).rough);
}

TEST(Forecast, ThePastShortensTheWait) {
  TestWorld world;
  world.nodes({node("n", 4)});
  auto& pace = world.state.namespaces.begin()->second.paces[UserId{1}];
  for (int i = 0; i < 20; ++i) record(pace, minutes(15), hours(1));
  world.submit(lasting(4, hours(1)));
  const JobId second = world.submit(lasting(4, hours(1)));
  world.settle();
  std::map<int32_t, Time> at;
  for (const int32_t quantile : {200, 500, 800, kCertain}) {
    ForecastOptions options;
    options.quantile_milli = quantile;
    at[quantile] = forecast(world.state, world.now, {second}, options).at(second).at;
  }
  EXPECT_LT(at[200], at[500]);
  EXPECT_LT(at[500], at[800]);
  EXPECT_LE(at[800], world.now + minutes(15));
  EXPECT_EQ(at[kCertain], world.now + hours(1));
}

TEST(Forecast, WithoutALimitAndAPastNobodyKnows) {
  TestWorld world;
  world.nodes({node("n", 1)});
  world.submit(TestWorld::job());
  const JobId id = world.submit(TestWorld::job());
  world.settle();
  EXPECT_FALSE(certain(world, id).at);
  EXPECT_FALSE(certain(world, id).rough);
}

TEST(Forecast, OneThatIsOverdueEndsNow) {
  TestWorld world;
  world.nodes({node("n", 1)});
  world.submit(lasting(1, hours(1)));
  const JobId id = world.submit(lasting(1, hours(1)));
  world.settle();
  world.now = world.now + hours(1) + seconds(5);
  EXPECT_EQ(certain(world, id).at, world.now);
}

TEST(Forecast, AReservationIsWaitedFor) {
  TestWorld world;
  world.nodes({node("n", 4)});
  world.run(Request{TestWorld::admin(), CreateNamespace{"course", ""}});
  CreateReservation course;
  course.name = "course";
  course.from = world.now + hours(1);
  course.until = world.now + hours(3);
  course.namespaces = {"course"};
  course.whole_nodes = true;
  world.run(Request{TestWorld::admin(), course});
  const JobId id = world.submit(lasting(1, hours(2)));
  world.settle();
  EXPECT_EQ(certain(world, id).at, course.until);
}

TEST(Forecast, ADependencyIsWaitedFor) {
  TestWorld world;
  world.nodes({node("n", 4)});
  const JobId first = world.submit(lasting(1, hours(1)));
  SubmitJob after = lasting(1, hours(1));
  after.dependencies = {{first, DependencyKind::after_success, {}}};
  const JobId id = world.submit(after);
  world.settle();
  EXPECT_EQ(certain(world, id).at, world.now + hours(1));
}

TEST(Forecast, WhenTheBudgetEndsItGoesOnAtThePaceSeen) {
  TestWorld world;
  world.nodes({node("n", 1)});
  JobId last;
  for (int i = 0; i < 101; ++i) last = world.submit(lasting(1, hours(1)));
  world.settle();
  ForecastOptions options;
  options.quantile_milli = kCertain;
  options.go_on = [](uint64_t rounds) { return rounds < 21; };
  const Outlook outlook = forecast(world.state, world.now, {last}, options).at(last);
  EXPECT_TRUE(outlook.rough);
  EXPECT_GT(outlook.not_before, world.now + hours(5));
  EXPECT_GT(outlook.at, world.now + hours(90));
  EXPECT_LT(outlook.at, world.now + hours(110));
}

TEST(Forecast, WithoutARoundItGoesByWhatRuns) {
  TestWorld world;
  world.nodes({node("n", 4)});
  JobId last;
  for (int i = 0; i < 4 + 40; ++i) last = world.submit(lasting(1, hours(2)));
  world.settle();
  ForecastOptions options;
  options.quantile_milli = kCertain;
  options.go_on = [](uint64_t) { return false; };
  const Outlook outlook = forecast(world.state, world.now, {last}, options).at(last);
  EXPECT_TRUE(outlook.rough);
  EXPECT_EQ(outlook.at, world.now + hours(20)) << "forty jobs, four at a time";
  EXPECT_EQ(rough_forecast(world.state, world.now, last, {.quantile_milli = kCertain}).at,
            outlook.at);
}

TEST(Forecast, AnotherRequestIsTriedInItsPlace) {
  TestWorld world;
  world.nodes({node("n", 4)});
  world.submit(lasting(2, hours(1)));
  world.submit(lasting(2, hours(3)));
  const JobId id = world.submit(lasting(4, hours(1)));
  world.settle();
  Terms smaller = world.state.terms_of(world.state.jobs.at(id));
  smaller.resources.cpu_milli = 2000;
  ForecastOptions options;
  options.quantile_milli = kCertain;
  EXPECT_EQ(certain(world, id).at, world.now + hours(3));
  EXPECT_EQ(forecast_changed(world.state, world.now, id, smaller, options).at,
            world.now + hours(1));
}

// Ends whatever ends next, by hand, and lets the core place; false when nothing ends any more.
bool step(TestWorld& world) {
  std::map<Time, std::vector<std::pair<AttemptId, bool>>> ends;
  for (const auto& [id, site] : world.state.sites) {
    for (const auto& [name, node] : site.nodes) {
      for (const auto& [task, holder] : node.holders) {
        const Time by_itself = holder.since + world.state.terms.at(holder.terms).terms.wall;
        const bool stops = holder.stopping && holder.until < by_itself;
        ends[stops ? holder.until : by_itself].push_back(
            {{task.job, task.index, holder.attempt}, stops});
      }
    }
  }
  if (ends.empty()) return false;
  world.now = ends.begin()->first;
  auto& first = ends.begin()->second;
  std::sort(first.begin(), first.end());
  for (const auto& [attempt, stops] : first) {
    AttemptResult result;
    if (stops) result.cause = EndCause::stopped;
    result.usage.started = world.now - hours(1);
    result.usage.ended = world.now;
    world.run(Report{AttemptEnded{attempt, result}});
  }
  world.settle();
  return true;
}

// When everybody uses up their wall-time and nobody new comes, what is told is what happens.
TEST(ForecastProperty, WhatIsForecastHappens) {
  int later = 0;
  for (uint32_t seed = 1; seed <= 150; ++seed) {
    std::mt19937 random(seed);
    const auto draw = [&](int low, int high) {
      return low + static_cast<int>(random() % static_cast<uint32_t>(high - low + 1));
    };
    TestWorld world;
    world.run(Request{TestWorld::admin(), CreateNamespace{"bio", ""}});
    std::vector<NodeCapacity> nodes;
    for (int i = 0; i < draw(1, 3); ++i)
      nodes.push_back(node("n" + std::to_string(i), draw(2, 8), 1ll << 33, draw(0, 2)));
    world.nodes(nodes);
    for (int i = 0; i < 14; ++i) {
      SubmitJob job = lasting(draw(1, 6), minutes(draw(1, 40) * 7));
      job.ns = draw(0, 1) ? "lab" : "bio";
      job.terms.tier = draw(0, 4) ? Tier::batch : Tier::opportunistic;
      job.terms.priority = draw(0, 2);
      if (draw(0, 3) == 0) job.terms.resources.devices = {{"gpu", "", 1}};
      if (draw(0, 5) == 0) {
        job.array = true;
        job.terms.gang = draw(0, 1) ? 2 : 0;
        job.indices = IntervalSet({0, 1});
      }
      (void)world.attempt(Request{TestWorld::admin(), SubmitJobs{{job}}});
      if (i == 6) world.settle();
    }
    world.settle();
    std::map<JobId, Time> told;
    for (const auto& [id, job] : world.state.jobs) {
      if (job.ready() && !has_placed(job)) told[id] = certain(world, id).at;
    }
    std::map<JobId, Time> happened;
    do {
      for (const auto& [id, at] : told) {
        const Job* job = world.state.job(id);
        if (!happened.count(id) && (!job || has_placed(*job))) happened[id] = world.now;
      }
    } while (happened.size() < told.size() && step(world));
    EXPECT_EQ(told, happened) << "seed " << seed;
    later += static_cast<int>(told.size());
  }
  EXPECT_GT(later, 300);
}

}  // namespace
}  // namespace atl::core
