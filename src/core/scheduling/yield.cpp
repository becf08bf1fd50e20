#include "core/scheduling/yield.h"

#include <algorithm>

#include "base/check.h"
#include "core/cohorts.h"
#include "core/index.h"
#include "core/scheduling/fairness.h"
#include "core/scheduling/place.h"

namespace atl::core::scheduling {
namespace {

__extension__ using Wide = __int128;

// Those of lower tiers first, then who loses least, then who came last.
bool rather(const Yielder& a, const Yielder& b) {
  if (a.terms->tier != b.terms->tier) return a.terms->tier > b.terms->tier;
  if (a.lost != b.lost) return a.lost < b.lost;
  const Yielder::Member& x = a.members.front();
  const Yielder::Member& y = b.members.front();
  if (x.holder->since != y.holder->since) return x.holder->since > y.holder->since;
  return x.task < y.task;
}

// Counts a task into (or with -1 out of) what its namespace and cohorts use.
void count(World& sums, NamespaceId ns, const Terms& terms, const Placement& placement, int sign) {
  add_in_use(sums.in_use.try_emplace(ns, sums.in_use_of(ns)).first->second, terms, placement, sign);
  for_each_cohort(
      *sums.state, sums.state->namespaces.at(ns).stake.cohort, [&](const Cohort& cohort) {
        const auto used = sums.cohort_in_use.try_emplace(cohort.id, cohort.in_use).first;
        add_in_use(used->second, terms, placement, sign);
      });
}
void count(World& sums, const Holder& holder, int sign) {
  count(sums, holder.ns, sums.state->terms.at(holder.terms).terms, {{}, {}, holder.devices}, sign);
}

// As if the very devices that were asked for had been found.
Placement imagined(const Terms& terms) {
  Placement placement;
  for (const DeviceRequest& request : terms.resources.devices) {
    for (uint32_t i = 0; i < request.count; ++i)
      placement.devices.push_back(
          {"", request.kind, request.model, request.share_milli, request.share_milli});
  }
  return placement;
}

int64_t work_of(const World& world, const Holder& holder, const Terms& terms) {
  const Amounts amounts = amounts_of(terms, {{}, {}, holder.devices});
  const int64_t share = dominant_share(amounts, world.state->capacity);
  const Wide work = Wide{share} * std::max<int64_t>(0, (world.now - holder.since).us) / 1'000'000;
  return static_cast<int64_t>(std::min<Wide>(work, INT64_MAX));
}

}  // namespace

World without_stopping(const World& world) {
  World sums;
  sums.state = world.state;
  sums.now = world.now;
  sums.models_limited = world.models_limited;
  sums.tier_in_use = world.tier_in_use;
  sums.in_use = world.in_use;
  sums.cohort_in_use = world.cohort_in_use;
  for (const NodeView& view : world.nodes) {
    for (const auto& [task, holder] : view.node->holders) {
      if (holder.stopping && !handed_on(*world.state, task, holder)) count(sums, holder, -1);
    }
  }
  return sums;
}

void promise(World& sums, const Job& job, const Terms& terms) {
  count(sums, job.ns, terms, imagined(terms), +1);
}

bool within_nominal(const World& world, NamespaceId id, const Terms& terms) {
  const Quota& nominal = world.state->namespaces.at(id).quota;
  const auto asked = [&](const std::string& key) {
    return std::any_of(terms.resources.devices.begin(), terms.resources.devices.end(),
                       [&](const DeviceRequest& request) {
                         return key == request.kind || key == request.kind + ":" + request.model;
                       });
  };
  // Who was never promised anything takes nothing back.
  bool promised = nominal.cpu_milli || (nominal.memory_bytes && terms.resources.memory_bytes > 0);
  for (const auto& [key, count] : nominal.devices) promised |= asked(key);
  if (!promised) return false;
  InUse after = world.in_use_of(id);
  add_in_use(after, terms, imagined(terms), +1);
  return holds(nominal, after);
}

std::set<TaskId> borrowed_tasks(const World& world) {
  // A task, or all members of a gang: they go together.
  struct Running {
    Tier tier = Tier::batch;
    Time since;
    std::vector<std::pair<TaskId, const Holder*>> members;
  };
  HashMap<NamespaceId, std::map<TaskId, Running>> tasks;  // of those who borrow
  for (const auto& [id, ns] : world.state->namespaces) {
    if (ns.stake.cohort && !holds(ns.quota, world.in_use_of(id))) tasks.try_emplace(id);
  }
  for (const NodeView& view : world.nodes) {
    for (const auto& [id, holder] : view.node->holders) {
      const auto its = tasks.find(holder.ns);
      if (its == tasks.end()) continue;
      const Terms& terms = world.state->terms.at(holder.terms).terms;
      Running& one = its->second[terms.gang > 0 ? TaskId{id.job, 0} : id];
      one.tier = terms.tier;
      one.since = std::max(one.since, holder.since);
      one.members.emplace_back(id, &holder);
    }
  }
  std::set<TaskId> borrowed;
  for (auto& [ns, running] : tasks) {
    std::vector<std::tuple<Tier, Time, TaskId>> order;
    for (const auto& [id, one] : running) order.emplace_back(one.tier, one.since, id);
    std::sort(order.begin(), order.end());
    const Quota& nominal = world.state->namespaces.at(ns).quota;
    InUse covered;
    for (const auto& [tier, since, id] : order) {
      const auto count_all = [&](int sign) {
        for (const auto& [task, holder] : running.at(id).members)
          add_in_use(covered, world.state->terms.at(holder->terms).terms, {{}, {}, holder->devices},
                     sign);
      };
      count_all(+1);
      if (holds(nominal, covered)) continue;
      count_all(-1);
      for (const auto& [task, holder] : running.at(id).members) borrowed.insert(task);
    }
  }
  return borrowed;
}

// Whom to choose on one node, and elsewhere for the sake of quotas, so that the task fits there.
class Yielders::Choice {
 public:
  Choice(Yielders& all, size_t node, const Job& job, const Terms& terms, bool sure)
      : all_(all),
        sure_(sure),
        node_(node),
        job_(job),
        terms_(terms),
        guest_(all.guest(job, terms)),
        room_(later_for(all.world_->nodes[node], guest_)),
        // Whoever goes only makes room in quotas: what is allowed before is allowed after.
        by_quota_(over_quota(all.relieved_, job.ns, terms) || !terms.resources.devices.empty()) {}
  ~Choice() {
    for (const size_t each : chosen_) count_all(each, +1);
  }
  Choice(const Choice&) = delete;
  Choice& operator=(const Choice&) = delete;

