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

bool can(const Site& site, const char* ability) {
  return std::find(site.abilities.begin(), site.abilities.end(), ability) != site.abilities.end();
}

// How many may be behind the one that has the room.
uint32_t length_max(const Site& site, uint32_t brisk) {
  if (!can(site, kLineAbility)) return 0;
  return can(site, kLongLineAbility) ? brisk : std::min(brisk, 1u);
}

// One that has been there for a while is not about to end, whatever others of its kind did; one
// that was asked back leaves.
bool about_to_end(const Task& task, Time now) {
  const auto fresh = [&](const auto& s) { return now < s.placed + kInLineMax; };
  if (task.line && task.line->recalled) return false;
  if (const auto* starting = std::get_if<TaskStarting>(&task.state)) return fresh(*starting);
  const auto* running = std::get_if<TaskRunning>(&task.state);
  return running && !running->unreachable && fresh(*running);
}

using Tails = std::set<std::pair<uint32_t, AttemptId>>;

// The next of those that there were before the round, of the one job if there is one.
const Tails::value_type* next_tail(Led& led, const Tails& tails, JobId only) {
  while (led.at != tails.end()) {
    const auto& [before, last] = *led.at;
    if (!only || last.job == only) return &*led.at++;
    const uint32_t many = last.job < only ? before : before + 1;
    led.at = tails.lower_bound({many, {only, 0, 0}});
  }
  return nullptr;
}

// All of it: one that stays keeps everybody behind it waiting.
bool moves(const State& state, AttemptId last) {
  for (;;) {
    const Task& task = state.job(last.job)->tasks.at(last.index);
    if (!about_to_end(task, state.now)) return false;
    if (!task.line) return true;
    last = task.line->behind;
  }
}

bool usable(const World& world, const Tail& tail, uint32_t brisk) {
  const State& state = *world.state;
  if (tail.before >= length_max(state.sites.at(tail.placement->site), brisk)) return false;
  if (!moves(state, tail.attempt)) return false;
  const NodeView* node = usable_node(world, *tail.placement);
  return node && fits(*node);
}

std::optional<Tail> shortest(const World& world, Led& led, const Tails& tails, JobId only,
                             uint32_t brisk) {
  while (led.longer.empty() || (led.at != tails.end() && led.at->first <= led.longer[0].before)) {
    const auto* tail = next_tail(led, tails, only);
    if (!tail && led.longer.empty()) return std::nullopt;
    if (!tail || tail->first >= brisk) break;
    const Task& last = world.state->job(tail->second.job)->tasks.at(tail->second.index);
    const Tail found{tail->first, tail->second, placement_of(last.state)};
    if (usable(world, found, brisk)) return found;
  }
  if (led.longer.empty()) return std::nullopt;
  const Tail found = led.longer.front();
  led.longer.pop_front();
  return found;
}

}  // namespace

std::optional<Leader> line_up(World& world, const Job& job, const Terms& terms, AttemptId attempt) {
  const State& state = *world.state;
  const uint32_t brisk = state.terms.at(job.terms).brisk;
  const auto groups = state.leaders.find(job.ns);
  if (groups == state.leaders.end() || brisk == 0) return std::nullopt;
  const auto group = groups->second.find(job.terms);
  if (group == groups->second.end()) return std::nullopt;
  if (over_calendar(world, terms)) return std::nullopt;
  if (!within_quota(world, job.ns)) return std::nullopt;
  if (terms.parallel_max > 0 && job.placed > terms.parallel_max) return std::nullopt;
  // An array's own limit counts by job, so it keeps to its own leaders.
  const JobId only = terms.parallel_max > 0 ? job.id : JobId{};
  const std::tuple place{job.ns, job.terms, only};
  Led& led = world.led.try_emplace(place, Led{group->second.begin(), {}}).first->second;
  const auto tail = shortest(world, led, group->second, only, brisk);
  if (!tail) return std::nullopt;
  const uint32_t before = tail->before + 1;
  if (before < length_max(state.sites.at(tail->placement->site), brisk))
    led.longer.push_back({before, attempt, tail->placement});
  return Leader{tail->attempt, tail->placement};
}

}  // namespace atl::core::scheduling
