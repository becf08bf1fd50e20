#include "core/core.h"

#include <gtest/gtest.h>

#include "base/wire.h"
#include "core/authorize.h"
#include "core/limits.h"
#include "core/test_world.h"

namespace atl::core {
namespace {

template <class T>
std::vector<T> only(const Effects& effects) {
  std::vector<T> found;
  for (const Effect& effect : effects) {
    if (const T* match = std::get_if<T>(&effect)) found.push_back(*match);
  }
  return found;
}

TEST(Apply, StartOfANewAttemptCarriesWhatTheSiteNeeds) {
  TestWorld world;
  world.nodes({node("n1", 2, 1 << 30, 2)});
  SubmitJob job = TestWorld::job();
  job.terms.resources.devices = {{"gpu", "", 1}};
  const JobId id = world.submit(job);
  world.settle();
  const auto starts = only<StartAttempt>(world.effects);
  ASSERT_EQ(starts.size(), 1u);
  EXPECT_EQ(starts[0].attempt, (AttemptId{id, 0, 1}));
  EXPECT_EQ(starts[0].placement.devices.at(0).unit, "g0");
  EXPECT_FALSE(starts[0].resumed);
}

TEST(Apply, EndedJobsLeaveTheStateAndGoToTheArchive) {
  TestWorld world;
  world.nodes({node("n1", 2)});
  const JobId id = world.submit(TestWorld::job());
  world.settle();
  world.run(Report{AttemptEnded{{id, 0, 1}, {}}});
  EXPECT_TRUE(world.state.jobs.empty());
  EXPECT_TRUE(world.state.terms.empty());
  EXPECT_TRUE(world.state.backlog.empty());
  const auto archived = only<ArchiveJob>(world.effects);
  ASSERT_EQ(archived.size(), 1u);
  EXPECT_EQ(archived[0].outcome, Outcome::succeeded);
  EXPECT_EQ(only<ArchiveAttempt>(world.effects).size(), 1u);
  EXPECT_EQ(only<ForgetAttempt>(world.effects).size(), 1u);
}

TEST(Apply, ANoticeIsOwedUntilItsDeliveryIsReported) {
  TestWorld world;
  world.nodes({node("n1", 2)});
  SubmitJob job = TestWorld::job();
  job.notify.webhook = "http://127.0.0.1:1/";
  const JobId id = world.submit(job);
  world.settle();
  world.run(Report{AttemptEnded{{id, 0, 1}, {}}});
  ASSERT_EQ(world.state.notices.size(), 1u);
  EXPECT_EQ(only<SendNotice>(pending_effects(world.state)).size(), 1u);
  world.run(Report{NoticeReported{NoticeId{1}, true, ""}});
  EXPECT_TRUE(world.state.notices.empty());
}

TEST(Apply, ADeviceLostWhileHeldIsReleasedProperly) {
  TestWorld world;
  world.nodes({node("n1", 2, 1 << 30, 1)});
  SubmitJob job = TestWorld::job();
  job.terms.resources.devices = {{"gpu", "a100", 1}};
  const JobId id = world.submit(job);
  world.settle();
  world.nodes({node("n2", 2)});
  EXPECT_TRUE(world.state.sites.begin()->second.nodes.at("n1").gone);
  world.run(Report{AttemptEnded{{id, 0, 1}, {}}});
  EXPECT_EQ(world.state.namespaces.begin()->second.in_use, InUse{});
  EXPECT_EQ(world.state.sites.begin()->second.nodes.count("n1"), 0u) << "nothing is left on it";
}

TEST(Pending, EffectsOfStartingAndStoppingAttemptsAreRepeatedAfterARestart) {
  TestWorld world;
  world.nodes({node("n1", 2)});
  const JobId a = world.submit(TestWorld::job());
  const JobId b = world.submit(TestWorld::job());
  world.settle();
  world.run(Report{AttemptStarted{{b, 0, 1}, world.now}});
  world.run(Request{TestWorld::admin(), CancelJob{b, {}, {}}});
  const Effects pending = pending_effects(world.state);
  ASSERT_EQ(only<StartAttempt>(pending).size(), 1u);
  EXPECT_EQ(only<StartAttempt>(pending)[0].attempt.job, a);
  EXPECT_TRUE(only<StartAttempt>(pending)[0].repeated);
  ASSERT_EQ(only<StopAttempt>(pending).size(), 1u);
  EXPECT_EQ(only<StopAttempt>(pending)[0].attempt.job, b);
}

TEST(Snapshot, PrimaryPartsRebuildTheWholeState) {
  TestWorld world;
  world.nodes({node("n1", 4, 1 << 30, 2), node("n2", 1)});
  SubmitJob array = TestWorld::job();
  array.array = true;
  array.indices = IntervalSet({1, 100});
  array.terms.retry.max = 2;
  array.terms.grace = {};
  const JobId id = world.submit(array);
  SubmitJob after = TestWorld::job();
  after.dependencies = {{id, DependencyKind::after_end, {}}};
  world.submit(after);
  world.settle();
  AttemptResult failed;
  failed.exit_code = 1;
  world.run(Report{AttemptEnded{{id, 1, 1}, failed}});
  auto copy = wire::decode<State>(wire::encode(world.state));
  ASSERT_TRUE(copy);
  for (const auto& [job_id, job] : world.state.jobs) {
    copy->jobs.emplace(job_id, wire::decode<Job>(wire::encode(job)).value());
  }
  rebuild_derived(*copy);
  EXPECT_TRUE(*copy == world.state);
}

TEST(Decide, RefusalsLeaveNoTrace) {
  TestWorld world;
  world.nodes({node("n1", 4)});
  const State before = world.state;
  SubmitJob good = TestWorld::job();
  SubmitJob bad = TestWorld::job();
  bad.name = "a\nb";
  const auto refused = world.attempt(Request{TestWorld::admin(), SubmitJobs{{good, bad}}});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().field, "jobs[1].name");
  EXPECT_TRUE(world.state == before);
}

TEST(Decide, ATokenMakesNoneThatLivesLongerAndEndsNoneThatOpensMore) {
  TestWorld world;
  world.now = Time{1'000'000};
  const Digest hash{{1}}, other{{2}};
  world.run(Request{TestWorld::admin(), CreateToken{"", hash, "", {}, false, {}}});
  Actor narrow{UserId{1}, false, {NamespaceId{1}}, Time{5'000'000}};
  const Events made = world.run(Request{narrow, CreateToken{"", other, "", hours(1), false, {}}});
  EXPECT_EQ(std::get<TokenCreated>(made.at(0).body).expires, Time{5'000'000});
  EXPECT_FALSE(world.attempt(Request{narrow, RevokeToken{TokenId{1}}}));
  EXPECT_TRUE(world.attempt(Request{narrow, RevokeToken{TokenId{2}}}));
}

TEST(Decide, ATokenOfOneNamespaceDoesNotSeeAnother) {
  TestWorld world;
  world.run(Request{TestWorld::admin(), CreateNamespace{"other", ""}});
  Actor narrowed = TestWorld::admin();
  narrowed.namespaces = {NamespaceId{2}};
  const auto refused = world.attempt(Request{narrowed, SubmitJobs{{TestWorld::job()}}});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::not_found);
  EXPECT_FALSE(require_platform_admin(world.state, narrowed))
      << "a narrowed token is no administrator";
}

