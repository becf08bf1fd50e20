// Feeds the checkers. Reads the journal after every turn and after every crash, so that what it
// shows as recorded is what is durable, whatever the runtime believes; keeps the state that follows
// from those events alone.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "journal/memory_journal.h"
#include "sim/checkers/checker.h"
#include "sim/site.h"
#include "sim/world.h"

namespace atl::sim {

struct Counts {
  uint64_t jobs = 0;
  uint64_t runs = 0;  // attempts that really began
  uint64_t commits = 0;
  uint64_t answers = 0;
  uint64_t refusals = 0;
  uint64_t items_done = 0;
};

class Observer : public Witness {
 public:
  Observer(World& world, journal::MemoryJournal& journal,
           std::vector<std::unique_ptr<Checker>> checkers)
      : world_(world), journal_(journal), checkers_(std::move(checkers)) {}

  void told(const Told& told);
  void began(const RunBegan& run) override;
  void ended(const RunEnded& run) override;

  // Takes in the commits since the last call. Before a snapshot, which drops them, and after every
  // turn.
  void pull();
  void look(const core::State& live, Time now, bool writable, bool restarted);
  void settle(const core::State& live, Time now);

  // A sentence that names the promise, or empty.
  std::string broken() const;
  const Counts& counts() const { return counts_; }
  const core::State& replayed() const { return replayed_; }

 private:
  void record(uint64_t sequence, const core::Event& event);
  template <class Fn>
  void each(Fn&& fn) {
    for (const auto& checker : checkers_) fn(*checker);
  }

  World& world_;
  journal::MemoryJournal& journal_;
  std::vector<std::unique_ptr<Checker>> checkers_;
  core::State replayed_;
  uint64_t sequence_ = 0;
  Counts counts_;
};

}  // namespace atl::sim
