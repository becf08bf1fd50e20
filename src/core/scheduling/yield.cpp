#include "core/scheduling/yield.h"

#include <algorithm>

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
  if (a.holder->since != b.holder->since) return a.holder->since > b.holder->since;
  return a.task < b.task;
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
  sums.in_use = world.in_use;
  sums.cohort_in_use = world.cohort_in_use;
  for (const NodeView& view : world.nodes) {
    for (const auto& [task, holder] : view.node->holders) {
      if (holder.stopping && !handed_on(*world.state, task, holder)) count(sums, holder, -1);
    }
  }
  return sums;
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
  struct Running {
    Tier tier;
    Time since;
    TaskId id;
    const Holder* holder;
  };
  std::map<NamespaceId, std::vector<Running>> tasks;
  for (const NodeView& view : world.nodes) {
    for (const auto& [id, holder] : view.node->holders) {
      const Namespace& ns = world.state->namespaces.at(holder.ns);
      if (!ns.stake.cohort || holds(ns.quota, world.in_use_of(holder.ns))) continue;
      tasks[holder.ns].push_back(
          {world.state->terms.at(holder.terms).terms.tier, holder.since, id, &holder});
    }
  }
  std::set<TaskId> borrowed;
  for (auto& [ns, list] : tasks) {
    std::sort(list.begin(), list.end(), [](const Running& a, const Running& b) {
      return std::tie(a.tier, a.since, a.id) < std::tie(b.tier, b.since, b.id);
    });
    const Quota& nominal = world.state->namespaces.at(ns).quota;
    InUse covered;
    for (const Running& task : list) {
      const Terms& terms = world.state->terms.at(task.holder->terms).terms;
      const Placement placement{{}, {}, task.holder->devices};
      add_in_use(covered, terms, placement, +1);
      if (holds(nominal, covered)) continue;
      add_in_use(covered, terms, placement, -1);
      borrowed.insert(task.id);
    }
  }
  return borrowed;
}

// Whom to choose on one node, and elsewhere for the sake of quotas, so that the task fits there.
class Yielders::Choice {
 public:
  Choice(Yielders& all, size_t node, const Job& job, const Terms& terms)
      : all_(all), node_(node), job_(job), terms_(terms), room_(all.world_.nodes[node].later) {}
  ~Choice() {
    for (const Yielder& each : chosen_) count(all_.relieved_, *each.holder, +1);
  }
  Choice(const Choice&) = delete;
  Choice& operator=(const Choice&) = delete;

  // Adds some until the task fits, then spares whom it can. False when all would not do.
  bool choose(bool takes_back) {
    for (const Yielder& each : all_.by_node_[node_]) {
      if (fits(room_, terms_.resources)) break;
      if (all_.yields_to(each, job_, terms_, takes_back)) add_one(each);
    }
    if (!fits(room_, terms_.resources)) return false;
    for (const Yielder& each : all_.all_) {
      if (enough()) break;
      if (all_.yields_to(each, job_, terms_, takes_back) && !has(each)) add_one(each);
    }
    if (!enough()) return false;
    std::sort(chosen_.begin(), chosen_.end(), rather);
    for (size_t i = chosen_.size(); i-- > 0;) {
      const Yielder each = chosen_[i];
      chosen_.erase(chosen_.begin() + static_cast<std::ptrdiff_t>(i));
      change(each, +1);
      if (enough()) continue;
      change(each, -1);
      chosen_.insert(chosen_.begin() + static_cast<std::ptrdiff_t>(i), each);
    }
    return true;
  }
  const std::vector<Yielder>& chosen() const { return chosen_; }

 private:
  // Room, and quotas that let the task have it.
  bool enough() const {
    if (over_quota(all_.relieved_, job_.ns, terms_)) return false;
    return fits(
        room_, terms_.resources,
        terms_.resources.devices.empty() ? Allowance{} : allowance(all_.relieved_, job_.ns));
  }
  bool has(const Yielder& one) const {
    return std::any_of(chosen_.begin(), chosen_.end(),
                       [&](const Yielder& each) { return each.task == one.task; });
  }
  void add_one(const Yielder& each) {
    change(each, -1);
    chosen_.push_back(each);
  }
  void change(const Yielder& each, int sign) {
    count(all_.relieved_, *each.holder, sign);
    if (each.node != node_) return;
    const Room room = room_of(*all_.world_.nodes[node_].node, *each.holder, each.terms->resources);
    if (sign < 0)
      add(room_, room);
    else
      remove(room_, room);
  }

