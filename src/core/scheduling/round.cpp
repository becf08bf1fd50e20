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
// were promised: a quota must do for that too. What is `sure` borrows no devices.
tl::expected<Place, Stuck> find_room(const World& world, const Job& job, const Terms& terms,
                                     const World* then, bool sure) {
  if (over_array_limit(world, job, terms)) return tl::unexpected(Stuck::job);
  if (over_calendar(world, terms)) return tl::unexpected(Stuck::calendar);
  if (over_quota(world, job.ns, terms) || (then && over_quota(*then, job.ns, terms)))
    return tl::unexpected(Stuck::quota);
  const bool devices = !terms.resources.devices.empty();
  const Allowance allowed = devices ? allowance(world, then, job.ns, terms, sure) : Allowance{};
  if (auto found = find_place(world, terms, allowed, job.ns)) return std::move(*found);
  const bool by_quota = !allowed.empty() && find_place(world, terms, {}, job.ns);
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

class Round {
 public:
  Round(const State& state, Time now, uint32_t max, JobId without = {})
      : state_(state), world_(look(state, now)), max_(max), without_(without) {}

  // Who is sure of what they ask for comes before those who would borrow it, and what makes room
  // for all others comes last: so nobody is given room that they would have to give up at once.
  void run(Tier until = Tier::opportunistic, bool until_borrowing = true) {
    for (const bool last : {false, true}) {
      for (const bool borrowing : {false, true}) {
        for (const Tier tier : kTiers) {
          if ((tier == Tier::opportunistic) != last) continue;
          serve(tier, borrowing);
          if (tier == until && borrowing == until_borrowing) return;
        }
      }
    }
  }
  Decisions take_decisions() { return std::move(made_); }
  World take_world() {
    if (yielders_) world_.then = std::make_shared<const World>(yielders_->then());
    return std::move(world_);
  }
  Served take_served() {
    if (!yielders_ && world_.some_yield) yielders_.emplace(world_);
    World world = take_world();
    return {std::move(world), std::move(yielders_)};
  }

 private:
  void serve(Tier tier, bool borrowing) {
    if (borrowing && state_.cohorts.empty()) return;  // nobody lends
    if (!borrowing) serve_owed(tier);
    Ranking ranking(counting_, tier, !borrowing);
    while (made_.placed.size() < max_ && world_.full.size() < state_.shapes.size()) {
      const auto head = ranking.best();
      if (!head) break;
      try_one(ranking, *head, borrowing);
    }
    // What the calendar keeps from this tier the next may have.
    for (const ShapeId shape : shut_) world_.full.erase(shape);
    shut_.clear();
  }

  // Those for whom others have made room get it before anybody else of their tier looks for some.
  // Higher tiers come first all the same: what they wait for is not to be taken instead.
  void serve_owed(Tier tier) {
    for (const JobId id : state_.owed) {
      const Job& job = state_.jobs.at(id);
      const Terms& terms = state_.terms_of(job);
      if (id == without_ || terms.tier != tier) continue;
      Indices& indices = under_way_.try_emplace(id, job).first->second;
      for (uint32_t i = 0; i < job.owed && !indices.done(); ++i) {
        if (would_borrow(world_, job.ns, terms.resources)) break;
        const auto done = step(job, terms, indices, true);
        if (!done && done.error() == Stuck::room) world_.owed = id;
        if (!done) break;
      }
    }
  }

  // Places one task of the job, or finds out what to look at instead.
  void try_one(Ranking& ranking, const Ranking::Head& head, bool borrowing) {
    const Job& job = state_.jobs.at(head.job);
    const Terms& terms = state_.terms_of(job);
    Indices& indices = under_way_.try_emplace(head.job, job).first->second;
    if (indices.done() || head.job == without_) return ranking.advance();
    const size_t placed = made_.placed.size();
    const auto done = step(job, terms, indices, !borrowing);
    if (done && made_.placed.size() > placed && !made_.placed.back().behind)
      return ranking.charged();
    if (done) return;
    switch (done.error()) {
      case Stuck::job:
        return ranking.advance();
      case Stuck::quota:
        // Who has a right to it may still find somebody who yields; the others are all refused.
        return ranking.drop(borrowing || promises_ >= kPromisesPerRoundMax
                                ? over_quota_of(world_, job.ns, terms)
                                : CohortId{});
      case Stuck::calendar:
        shut_.push_back(head.shape);
        world_.full.insert(head.shape);
        return;
      case Stuck::room:
        wait_for_room(job, terms);
        // Others may find room that is reserved for them, or that yielding work may use meanwhile.
        if (!state_.reservations.empty()) return ranking.drop();
        mark_full(world_, head.shape);
    }
  }

  // One more task, or all of a gang, is placed, lined up or promised its room; else what is in the
  // way.
  tl::expected<void, Stuck> step(const Job& job, const Terms& terms, Indices& indices, bool sure) {
    if (terms.gang > 0) return step_together(job, terms, indices, sure);
    auto room = find_room(world_, job, terms, then(), sure);
    if (room) {
      take(world_, job, terms, room->placement, room->node);
      if (yielders_) yielders_->placed(job, terms, room->placement);
      made_.placed.push_back({indices.attempt(), std::move(room->placement), {}});
      indices.advance();
      return {};
    }
    const auto leader =
        may_line_up_ ? line_up(world_, job, terms, indices.attempt()) : std::nullopt;
    if (leader) {
      made_.placed.push_back({indices.attempt(), *leader->placement, leader->attempt});
      indices.advance();
      return {};
    }
    const bool may_ask = room.error() == Stuck::quota || room.error() == Stuck::room;
    const bool borrows =
        sure && lends_devices(terms) && find_room(world_, job, terms, then(), false);
    if (!may_ask || borrows) return tl::unexpected(room.error());
    if (!promised(job, terms, sure)) return tl::unexpected(lacks(job, terms, room.error(), sure));
    indices.advance();
    return {};
  }

  // What is in the way of those for whom nobody can make room. A quota that others use up who would
  // yield is not: it waits for room, as it would without them, and keeps some. A quota of one model
  // is, if members of a gang have to have of another what there would be of that.
  Stuck lacks(const Job& job, const Terms& terms, Stuck stuck, bool sure) const {
    const uint32_t members = std::max<uint32_t>(1, terms.gang);
    if (stuck == Stuck::quota && yielders_ && yielders_->frees_quota(job, terms, sure))
      return fits_together(world_, job, terms, members) ? Stuck::quota : Stuck::room;
    if (stuck == Stuck::room && members > 1 && world_.models_limited && lists_devices(terms))
      return fits_together(world_, job, terms, members) ? Stuck::quota : Stuck::room;
    return stuck;
  }

  // Whether there may be devices that it could borrow: nobody stops for what is free.
  bool lends_devices(const Terms& terms) const {
    return lists_devices(terms) && !state_.cohorts.empty();
  }
  static bool lists_devices(const Terms& terms) { return !terms.resources.devices.empty(); }

  // All members or none: they are placed in a copy of the world, which counts only if it holds all.
  struct Together {
    World world;
    std::vector<TaskPlaced> members;
  };
  tl::expected<Together, Stuck> place_together(const Job& job, const Terms& terms, bool sure) {
    Together trial{world_, {}};
    for (Indices each(job); !each.done(); each.advance()) {
      auto room = find_room(trial.world, job, terms, then(), sure);
      if (!room) return tl::unexpected(room.error());
      take(trial.world, job, terms, room->placement, room->node);
      trial.members.push_back({each.attempt(), std::move(room->placement), {}});
    }
    return trial;
  }
  tl::expected<void, Stuck> step_together(const Job& job, const Terms& terms, Indices& indices,
                                          bool sure) {
    auto together = place_together(job, terms, sure);
    if (!together) {
      // Members that borrow nothing may take what others of them have to have.
      if (sure && lends_devices(terms) && place_together(job, terms, false))
        return tl::unexpected(Stuck::quota);
      if (together.error() == Stuck::calendar) return tl::unexpected(together.error());
      if (!promised_gang(job, terms, sure))
        return tl::unexpected(lacks(job, terms, together.error(), sure));
      indices.finish();
      return {};
    }
    world_ = std::move(together->world);
    for (TaskPlaced& member : together->members) {
      if (yielders_) yielders_->placed(job, terms, member.placement);
      made_.placed.push_back(std::move(member));
    }
    indices.finish();
    return {};
  }

  // Whether others make room for what of the gang has none; the rest keeps its own meanwhile.
  bool promised_gang(const Job& job, const Terms& terms, bool sure) {
    if (!world_.some_yield || promises_ >= kPromisesPerRoundMax) return false;
    if (!yielders_) yielders_.emplace(world_);
    World trial = world_;
    Yielders yielders = *yielders_;
    yielders.look_at(trial);
    std::vector<TaskStopping> stops;
    for (Indices each(job); !each.done(); each.advance()) {
      const auto room = find_room(trial, job, terms, &yielders.then(), sure);
      if (room) {
        take(trial, job, terms, room->placement, room->node);
        yielders.placed(job, terms, room->placement);
        trial.claims.push_back({job.id, room->node, {}, true});
        continue;
      }
      if (room.error() == Stuck::calendar) return false;
      const auto yielding = yielders.make_room(job, terms, sure);
      if (!yielding) return false;
      yielders.settle(*yielding, job, terms, trial);
      trial.claims.push_back({job.id, yielding->node, {}, true});
      stops.insert(stops.end(), yielding->stops.begin(), yielding->stops.end());
    }
    ++promises_;
    // None of them starts now, whatever the sums have counted for the others of it.
    trial.in_use = std::move(world_.in_use);
    trial.cohort_in_use = std::move(world_.cohort_in_use);
    world_ = std::move(trial);
    yielders_ = std::move(yielders);
    yielders_->look_at(world_);
    made_.stops.insert(made_.stops.end(), stops.begin(), stops.end());
    may_line_up_ = false;
    return true;
  }

  // Whether others make room for one more task of the job, or have begun to.
  bool promised(const Job& job, const Terms& terms, bool sure) {
    if (!world_.some_yield || promises_ >= kPromisesPerRoundMax) return false;
    if (!yielders_) yielders_.emplace(world_);
    const auto yielding = yielders_->make_room(job, terms, sure);
    if (!yielding) return false;
    ++promises_;
    yielders_->settle(*yielding, job, terms, world_);
    world_.claims.push_back({job.id, yielding->node, {}, true});
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
      const Guest guest{job.ns, &terms, opening.at ? ends_by(opening.at, terms) : Time{},
                        terms.tier == Tier::opportunistic};
      for (uint32_t i = 0; i < opening.members; ++i)
        claim(world_, opening.node, guest, opening.ending, opening.yielding, opening.at);
      view.awaited = true;
      view.counted_on = opening.at;
      world_.claims.push_back(
          {job.id, opening.node, opening.at ? opening.at + opening.grace : Time{}});
    }
  }

  const World* then() const { return yielders_ ? &yielders_->then() : nullptr; }

  const State& state_;
  World world_;
  Counting counting_{world_};
  const uint32_t max_;
  const JobId without_;
  bool may_line_up_ = true;
  uint32_t promises_ = 0;
  uint32_t awaited_ = 0;
  std::vector<ShapeId> shut_;
  std::optional<Yielders> yielders_;
  HashMap<JobId, Indices> under_way_;
  Decisions made_;
};

}  // namespace

Decisions round(const State& state, Time now, uint32_t max) {
  if (state.backlog.empty()) return {};
  Round round(state, now, max);
  round.run();
  return round.take_decisions();
}

World after_round(const State& state, Time now, JobId without) {
  Round round(state, now, UINT32_MAX, without);
  round.run();
  return round.take_world();
}

Served serve_until(const State& state, Time now, JobId without, Tier tier, bool borrowing) {
  Round round(state, now, UINT32_MAX, without);
  round.run(tier, borrowing);
  return round.take_served();
}

}  // namespace atl::core::scheduling
