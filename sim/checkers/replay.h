// What all of it stands on: the state that the runtime has is the state that the journal gives,
// derived parts included, and no invariant of the core is broken. The invariants are checked after
// every second commit (between two events of one decision a job may have nothing left to do and not
// be ended yet), the runtime's state against its commits at every fourth look, and both against a
// fresh load at each restart and every kLoadEvery looks.
#pragma once

#include "sim/checkers/checker.h"

namespace atl::sim {

class Replay : public Checker {
 public:
  std::string_view promise() const override {
    return "formula, the same journal gives the same state";
  }
  void committed(uint64_t sequence, const core::State& after) override;
  void looked(const Glimpse& glimpse) override;
  void settled(const Glimpse& glimpse) override { check_load(glimpse); }

 private:
  static constexpr uint64_t kLoadEvery = 64;
  static constexpr uint64_t kCommitsEvery = 2;
  static constexpr uint64_t kCompareEvery = 4;

  void check_load(const Glimpse& glimpse);

  uint64_t looks_ = 0;
};

}  // namespace atl::sim
