// The checker of promise 7 for workflows must be able to fail: each clause is broken on purpose.
#include <gtest/gtest.h>

#include "sim/checkers/acknowledged.h"
#include "sim/checkers/steps.h"
#include "sim/draw.h"
#include "sim/story.h"

namespace atl::sim {
namespace {

using core::Outcome;
using core::StepState;

constexpr WorkflowId kFlow{1};

core::NewStep step(std::string name, std::vector<core::Need> needs = {}) {
  core::NewStep step;
  step.name = std::move(name);
  step.needs = std::move(needs);
  return step;
}

core::StepsEnded ended(IntervalSet steps, StepState how, std::string why = "") {
  return {kFlow, std::move(steps), how, std::move(why), {}, {}, {}};
}

core::StepTally tally(std::vector<std::pair<StepState, uint32_t>> counts) {
  core::StepTally tally{};
  for (const auto& [state, count] : counts) tally[static_cast<size_t>(state)] = count;
  return tally;
}

// A workflow told to the checker: `b` needs `a`, unless other steps are given.
class StepsTest : public testing::Test {
 protected:
  void begin(std::vector<core::NewStep> steps = {step("a"), step("b", {{0}})},
             bool fail_fast = false, uint32_t parallel_max = 0) {
    core::WorkflowSubmitted flow{kFlow, NamespaceId{1}, UserId{1}, "flow"};
    flow.fail_fast = fail_fast;
    flow.parallel_max = parallel_max;
    story.say(flow);
    story.say(core::StepsAdded{kFlow, 0, {core::StepKind{}}, std::move(steps)});
    story.say(core::WorkflowSealed{kFlow});
  }
  core::JobSubmitted job_of(uint32_t number) {
    core::JobSubmitted job = story.job(100);
    job.of = {kFlow, number};
    return job;
  }
  JobId start(uint32_t number) {
    const core::JobSubmitted job = job_of(number);
    story.say(job);
    return job.id;
  }
  void finish(JobId job, Outcome outcome) {
    story.say(Story::placed(job));
    story.end(job, outcome);
  }
  void run(uint32_t number, Outcome outcome = Outcome::succeeded) {
    finish(start(number), outcome);
    const StepState how = outcome == Outcome::succeeded   ? StepState::succeeded
                          : outcome == Outcome::cancelled ? StepState::cancelled
                                                          : StepState::failed;
    story.say(ended(IntervalSet({number, number}), how));
  }
  void expect(const std::string& complaint) {
    EXPECT_TRUE(says(checker.broken(), complaint)) << "it says: " << checker.broken();
  }

