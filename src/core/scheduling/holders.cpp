#include "core/scheduling/holders.h"

#include <algorithm>

#include "core/cohorts.h"
#include "core/scheduling/place.h"
#include "core/scheduling/yield.h"

namespace atl::core::scheduling {
namespace {

// What of the resource a task has that is there.
int64_t amount_of(const Holder& holder, const Terms& its, const Terms& asked,
                  const std::string& resource) {
  if (resource == "cpu") return its.resources.cpu_milli;
  if (resource == "memory") return its.resources.memory_bytes;
  if (resource == "tasks") return 1;
  int64_t sum = 0;
  for (const HeldDevice& held : holder.devices) {
    const bool named = resource == held.kind || resource == device_name(held.kind, held.model);
    const bool wanted = std::any_of(
        asked.resources.devices.begin(), asked.resources.devices.end(),
        [&](const DeviceRequest& request) {
          const std::vector<std::string> models = models_of(request);
          return request.kind == held.kind &&
                 std::any_of(models.begin(), models.end(), [&](const std::string& model) {
                   return model.empty() || model == held.model;
                 });
        });
    if (named || (wanted && resource.starts_with(held.kind + ":"))) sum += held.counts_milli;
  }
  return sum;
}

}  // namespace

bool below(const State& state, NamespaceId ns, CohortId cohort) {
  bool found = false;
  for_each_cohort(state, state.namespaces.at(ns).stake.cohort,
                  [&](const Cohort& each) { found |= each.id == cohort; });
  return found;
}

std::vector<HeldBy> held_by(const World& world, const Job& job, const Terms& terms,
                            const Block& block) {
  const bool by_quota = block.obstacle == Obstacle::quota;
  if (!by_quota && block.obstacle != Obstacle::capacity) return {};
  const CohortId cohort = by_quota ? over_quota_of(world, job.ns, terms) : CohortId{};
  const std::set<TaskId> borrowed = borrowed_tasks(world);
  std::map<NamespaceId, HeldBy> sums;
  std::set<NamespaceId> open;  // of which nobody knows when they end
  for (const NodeView& view : world.nodes) {
    if (!by_quota && (!meant(view, terms) || !node_could(*view.node, terms.resources))) continue;
    for (const auto& [task, holder] : view.node->holders) {
      const bool counts =
          !by_quota || (cohort ? below(*world.state, holder.ns, cohort) : holder.ns == job.ns);
      const Terms& its = world.state->terms.at(holder.terms).terms;
      const int64_t amount = counts ? amount_of(holder, its, terms, block.resource) : 0;
      if (amount == 0) continue;
      HeldBy& sum = sums[holder.ns];
      sum.ns = holder.ns;
      sum.amount += amount;
      if (borrowed.count(task)) sum.borrowed += amount;
      if (!sum.since || holder.since < sum.since) sum.since = holder.since;
      sum.until = std::max(sum.until, holder.until);
      if (!holder.until) open.insert(holder.ns);
    }
  }
  std::vector<HeldBy> list;
  for (auto& [ns, sum] : sums) {
    if (open.count(ns)) sum.until = {};
    list.push_back(sum);
  }
  std::sort(list.begin(), list.end(), [](const HeldBy& a, const HeldBy& b) {
    return std::tie(b.amount, a.ns) < std::tie(a.amount, b.ns);
  });
  return list;
}

}  // namespace atl::core::scheduling
