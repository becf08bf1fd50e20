#include "simulate/generate.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "simulate/chance.h"

namespace atl::simulate {
namespace {

Trace some(uint64_t jobs = 20'000, uint64_t seed = 1) {
  GenerateOptions options;
  options.jobs = jobs;
  options.seed = seed;
  return *generate(options);
}

std::string written(const Trace& trace) {
  std::ostringstream out;
  write_swf(trace, "test", out);
  return out.str();
}

TEST(Chance, PowersOfTwoAreExactEnough) {
  EXPECT_EQ(exp2_milli(0), 1000);
  EXPECT_EQ(exp2_milli(10 * kOne), 1'024'000);
  EXPECT_EQ(exp2_milli(kOne / 2), 1414);
  EXPECT_EQ(exp2_milli(-kOne), 500);
  EXPECT_EQ(exp2_milli(-100 * kOne), 0);
}

TEST(Chance, NormalNumbersHaveTheirMeanAndDeviation) {
  Chance chance(1);
  double sum = 0, squares = 0;
  for (int i = 0; i < 100'000; ++i) {
    const double value = static_cast<double>(chance.normal()) / kOne;
    sum += value;
    squares += value * value;
  }
  EXPECT_NEAR(sum / 100'000, 0, 0.02);
  EXPECT_NEAR(squares / 100'000, 1, 0.02);
}

constexpr uint64_t kSumOfAThousand = 12'812'002'260'556'499'979u;

TEST(Generate, TheSameSeedGivesTheSameTraceOnEveryMachine) {
  const std::string once = written(some(1000));
  EXPECT_EQ(once, written(some(1000)));
  EXPECT_NE(once, written(some(1000, 2)));
  // Known from the machine it was first written on.
  uint64_t sum = 14695981039346656037u;
  for (const char c : once) sum = (sum ^ static_cast<unsigned char>(c)) * 1099511628211u;
  EXPECT_EQ(sum, kSumOfAThousand);
}

TEST(Generate, IsReadBackAsItWas) {
  GenerateOptions options;
  options.jobs = 500;
  options.interactive_permille = 100;
  options.opportunistic_permille = 200;
  const Trace trace = *generate(options);
  std::istringstream stream(written(trace));
  const auto back = read_trace(
      stream, "x", {.tiers = {{0, core::Tier::interactive}, {2, core::Tier::opportunistic}}});
  ASSERT_TRUE(back) << back.error().message;
  ASSERT_EQ(back->jobs.size(), trace.jobs.size());
  EXPECT_EQ(back->begin, trace.begin);
  for (size_t i = 0; i < trace.jobs.size(); ++i) {
    EXPECT_EQ(back->jobs[i].submit, trace.jobs[i].submit);
    EXPECT_EQ(back->jobs[i].run, trace.jobs[i].run);
    EXPECT_EQ(back->jobs[i].wall, trace.jobs[i].wall);
    EXPECT_EQ(back->jobs[i].cpu_milli, trace.jobs[i].cpu_milli);
    EXPECT_EQ(back->jobs[i].tier, trace.jobs[i].tier);
    EXPECT_EQ(back->users[back->jobs[i].user], trace.users[trace.jobs[i].user]);
  }
}

TEST(Generate, ReachesItsLoad) {
  const Trace trace = some();
  double work = 0;
  for (const TraceJob& job : trace.jobs) work += job.cpu_milli / 1000.0 * job.run.us / 1e6;
  EXPECT_NEAR(work / (trace.processors * 30.0 * 86'400), 0.9, 0.01);
}

TEST(Generate, PeopleWorkByDayAndLessOnWeekends) {
  const Trace trace = some();
  uint64_t by_day = 0, by_night = 0, weekend = 0;
  for (const TraceJob& job : trace.jobs) {
    const int64_t hour = job.submit.us / hours(1).us;
    by_day += hour % 24 >= 9 && hour % 24 < 18;
    by_night += hour % 24 < 6;
    weekend += hour / 24 % 7 >= 5;
  }
  EXPECT_GT(by_day, by_night * 8);
  EXPECT_LT(weekend, trace.jobs.size() * 2 / 7 * 6 / 10);
}

TEST(Generate, AFewLongJobsAreMostOfTheWork) {
  Trace trace = some(100'000);
  std::sort(trace.jobs.begin(), trace.jobs.end(),
            [](const TraceJob& a, const TraceJob& b) { return a.run < b.run; });
  double all = 0, longest = 0;
  for (size_t i = 0; i < trace.jobs.size(); ++i) {
    const double run = static_cast<double>(trace.jobs[i].run.us);
    all += run;
    if (i >= trace.jobs.size() * 9 / 10) longest += run;
  }
  EXPECT_GT(longest, all / 2);
  EXPECT_LE(trace.jobs.back().run, kGeneratedRunMax);
}

TEST(Generate, PeopleAskForMoreThanTheyNeedInRoundNumbers) {
  const Trace trace = some();
  uint64_t double_and_more = 0;
  for (const TraceJob& job : trace.jobs) {
    EXPECT_GE(job.wall, job.run);
    EXPECT_EQ(job.wall.us % seconds(600).us, 0);
    double_and_more += job.wall.us >= 2 * job.run.us;
  }
  EXPECT_GT(double_and_more, trace.jobs.size() / 2);
}

TEST(Generate, JobsFitANodeAndAreMostlyPowersOfTwo) {
  const Trace trace = some();
  uint64_t powers = 0;
  for (const TraceJob& job : trace.jobs) {
    const uint32_t cores = job.cpu_milli / 1000;
    EXPECT_LE(cores, 32u);
    powers += (cores & (cores - 1)) == 0;
  }
  EXPECT_GT(powers, trace.jobs.size() * 85 / 100);
  EXPECT_LT(powers, trace.jobs.size());
}

TEST(Generate, AFewPeopleSubmitMost) {
  const Trace trace = some();
  std::vector<uint64_t> of_user(trace.users.size());
  for (const TraceJob& job : trace.jobs) ++of_user[job.user];
  std::sort(of_user.rbegin(), of_user.rend());
  uint64_t busiest = 0;
  for (size_t i = 0; i < of_user.size() / 10; ++i) busiest += of_user[i];
  EXPECT_GT(busiest, trace.jobs.size() / 2);
}

TEST(Generate, RefusesWhatMakesNoSense) {
  GenerateOptions options;
  options.nodes = 0;
  EXPECT_EQ(generate(options).error().message, "--nodes is 0; it must be between 1 and 100000");
}

}  // namespace
}  // namespace atl::simulate