  Steps checker;
  Story story{checker};
};

TEST_F(StepsTest, AWorkflowThatGoesAsItShouldIsNoComplaint) {
  begin({step("a"), step("b", {{0, true, false}}), step("c", {{0}})});
  run(0, Outcome::failed);
  story.say(ended(IntervalSet({2, 2}), StepState::blocked, "needs a, which did not succeed"));
  run(1);
  story.say(core::WorkflowEnded{
      kFlow, Outcome::failed, "",
      tally({{StepState::succeeded, 1}, {StepState::failed, 1}, {StepState::blocked, 1}})});
  checker.settled({story.state, story.state, story.journal, story.journal, kNow, true, false});
  EXPECT_EQ(checker.broken(), "");
}

TEST_F(StepsTest, AStepThatBeginsBeforeItsNeedHasEndedIsFound) {
  begin();
  start(0);
  story.lie(job_of(1));
  expect("begins before a has ended");
}

TEST_F(StepsTest, AStepThatBeginsBehindAFailureIsFound) {
  begin();
  run(0, Outcome::failed);
  story.lie(job_of(1));
  expect("begins although a ended as failed");
}

TEST_F(StepsTest, AStepThatPutsUpWithAFailureIsNotThereforeContentWithASkip) {
  begin({step("a"), step("b", {{0, true, false}})});
  core::NewStep prepared = step("p");
  prepared.prepared = true;
  story.say(core::StepsAdded{kFlow, 2, {}, {prepared, step("q", {{2, true, false}})}});
  story.say(core::StepPreparing{{kFlow, 2}});
  story.say(ended(IntervalSet({2, 2}), StepState::skipped, "its condition does not hold"));
  story.lie(job_of(3));
  expect("begins although p ended as skipped");
}

TEST_F(StepsTest, ASecondJobOfOneOpeningIsFound) {
  begin();
  start(0);
  story.lie(job_of(0));
  expect("gets job 2 beside job 1");
}

TEST_F(StepsTest, AStepThatEndsTwiceIsFound) {
  begin();
  run(0);
  story.lie(ended(IntervalSet({0, 0}), StepState::succeeded));
  expect("a second time");
}

TEST_F(StepsTest, AStepThatEndsWhileItsJobRunsIsFound) {
  begin();
  start(0);
  story.lie(ended(IntervalSet({0, 0}), StepState::failed));
  expect("while its job runs");
}

TEST_F(StepsTest, AStepThatEndsOtherwiseThanItsJobIsFound) {
  begin();
  finish(start(0), Outcome::failed);
  story.lie(ended(IntervalSet({0, 0}), StepState::succeeded));
  expect("although its job ended as failed");
}

TEST_F(StepsTest, ABlockedStepWithoutAReasonIsFound) {
  begin({step("a"), step("b", {{0}}), step("c")});
  run(0);
  run(2, Outcome::failed);
  story.lie(ended(IntervalSet({1, 1}), StepState::blocked, "needs c, which did not succeed"));
  expect("for a reason that is none");
}

TEST_F(StepsTest, ASkippedStepWhoseNeedWasNotSkippedIsFound) {
  begin();
  run(0, Outcome::failed);
  story.lie(ended(IntervalSet({1, 1}), StepState::skipped, "needs a, which was skipped"));
  expect("for a reason that is none");
}

TEST_F(StepsTest, ACancelledStepThatNobodyCancelledIsFound) {
  begin();
  story.lie(ended(IntervalSet({0, 1}), StepState::cancelled));
  expect("although nobody cancelled it");
}

TEST_F(StepsTest, AnEndThatLeavesAStepBehindIsFound) {
  begin();
  run(0);
  story.lie(core::WorkflowEnded{kFlow, Outcome::succeeded, "",
                                tally({{StepState::succeeded, 1}, {StepState::ready, 1}})});
  expect("ends although step b has not ended");
}

TEST_F(StepsTest, AWrongCountIsFound) {
  begin();
  run(0);
  run(1);
  story.lie(core::WorkflowEnded{kFlow, Outcome::succeeded, "", tally({{StepState::succeeded, 1}})});
  expect("wrong count");
}

TEST_F(StepsTest, AFailureThatIsPassedOverIsFound) {
  begin({step("a")});
  run(0, Outcome::failed);
  story.lie(core::WorkflowEnded{kFlow, Outcome::succeeded, "", tally({{StepState::failed, 1}})});
  expect("ended as succeeded although its steps say failed");
}

TEST_F(StepsTest, AFailureThatOneFollowerDoesNotPutUpWithIsFound) {
  begin({step("a"), step("b", {{0, true, false}}), step("c", {{0}})});
  run(0, Outcome::failed);
  story.say(ended(IntervalSet({2, 2}), StepState::blocked, "needs a, which did not succeed"));
  run(1);
  story.lie(core::WorkflowEnded{
      kFlow, Outcome::succeeded, "",
      tally({{StepState::succeeded, 1}, {StepState::failed, 1}, {StepState::blocked, 1}})});
  expect("although its steps say failed");
}

TEST_F(StepsTest, AToleratedFailureThatIsHeldAgainstItIsFound) {
  begin({step("a"), step("b", {{0, true, false}})});
  run(0, Outcome::failed);
  run(1);
  story.lie(core::WorkflowEnded{kFlow, Outcome::failed, "",
                                tally({{StepState::succeeded, 1}, {StepState::failed, 1}})});
  expect("although its steps say succeeded");
}

TEST_F(StepsTest, AJobThatOutlivesItsWorkflowIsFound) {
  begin({step("a")});
  const JobId job = start(0);
  checker.began({{job, 0, 1}, "here", {}, {}, "", kNow});
  finish(job, Outcome::succeeded);
  story.say(ended(IntervalSet({0, 0}), StepState::succeeded));
  story.say(core::WorkflowEnded{kFlow, Outcome::succeeded, "", tally({{StepState::succeeded, 1}})});
  expect("runs although workflow 1 has ended");
}

TEST_F(StepsTest, ARunThatBeginsAfterTheEndIsFound) {
  begin({step("a")});
  run(0);
  story.say(core::WorkflowEnded{kFlow, Outcome::succeeded, "", tally({{StepState::succeeded, 1}})});
  checker.began({{JobId{1}, 0, 2}, "here", {}, {}, "", kNow});
  expect("begins after its workflow has ended");
}

TEST_F(StepsTest, AnotherPayloadThanTheStepsIsFound) {
  begin({step("a")});
  core::JobSubmitted job = job_of(0);
  job.payload = digest_of(7);
  story.say(job);
  checker.began({{job.id, 0, 1}, "here", {}, {}, "run-8", kNow});
  expect("which is not what its step runs");
}

TEST_F(StepsTest, AStepThatBeginsInAPausedWorkflowIsFound) {
  begin();
  story.say(core::WorkflowPaused{kFlow, true});
  story.lie(job_of(0));
  expect("that is paused");
}

TEST_F(StepsTest, AStepThatBeginsInACancelledWorkflowIsFound) {
  begin();
  story.say(core::WorkflowCancelled{kFlow});
  story.lie(job_of(0));
  expect("that is cancelled");
}

TEST_F(StepsTest, MoreAtOnceThanAllowedIsFound) {
  begin({step("a"), step("b")}, false, 1);
  start(0);
  story.lie(job_of(1));
  expect("as many as may be under way at once");
}

TEST_F(StepsTest, AStepThatKeepsWhatAReopenedOneLeftIsFound) {
  begin();
  run(0);
  start(1);
  story.lie(core::StepsReopened{kFlow, IntervalSet({0, 0})});
  expect("goes on with what a left");
}

// Others of the workflow are reopened while a step that was cancelled with it still stops.
TEST_F(StepsTest, AStepThatWasStoppedEndsAsCancelledAlsoWhenItsWorkflowGoesOn) {
  core::NewStep fed = step("fed");
  fed.feed.queue = "urls";
  begin({step("a"), fed});
  story.say(core::StepFeeding{{kFlow, 1}, QueueId{1}, {}});
  story.say(core::WorkflowCancelled{kFlow, "", false});
  story.say(core::FeedStopped{{kFlow, 1}, ""});
  story.say(ended(IntervalSet({0, 0}), StepState::cancelled));
  story.say(core::StepsReopened{kFlow, IntervalSet({0, 0})});
  story.say(ended(IntervalSet({1, 1}), StepState::cancelled));
  EXPECT_EQ(checker.broken(), "");
}

TEST_F(StepsTest, AStepThatIsStoppedByNobodyIsFound) {
  core::NewStep fed = step("fed");
  fed.feed.queue = "urls";
  begin({fed});
  story.say(core::StepFeeding{{kFlow, 0}, QueueId{1}, {}});
  story.lie(core::FeedStopped{{kFlow, 0}, ""});
  expect("is stopped although nobody cancelled it");
}

TEST_F(StepsTest, AJobOfAStepThatRunsAgainByItselfIsFound) {
  begin();
  run(0);
  core::JobReopened again;
  again.job.id = JobId{1};
  story.lie(again);
  expect("behind its workflow's back");
}

TEST_F(StepsTest, AWorkflowThatIsReopenedAsAnotherIsFound) {
  begin({step("a")});
  run(0);
  core::Workflow was = story.state.workflows.at(kFlow);
  story.say(core::WorkflowEnded{kFlow, Outcome::succeeded, "", tally({{StepState::succeeded, 1}})});
  was.steps[0].state = StepState::failed;
  story.lie(core::WorkflowReopened{was});
  expect("is reopened as something else than it was");
}

TEST_F(StepsTest, AWorkflowThatHangsIsFound) {
  begin();
  run(0);
  checker.settled({story.state, story.state, story.journal, story.journal, kNow, true, false});
  expect("workflow 1 hangs: step b has not begun");
}

TEST_F(StepsTest, AWorkflowThatIsGoneAfterARestartIsFound) {
  Acknowledged acknowledged;
  Story other(acknowledged);
  const core::StepsAdded added{kFlow, 0, {}, {step("a")}};
  other.lie(added);
  const Result<runtime::Accepted> answer =
      runtime::Accepted{{{kNow, {}, added}}, {}, false, other.sequence};
  const core::Request request{{UserId{1}, false, {}}, core::SubmitWorkflow{}};
  acknowledged.told({request, "", false, answer});
  other.look(other.state, true);
  EXPECT_TRUE(says(acknowledged.broken(), "workflow 1 is neither live nor in history"))
      << acknowledged.broken();
}

TEST_F(StepsTest, ARefusedWorkflowThatIsRecordedIsFound) {
  Acknowledged acknowledged;
  Story other(acknowledged);
  core::SubmitWorkflow submit;
  submit.name = "flow";
  const core::Request request{{UserId{1}, false, {}}, submit};
  const Result<runtime::Accepted> refused = fail(ErrorCode::invalid, "no");
  acknowledged.told({request, "", false, refused});
  other.say(core::WorkflowSubmitted{kFlow, NamespaceId{1}, UserId{1}, "flow"});
  EXPECT_TRUE(says(acknowledged.broken(), "refused, yet")) << acknowledged.broken();
}

}  // namespace
}  // namespace atl::sim
