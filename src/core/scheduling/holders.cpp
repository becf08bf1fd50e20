#include "core/scheduling/holders.h"

#include <algorithm>

#include "core/calendar.h"
#include "core/cohorts.h"
#include "core/scheduling/place.h"
#include "core/scheduling/plan.h"
#include "core/scheduling/yield.h"

namespace atl::core::scheduling {
namespace {

// What of a block's resource a task has.
class Measure {
 public:
  Measure(const Terms& asked, const Block& block) : block_(block) {
    for (const DeviceRequest& request : asked.resources.devices) {
      if (block.obstacle == Obstacle::capacity && request_name(request) == block.resource)
        request_ = &request;
    }
  }

  int64_t of(const Node& node, const Holder& holder, const Terms& its) const {
    if (block_.resource == "cpu") return its.resources.cpu_milli;
    if (block_.resource == "memory") return its.resources.memory_bytes;
    if (block_.resource == "tasks") return 1;
    int64_t sum = 0;
    for (const HeldDevice& held : holder.devices) {
      if (counts(node, held)) sum += held.counts_milli;
    }
    return sum;
  }

 private:
  // On a node the devices that would serve the request, for a quota those that it counts.
  bool counts(const Node& node, const HeldDevice& held) const {
    if (!request_)
      return block_.resource == held.kind || block_.resource == device_name(held.kind, held.model);
    const auto& devices = node.capacity.devices;
    return std::any_of(devices.begin(), devices.end(), [&](const Device& device) {
      return device.unit == held.unit && device.kind == held.kind && serves(device, *request_);
    });
  }

  const Block& block_;
  const DeviceRequest* request_ = nullptr;
};

// When so much has come free, by what each gives back and when.
Time when_free(std::vector<std::pair<Time, int64_t>> ends, int64_t lacking) {
  std::sort(ends.begin(), ends.end());
  for (const auto& [until, amount] : ends) {
    lacking -= amount;
    if (lacking <= 0) return until;
  }
  return {};
}

// When the node has enough of the one resource: devices have to be free as they are asked for.
Time when_fits(const World& world, size_t at, NamespaceId ns, Terms terms, const Block& block) {
  Resources only;
  if (block.resource == "cpu")
    only.cpu_milli = terms.resources.cpu_milli;
  else if (block.resource == "memory")
    only.memory_bytes = terms.resources.memory_bytes;
  else
    only.devices = terms.resources.devices;
  terms.resources = std::move(only);
  return soonest_on(world, at, ns, terms, block.members);
}

// Whose use a quota counts, or the calendar.
class Among {
 public:
  Among(const World& world, const Job& job, const Terms& terms, const Block& block)
      : world_(world), job_(job), terms_(terms), block_(block) {
    if (block.obstacle == Obstacle::quota) cohort_ = over_quota_of(world, job.ns, terms);
  }
  bool known() const {
    return block_.obstacle == Obstacle::quota || block_.obstacle == Obstacle::calendar;
  }
  bool counts(const NodeView& view, const Holder& holder, const Terms& its) const {
    if (block_.obstacle == Obstacle::calendar) return its.tier == terms_.tier && !view.only_by_name;
    return cohort_ ? below(*world_.state, holder.ns, cohort_) : holder.ns == job_.ns;
  }

 private:
  const World& world_;
  const Job& job_;
  const Terms& terms_;
  const Block& block_;
  CohortId cohort_;
};

}  // namespace

bool below(const State& state, NamespaceId ns, CohortId cohort) {
  bool found = false;
  for_each_cohort(state, state.namespaces.at(ns).stake.cohort,
                  [&](const Cohort& each) { found |= each.id == cohort; });
  return found;
}

Holders holders_of(const World& world, const Job& job, const Terms& terms, const Block& block) {
  const bool on_node = block.obstacle == Obstacle::capacity;
  const Among among(world, job, terms, block);
  if (!on_node && !among.known()) return {};
  const Measure measure(terms, block);
  const std::set<TaskId> borrowed = borrowed_tasks(world);
  std::map<NamespaceId, HeldBy> sums;
  std::set<NamespaceId> open;  // of which nobody knows when they end
  std::vector<std::pair<Time, int64_t>> ends;
  Holders found;
  for (size_t i = 0; i < world.nodes.size(); ++i) {
    const NodeView& view = world.nodes[i];
    if (on_node && full_name(view) != block.holder) continue;
    if (on_node) found.enough_by = when_fits(world, i, job.ns, terms, block);
    for (const auto& [task, holder] : view.node->holders) {
      const Terms& its = world.state->terms.at(holder.terms).terms;
      const bool counts = on_node || among.counts(view, holder, its);
      const int64_t amount = counts ? measure.of(*view.node, holder, its) : 0;
      if (amount == 0) continue;
      HeldBy& sum = sums[holder.ns];
      sum.ns = holder.ns;
      sum.amount += amount;
      if (borrowed.count(task)) sum.borrowed += amount;
      if (!sum.since || holder.since < sum.since) sum.since = holder.since;
      sum.until = std::max(sum.until, holder.until);
      if (!holder.until) open.insert(holder.ns);
      if (holder.until && !handed_on(*world.state, task, holder))
        ends.emplace_back(holder.until, amount);
    }
  }
  for (auto& [ns, sum] : sums) {
    if (open.count(ns)) sum.until = {};
    found.sum += sum.amount;
    found.all.push_back(sum);
  }
  std::sort(found.all.begin(), found.all.end(), [](const HeldBy& a, const HeldBy& b) {
    return std::tie(b.amount, a.ns) < std::tie(a.amount, b.ns);
  });
  if (!on_node)
    found.enough_by = when_free(std::move(ends), block.in_use + block.asked - block.limit);
  // By then another entry may hold.
  if (block.obstacle == Obstacle::calendar &&
      found.enough_by > next_change(only_of(world.state->calendar, terms.tier), world.now))
    found.enough_by = {};
  return found;
}

}  // namespace atl::core::scheduling
