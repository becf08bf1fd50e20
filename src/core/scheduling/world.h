// What a scheduling round sees: free capacity of every usable node, what everybody uses, and the
// time, as of the state plus what the round itself has placed so far.
#pragma once

#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "core/state.h"

namespace atl::core::scheduling {

struct NodeView {
  SiteId site;
  const std::string* site_name = nullptr;
  const Node* node = nullptr;
  bool only_by_name = false;  // no place for work that does not ask for it
  int64_t cpu_milli_free = 0;
  int64_t memory_bytes_free = 0;
  std::vector<const Device*> devices_free;  // in the node's order
};

struct World {
  const State* state = nullptr;
  Time now;
  std::vector<NodeView> nodes;  // usable: reported, not gone, their site not draining
  Terms smallest;               // of each resource the least that anybody waits for
  std::set<ShapeId> full;       // shapes for which the round has found no room

  // Only of those for whom this round has placed something.
  std::map<NamespaceId, InUse> in_use;
  std::map<CohortId, InUse> cohort_in_use;
  std::map<std::tuple<CohortId, NamespaceId, UserId>, Amounts> charged;
  std::map<JobId, uint32_t> placed_of_job;

  // How far the leaders of a group, or of one job in it, have been given followers by this round.
  std::map<std::tuple<NamespaceId, TermsId, JobId>, std::set<AttemptId>::const_iterator> led;

  const InUse& in_use_of(NamespaceId ns) const;
  const InUse& in_use_of(CohortId cohort) const;
};

// A site that only pretends is no place for work that did not ask for it, unless there is no other
// kind.
bool only_by_name(const State& state, const Site& site);

World look(const State& state, Time now);

// Records a placement that the round has decided.
void take(World& world, const Job& job, const Terms& terms, const Placement& placement);

}  // namespace atl::core::scheduling
