#include "core/scheduling/fairness.h"

#include <random>

#include "core/test_world.h"

namespace atl::core::scheduling {
namespace {

// A busy platform: whatever is placed runs for a while, and what was used is added up.
class Busy : public ::testing::Test {
 protected:
  void namespace_with(const std::string& name, uint32_t weight_milli,
                      const std::string& cohort = "") {
    if (!world.state.namespace_named(name))
      world.run(Request{TestWorld::admin(), CreateNamespace{name, ""}});
    world.run(Request{TestWorld::admin(), SetStake{name, cohort, weight_milli, {}}});
  }

  JobId backlog(const std::string& ns, Resources resources, Tier tier = Tier::batch,
                Actor actor = TestWorld::admin()) {
    SubmitJob job;
    job.ns = ns;
    job.name = "endless";
    job.array = true;
    job.indices = IntervalSet({1, 1'000'000});
    job.terms.resources = std::move(resources);
    job.terms.tier = tier;
    const Events events = world.run(Request{actor, SubmitJobs{{std::move(job)}}});
    return std::get<JobSubmitted>(events.at(0).body).id;
  }

  // Lets tasks of random length come and go for so long; adds up cores times seconds by job.
  void pass(Duration time, Duration longest) {
    const Time end = world.now + time;
    while (world.now < end) {
      world.settle();
      start_clocks(longest);
      ASSERT_FALSE(ends_.empty());
      const auto [at, attempt] = *ends_.begin();
      ends_.erase(ends_.begin());
      account(at);
      world.now = at;
      running_.erase(attempt);
      world.run(Report{AttemptEnded{attempt, {}}});
    }
  }
  int64_t used(JobId job) { return used_[job]; }

  TestWorld world;

 private:
  void start_clocks(Duration longest) {
    for (const auto& [id, job] : world.state.jobs) {
      for (const auto& [index, task] : job.tasks) {
        const AttemptId attempt{id, index, task.attempt};
        if (!running_.insert(attempt).second) continue;
        const auto length = static_cast<int64_t>(random_() % static_cast<uint64_t>(longest.us));
        ends_.emplace(world.now + Duration{1 + length}, attempt);
      }
    }
  }
  void account(Time until) {
    for (const AttemptId& attempt : running_) {
      const Job& job = world.state.jobs.at(attempt.job);
      used_[attempt.job] +=
          world.state.terms_of(job).resources.cpu_milli * (until - world.now).us / 1'000'000;
    }
  }

  std::mt19937_64 random_{7};
  std::set<std::pair<Time, AttemptId>> ends_;
  std::set<AttemptId> running_;
  std::map<JobId, int64_t> used_;
};

double share(int64_t part, int64_t whole) {
  return static_cast<double>(part) / static_cast<double>(whole);
}

TEST_F(Busy, UseComesToTheWeightsWhenAllAreBacklogged) {
  world.nodes({node("n1", 16)});
  namespace_with("lab", 1000);
  namespace_with("bio", 2000);
  namespace_with("chem", 5000);
  const JobId lab = backlog("lab", {1000, 0, {}});
  const JobId bio = backlog("bio", {500, 0, {}});
  const JobId chem = backlog("chem", {2000, 0, {}});
  pass(hours(10), minutes(5));
  const int64_t all = used(lab) + used(bio) + used(chem);
  EXPECT_NEAR(share(used(lab), all), 0.125, 0.02);
  EXPECT_NEAR(share(used(bio), all), 0.25, 0.02);
  EXPECT_NEAR(share(used(chem), all), 0.625, 0.03);
}

TEST_F(Busy, ACohortSharesAsOne) {
  world.nodes({node("n1", 16)});
  world.run(Request{TestWorld::admin(), SetCohort{"group", {}, {}, {}, {}}});
  namespace_with("lab", 1000);
  namespace_with("bio", 1000, "group");
  namespace_with("chem", 3000, "group");
  const JobId lab = backlog("lab", {1000, 0, {}});
  const JobId bio = backlog("bio", {1000, 0, {}});
  const JobId chem = backlog("chem", {1000, 0, {}});
  pass(hours(10), minutes(5));
  const int64_t all = used(lab) + used(bio) + used(chem);
  EXPECT_NEAR(share(used(lab), all), 0.5, 0.02);
  EXPECT_NEAR(share(used(bio), all), 0.125, 0.02);
  EXPECT_NEAR(share(used(chem), all), 0.375, 0.02);
}

TEST_F(Busy, UsersOfANamespaceShareToo) {
  world.nodes({node("n1", 8)});
  world.run(Request{TestWorld::admin(), CreateUser{"ada", false, {}}});
  world.run(Request{TestWorld::admin(), SetMember{"lab", "ada", Role::member}});
  const JobId first = backlog("lab", {1000, 0, {}});
  const JobId second = backlog("lab", {1000, 0, {}});
  const JobId other = backlog("lab", {1000, 0, {}}, Tier::batch, {UserId{2}, false, {}});
  pass(hours(5), minutes(5));
  const int64_t all = used(first) + used(second) + used(other);
  EXPECT_NEAR(share(used(other), all), 0.5, 0.02) << "two jobs of one user are not two users";
}

TEST_F(Busy, TheDominantResourceCounts) {
  // 16 cores and 16 GiB. One kind of task is heavy on cores, the other on memory: both dominant
  // shares end up equal, as by DRF.
  world.nodes({node("n1", 16, 16ll << 30)});
  namespace_with("lab", 1000);
  namespace_with("bio", 1000);
  const JobId cores = backlog("lab", {2000, 1ll << 30, {}});
  const JobId memory = backlog("bio", {500, 2ll << 30, {}});
  pass(hours(10), minutes(5));
  const double dominant_cores = share(used(cores), 16 * 36000 * 1000ll);
  const double dominant_memory = share(used(memory) * 4, 16 * 36000 * 1000ll);
  EXPECT_NEAR(dominant_cores / dominant_memory, 1, 0.1);
}

TEST_F(Busy, BatchUseDoesNotCountAgainstInteractiveWork) {
  world.nodes({node("n1", 4)});
  namespace_with("lab", 1000);
  namespace_with("bio", 1000);
  backlog("lab", {1000, 0, {}});
  pass(hours(20), minutes(5));
  const World seen = look(world.state, world.now);
  const Payer lab{{}, world.state.namespace_named("lab")->id, {}};
  const Payer bio{{}, world.state.namespace_named("bio")->id, {}};
  EXPECT_GT(standing(seen, lab, Tier::batch), standing(seen, bio, Tier::batch));
  EXPECT_EQ(standing(seen, lab, Tier::interactive), standing(seen, bio, Tier::interactive));
}

TEST_F(Busy, WhoUsedNothingForLongCatchesUpOnlyForAWhile) {
  world.nodes({node("n1", 8)});
  namespace_with("lab", 1000);
  namespace_with("bio", 1000);
  world.run(Request{TestWorld::admin(), SetPolicy{hours(1), {}}});
  const JobId lab = backlog("lab", {1000, 0, {}});
  pass(hours(10), minutes(1));
  const JobId bio = backlog("bio", {1000, 0, {}});
  const int64_t before = used(lab);
  pass(minutes(20), minutes(1));
  EXPECT_GT(used(bio), 3 * (used(lab) - before)) << "the newcomer is far behind";
  pass(hours(9), minutes(1));
  const int64_t lab_then = used(lab), bio_then = used(bio);
  pass(hours(2), minutes(1));
  EXPECT_NEAR(share(used(lab) - lab_then, used(bio) - bio_then), 1, 0.1) << "the past is forgotten";
}

}  // namespace
}  // namespace atl::core::scheduling
