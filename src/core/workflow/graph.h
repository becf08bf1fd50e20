// The steps of a workflow and what the end of one means for those that need it: flat lists, so that
// a million steps are a few lists and not a million things.
#pragma once

#include <array>
#include <cstdint>
#include <set>
#include <span>
#include <vector>

namespace atl::core::workflow {

enum class StepState : uint8_t {
  waiting,  // for others
  ready,
  started,
  succeeded,
  failed,
  cancelled,
  skipped,  // its condition did not hold, or it needs one that was skipped
  blocked,  // it needs one that failed, was cancelled or was blocked itself
};
inline constexpr size_t kStepStates = 8;

constexpr bool ended(StepState state) { return state >= StepState::succeeded; }

// What a step needs, and what it puts up with.
struct Need {
  uint32_t step = 0;
  bool can_fail = false;  // the other one may end without success
  bool can_skip = false;
  bool operator==(const Need&) const = default;
};

class Graph {
 public:
  Graph() = default;
  // Of each step what it needs.
  explicit Graph(const std::vector<std::vector<Need>>& needs);

  size_t size() const { return first_.empty() ? 0 : first_.size() - 1; }
  // Those that need the step; `step` of each is the one that does.
  std::span<const Need> followers(uint32_t step) const {
    return {followers_.data() + first_[step], followers_.data() + first_[step + 1]};
  }
  bool operator==(const Graph&) const = default;

 private:
  std::vector<uint32_t> first_;  // of each step where its followers begin; one more at the end
  std::vector<Need> followers_;
};

struct Steps {
  std::vector<StepState> states;
  std::vector<uint32_t> unmet;  // needs that have not ended well enough
  std::set<uint32_t> ready;
  std::array<uint32_t, kStepStates> tally{};
  bool operator==(const Steps&) const = default;
};

// All waiting, and those ready that need nothing.
Steps begin(const Graph& graph);

// The step has gone on, or has ended: those become ready that needed only this.
void advance(const Graph& graph, Steps& steps, uint32_t step, StepState to);

// Who can never run once the step ends so: to be ended in this order.
struct Fallen {
  uint32_t step = 0;
  StepState how = StepState::blocked;
  bool operator==(const Fallen&) const = default;
};
std::vector<Fallen> fallen_with(const Graph& graph, const Steps& steps, uint32_t step,
                                StepState how);

}  // namespace atl::core::workflow
