#include "site/slurm/follow.h"

#include <gtest/gtest.h>

#include "site/slurm/limits.h"

namespace atl::site {
namespace {

constexpr Time kNow{1'000'000'000};

class Follow : public testing::Test {
 protected:
  Consequence see(const JobRecord* record, RunSeen run = {}, Duration later = {}) {
    return follow(followed_, {.record = record, .run = std::move(run), .now = kNow + later});
  }
  static JobRecord job(const std::string& state, const std::string& reason = "") {
    return {.id = 5, .state = state, .reason = reason, .nodes = state == "PENDING" ? "" : "n1"};
  }
  static RunSeen ended(core::AttemptResult result) {
    return {.begun = true, .started = kNow, .result = std::move(result)};
  }
  Followed followed_;
};

TEST_F(Follow, TheStartIsToldOnceAndByTheWrapper) {
  const JobRecord runs = job("RUNNING");
  EXPECT_FALSE(see(&runs).started.has_value());
  EXPECT_EQ(see(&runs, {.begun = true, .started = {7}}).started, Time{7});
  EXPECT_FALSE(see(&runs, {.begun = true, .started = {7}}).started.has_value());
}

TEST_F(Follow, AResultIsTheEndWhateverSlurmSays) {
  const JobRecord runs = job("COMPLETING"), failed = job("FAILED");
  EXPECT_EQ(see(&runs, ended({.exit_code = 3})).ended->exit_code, 3);
  EXPECT_EQ(see(&failed, ended({.exit_code = 3})).ended->exit_code, 3);
  EXPECT_EQ(see(nullptr, ended({.exit_code = 3})).ended->exit_code, 3);
}

TEST_F(Follow, ASignalWaitsForItsReason) {
  const core::AttemptResult killed{.cause = core::EndCause::signalled, .signal = 15};
  const JobRecord completing = job("COMPLETING"), timed = job("TIMEOUT");
  EXPECT_FALSE(see(&completing, ended(killed)).ended.has_value());
  EXPECT_EQ(see(&timed, ended(killed), seconds(1)).ended->cause, core::EndCause::wall_time);
}

TEST_F(Follow, ASignalWithoutAReasonIsToldInTheEnd) {
  const core::AttemptResult killed{.cause = core::EndCause::signalled, .signal = 9};
  EXPECT_TRUE(see(nullptr, ended(killed)).ask_accounting);
  EXPECT_EQ(see(nullptr, ended(killed), kVanishedAfter).ended->cause, core::EndCause::signalled);
  const core::AttemptResult told{.cause = core::EndCause::stopped};
  EXPECT_EQ(see(nullptr, ended(told), kVanishedAfter).ended->cause, core::EndCause::lost);
}

TEST_F(Follow, WhatSlurmPutsBackIsCancelledAndLost) {
  const JobRecord runs = job("RUNNING"), waits = job("PENDING", "BeginTime");
  ASSERT_TRUE(see(&runs, {.begun = true, .started = kNow}).started.has_value());
  const Consequence back = see(&waits, {.begun = true, .started = kNow});
  EXPECT_TRUE(back.cancel);
  EXPECT_EQ(back.ended->cause, core::EndCause::lost);
  EXPECT_NE(back.ended->message.find("put back"), std::string::npos);
}

TEST_F(Follow, WhatBeganSinceTheQueueWasAskedIsNotPutBack) {
  const JobRecord waits = job("PENDING"), runs = job("RUNNING");
  const Consequence first = see(&waits, {.begun = true, .started = kNow});
  EXPECT_FALSE(first.cancel);
  EXPECT_FALSE(first.ended.has_value());
  EXPECT_TRUE(see(&runs, {.begun = true, .started = kNow}, seconds(1)).started.has_value());
}

TEST_F(Follow, WhatEndedSinceTheQueueWasAskedIsNotCancelled) {
  const JobRecord waits = job("PENDING");
  const Consequence quick = see(&waits, ended({.cause = core::EndCause::exited}));
  EXPECT_TRUE(quick.ended.has_value());
  EXPECT_FALSE(quick.cancel);
}

TEST_F(Follow, WhatWasTornAwayAndPutBackIsLost) {
  const core::AttemptResult told{.cause = core::EndCause::stopped, .exit_code = 143};
  const JobRecord waits = job("PENDING", "BeginTime");
  EXPECT_FALSE(see(&waits, ended(told)).ended.has_value()) << "it may have begun and ended since";
  const Consequence back = see(&waits, ended(told), seconds(1));
  EXPECT_TRUE(back.cancel);
  EXPECT_EQ(back.ended->cause, core::EndCause::lost);
  JobRecord again = job("COMPLETED");
  again.restarts = 1;
  EXPECT_NE(see(&again, ended(told)).ended->message.find("put back"), std::string::npos);
}

TEST_F(Follow, WhatWillNeverStartIsCancelledAndSaysWhy) {
  const JobRecord waits = job("PENDING", "PartitionTimeLimit");
  EXPECT_FALSE(see(&waits).ended.has_value());
  const JobRecord passing = job("PENDING", "Resources");
  EXPECT_FALSE(see(&passing, {}, kHopelessAfter).ended.has_value());
  EXPECT_FALSE(see(&waits, {}, kHopelessAfter).ended.has_value());
  const Consequence never = see(&waits, {}, kHopelessAfter * 2);
  EXPECT_TRUE(never.cancel);
  EXPECT_EQ(never.ended->cause, core::EndCause::start_error);
}

TEST_F(Follow, AnEndWithoutAResultIsSlurmsWord) {
  const JobRecord failed = job("NODE_FAIL");
  EXPECT_FALSE(see(&failed, {.begun = true}).ended.has_value());
  const Consequence late = see(&failed, {.begun = true}, kSettle);
  EXPECT_EQ(late.ended->cause, core::EndCause::lost);
  EXPECT_NE(late.ended->message.find("node n1"), std::string::npos);
}

TEST_F(Follow, CompletedWithoutAResultIsLost) {
  const JobRecord done = job("COMPLETED");
  static_cast<void>(see(&done));
  const Consequence late = see(&done, {}, kSettle);
  EXPECT_EQ(late.ended->cause, core::EndCause::lost);
  EXPECT_NE(late.ended->message.find("share"), std::string::npos);
}

TEST_F(Follow, AVanishedJobIsAskedForAndThenLost) {
  EXPECT_TRUE(see(nullptr, {.begun = true}).ask_accounting);
  EXPECT_FALSE(see(nullptr, {.begun = true}, seconds(5)).ended.has_value());
  EXPECT_EQ(see(nullptr, {.begun = true}, kVanishedAfter).ended->cause, core::EndCause::lost);
}

TEST_F(Follow, AJobThatComesBackIsNotMissing) {
  const JobRecord runs = job("RUNNING");
  EXPECT_TRUE(see(nullptr, {.begun = true}).ask_accounting);
  static_cast<void>(see(&runs, {.begun = true}, seconds(20)));
  EXPECT_FALSE(see(nullptr, {.begun = true}, kVanishedAfter).ended.has_value());
}

TEST_F(Follow, AWarningBeforeTheLimitIsTheWallTime) {
  JobRecord runs = job("RUNNING");
  runs.ended = kNow + seconds(100);
  followed_.signal_before = seconds(60);
  static_cast<void>(see(&runs, {.begun = true, .started = kNow}));
  core::AttemptResult told{.cause = core::EndCause::stopped, .exit_code = 143};
  told.usage.started = kNow;
  told.usage.ended = kNow + seconds(30);
  const JobRecord done = job("COMPLETED");
  EXPECT_EQ(see(&done, ended(told)).ended->cause, core::EndCause::wall_time);
  followed_.limit = kNow + hours(2);
  EXPECT_EQ(see(&done, ended(told)).ended->cause, core::EndCause::signalled);
}

TEST_F(Follow, AKilledWrapperIsExplainedBySlurm) {
  const core::AttemptResult gone{.cause = core::EndCause::lost,
                                 .message = "its wrapper was killed"};
  const JobRecord failed = job("OUT_OF_MEMORY");
  EXPECT_EQ(see(&failed, ended(gone)).ended->cause, core::EndCause::memory);
}

TEST_F(Follow, AStopThatWasAskedForIsAStop) {
  followed_.stop_asked = true;
  const JobRecord cancelled = job("CANCELLED");
  static_cast<void>(see(&cancelled));
  EXPECT_EQ(see(&cancelled, {}, kSettle).ended->cause, core::EndCause::stopped);
  EXPECT_EQ(see(&cancelled, ended({.cause = core::EndCause::stopped})).ended->cause,
            core::EndCause::stopped);
}

}  // namespace
}  // namespace atl::site
