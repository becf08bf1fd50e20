#include "core/scheduling/yield.h"

#include "core/scheduling/explain.h"
#include "core/scheduling/place.h"
#include "core/scheduling/round.h"
#include "core/test_random_world.h"

namespace atl::core::scheduling {
namespace {

SubmitJob job_of(Tier tier, int64_t cpu_milli = 1000, const std::string& ns = "lab") {
  SubmitJob job = TestWorld::job(cpu_milli);
  job.terms.tier = tier;
  job.ns = ns;
  return job;
}

void start_all(TestWorld& world) {
  world.settle();
  for (const auto& [id, job] : State(world.state).jobs) {
    for (const auto& [index, task] : job.tasks) {
      if (std::holds_alternative<TaskStarting>(task.state))
        world.run(Report{AttemptStarted{{id, index, task.attempt}, world.now}});
    }
  }
}

// Jobs with a task that was told to make room.
std::set<uint64_t> stopping(const State& state) {
  std::set<uint64_t> found;
  for (const auto& [id, job] : state.jobs) {
    for (const auto& [index, task] : job.tasks) {
      const auto* stop = std::get_if<TaskStop>(&task.state);
      if (stop && stop->reason == StopReason::yielded) found.insert(id.value);
    }
  }
  return found;
}

void end_stopping(TestWorld& world, bool checkpointed = false) {
  for (const uint64_t id : stopping(world.state)) {
    const State before = world.state;
    for (const auto& [index, task] : before.jobs.at(JobId{id}).tasks) {
      AttemptResult result;
      result.cause = EndCause::stopped;
      result.checkpointed = checkpointed;
      world.run(Report{AttemptEnded{{JobId{id}, index, task.attempt}, result}});
    }
  }
}

// Whether one more task of the job would have its room.
bool find_room_now(const State& state, Time now, JobId id) {
  const World world = look(state, now);
  const Job& job = state.jobs.at(id);
  const Terms& terms = state.terms_of(job);
  return !over_quota(world, job.ns, terms) && place(world, terms, allowance(world, job.ns, terms));
}

TEST(Yield, OpportunisticWorkMakesRoomAndComesBackFirst) {
  TestWorld world;
  world.nodes({node("n1", 2)});
  const JobId old = world.submit(job_of(Tier::opportunistic));
  start_all(world);
  world.now = world.now + minutes(5);
  const JobId young = world.submit(job_of(Tier::opportunistic));
  start_all(world);
  const JobId later = world.submit(job_of(Tier::opportunistic));
  world.now = world.now + minutes(5);
  const JobId wanted = world.submit(job_of(Tier::interactive));
  world.settle();
  EXPECT_EQ(stopping(world.state), std::set{young.value}) << "who loses least";
  EXPECT_EQ(world.state.jobs.at(old).tasks.size(), 1u);
  world.settle();
  EXPECT_EQ(stopping(world.state).size(), 1u) << "nobody else is asked meanwhile";
  end_stopping(world, true);
  world.settle();
  EXPECT_EQ(world.state.jobs.at(wanted).placed, 1u);
  EXPECT_EQ(world.state.jobs.at(young).waiting.size(), 1u);
  world.run(Report{AttemptEnded{{wanted, 0, 1}, {}}});
  world.settle();
  ASSERT_EQ(world.state.jobs.at(young).placed, 1u) << "before one that has waited for longer";
  EXPECT_EQ(world.state.jobs.at(later).placed, 0u);
  const auto& start = std::get<StartAttempt>(world.effects.back());
  EXPECT_EQ(start.attempt, (AttemptId{young, 0, 2}));
  EXPECT_TRUE(start.resumed);
}

TEST(Yield, BatchWorkWithinItsQuotaIsLeftAlone) {
  TestWorld world;
  world.nodes({node("n1", 1)});
  world.submit(job_of(Tier::batch));
  start_all(world);
  world.submit(job_of(Tier::interactive));
  world.settle();
  EXPECT_TRUE(stopping(world.state).empty());
}

TEST(Yield, OneThatEndsWellByItselfIsDone) {
  TestWorld world;
  world.nodes({node("n1", 1)});
  const JobId victim = world.submit(job_of(Tier::opportunistic));
  start_all(world);
  world.submit(job_of(Tier::batch));
  world.settle();
  ASSERT_EQ(stopping(world.state), std::set{victim.value});
  world.run(Report{AttemptEnded{{victim, 0, 1}, {}}});
  EXPECT_FALSE(world.state.jobs.count(victim)) << "it was faster than the message";
}

// Two namespaces of one cohort, two cores each, on four cores.
class Borrowing : public ::testing::Test {
 protected:
  Borrowing() {
    world.nodes({node("n1", 4)});
    world.run(Request{TestWorld::admin(), SetCohort{"group", {}, {}, {}, {}}});
    world.run(Request{TestWorld::admin(), CreateNamespace{"bio", ""}});
    Quota quota;
    quota.cpu_milli = 2000;
    for (const char* ns : {"lab", "bio"}) {
      world.run(Request{TestWorld::admin(), SetQuota{ns, quota}});
      world.run(Request{TestWorld::admin(), SetStake{ns, "group", {}, {}}});
    }
  }
  int64_t cpus(const char* ns) { return world.state.namespace_named(ns)->in_use.cpu_milli / 1000; }
  TestWorld world;
};

TEST_F(Borrowing, WhatOneLeavesUnusedTheOtherUsesAndGivesBack) {
  for (int i = 0; i < 6; ++i) {
    world.submit(job_of(Tier::batch));
    start_all(world);
    world.now = world.now + minutes(1);
  }
  EXPECT_EQ(cpus("lab"), 4);
  const JobId claim = world.submit(job_of(Tier::batch, 1000, "bio"));
  world.settle();
  EXPECT_EQ(stopping(world.state), std::set<uint64_t>{4}) << "the one that came last";
  EXPECT_NE(explain(world.state, world.state.jobs.at(claim))
                .sentence.find("waiting for 1 task to make room"),
            std::string::npos);
  end_stopping(world);
  world.settle();
  EXPECT_EQ(world.state.jobs.at(claim).placed, 1u);
  EXPECT_EQ(cpus("lab"), 3);
}

TEST_F(Borrowing, ABorrowerTakesNothingFromAnother) {
  for (int i = 0; i < 3; ++i) world.submit(job_of(Tier::batch));
  start_all(world);
  for (int i = 0; i < 3; ++i) world.submit(job_of(Tier::batch, 1000, "bio"));
  world.settle();
  EXPECT_EQ(stopping(world.state).size(), 1u) << "bio is sure of two, not of three";
}

TEST_F(Borrowing, MayBeLimited) {
  Quota one;
  one.cpu_milli = 1000;
  world.run(Request{TestWorld::admin(), SetStake{"lab", {}, {}, one}});
  for (int i = 0; i < 6; ++i) world.submit(job_of(Tier::batch));
  world.settle();
  EXPECT_EQ(cpus("lab"), 3);
}

TEST_F(Borrowing, NobodyWithinTheirQuotaIsStopped) {
  for (int i = 0; i < 2; ++i) world.submit(job_of(Tier::batch));
  start_all(world);
  world.submit(job_of(Tier::interactive, 3000, "bio"));
  world.settle();
  EXPECT_TRUE(stopping(world.state).empty()) << "three would be borrowed";
}

TEST(YieldProperty, VictimsAreMinimalAndOnlyThoseWhoMust) {
  // Small random worlds. For whoever is told to stop: it was opportunistic, or its namespace had
  // more than its quota; and with one of them left alone the beneficiary would not fit.
  const std::vector<std::string> names{"lab", "bio", "chem"};
  int stopped = 0, checked = 0;
  for (uint32_t seed = 1; seed <= 3000; ++seed) {
    RandomWorld world(seed);
    world.draw_nodes(3);
    world.draw_namespaces(names);
    for (int i = world.draw(4, 9); i > 0; --i) {
      world.submit(world.draw_job(names));
      world.start_all();
      world.now = world.now + seconds(world.draw(1, 100));
    }
    world.submit(world.draw_job(names));
    const State before = world.state;
    const Decisions decisions = scheduling::round(before, world.now, 1000);
    const World seen = look(before, world.now);
    const std::set<TaskId> borrowed = borrowed_tasks(seen);
    std::map<JobId, std::vector<TaskStopping>> by_beneficiary;
    for (const TaskStopping& stop : decisions.stops) {
      ++stopped;
      const Terms& terms = before.terms_of(before.jobs.at(stop.attempt.job));
      ASSERT_TRUE(terms.tier == Tier::opportunistic || borrowed.count(stop.attempt.task()));
      by_beneficiary[stop.beneficiary].push_back(stop);
    }
    // Only where nothing else decided in the same round plays a part.
    if (after_round(before, world.now).claims.size() != 1 || !decisions.placed.empty()) continue;
    if (by_beneficiary.empty()) continue;
    ++checked;
    const auto& [beneficiary, stops] = *by_beneficiary.begin();
    const auto starts = [&](size_t spared) {
      TestWorld after;
      after.state = before;
      after.now = world.now;
      for (size_t i = 0; i < stops.size(); ++i) {
        if (i == spared) continue;
        after.run(Request{TestWorld::admin(), CancelJob{stops[i].attempt.job, {}, Duration{}}});
        after.run(Report{AttemptEnded{stops[i].attempt, {}}});
      }
      return find_room_now(after.state, after.now, beneficiary);
    };
    ASSERT_TRUE(starts(stops.size())) << "all of them make room";
    for (size_t i = 0; i < stops.size(); ++i) ASSERT_FALSE(starts(i)) << "one too many";
  }
  EXPECT_GT(stopped, 100) << "the worlds are such that it happens";
  EXPECT_GT(checked, 50);
}

// Whoever had to give it back does not get it again before the one for whom it was.
TEST(Yield, WhatIsTakenBackIsNotBorrowedAgain) {
  TestWorld world;
  world.nodes({node("n", 2)});
  world.run(Request{TestWorld::admin(), SetCohort{"all", {}, {}, {}, {}}});
  Quota one;
  one.cpu_milli = 1000;
  for (const char* name : {"bio", "chem"}) {
    world.run(Request{TestWorld::admin(), CreateNamespace{name, ""}});
    world.run(Request{TestWorld::admin(), SetQuota{name, one}});
    world.run(Request{TestWorld::admin(), SetStake{name, "all", {}, {}}});
  }
  for (const Tier tier : {Tier::batch, Tier::interactive}) {
    const JobId borrower = world.submit(job_of(tier, 2000, "bio"));
    start_all(world);
    const JobId owner = world.submit(job_of(Tier::batch, 1000, "chem"));
    world.settle();
    end_stopping(world);
    world.settle();
    EXPECT_EQ(world.state.jobs.at(owner).placed, 1u)
        << enum_name(tier) << ": " << explain(world.state, world.state.jobs.at(owner)).sentence;
    EXPECT_EQ(world.state.jobs.at(borrower).placed, 0u);
    for (const JobId id : {owner, borrower}) {
      world.run(Request{TestWorld::admin(), CancelJob{id, {}, {}}});
      State before = world.state;
      for (const auto& [index, task] : before.jobs[id].tasks)
        world.run(Report{AttemptEnded{{id, index, task.attempt}, {}}});
    }
  }
}

// While others make room in a quota for somebody, no third one may use it up.
TEST(Yield, AQuotaThatIsBeingFreedIsForWhomItIsFreed) {
  TestWorld world;
  world.nodes({node("n", 20)});
  Quota ten;
  ten.cpu_milli = 10000;
  world.run(Request{TestWorld::admin(), SetCohort{"all", {}, {}, ten, {}}});
  for (const auto& [name, cpus] : std::map<std::string, int>{{"a", 5}, {"b", 2}, {"c", 2}}) {
    Quota quota;
    quota.cpu_milli = cpus * 1000;
    world.run(Request{TestWorld::admin(), CreateNamespace{name, ""}});
    world.run(Request{TestWorld::admin(), SetQuota{name, quota}});
    world.run(Request{TestWorld::admin(), SetStake{name, "all", {}, {}}});
  }
  for (int i = 0; i < 3; ++i) world.submit(job_of(Tier::batch, 2000, "b"));
  start_all(world);  // 6 of 10, of which 4 are borrowed
  const JobId owner = world.submit(job_of(Tier::batch, 5000, "a"));
  const JobId third = world.submit(job_of(Tier::batch, 4000, "c"));
  world.settle();
  EXPECT_EQ(stopping(world.state).size(), 1u);
  EXPECT_EQ(world.state.jobs.at(third).placed, 0u);
  const Explanation why = explain(world.state, world.state.jobs.at(third));
  EXPECT_EQ(why.block.obstacle, Obstacle::claimed);
  EXPECT_EQ(why.waits_for, std::vector{owner});
  EXPECT_NE(why.sentence.find("for which others make room within the quota of cohort all"),
            std::string::npos)
      << why.sentence;
  end_stopping(world);
  world.settle();
  EXPECT_EQ(world.state.jobs.at(owner).placed, 1u);
}

// Room has been made for it on one node; it does not take the room on another that one of a higher
// tier waits for.
TEST(Yield, WhoIsOwedRoomLeavesHigherTiersTheirs) {
  TestWorld world;
  world.nodes({node("a", 4), node("b", 2, 1 << 30)});
  const auto timed = [](SubmitJob job, Duration wall) {
    job.terms.wall = wall;
    job.terms.grace = {};
    return job;
  };
  world.submit(timed(job_of(Tier::batch, 3000), hours(1)));
  start_all(world);
  world.submit(timed(job_of(Tier::opportunistic, 2000), hours(9)));
  start_all(world);
  const JobId head = world.submit(job_of(Tier::interactive, 4000));  // waits for all of the first
  const JobId owed = world.submit(timed(job_of(Tier::batch, 1000), hours(5)));
  world.settle();
  EXPECT_EQ(stopping(world.state).size(), 1u);
  end_stopping(world);
  world.settle();
  EXPECT_EQ(placement_of(world.state.jobs.at(owed).tasks.at(0).state)->node, "b");
  world.now = world.now + hours(1);
  world.run(Report{AttemptEnded{{JobId{1}, 0, 1}, {}}});
  world.settle();
  EXPECT_EQ(world.state.jobs.at(head).placed, 1u);
}

// Of a model that its quota does not cover it is not sure, whatever else it would take.
class AnyModel : public ::testing::Test {
 protected:
  AnyModel() {
    world.nodes({node("n", 8, 1 << 30, 2)});
    Quota quota;
    quota.devices["gpu:a100"] = 2;
    world.run(Request{TestWorld::admin(), SetCohort{"all", {}, {}, quota, {}}});
    quota.cpu_milli = 4000;
    quota.devices["gpu:a100"] = 0;
    for (const char* name : {"bio", "chem"}) {
      world.run(Request{TestWorld::admin(), CreateNamespace{name, ""}});
      world.run(Request{TestWorld::admin(), SetQuota{name, quota}});
      world.run(Request{TestWorld::admin(), SetStake{name, "all", {}, {}}});
    }
  }
  JobId submit(const char* ns, Tier tier = Tier::batch) {
    SubmitJob job = job_of(tier, 1000, ns);
    job.terms.resources.devices = {{"gpu", "", 2}};
    return world.submit(job);
  }
  TestWorld world;
};

TEST_F(AnyModel, BorrowersTakeNothingBackFromEachOther) {
  const JobId first = submit("bio");
  start_all(world);
  submit("chem");
  world.settle();
  EXPECT_EQ(world.state.jobs.at(first).placed, 1u);
  EXPECT_EQ(stopping(world.state), std::set<uint64_t>{});
}

TEST_F(AnyModel, ABorrowerOfAHigherTierDoesNotComeBackFirst) {
  submit("bio", Tier::interactive);
  start_all(world);
  Quota two;
  two.cpu_milli = 4000;
  two.devices["gpu:a100"] = 2;
  world.run(Request{TestWorld::admin(), SetQuota{"chem", two}});
  const JobId owner = submit("chem");
  world.settle();
  EXPECT_EQ(stopping(world.state).size(), 1u);
  end_stopping(world);
  world.settle();
  EXPECT_EQ(world.state.jobs.at(owner).placed, 1u);
}

TEST_F(AnyModel, NobodyStopsForOneThatMayBorrowWhatIsFree) {
  world.nodes({node("n", 8, 1 << 30, 2), node("v", 8, 1 << 30, 2, "v100")});
  const JobId cheap = submit("bio", Tier::opportunistic);
  start_all(world);
  EXPECT_EQ(placement_of(world.state.jobs.at(cheap).tasks.at(0).state)->node, "v");
  const JobId job = submit("chem");
  world.settle();
  EXPECT_EQ(world.state.jobs.at(job).placed, 1u);
  EXPECT_EQ(stopping(world.state), std::set<uint64_t>{});
}

// The models that the first members would find count when others are asked to make room.
TEST(Yield, NobodyStopsForAGangThatAModelsQuotaDoesNotLetStart) {
  TestWorld world;
  world.nodes({node("n", 8, 1 << 30, 2)});
  for (int i = 0; i < 2; ++i) {
    SubmitJob cheap = job_of(Tier::opportunistic);
    cheap.terms.resources.devices = {{"gpu", "a100", 1}};
    world.run(Request{TestWorld::admin(), CreateNamespace{"n" + std::to_string(i), ""}});
    cheap.ns = "n" + std::to_string(i);
    world.submit(cheap);
  }
  start_all(world);
  Quota one;
  one.devices["gpu:a100"] = 1;
  world.run(Request{TestWorld::admin(), SetQuota{"lab", one}});
  SubmitJob gang = job_of(Tier::batch);
  gang.terms.resources.devices = {{"gpu", "", 1}};
  gang.array = true;
  gang.indices = IntervalSet({0, 1});
  gang.terms.gang = 2;
  world.submit(gang);
  world.settle();
  EXPECT_EQ(stopping(world.state), std::set<uint64_t>{});
}

// What one that was served before waits for does not make room for the next.
TEST(Yield, NobodyIsStoppedForRoomThatAnotherWouldGet) {
  TestWorld world;
  world.nodes({node("n1", 4)});
  const auto timed = [](SubmitJob job, Duration wall) {
    job.terms.wall = wall;
    job.terms.grace = {};
    return job;
  };
  world.submit(timed(job_of(Tier::batch, 2000), hours(1)));
  start_all(world);
  world.submit(job_of(Tier::batch, 4000));  // waits for all of it
  const JobId cheap = world.submit(timed(job_of(Tier::opportunistic, 2000), minutes(30)));
  start_all(world);
  EXPECT_EQ(world.state.jobs.at(cheap).placed, 1u) << "it ends before";
  world.submit(job_of(Tier::batch, 1000));
  world.settle();
  EXPECT_EQ(stopping(world.state), std::set<uint64_t>{});
}

}  // namespace
}  // namespace atl::core::scheduling
