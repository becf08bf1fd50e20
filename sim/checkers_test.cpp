// Each checker must be able to fail: these tests break the promise on purpose.
#include <gtest/gtest.h>

#include "sim/checkers/acknowledged.h"
#include "sim/checkers/allocation.h"
#include "sim/checkers/idempotency.h"
#include "sim/checkers/one_attempt.h"
#include "sim/checkers/order.h"
#include "sim/checkers/reasons.h"
#include "sim/checkers/replay.h"
#include "sim/checkers/settles.h"
#include "sim/checkers/yields.h"
#include "sim/simulation.h"
#include "sim/story.h"

namespace atl::sim {
namespace {

using core::scheduling::Explanation;
using core::scheduling::Obstacle;

core::Request submission(std::string name, std::string key = "") {
  core::SubmitJob job;
  job.name = std::move(name);
  job.key = std::move(key);
  return {{UserId{1}, false, {}}, core::SubmitJobs{{std::move(job)}}};
}

std::string broken_by(const Sabotage& sabotage, const Faults& faults = {}) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    const SimResult result = simulate(
        {.seed = seed, .print = false, .sabotage = sabotage, .faults = faults, .asks = 60});
    if (!result.broken.empty()) return result.broken;
  }
  return "nothing";
}

TEST(AcknowledgedTest, AJournalThatForgetsACommitIsFound) {
  EXPECT_EQ(broken_by({.forget_commit = true}).substr(0, 2), "1,");
}

TEST(AcknowledgedTest, ARefusedJobThatIsRecordedIsFound) {
  Acknowledged checker;
  Story story(checker);
  const Result<runtime::Accepted> refused = fail(ErrorCode::invalid, "no");
  checker.told({submission("job-1"), "", false, refused});
  story.submit(1000);
  EXPECT_NE(checker.broken().find("refused, yet"), std::string::npos);
}

TEST(AcknowledgedTest, AWrongCommandThatIsAcceptedIsFound) {
  Acknowledged checker;
  const Result<runtime::Accepted> accepted = runtime::Accepted{};
  checker.told({submission("job-1"), "", true, accepted});
  EXPECT_NE(checker.broken(), "");
}

TEST(AcknowledgedTest, AJobThatIsGoneAfterARestartIsFound) {
  Acknowledged checker;
  Story story(checker);
  const Result<runtime::Accepted> accepted = runtime::Accepted{{}, {JobId{7}}, false, 1};
  checker.told({submission("job-7"), "run-1", false, accepted});
  story.look(story.state, true);
  EXPECT_NE(checker.broken().find("neither live nor in history"), std::string::npos);
}

TEST(AcknowledgedTest, AnotherPayloadIsFound) {
  Acknowledged checker;
  const Result<runtime::Accepted> accepted = runtime::Accepted{{}, {JobId{7}}, false, 1};
  checker.told({submission("job-7"), "run-1", false, accepted});
  checker.began({{JobId{7}, 0, 1}, "here", {}, {}, "run-2", kNow});
  EXPECT_NE(checker.broken().find("instead of run-1"), std::string::npos);
}

TEST(OneAttemptTest, ASiteThatStartsTwiceIsFound) {
  Faults faults;
  faults.order_doubled = 1000;
  EXPECT_EQ(broken_by({.start_twice = true}, faults).substr(0, 2), "2,");
}

TEST(OneAttemptTest, AnOrphanIsFound) {
  EXPECT_EQ(broken_by({.deaf_to_stop = true}).substr(0, 2), "2,");
}

TEST(OneAttemptTest, ASecondLiveAttemptIsFound) {
  OneAttempt checker;
  checker.began({{JobId{1}, 0, 1}, "here", {}, {}, "", kNow});
  checker.began({{JobId{1}, 0, 2}, "there", {}, {}, "", kNow});
  EXPECT_NE(checker.broken().find("still runs"), std::string::npos);
}

TEST(AllocationTest, CoresBeyondTheNodeAreFound) {
  Allocation checker;
  Story story(checker);
  const JobId first = story.submit(1500);
  const JobId second = story.submit(1500);
  story.say(Story::placed(first));
  EXPECT_EQ(checker.broken(), "");
  story.say(Story::placed(second));
  EXPECT_NE(checker.broken().find("more cores"), std::string::npos);
}

TEST(AllocationTest, ADeviceGivenTwiceIsFound) {
  Allocation checker;
  Story story(checker);
  const JobId first = story.submit(100);
  const JobId second = story.submit(100);
  story.say(Story::placed(first, {{"d0", "gpu", "a100"}}));
  story.lie(Story::placed(second, {{"d0", "gpu", "a100"}}));
  EXPECT_NE(checker.broken(), "");
}

