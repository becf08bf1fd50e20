#include "core/scheduling/line.h"

#include <algorithm>

#include "core/limits.h"
#include "core/scheduling/filter.h"

namespace atl::core::scheduling {
namespace {

// Room that is handed on must be room there is: a node or a quota that shrank gets it back instead.
bool fits(const NodeView& node) { return node.free.cpu_milli >= 0 && node.free.memory_bytes >= 0; }

const NodeView* usable_node(const World& world, const Placement& at) {
  for (const NodeView& view : world.nodes) {
    if (view.site == at.site && view.node->capacity.name == at.node) return &view;
  }
  return nullptr;
}

bool lines_up(const Site& site) {
  return std::find(site.abilities.begin(), site.abilities.end(), kLineAbility) !=
         site.abilities.end();
}

// One that has been there for a while is not about to end, whatever others of its kind did.
bool about_to_end(const TaskState& state, Time now) {
  const auto fresh = [&](const auto& s) { return now < s.placed + kInLineMax; };
  if (const auto* starting = std::get_if<TaskStarting>(&state)) return fresh(*starting);
  const auto* running = std::get_if<TaskRunning>(&state);
  return running && !running->unreachable && fresh(*running);
}

}  // namespace

std::optional<Leader> next_leader(World& world, const Job& job, const Terms& terms) {
  const State& state = *world.state;
  const auto groups = state.leaders.find(job.ns);
  if (groups == state.leaders.end() || !state.terms.at(job.terms).brisk) return std::nullopt;
  const auto group = groups->second.find(job.terms);
  if (group == groups->second.end()) return std::nullopt;
  if (over_calendar(world, terms)) return std::nullopt;
  if (!within_quota(world, job.ns)) return std::nullopt;
  if (terms.parallel_max > 0 && job.placed > terms.parallel_max) return std::nullopt;
  // An array's own limit counts by job, so it keeps to its own leaders.
  const JobId only = terms.parallel_max > 0 ? job.id : JobId{};
  const std::set<AttemptId>& leaders = group->second;
  const std::tuple place{job.ns, job.terms, only};
  auto& at = world.led.try_emplace(place, leaders.lower_bound({only, 0, 0})).first->second;
  while (at != leaders.end() && (!only || at->job == only)) {
    const AttemptId attempt = *at++;
    const Task& task = state.job(attempt.job)->tasks.at(attempt.index);
    const Placement& placement = *placement_of(task.state);
    if (!lines_up(state.sites.at(placement.site)) || !about_to_end(task.state, state.now)) continue;
    const NodeView* node = usable_node(world, placement);
    if (node && fits(*node)) return Leader{attempt, &placement};
  }
  return std::nullopt;
}

}  // namespace atl::core::scheduling
