#include "core/scheduling/round.h"

#include "core/scheduling/candidates.h"
#include "core/scheduling/filter.h"
#include "core/scheduling/line.h"
#include "core/scheduling/place.h"
#include "core/scheduling/rank.h"

namespace atl::core::scheduling {
namespace {

uint32_t next_attempt(const Job& job, uint32_t index) {
  const auto tries = job.tries.find(index);
  return tries == job.tries.end() ? 1 : tries->second.attempts + 1;
}

// What stands in the way of one more task of a job: nothing; the job's own limit; something that
// its whole group shares, be it room that may come free or anything else.
enum class Stuck { no, job, room, group };

// Room for one more task of the job, or what stands in the way.
tl::expected<Placement, Stuck> find_room(const World& world, const Job& job, const Terms& terms) {
  if (over_array_limit(world, job, terms)) return tl::unexpected(Stuck::job);
  if (over_quota(world, job.ns, terms)) return tl::unexpected(Stuck::group);
  const bool devices = !terms.resources.devices.empty();
  auto placement = place(world, terms, devices ? allowance(world, job.ns) : Allowance{});
  if (!placement) return tl::unexpected(Stuck::room);
  return std::move(*placement);
}

// Places as many indices of one job as fit, and lines up others behind them if it `may_line_up`.
Stuck place_job(World& world, const Job& job, const Terms& terms, uint32_t max, bool may_line_up,
                std::vector<TaskPlaced>& placed) {
  for (const Interval& range : job.waiting.ranges()) {
    for (uint64_t index = range.first; index <= range.last; ++index) {
      if (placed.size() >= max) return Stuck::group;
      const auto at = static_cast<uint32_t>(index);
      const AttemptId attempt{job.id, at, next_attempt(job, at)};
      auto room = find_room(world, job, terms);
      if (room) {
        take(world, job, terms, *room);
        placed.push_back({attempt, std::move(*room), {}});
        continue;
      }
      const auto leader = may_line_up ? next_leader(world, job, terms) : std::nullopt;
      if (!leader) return room.error();
      placed.push_back({attempt, *leader->placement, leader->attempt});
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
  bool may_line_up = true;
  while (const Cursor* best = ranking.best()) {
    if (placed.size() >= max) break;
    const Job& job = state.jobs.at(best->head());
    const Stuck stuck = place_job(world, job, *best->candidate->terms, max, may_line_up, placed);
    if (stuck == Stuck::no || stuck == Stuck::job) {
      ranking.advance();
      continue;
    }
    // Room that comes free is for the one that waits for it first, not for who comes after.
    if (may_line_up && stuck == Stuck::room)
      may_line_up = why_not_placed(world, *best->candidate->terms).obstacle != Obstacle::capacity;
    ranking.drop();
  }
  return placed;
}

}  // namespace atl::core::scheduling