TEST(AllocationTest, AQuotaOverrunIsFound) {
  Allocation checker;
  Story story(checker);
  core::Quota quota;
  quota.cpu_milli = 1000;
  quota.queued = 1;
  story.say(core::QuotaSet{NamespaceId{1}, quota});
  story.say(Story::placed(story.submit(1500)));
  EXPECT_NE(checker.broken().find("over its quota of cores"), std::string::npos);
}

TEST(AllocationTest, TooManyQueuedJobsAreFound) {
  Allocation checker;
  Story story(checker);
  core::Quota quota;
  quota.queued = 1;
  story.say(core::QuotaSet{NamespaceId{1}, quota});
  story.submit(100);
  EXPECT_EQ(checker.broken(), "");
  story.submit(100);
  EXPECT_NE(checker.broken().find("queued jobs"), std::string::npos);
}

TEST(AllocationTest, ADeviceReallyUsedTwiceIsFound) {
  Allocation checker;
  const core::Placement placement{SiteId{1}, "node", {{"d0", "gpu", "a100"}}};
  checker.began({{JobId{1}, 0, 1}, "here", placement, {}, "", kNow});
  checker.began({{JobId{2}, 0, 1}, "here", placement, {}, "", kNow});
  EXPECT_NE(checker.broken().find("really used"), std::string::npos);
}

TEST(AllocationTest, ASiteThatLetsWorkJumpTheLineIsFound) {
  EXPECT_EQ(broken_by({.jump_the_line = true}).substr(0, 2), "3,");
}

TEST(AllocationTest, ALineForOtherRoomIsFound) {
  Allocation checker;
  Story story(checker);
  const JobId first = story.submit(1500);
  const JobId second = story.submit(1000);
  story.say(Story::placed(first));
  core::TaskPlaced behind = Story::placed(second);
  behind.behind = AttemptId{first, 0, 1};
  story.lie(behind);
  EXPECT_NE(checker.broken().find("not as it asks"), std::string::npos);
}

TEST(YieldsTest, WhoNeedNotYieldIsFound) {
  Yields checker;
  Story story(checker);
  const JobId batch = story.submit(1000);
  const JobId other = story.submit(1000);
  story.say(Story::placed(batch));
  const Duration grace = story.state.terms_of(*story.state.job(batch)).grace;
  story.lie(core::TaskStopping{{batch, 0, 1}, core::StopReason::yielded, grace, other});
  EXPECT_NE(checker.broken().find("neither opportunistic nor on borrowed room"), std::string::npos);
}

TEST(YieldsTest, AShorterGraceIsFound) {
  Yields checker;
  Story story(checker);
  const JobId batch = story.submit(1000);
  const JobId other = story.submit(1000);
  story.say(Story::placed(batch));
  story.state.terms.begin()->second.terms.tier = core::Tier::opportunistic;
  story.lie(core::TaskStopping{{batch, 0, 1}, core::StopReason::yielded, {}, other});
  EXPECT_NE(checker.broken().find("its own grace"), std::string::npos) << checker.broken();
}

TEST(YieldsTest, OneThatWasNotToldIsFound) {
  Yields checker;
  Story story(checker);
  const JobId job = story.submit(1000);
  story.say(Story::placed(job));
  story.lie(core::TaskRetried{{job, 0, 1}, core::RetryReason::yielded, {}, kNow});
  EXPECT_NE(checker.broken().find("was not told to"), std::string::npos) << checker.broken();
}

// What the checker says to a platform's only waiting job when it gives this obstacle as its reason.
std::string said_to(Obstacle obstacle) {
  Reasons checker([obstacle](const core::State& state, const core::Job& job, Time) {
    Explanation why;
    why.block.obstacle = obstacle;
    why.block.holder = "namespace " + state.namespaces.at(job.ns).name;
    return why;
  });
  Story story(checker);
  const JobId job = story.submit(1000);
  checker.check(story.state, *story.state.job(job), kNow);
  return checker.broken();
}

TEST(ReasonsTest, EveryFalseReasonIsFound) {
  EXPECT_NE(said_to(Obstacle::held).find("it is not held"), std::string::npos);
  EXPECT_NE(said_to(Obstacle::dependency).find("names no job"), std::string::npos);
  EXPECT_NE(said_to(Obstacle::backoff).find("no pause"), std::string::npos);
  EXPECT_NE(said_to(Obstacle::array_limit).find("not reached"), std::string::npos);
  EXPECT_NE(said_to(Obstacle::quota).find("leaves room"), std::string::npos);
  EXPECT_NE(said_to(Obstacle::no_site).find("there is a node"), std::string::npos);
  EXPECT_NE(said_to(Obstacle::claimed).find("nobody for whom"), std::string::npos);
  EXPECT_NE(said_to(Obstacle::yielding).find("nobody makes room"), std::string::npos);
  EXPECT_NE(said_to(Obstacle::infeasible).find("large enough"), std::string::npos);
  EXPECT_NE(said_to(Obstacle::capacity).find("has room"), std::string::npos);
  EXPECT_NE(said_to(Obstacle::turn).find("starts nothing"), std::string::npos);
}

