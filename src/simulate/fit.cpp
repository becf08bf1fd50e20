#include "simulate/fit.h"

#include <algorithm>

#include "core/decide.h"
#include "core/limits.h"
#include "core/scheduling/bounds.h"
#include "core/scheduling/place.h"
#include "core/scheduling/sentence.h"
#include "spec/job_spec.h"

namespace atl::simulate {
namespace {

constexpr uint32_t kPartsTried = 1000;  // beyond the least that could do; nodes are mostly alike

int64_t part_of(int64_t amount, uint32_t parts) { return (amount + parts - 1) / parts; }

int64_t largest_node_milli(const core::State& state) {
  int64_t most = 1;
  for (const auto& [id, site] : state.sites) {
    for (const auto& [name, node] : site.nodes) most = std::max(most, node.capacity.cpu_milli);
  }
  return most;
}

}  // namespace

const Fit& Fitting::fit(const TraceJob& job) {
  const auto [it, added] = known_.try_emplace({job.memory_bytes, job.cpu_milli, job.wishes});
  if (added) it->second = look(job);
  return it->second;
}

core::Terms Fitting::terms(const TraceJob& job, const Fit& fit) const {
  const Wishes& wishes = trace_.wishes[job.wishes];
  core::Terms terms;
  terms.resources = {part_of(job.cpu_milli, fit.parts), part_of(job.memory_bytes, fit.parts),
                     wishes.devices};
  terms.wall = job.wall;
  terms.tier = job.tier;
  terms.grace = wishes.grace;
  terms.priority = wishes.priority;
  terms.parallel_max = wishes.parallel_max;
  terms.gang = fit.parts > 1 ? fit.parts : wishes.gang;
  return terms;
}

std::string Fitting::why_refused(const TraceJob& job, const Fit& fit, const Error& error) const {
  core::Terms asked = terms(job, fit);
  core::settle_parts(state_, asked.resources);
  const NamespaceId ns = state_.namespace_named(trace_.namespaces[job.ns])->id;
  const auto block = core::scheduling::beyond_quota(state_, ns, asked);
  if (!block) return error.message.substr(0, error.message.find("; "));
  return "more than the quota of " + block->holder +
         " ever allows: " + core::scheduling::format_amount(block->resource, block->limit);
}

Fit Fitting::look(const TraceJob& job) const {
  if (core::scheduling::feasible(state_, terms(job, {}))) return {};
  if (const uint32_t parts = parts_for(job); parts > 1) return {parts, {}};
  return {1, why_not(job)};
}

// As few parts as the nodes can hold together; one when there is no such number.
uint32_t Fitting::parts_for(const TraceJob& job) const {
  const bool one_task = job.tasks == 1 && trace_.wishes[job.wishes] == Wishes{};
  if (!trace_.spreads || !one_task || job.cpu_milli > state_.capacity.cpu_milli) return 1;
  const int64_t least = std::max<int64_t>(2, job.cpu_milli / largest_node_milli(state_));
  const int64_t most =
      std::min<int64_t>({core::kGangMax, job.cpu_milli / 1000, least + kPartsTried});
  for (int64_t parts = least; parts <= most; ++parts) {
    const Fit fit{static_cast<uint32_t>(parts), {}};
    if (core::scheduling::feasible(state_, terms(job, fit))) return fit.parts;
  }
  return 1;
}

bool Fitting::some_node_holds(const core::Resources& resources) const {
  for (const auto& [id, site] : state_.sites) {
    for (const auto& [name, node] : site.nodes) {
      if (core::scheduling::node_could(node, resources)) return true;
    }
  }
  return false;
}

// In words that jobs of other sizes share, so that they can be counted.
std::string Fitting::why_not(const TraceJob& job) const {
  const core::Resources resources = terms(job, {}).resources;
  if (trace_.spreads && job.cpu_milli > state_.capacity.cpu_milli)
    return "more cores than all nodes have together";
  if (some_node_holds(resources)) return "a gang too large for all nodes together";
  if (!some_node_holds({resources.cpu_milli, 0, {}}))
    return trace_.spreads ? "no way to divide it among the nodes" : "no node has so many cores";
  if (!some_node_holds({0, resources.memory_bytes, {}})) return "no node has so much memory";
  if (!some_node_holds({0, 0, resources.devices})) {
    std::string names;
    for (const core::DeviceRequest& request : resources.devices)
      names += (names.empty() ? "" : ", ") + spec::device_text(request);
    return "no node has " + names;
  }
  return "no node has all of it";
}

}  // namespace atl::simulate
