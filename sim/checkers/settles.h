// Promise 11: after faults stop, everything reaches a terminal state in bounded time. The
// simulation gives the time and asks once when it is over.
#pragma once

#include "sim/checkers/checker.h"

namespace atl::sim {

class Settles : public Checker {
 public:
  std::string_view promise() const override { return "11, everything reaches a terminal state"; }
  void settled(const Glimpse& glimpse) override;
};

}  // namespace atl::sim