  Yielders& all_;
  const size_t node_;
  const Job& job_;
  const Terms& terms_;
  Room room_;
  std::vector<Yielder> chosen_;
};

Yielders::Yielders(const World& world)
    : world_(world), relieved_(without_stopping(world)), borrowed_(borrowed_tasks(world)) {
  for (size_t i = 0; i < world.nodes.size(); ++i) {
    const NodeView& view = world.nodes[i];
    std::vector<Yielder>& here = by_node_.emplace_back();
    Room& most = most_.emplace_back(view.later);
    for (const auto& [task, holder] : view.node->holders) {
      const Terms& terms = world.state->terms.at(holder.terms).terms;
      any_ |= holder.stopping;
      if (holder.stopping || handed_on(*world.state, task, holder) ||
          (terms.tier != Tier::opportunistic && !borrowed_.count(task)))
        continue;
      here.push_back({task, &holder, &terms, i, work_of(world, holder, terms)});
      add(most, room_of(*view.node, holder, terms.resources));
    }
    std::sort(here.begin(), here.end(), rather);
    all_.insert(all_.end(), here.begin(), here.end());
  }
  any_ |= !all_.empty();
  std::sort(all_.begin(), all_.end(), rather);
}

bool Yielders::yields_to(const Yielder& yielder, const Job& job, const Terms& terms,
                         bool takes_back) const {
  if (terms.tier == Tier::opportunistic) return false;
  if (yielder.terms->tier == Tier::opportunistic) return true;
  return takes_back && yielder.holder->ns != job.ns;
}

std::optional<Yielding> Yielders::make_room(const Job& job, const Terms& terms) {
  if (!any_) return std::nullopt;
  const bool takes_back = within_nominal(relieved_, job.ns, terms);
  std::optional<Yielding> best;
  std::tuple<bool, Wide, size_t> best_cost{};
  for (size_t i = 0; i < world_.nodes.size(); ++i) {
    const NodeView& view = world_.nodes[i];
    if (!meant(view, terms) || !fits(most_[i], terms.resources)) continue;
    Choice choice(*this, i, job, terms);
    if (!choice.choose(takes_back)) continue;
    Yielding found{i, {}};
    Wide lost = 0;
    bool borrowed = false;
    for (const Yielder& each : choice.chosen()) {
      lost += each.lost;
      borrowed |= each.terms->tier != Tier::opportunistic;
      found.stops.push_back({{each.task.job, each.task.index, each.holder->attempt},
                             StopReason::yielded,
                             each.terms->grace,
                             job.id});
    }
    if (found.stops.empty()) return found;
    const std::tuple cost{borrowed, lost, found.stops.size()};
    if (best && best_cost <= cost) continue;
    best = std::move(found);
    best_cost = cost;
  }
  return best;
}

void Yielders::settle(const Yielding& yielding, const Job& job, const Terms& terms, World& world) {
  for (const TaskStopping& stop : yielding.stops) {
    const auto same = [&](const Yielder& each) { return each.task == stop.attempt.task(); };
    const Yielder one = *std::find_if(all_.begin(), all_.end(), same);
    count(relieved_, *one.holder, -1);
    NodeView& view = world.nodes[one.node];
    add(view.later, room_of(*view.node, *one.holder, one.terms->resources));
    world.yielding.insert(one.task);
    std::erase_if(all_, same);
    std::erase_if(by_node_[one.node], same);
  }
  claim(world.nodes[yielding.node], terms.resources, {}, {});
  count(relieved_, job.ns, terms, imagined(terms), +1);
}

void Yielders::placed(const Job& job, const Terms& terms, const Placement& placement) {
  count(relieved_, job.ns, terms, placement, +1);
}

}  // namespace atl::core::scheduling
