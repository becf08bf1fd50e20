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

// What stands in the way of one more task of a job: the job's own limit, what its namespace or at
// this time its tier may use, or room.
enum class Stuck { job, quota, calendar, room };

// `then`, if there is one, has the sums when those that stop have ended and others have what they
// were promised: a quota must do for that too.
tl::expected<Placement, Stuck> find_room(const World& world, const Job& job, const Terms& terms,
                                         const World* then) {
  if (over_array_limit(world, job, terms)) return tl::unexpected(Stuck::job);
  if (over_calendar(world, terms)) return tl::unexpected(Stuck::calendar);
  if (over_quota(world, job.ns, terms) || (then && over_quota(*then, job.ns, terms)))
    return tl::unexpected(Stuck::quota);
  const bool devices = !terms.resources.devices.empty();
  const Allowance allowed = devices ? allowance(world, job.ns, terms.tier) : Allowance{};
  if (auto placement = place(world, terms, allowed, job.ns)) return std::move(*placement);
  const bool by_quota = !allowed.empty() && place(world, terms, {}, job.ns);
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
  void finish() { range_ = job_.waiting.ranges().end(); }
  void advance() {
    if (++next_ <= range_->last) return;
    if (++range_ != job_.waiting.ranges().end()) next_ = range_->first;
  }

 private:
  const Job& job_;
  std::decay_t<decltype(std::declval<const IntervalSet&>().ranges())>::const_iterator range_;
  uint64_t next_ = 0;
};

size_t node_at(const World& world, const Placement& placement) {
  size_t at = 0;
  while (world.nodes[at].site != placement.site ||
         world.nodes[at].node->capacity.name != placement.node)
    ++at;
  return at;
}

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
      if (!head) break;
      try_one(ranking, *head);
    }
    // What the calendar keeps from this tier the next may have.
    for (const ShapeId shape : shut_) world_.full.erase(shape);
    shut_.clear();
  }

  // Places one task of the job, or finds out what to look at instead.
  void try_one(Ranking& ranking, const Ranking::Head& head) {
    const Job& job = state_.jobs.at(head.job);
    const Terms& terms = state_.terms_of(job);
    Indices& indices = under_way_.try_emplace(head.job, job).first->second;
    if (indices.done()) return ranking.advance();
    if (terms.gang > 0) return try_gang(ranking, head, job, terms, indices);
    auto room = find_room(world_, job, terms, then());
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
    if (room.error() != Stuck::calendar && promised(job, terms)) return indices.advance();
    give_up(ranking, head, job, terms, room.error());
  }

  // Nothing more of this shape in this round, for its namespace, its tier or for anybody.
  void give_up(Ranking& ranking, const Ranking::Head& head, const Job& job, const Terms& terms,
               Stuck stuck) {
    if (stuck == Stuck::quota) return ranking.drop();
    if (stuck == Stuck::calendar) {
      shut_.push_back(head.shape);
      world_.full.insert(head.shape);
      return;
    }
    wait_for_room(job, terms);
    // Others may find room that is reserved for them, or that yielding work may use meanwhile.
    if (!state_.reservations.empty()) return ranking.drop();
    mark_full(world_, head.shape);
  }

  // All members or none: they are placed in a copy of the world, which counts only if it holds all.
  void try_gang(Ranking& ranking, const Ranking::Head& head, const Job& job, const Terms& terms,
                Indices& indices) {
    World trial = world_;
    std::vector<TaskPlaced> members;
    std::optional<Stuck> stuck;
    for (Indices each(job); !each.done() && !stuck; each.advance()) {
      auto room = find_room(trial, job, terms, then());
      if (!room) {
        stuck = room.error();
        break;
      }
      take(trial, job, terms, *room);
      members.push_back({each.attempt(), std::move(*room), {}});
    }
    if (stuck && *stuck != Stuck::calendar && promised_gang(job, terms)) {
      indices.finish();
      return ranking.advance();
    }
    if (stuck) return give_up(ranking, head, job, terms, *stuck);
    world_ = std::move(trial);
    for (TaskPlaced& member : members) {
      if (yielders_) yielders_->placed(job, terms, member.placement);
      made_.placed.push_back(std::move(member));
    }
    indices.finish();
    ranking.advance();
  }

  // Whether others make room for what of the gang has none; the rest keeps its own meanwhile.
  bool promised_gang(const Job& job, const Terms& terms) {
    if (promises_ >= kPromisesPerRoundMax) return false;
    if (!yielders_) yielders_.emplace(world_);
    World trial = world_;
    Yielders yielders = *yielders_;
    yielders.look_at(trial);
    std::vector<TaskStopping> stops;
    for (Indices each(job); !each.done(); each.advance()) {
      const auto room = find_room(trial, job, terms, &yielders.then());
      if (room) {
        take(trial, job, terms, *room);
        yielders.placed(job, terms, *room);
        trial.claims.push_back({job.id, node_at(trial, *room), {}});
        continue;
      }
      if (room.error() == Stuck::calendar) return false;
      const auto yielding = yielders.make_room(job, terms);
      if (!yielding) return false;
      yielders.settle(*yielding, job, terms, trial);
      trial.claims.push_back({job.id, yielding->node, {}});
      stops.insert(stops.end(), yielding->stops.begin(), yielding->stops.end());
    }
    ++promises_;
    world_ = std::move(trial);
    yielders_ = std::move(yielders);
    yielders_->look_at(world_);
    made_.stops.insert(made_.stops.end(), stops.begin(), stops.end());
    may_line_up_ = false;
    return true;
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
    ++awaited_;
    for (Opening& opening : soonest(world_, job.ns, terms)) {
      NodeView& view = world_.nodes[opening.node];
      for (uint32_t i = 0; i < opening.members; ++i)
        claim(view, job.ns, terms.resources, opening.ending, opening.at);
      view.awaited = true;
      view.counted_on = opening.at;
      world_.claims.push_back({job.id, opening.node, opening.at});
    }
  }

  const World* then() const { return yielders_ ? &yielders_->then() : nullptr; }

  const State& state_;
  World world_;
  const uint32_t max_;
  bool may_line_up_ = true;
  uint32_t promises_ = 0;
  uint32_t awaited_ = 0;
  std::vector<ShapeId> shut_;
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