  // Adds some until the task fits, then spares whom it can. False when all would not do.
  bool choose(bool takes_back) {
    for (const size_t each : all_.by_node_[node_]) {
      if (fits(room_, terms_.resources)) break;
      if (yields(each, takes_back)) add_one(each);
    }
    if (!fits(room_, terms_.resources)) return false;
    for (size_t each = 0; each < all_.all_.size() && !enough(); ++each) {
      if (yields(each, takes_back) && !has(each)) add_one(each);
    }
    if (!enough()) return false;
    std::sort(chosen_.begin(), chosen_.end());
    for (size_t i = chosen_.size(); i-- > 0;) {
      const size_t each = chosen_[i];
      chosen_.erase(chosen_.begin() + static_cast<std::ptrdiff_t>(i));
      change(each, +1);
      if (enough()) continue;
      change(each, -1);
      chosen_.insert(chosen_.begin() + static_cast<std::ptrdiff_t>(i), each);
    }
    return true;
  }
  const std::vector<size_t>& chosen() const { return chosen_; }
  // What the task would have.
  Placement placement() const {
    const NodeView& view = all_.world_->nodes[node_];
    Placement placement{view.site, view.node->capacity.name, {}};
    if (terms_.resources.devices.empty()) return placement;
    // Those that are free already are taken first where that works out; what others give up may be
    // needed for the requests to fit together.
    auto picked = pick(room_.devices, terms_.resources, allowed(), &view.free.devices);
    if (!picked) picked = pick(room_.devices, terms_.resources, allowed());
    CHECK(picked.has_value(),
          "room was made for job " + to_string(job_.id) + " and it does not fit");
    for (const Part& part : picked->parts)
      placement.devices.push_back(held(view.node->capacity.devices[part.device], part));
    return placement;
  }

