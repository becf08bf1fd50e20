// What the jobs came to of a step that goes through a queue.
#include "core/workflow/feed.h"

#include <gtest/gtest.h>

#include "core/test_world.h"

namespace atl::core {
namespace {

class FeedWorld : public TestWorld {
 public:
  FeedWorld() {
    nodes({node("n1", 4)});
    run(Request{admin(), CreateQueue{"lab", "urls", {}}});
    run(Request{admin(), PutItems{"lab", "urls", {NewItem{}, NewItem{}}}});
    SubmitWorkflow flow;
    flow.ns = "lab";
    flow.name = "flow";
    flow.kinds = {StepKind{TestWorld::job().terms, {}}};
    flow.kinds[0].terms.retry.max = 1;
    flow.steps.resize(1);
    flow.steps[0].name = "work";
    flow.steps[0].feed = {"urls", 1, 2, 1, false};
    now = Time{1000};
    run(Request{admin(), flow});
    settle();
  }

  // An attempt from `started` to now.
  void end(JobId job, uint32_t attempt, Time started, int exit_code, int64_t peak,
           std::optional<int64_t> energy) {
    run(Report{AttemptStarted{{job, 0, attempt}, started}});
    AttemptResult result;
    result.exit_code = exit_code;
    result.usage = {started, now, seconds(2), peak, 10, 20, energy};
    for (const Event& event : run(Report{AttemptEnded{{job, 0, attempt}, result}})) {
      if (const auto* ended = std::get_if<StepsEnded>(&event.body)) last = *ended;
    }
    for (;;) {
      const Events events = run(Tick{});
      if (events.empty()) return;
      for (const Event& event : events) {
        if (const auto* ended = std::get_if<StepsEnded>(&event.body)) last = *ended;
      }
    }
  }

  std::optional<StepsEnded> last;
};

TEST(Feed, TheStepEndsWithWhatAllAttemptsOfItsJobsUsed) {
  FeedWorld world;
  world.now = Time{5000};
  world.end({2}, 1, Time{3000}, 1, 700, {});
  const FeedUse& under_way = world.state.workflow({1})->feeds.at(0).use;
  EXPECT_EQ(under_way.attempts, 1u);
  EXPECT_EQ(under_way.usage.started, Time{3000});
  EXPECT_FALSE(under_way.usage.energy_mj);
  world.now = Time{6000};
  world.end({1}, 1, Time{2000}, 0, 300, 40);
  world.now = world.now + minutes(10);
  world.settle();
  world.end({2}, 2, world.now, 0, 100, 2);
  ASSERT_TRUE(world.last);
  EXPECT_EQ(world.last->how, StepState::succeeded);
  EXPECT_EQ(world.last->use.queued, Time{1000});
  EXPECT_EQ(world.last->use.attempts, 3u);
  EXPECT_EQ(world.last->use.usage, (Usage{Time{2000}, world.now, seconds(6), 700, 30, 60, 42}));
}

}  // namespace
}  // namespace atl::core