TEST(ReasonsTest, AReasonThatIsNotTheObstacleIsFound) {
  // The job is held and too large; who removes the hold alone must be told of the size.
  Reasons checker([](const core::State&, const core::Job&, Time) {
    Explanation why;
    why.block.obstacle = Obstacle::held;
    return why;
  });
  Story story(checker);
  const JobId job = story.submit(5000);
  story.say(core::JobHeld{job});
  checker.check(story.state, *story.state.job(job), kNow);
  EXPECT_NE(checker.broken().find("gives no other reason"), std::string::npos);
}

TEST(ReasonsTest, TheTruthPasses) {
  Reasons checker;
  Story story(checker);
  const JobId job = story.submit(5000);
  checker.check(story.state, *story.state.job(job), kNow);
  EXPECT_EQ(checker.broken(), "");
}

TEST(OrderTest, AStartBeforeADependencyHasEndedIsFound) {
  Order checker;
  Story story(checker);
  const JobId first = story.submit(100);
  const JobId second = story.submit(100, {{first, core::DependencyKind::after_success, {}}});
  story.lie(Story::placed(second));
  EXPECT_NE(checker.broken().find("has not ended"), std::string::npos);
}

TEST(OrderTest, AStartAfterTheWrongOutcomeIsFound) {
  Order checker;
  Story story(checker);
  const JobId first = story.submit(100);
  const JobId second = story.submit(100, {{first, core::DependencyKind::after_success, {}}});
  story.say(Story::placed(first));
  story.end(first, core::Outcome::failed);
  EXPECT_EQ(checker.broken(), "");
  story.lie(Story::placed(second));
  EXPECT_NE(checker.broken().find("otherwise than asked"), std::string::npos);
}

TEST(OrderTest, SkippingForNoReasonIsFound) {
  Order checker;
  Story story(checker);
  const JobId job = story.submit(100);
  story.lie(core::WaitingEnded{job, IntervalSet({0, 0}), core::Outcome::skipped, ""});
  EXPECT_NE(checker.broken().find("for no reason"), std::string::npos);
}

TEST(OrderTest, AnOutcomeThatItsTasksDoNotHaveIsFound) {
  Order checker;
  Story story(checker);
  const JobId job = story.submit(100);
  story.say(Story::placed(job));
  story.say(core::TaskEnded{{job, 0, 1}, core::Outcome::failed, {}});
  story.say(core::JobEnded{job, core::Outcome::succeeded, ""});
  EXPECT_NE(checker.broken().find("its tasks say failed"), std::string::npos);
}

TEST(SettlesTest, WorkThatNeverEndsIsFound) {
  // Or a workflow that hangs with it, whichever is seen first.
  const std::string broken = broken_by({.never_end = true});
  EXPECT_TRUE(broken.starts_with("11,") || broken.starts_with("7,")) << broken;
}

TEST(IdempotencyTest, AKeyThatMakesTwoJobsIsFound) {
  Idempotency checker;
  Story story(checker);
  story.submit(100, {}, "key");
  EXPECT_EQ(checker.broken(), "");
  story.submit(100, {}, "key");
  EXPECT_NE(checker.broken().find("made job 1 and job 2"), std::string::npos);
}

TEST(IdempotencyTest, AnAnswerThatNamesAnotherJobIsFound) {
  Idempotency checker;
  Story story(checker);
  story.submit(100, {}, "key");
  const Result<runtime::Accepted> other = runtime::Accepted{{}, {JobId{9}}, true, 1};
  checker.told({submission("job-1", "key"), "", false, other});
  EXPECT_NE(checker.broken(), "");
}

TEST(ReplayTest, AStateThatItsCommitsDoNotMakeIsFound) {
  Replay checker;
  Story story(checker);
  core::State other = story.state;
  other.counters.job = 12;
  story.look(other, true);
  EXPECT_NE(checker.broken(), "");
}

TEST(ReplayTest, ABrokenInvariantIsFound) {
  Replay checker;
  Story story(checker);
  const JobId job = story.submit(100);
  core::State wrong = story.state;
  wrong.jobs.at(job).size = 5;
  checker.committed(2, wrong);
  EXPECT_NE(checker.broken().find("lost or gained an index"), std::string::npos);
}

}  // namespace
}  // namespace atl::sim
