#include "journal/snapshot.h"

#include <gtest/gtest.h>

#include "core/core.h"
#include "journal/testing.h"

namespace atl::journal {
namespace {

std::string encode(const core::State& state) {
  std::string bytes;
  must(encode_snapshot(state, {.version = kSnapshotVersion, .sequence = 9, .chain = 5},
                       [&](std::string_view piece) -> Result<void> {
                         bytes += piece;
                         return {};
                       }));
  return bytes;
}

World busy_world(int jobs) {
  World world;
  world.found();
  for (int i = 0; i < jobs; ++i) world.submit("job " + std::to_string(i));
  const JobId id{1};
  world.happen(core::TaskPlaced{.attempt = {id, 0, 1}, .placement = {.site = {1}, .node = "n1"}});
  return world;
}

TEST(Snapshot, GivesTheStateBackOverSeveralChunks) {
  const World world = busy_world(2 * kSnapshotChunkJobs + 5);
  auto snapshot = must(decode_snapshot(encode(world.state)));
  core::rebuild_derived(snapshot.state);
  EXPECT_EQ(snapshot.head, (SnapshotHead{kSnapshotVersion, 9, 5}));
  EXPECT_TRUE(snapshot.state == world.state);
}

// Its steps in every state that a live workflow has, and what is derived of them with it.
TEST(Snapshot, GivesLiveWorkflowsBack) {
  World world;
  world.found();
  core::WorkflowSubmitted flow{{1}, {1}, {1}, "flow"};
  flow.parallel_max = 3;
  world.happen(flow);
  core::StepsAdded added{{1}, 0, {core::StepKind{}}, std::vector<core::NewStep>(6)};
  for (uint32_t i = 0; i < 6; ++i) added.steps[i].name = "s" + std::to_string(i);
  added.steps[1].prepared = added.steps[2].collected = true;
  added.steps[4].needs = {{0, true, false}, {3, false, true}};
  added.steps[5].needs = {{0}};
  world.happen(added);
  world.happen(core::WorkflowSealed{{1}});
  world.happen(core::StepPreparing{{{1}, 1}});
  for (const uint32_t step : {2u, 3u}) {
    core::JobSubmitted job;
    job.id = {step};
    job.ns = {1};
    job.user = {1};
    job.indices = IntervalSet({0, 0});
    job.of = {{1}, step};
    world.happen(job);
  }
  world.run({2});
  world.happen(core::StepCollecting{{{1}, 2}});
  world.happen(core::StepsEnded{{1}, IntervalSet({0, 0}), core::StepState::failed, "", "", {}, {}});
  world.happen(
      core::StepsEnded{{1}, IntervalSet({5, 5}), core::StepState::blocked, "", "", {}, {}});
  flow.id = {2};
  world.happen(flow);
  world.happen(core::StepsAdded{{2}, 0, {core::StepKind{}}, {added.steps[0]}});
  auto snapshot = must(decode_snapshot(encode(world.state)));
  core::rebuild_derived(snapshot.state);
  EXPECT_TRUE(snapshot.state == world.state);
  EXPECT_EQ(snapshot.state.workflows.at({1}).under_way, 3u);
  EXPECT_EQ(snapshot.state.workflows_unsealed, (std::set<WorkflowId>{{2}}));
}

TEST(Snapshot, AnEmptyStateHasOne) {
  EXPECT_TRUE(must(decode_snapshot(encode({}))).state == core::State{});
}

TEST(Snapshot, AnyFlippedBitIsNoticed) {
  const std::string bytes = encode(busy_world(20).state);
  for (size_t at = 0; at < bytes.size(); ++at) {
    std::string damaged = bytes;
    damaged[at] = static_cast<char>(damaged[at] ^ (1 << (at % 8)));
    EXPECT_FALSE(decode_snapshot(damaged)) << "byte " << at;
    EXPECT_FALSE(verify_snapshot(damaged)) << "byte " << at;
  }
}

TEST(Snapshot, AnyCutIsNoticed) {
  const std::string bytes = encode(busy_world(20).state);
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(decode_snapshot(std::string_view(bytes).substr(0, size))) << size;
    EXPECT_FALSE(verify_snapshot(std::string_view(bytes).substr(0, size))) << size;
  }
  EXPECT_TRUE(verify_snapshot(bytes));
}

TEST(Snapshot, StopsAtTheFirstPieceThatCannotBeWritten) {
  int pieces = 0;
  const auto done = encode_snapshot({}, {}, [&](std::string_view) -> Result<void> {
    ++pieces;
    return fail(ErrorCode::unavailable, "full");
  });
  EXPECT_FALSE(done);
  EXPECT_EQ(pieces, 1);
}

}  // namespace
}  // namespace atl::journal
