#include "core/workflow/graph.h"

namespace atl::core::workflow {
namespace {

bool enough(const Need& need, StepState how) {
  if (how == StepState::succeeded) return true;
  return how == StepState::skipped ? need.can_skip : need.can_fail;
}

void set_state(Steps& steps, uint32_t step, StepState to) {
  --steps.tally[static_cast<size_t>(steps.states[step])];
  ++steps.tally[static_cast<size_t>(to)];
  steps.states[step] = to;
  if (to == StepState::ready)
    steps.ready.insert(step);
  else
    steps.ready.erase(step);
}

}  // namespace

Graph::Graph(const std::vector<std::vector<Need>>& needs) : first_(needs.size() + 1) {
  for (const auto& each : needs) {
    for (const Need& need : each) ++first_[need.step + 1];
  }
  for (size_t i = 0; i < needs.size(); ++i) first_[i + 1] += first_[i];
  followers_.resize(first_.back());
  std::vector<uint32_t> next(first_.begin(), first_.end() - 1);
  for (size_t i = 0; i < needs.size(); ++i) {
    for (const Need& need : needs[i])
      followers_[next[need.step]++] = {static_cast<uint32_t>(i), need.can_fail, need.can_skip};
  }
}

Steps begin(const Graph& graph) {
  Steps steps;
  steps.states.assign(graph.size(), StepState::waiting);
  steps.unmet.assign(graph.size(), 0);
  steps.tally[static_cast<size_t>(StepState::waiting)] = static_cast<uint32_t>(graph.size());
  for (uint32_t i = 0; i < graph.size(); ++i) {
    for (const Need& follower : graph.followers(i)) ++steps.unmet[follower.step];
  }
  for (uint32_t i = 0; i < graph.size(); ++i) {
    if (steps.unmet[i] == 0) set_state(steps, i, StepState::ready);
  }
  return steps;
}

void advance(const Graph& graph, Steps& steps, uint32_t step, StepState to) {
  set_state(steps, step, to);
  if (!ended(to)) return;
  for (const Need& follower : graph.followers(step)) {
    if (!enough(follower, to)) continue;
    if (--steps.unmet[follower.step] == 0 && steps.states[follower.step] == StepState::waiting)
      set_state(steps, follower.step, StepState::ready);
  }
}

std::vector<Fallen> fallen_with(const Graph& graph, const Steps& steps, uint32_t step,
                                StepState how) {
  std::vector<Fallen> fallen{{step, how}};
  std::set<uint32_t> seen;
  for (size_t at = 0; at < fallen.size(); ++at) {
    const Fallen each = fallen[at];
    for (const Need& follower : graph.followers(each.step)) {
      if (enough(follower, each.how) || steps.states[follower.step] != StepState::waiting ||
          !seen.insert(follower.step).second)
        continue;
      fallen.push_back({follower.step,
                        each.how == StepState::skipped ? StepState::skipped : StepState::blocked});
    }
  }
  fallen.erase(fallen.begin());
  return fallen;
}

}  // namespace atl::core::workflow
