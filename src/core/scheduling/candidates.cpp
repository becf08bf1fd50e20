#include "core/scheduling/candidates.h"

namespace atl::core::scheduling {

std::vector<Candidate> candidates(const State& state) {
  std::vector<Candidate> found;
  for (const auto& [ns, groups] : state.backlog) {
    for (const auto& [key, jobs] : groups) {
      found.push_back({ns, key, &state.terms.at(key.terms).terms, &jobs});
    }
  }
  return found;
}

}  // namespace atl::core::scheduling
