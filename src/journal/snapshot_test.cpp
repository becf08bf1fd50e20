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
