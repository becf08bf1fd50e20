#include "core/scheduling/round.h"

#include "core/scheduling/candidates.h"
#include "core/scheduling/filter.h"
#include "core/scheduling/place.h"
#include "core/scheduling/rank.h"

namespace atl::core::scheduling {
namespace {

uint32_t next_attempt(const Job& job, uint32_t index) {
  const auto tries = job.tries.find(index);
  return tries == job.tries.end() ? 1 : tries->second.attempts + 1;
}

enum class Stuck { no, job, group };

// Places as many indices of one job as fit. Says what stopped it: the job itself, or its whole
// group.
Stuck place_job(World& world, const Job& job, const Terms& terms, uint32_t max,
                std::vector<TaskPlaced>& placed) {
  const bool devices = !terms.resources.devices.empty();
  for (const Interval& range : job.waiting.ranges()) {
    for (uint64_t index = range.first; index <= range.last; ++index) {
      if (placed.size() >= max) return Stuck::group;
      if (over_array_limit(world, job, terms)) return Stuck::job;
      if (over_quota(world, job.ns, terms)) return Stuck::group;
      const auto placement = place(world, terms, devices ? allowance(world, job.ns) : Allowance{});
      if (!placement) return Stuck::group;
      take(world, job, terms, *placement);
      const auto at = static_cast<uint32_t>(index);
      placed.push_back({AttemptId{job.id, at, next_attempt(job, at)}, *placement});
    }
  }
  return Stuck::no;
}

}  // namespace

std::vector<TaskPlaced> round(const State& state, uint32_t max) {
  std::vector<TaskPlaced> placed;
  if (state.backlog.empty()) return placed;
  World world = look(state);
  const std::vector<Candidate> all = candidates(state);
  Ranking ranking(all);
  while (const Cursor* best = ranking.best()) {
    if (placed.size() >= max) break;
    const Job& job = state.jobs.at(best->head());
    const Stuck stuck = place_job(world, job, *best->candidate->terms, max, placed);
    if (stuck == Stuck::group)
      ranking.drop();
    else
      ranking.advance();
  }
  return placed;
}

}  // namespace atl::core::scheduling