 private:
  Allowance allowed() const {
    return terms_.resources.devices.empty() ? Allowance{}
                                            : allowance(all_.relieved_, job_.ns, terms_, sure_);
  }
  bool yields(size_t each, bool takes_back) const {
    const Yielder& yielder = all_.all_[each];
    return !yielder.spoken_for && !counted_on(yielder) &&
           all_.yields_to(yielder, job_, terms_, takes_back);
  }
  // Whether its room would go to somebody who was served before and waits for it to end.
  bool counted_on(const Yielder& yielder) const {
    return std::any_of(yielder.members.begin(), yielder.members.end(), [&](const auto& member) {
      const Time until = member.holder->until;
      return until && until <= all_.world_->nodes[member.node].counted_on;
    });
  }
  // Room, and quotas that let the task have it.
  bool enough() const {
    if (!by_quota_) return fits(room_, terms_.resources);
    if (over_quota(all_.relieved_, job_.ns, terms_)) return false;
    return fits(room_, terms_.resources, allowed());
  }
  bool has(size_t one) const {
    return std::find(chosen_.begin(), chosen_.end(), one) != chosen_.end();
  }
  void add_one(size_t each) {
    change(each, -1);
    chosen_.push_back(each);
  }
  void count_all(size_t each, int sign) {
    if (!by_quota_) return;
    for (const Yielder::Member& member : all_.all_[each].members)
      count(all_.relieved_, *member.holder, sign);
  }
  void change(size_t each, int sign) {
    count_all(each, sign);
    const Yielder& yielder = all_.all_[each];
    for (const Yielder::Member& member : yielder.members) {
      if (member.node != node_) continue;
      const Room room = left_by(*all_.world_, node_, member.task, *member.holder, guest_);
      if (sign < 0)
        add(room_, room);
      else
        remove(room_, room);
    }
  }

