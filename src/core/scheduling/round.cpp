#include "core/scheduling/round.h"

#include "core/limits.h"
#include "core/scheduling/filter.h"
#include "core/scheduling/line.h"
#include "core/scheduling/place.h"
#include "core/scheduling/plan.h"
#include "core/scheduling/rank.h"
#include "core/scheduling/yield.h"

namespace atl::core::scheduling {
namespace {

uint32_t next_attempt(const Job& job, uint32_t index) {
  const auto tries = job.tries.find(index);
  return tries == job.tries.end() ? 1 : tries->second.attempts + 1;
}

// What stands in the way of one more task of a job: the job's own limit, what its namespace may
// use, or room.
enum class Stuck { job, quota, room };

tl::expected<Placement, Stuck> find_room(const World& world, const Job& job, const Terms& terms) {
  if (over_array_limit(world, job, terms)) return tl::unexpected(Stuck::job);
  if (over_quota(world, job.ns, terms)) return tl::unexpected(Stuck::quota);
  const bool devices = !terms.resources.devices.empty();
  const Allowance allowed = devices ? allowance(world, job.ns) : Allowance{};
  if (auto placement = place(world, terms, allowed)) return std::move(*placement);
  const bool by_quota = !allowed.empty() && place(world, terms);
  return tl::unexpected(by_quota ? Stuck::quota : Stuck::room);
}

// The indices of one job that wait, one after the other.
class Indices {
 public:
  explicit Indices(const Job& job) : job_(job), range_(job.waiting.ranges().begin()) {
    if (range_ != job.waiting.ranges().end()) next_ = range_->first;
  }
  bool done() const { return range_ == job_.waiting.ranges().end(); }
  AttemptId attempt() const {
    const auto index = static_cast<uint32_t>(next_);
    return {job_.id, index, next_attempt(job_, index)};
  }
  void advance() {
    if (++next_ <= range_->last) return;
    if (++range_ != job_.waiting.ranges().end()) next_ = range_->first;
  }

 private:
  const Job& job_;
  std::decay_t<decltype(std::declval<const IntervalSet&>().ranges())>::const_iterator range_;
  uint64_t next_ = 0;
};

class Round {
 public:
  Round(const State& state, Time now, uint32_t max)
      : state_(state), world_(look(state, now)), max_(max) {}

  void run() {
    for (const Tier tier : kTiers) serve(tier);
  }
  Decisions take_decisions() { return std::move(made_); }
  World take_world() { return std::move(world_); }

 private:
  void serve(Tier tier) {
    Ranking ranking(world_, tier);
    while (made_.placed.size() < max_ && world_.full.size() < state_.shapes.size()) {
      const auto head = ranking.best();
      if (!head) return;
      try_one(ranking, *head);
    }
  }

  // Places one task of the job, or finds out what to look at instead.
  void try_one(Ranking& ranking, const Ranking::Head& head) {
    const Job& job = state_.jobs.at(head.job);
    const Terms& terms = state_.terms_of(job);
    Indices& indices = under_way_.try_emplace(head.job, job).first->second;
    if (indices.done()) return ranking.advance();
    auto room = find_room(world_, job, terms);
    if (room) {
      take(world_, job, terms, *room);
      if (yielders_) yielders_->placed(job, terms, *room);
      made_.placed.push_back({indices.attempt(), std::move(*room), {}});
      indices.advance();
      return ranking.charged();
    }
    if (const auto leader = may_line_up_ ? next_leader(world_, job, terms) : std::nullopt) {
      made_.placed.push_back({indices.attempt(), *leader->placement, leader->attempt});
      return indices.advance();
    }
    if (room.error() == Stuck::job) return ranking.advance();
    if (promised(job, terms)) return indices.advance();
    if (room.error() == Stuck::quota) return ranking.drop();
    wait_for_room(job, terms);
    world_.full.insert(head.shape);
  }

  // Whether others make room for one more task of the job, or have begun to.
  bool promised(const Job& job, const Terms& terms) {
    if (promises_ >= kPromisesPerRoundMax) return false;
    if (!yielders_) yielders_.emplace(world_);
    const auto yielding = yielders_->make_room(job, terms);
    if (!yielding) return false;
    ++promises_;
    yielders_->settle(*yielding, job, terms, world_);
    world_.claims.push_back({job.id, yielding->node, {}});
    for (const TaskStopping& stop : yielding->stops) made_.stops.push_back(stop);
    may_line_up_ = false;
    return true;
  }

  // Room that comes free is for those who wait for it first, not for who comes after.
  void wait_for_room(const Job& job, const Terms& terms) {
    if (may_line_up_) may_line_up_ = why_not_placed(world_, terms).obstacle != Obstacle::capacity;
    if (awaited_ >= kAwaitedPerRoundMax) return;
    const auto opening = soonest(world_, terms);
    if (!opening) return;
    ++awaited_;
    NodeView& view = world_.nodes[opening->node];
    claim(view, terms.resources, opening->ending, opening->at);
    view.awaited = true;
    world_.claims.push_back({job.id, opening->node, opening->at});
  }

  const State& state_;
  World world_;
  const uint32_t max_;
  bool may_line_up_ = true;
  uint32_t promises_ = 0;
  uint32_t awaited_ = 0;
  std::optional<Yielders> yielders_;
  std::map<JobId, Indices> under_way_;
  Decisions made_;
};

}  // namespace

Decisions round(const State& state, Time now, uint32_t max) {
  if (state.backlog.empty()) return {};
  Round round(state, now, max);
  round.run();
  return round.take_decisions();
}

World after_round(const State& state, Time now) {
  Round round(state, now, UINT32_MAX);
  round.run();
  return round.take_world();
}

}  // namespace atl::core::scheduling