TEST(Decide, TenMillionIndicesAreOneJobOfAFewBytes) {
  TestWorld world;
  world.nodes({node("n1", 2)});
  SubmitJob array = TestWorld::job();
  array.array = true;
  array.indices = IntervalSet({0, 9'999'999});
  const JobId id = world.submit(array);
  EXPECT_EQ(world.state.jobs.at(id).waiting.ranges().size(), 1u);
  array.indices = IntervalSet({0, 10'000'000});
  EXPECT_FALSE(world.attempt(Request{TestWorld::admin(), SubmitJobs{{array}}}));
}

TEST(Decide, AnEndlessCheckpointerIsBounded) {
  TestWorld world;
  world.nodes({node("n1", 1)});
  const JobId id = world.submit(TestWorld::job());
  world.settle();
  AttemptResult again;
  again.exit_code = kCheckpointExit;
  for (uint32_t attempt = 1; attempt <= 5; ++attempt) {
    ASSERT_EQ(world.state.jobs.at(id).tasks.at(0).attempt, attempt);
    world.run(Report{AttemptEnded{{id, 0, attempt}, again}});
    world.settle();
    EXPECT_EQ(world.state.backoffs.size(), 1u) << "one that makes no headway does not spin";
    world.now = world.now + kCheckpointPause;
    world.settle();
  }
  EXPECT_TRUE(only<StartAttempt>(world.effects).back().resumed);
}

}  // namespace
}  // namespace atl::core
