// The simulated steward: what a server asks to prepare steps and to look at what they left. It
// pretends to, and comes to every kind of answer. It is part of the server's process: what it was
// asked and has not answered is lost when the server dies, and is asked again by the next one.
#pragma once

#include <functional>
#include <vector>

#include "runtime/runtime.h"
#include "sim/faults.h"
#include "sim/rng.h"
#include "sim/world.h"

namespace atl::sim {

class SimSteward {
 public:
  using Post = std::function<void(core::Report, std::vector<journal::Blob>)>;

  SimSteward(World& world, Rng rng, const Faults& faults)
      : world_(world), rng_(rng), faults_(faults) {}

  // For a server that has just begun.
  runtime::Steward connect(Post post);
  // The server is gone.
  void disconnect();
  // What it kept silent about is answered after all.
  void heal();

 private:
  void prepare(const core::PrepareStep& order);
  void collect(const core::CollectStep& order);
  void time(const core::TimeSchedule& order);
  void open(const core::OpenRun& order);
  // At once, late, twice, or not until the server is another one.
  void answer(core::Report report, std::vector<journal::Blob> blobs);
  void deliver(core::Report report, std::vector<journal::Blob> blobs);
  core::StepPrepared to_run(core::StepRef step, std::vector<journal::Blob>& blobs);

  World& world_;
  Rng rng_;
  const Faults& faults_;
  Post post_;
  uint64_t life_ = 0;  // so that no answer reaches the next server
  std::vector<std::pair<core::Report, std::vector<journal::Blob>>> silent_;
  uint64_t serial_ = 0;
};

}  // namespace atl::sim