  Yielders& all_;
  const bool sure_;  // it borrows no devices
  const size_t node_;
  const Job& job_;
  const Terms& terms_;
  const Guest guest_;
  Room room_;
  const bool by_quota_;
  std::vector<size_t> chosen_;  // by their place, so in the order they are asked
};

Yielders::Yielders(const World& world)
    : world_(&world), stopped_by_(world.now), relieved_(without_stopping(world)) {
  const std::set<TaskId> borrowed = borrowed_tasks(world);
  std::map<JobId, size_t> gangs;
  std::set<JobId> breaking;  // gangs of which some stop already
  for (size_t i = 0; i < world.nodes.size(); ++i) {
    for (const auto& [task, holder] : world.nodes[i].node->holders) {
      const Terms& terms = world.state->terms.at(holder.terms).terms;
      any_stopping_ |= holder.stopping;
      if (holder.stopping) stopped_by_ = std::max(stopped_by_, holder.until);
      if (holder.stopping && terms.gang > 0) breaking.insert(task.job);
      if (holder.stopping || handed_on(*world.state, task, holder) ||
          (terms.tier != Tier::opportunistic && !borrowed.count(task)))
        continue;
      size_t at = all_.size();
      if (terms.gang > 0) at = gangs.try_emplace(task.job, at).first->second;
      if (at == all_.size()) all_.push_back({{}, &terms, 0, false});
      all_[at].members.push_back({task, &holder, i});
      all_[at].lost += work_of(world, holder, terms);
    }
  }
  std::erase_if(all_, [&](const Yielder& each) {
    const JobId job = each.members.front().task.job;
    // One of which a part has ended cannot come back as a whole.
    return each.terms->gang > 0 && (breaking.count(job) || each.members.size() < each.terms->gang);
  });
  std::sort(all_.begin(), all_.end(), rather);
  by_node_.resize(world.nodes.size());
  yield_.resize(world.nodes.size());
  for (size_t each = 0; each < all_.size(); ++each) {
    for (const Yielder::Member& member : all_[each].members) {
      std::vector<size_t>& here = by_node_[member.node];
      if (here.empty() || here.back() != each) here.push_back(each);
      add(yield_[member.node],
          room_of(*world.nodes[member.node].node, *member.holder, all_[each].terms->resources));
    }
  }
  any_ = any_stopping_ || !all_.empty();
  for (const Yielder& each : all_)
    stopped_by_ = std::max(stopped_by_, world.now + each.terms->grace);
  const auto leave_out = [&](World& sums, bool opportunistic) {
    for (const Yielder& each : all_) {
      if ((each.terms->tier == Tier::opportunistic) != opportunistic) continue;
      any_opportunistic_ |= opportunistic;
      for (const Yielder::Member& member : each.members) count(sums, *member.holder, -1);
    }
  };
  civil_ = relieved_;
  leave_out(civil_, true);
  bare_ = civil_;
  leave_out(bare_, false);
}

// One for whom others stop: it is there when the last of them has ended.
Guest Yielders::guest(const Job& job, const Terms& terms) const {
  return {job.ns, &terms, ends_by(stopped_by_, terms), terms.tier == Tier::opportunistic};
}

// What can be told without looking at the nodes.
bool Yielders::hopeless(const Job& job, const Terms& terms, bool takes_back) const {
  if (!any_stopping_ && !takes_back && (!any_opportunistic_ || terms.tier == Tier::opportunistic))
    return true;
  return no_room_.count(world_->state->terms.at(job.terms).shape) > 0 ||
         over_quota(bare_, job.ns, terms).has_value();
}

bool Yielders::yields_to(const Yielder& yielder, const Job& job, const Terms& terms,
                         bool takes_back) const {
  if (terms.tier == Tier::opportunistic) return false;
  if (yielder.terms->tier == Tier::opportunistic) return true;
  return takes_back && yielder.members.front().holder->ns != job.ns;
}

bool Yielders::frees_quota(const Job& job, const Terms& terms, bool sure) const {
  if (!any_ || terms.tier == Tier::opportunistic) return false;
  const bool takes_back = sure && within_nominal(relieved_, job.ns, terms);
  const World& without = takes_back ? bare_ : civil_;
  if (terms.gang < 2) return !over_quota(without, job.ns, terms);
  World sums = without;
  for (uint32_t i = 0; i < terms.gang; ++i) {
    if (over_quota(sums, job.ns, terms)) return false;
    promise(sums, job, terms);
  }
  return true;
}

std::optional<Yielding> Yielders::make_room(const Job& job, const Terms& terms, bool sure) {
  if (!any_) return std::nullopt;
  const bool takes_back = sure && within_nominal(relieved_, job.ns, terms);
  if (hopeless(job, terms, takes_back)) return std::nullopt;
  std::optional<Yielding> best;
  std::tuple<bool, Wide, size_t> best_cost{};
  bool room = false;
  for (size_t i = 0; i < world_->nodes.size(); ++i) {
    const NodeView& view = world_->nodes[i];
    if (!meant(view, terms)) continue;
    const Room& later = view.later;
    const Room& yield = yield_[i];
    const bool plain = view.kept.empty() && view.lent.empty();
    if (plain && (later.cpu_milli + yield.cpu_milli < terms.resources.cpu_milli ||
                  later.memory_bytes + yield.memory_bytes < terms.resources.memory_bytes))
      continue;
    if (!terms.resources.devices.empty() || !plain) {
      Room most = later_for(view, guest(job, terms));
      add(most, yield);
      if (!fits(most, terms.resources)) continue;
    }
    room = true;
    Choice choice(*this, i, job, terms, sure);
    if (!choice.choose(takes_back)) continue;
    Yielding found{i, {}, choice.placement()};
    Wide lost = 0;
    bool borrowed = false;
    for (const size_t each : choice.chosen()) {
      const Yielder& yielder = all_[each];
      lost += yielder.lost;
      borrowed |= yielder.terms->tier != Tier::opportunistic;
      for (const Yielder::Member& member : yielder.members)
        found.stops.push_back({{member.task.job, member.task.index, member.holder->attempt},
                               StopReason::yielded,
                               yielder.terms->grace,
                               job.id});
    }
    if (found.stops.empty()) return found;
    const std::tuple cost{borrowed, lost, found.stops.size()};
    if (best && best_cost <= cost) continue;
    best = std::move(found);
    best_cost = cost;
  }
  if (!room && world_->state->reservations.empty())
    no_room_.insert(world_->state->terms.at(job.terms).shape);
  return best;
}

void Yielders::settle(const Yielding& yielding, const Job& job, const Terms& terms, World& world) {
  std::set<TaskId> stopped;
  for (const TaskStopping& stop : yielding.stops) stopped.insert(stop.attempt.task());
  for (Yielder& yielder : all_) {
    if (stopped.empty()) break;
    if (!stopped.count(yielder.members.front().task)) continue;
    yielder.spoken_for = true;
    for (const Yielder::Member& member : yielder.members) {
      count(relieved_, *member.holder, -1);
      if (yielder.terms->tier != Tier::opportunistic) count(civil_, *member.holder, -1);
      give_up(world, member.node, member.task, *member.holder);
      remove(yield_[member.node],
             room_of(*world.nodes[member.node].node, *member.holder, yielder.terms->resources));
      world.yielding.insert(member.task);
    }
  }
  // What it will have counts against its tier: the calendar may leave no room for the next.
  if (counts(*world.state, terms))
    add_in_use(world.tier_in_use.try_emplace(terms.tier, world.in_use_of(terms.tier)).first->second,
               terms, yielding.placement, +1);
  const Node& node = *world.nodes[yielding.node].node;
  Room nothing;
  claim(world, yielding.node, guest(job, terms),
        {terms.resources.cpu_milli, terms.resources.memory_bytes,
         parts_of(node, yielding.placement.devices)},
        nothing, {});
  placed(job, terms, yielding.placement);
}

void Yielders::placed(const Job& job, const Terms& terms, const Placement& placement) {
  count(relieved_, job.ns, terms, placement, +1);
  count(civil_, job.ns, terms, placement, +1);
  count(bare_, job.ns, terms, placement, +1);
}

}  // namespace atl::core::scheduling
