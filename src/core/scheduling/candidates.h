// Stage one: what could be placed at all. Jobs of equal terms in one namespace are one candidate,
// so that the cost of a round grows with the shapes in the backlog, not with the jobs.
#pragma once

#include "core/state.h"

namespace atl::core::scheduling {

struct Candidate {
  NamespaceId ns;
  GroupKey group;
  const Terms* terms = nullptr;
  const std::set<JobId>* jobs = nullptr;  // ready ones, oldest first, never empty
};

std::vector<Candidate> candidates(const State& state);

}  // namespace atl::core::scheduling
