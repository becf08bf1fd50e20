#include "sim/checkers/replay.h"

namespace atl::sim {

void Replay::committed(uint64_t sequence, const core::State& after) {
  if (sequence % kCommitsEvery != 0) return;
  const std::string broken = core::broken_invariant(after);
  if (!broken.empty()) broke("after commit " + std::to_string(sequence) + ": " + broken);
}

void Replay::looked(const Glimpse& glimpse) {
  if (glimpse.restarted || ++looks_ % kLoadEvery == 0) return check_load(glimpse);
  if (looks_ % kCompareEvery == 0 && !(glimpse.live == glimpse.replayed)) {
    broke("the runtime's state is not what its commits make");
  }
}

void Replay::check_load(const Glimpse& glimpse) {
  const auto loaded = glimpse.journal.load();
  if (!loaded) return broke("the journal cannot be loaded: " + loaded.error().message);
  if (!(loaded->state == glimpse.replayed)) broke("a fresh load is not what the commits make");
  if (!(glimpse.live == glimpse.replayed))
    broke("the runtime's state is not what its commits make");
  const std::string broken = core::broken_invariant(glimpse.live);
  if (!broken.empty()) broke(broken);
}

}  // namespace atl::sim
