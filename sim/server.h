// The server as the simulated world has it: the real Runtime, stepped by the world's clock instead
// of a thread, that may die at any point and is started again on what its journal kept.
#pragma once

#include <memory>
#include <vector>

#include "runtime/runtime.h"
#include "sim/faults.h"
#include "sim/observer.h"
#include "sim/site.h"
#include "sim/steward.h"
#include "sim/world.h"

namespace atl::sim {

class Server {
 public:
  using Sites = std::vector<std::unique_ptr<SimSite>>;

  Server(World& world, SimClock& clock, Rng rng, const Faults& faults, const Sabotage& sabotage,
         journal::MemoryJournal& disk, Sites& sites, Observer& observer);

  void boot();
  // Dies now. It comes back by itself after a while.
  void crash();
  // Schedules the next turn; called after everything that happens in the world.
  void poke();

  bool up() const { return runtime_ != nullptr; }
  // Only while it is up.
  void post(runtime::Submission submission, runtime::Reply reply);
  const core::State& state() const { return runtime_->state(); }
  Time now() { return server_time(); }
  bool writable() const { return !runtime_->health().read_only; }

  // It notices by how much the clock on the wall differs from its own.
  void see_zone(int32_t utc_offset);
  void set_full(bool full) { disk_.set_full(full); }
  void snapshot();
  void apply_faults() { journal_.set_faults(faults_); }
  void heal_steward() { steward_.heal(); }
  uint64_t crashes() const { return crashes_; }
  uint64_t failed_commits() const { return journal_.failures(); }

 private:
  void turn();
  void died();
  void send_notice(const core::Notice& notice);
  Time server_time();

  World& world_;
  SimClock& clock_;
  Rng rng_;
  const Faults& faults_;
  journal::MemoryJournal& disk_;
  FaultyJournal journal_;
  SimSteward steward_;
  Sites& sites_;
  Observer& observer_;
  const runtime::Options options_;
  std::unique_ptr<runtime::Runtime> runtime_;

  uint64_t life_ = 0;  // so that nothing of a dead server reaches the next
  Time turn_at_;       // scheduled; zero: none
  uint64_t turn_id_ = 0;
  uint64_t crashes_ = 0;
};

}  // namespace atl::sim
