#include "core/index.h"

#include <bit>

#include "base/check.h"
#include "base/overloaded.h"
#include "core/cohorts.h"
#include "core/limits.h"

namespace atl::core {
namespace {

// How long a task stays at most, rounded up to one of four steps before it doubles: whoever waits
// with a time of their own is still looked at with the others.
Duration span_of(const Terms& terms) {
  if (terms.wall.us <= 0) return {};
  const auto longest = static_cast<uint64_t>((terms.wall + terms.grace).us);
  const uint64_t step = std::max<uint64_t>(1, std::bit_floor(longest) / 4);
  return {static_cast<int64_t>((longest + step - 1) / step * step)};
}

void forget_shape(State& state, ShapeId id) {
  const auto it = state.shapes.find(id);
  if (--it->second.terms > 0) return;
  state.shape_ids.erase(it->second.shape);
  state.shapes.erase(it);
}

void add_count(FlatMap<std::string, int64_t>& counts, const std::string& key, int64_t more) {
  const auto it = counts.try_emplace(key, 0).first;
  it->second += more;
  CHECK(it->second >= 0, "device " + key + " released more often than taken");
  if (it->second == 0) counts.erase(it);
}

// Takes a part of a device, or with -1 gives it back; false when it is not there to be taken.
bool cut(Node& node, const HeldDevice& part, int sign) {
  const uint32_t slots = slot_mask(part.start, part.size);
  const auto it = node.units_used.try_emplace(part.unit).first;
  UnitUse& use = it->second;
  const bool possible =
      sign < 0 || ((use.slots & slots) == 0 && use.share_milli + part.share_milli <= kWholeDevice);
  use.whole = sign > 0 && !part.size && part.share_milli == kWholeDevice;
  use.share_milli += sign * part.share_milli;
  use.slots = sign > 0 ? use.slots | slots : use.slots & ~slots;
  use.holders += static_cast<uint32_t>(sign);
  if (use.holders == 0) node.units_used.erase(it);
  return possible;
}

template <class Fn>
void for_each_account(State& state, const Job& job, Fn fn) {
  Namespace& ns = state.namespaces.at(job.ns);
  fn(ns.user_accounts[job.user]);
  fn(ns.account);
  for_each_cohort(state, ns.stake.cohort, [&](Cohort& cohort) { fn(cohort.account); });
}

Holder holder_of(const State& state, const Job& job, const Task& task) {
  const Duration wall = state.terms_of(job).wall;
  const Duration grace = state.terms_of(job).grace;
  const auto limit = [&](Time begun) { return wall.us > 0 ? begun + wall + grace : Time{}; };
  Holder holder{job.ns, job.terms, task.attempt, false,
                {},     {},        {},           placement_of(task.state)->devices};
  match(
      task.state, [](const TaskBackoff&) {},
      [&](const TaskStarting& s) {
        holder.since = s.placed;
        holder.until = limit(s.placed);
      },
      [&](const TaskRunning& s) {
        holder.since = s.started;
        if (!s.unreachable) holder.until = limit(s.started);
      },
      [&](const TaskStop& s) {
        holder.since = s.started ? s.started : s.placed;
        if (!s.unreachable) holder.until = s.since + s.grace;
        holder.stopping = true;
        holder.beneficiary = s.beneficiary;
      });
  return holder;
}

// What a placed task counts in the fair shares and for the calendar.
void charge(State& state, const Job& job, const Terms& terms, const Placement& placement,
            int sign) {
  InUse& of_tier = state.tier_in_use[terms.tier];
  add_in_use(of_tier, terms, placement, sign);
  if (of_tier == InUse{}) state.tier_in_use.erase(terms.tier);
  const Amounts amounts = amounts_of(terms, placement);
  for_each_account(state, job, [&](Account& account) {
    Meter& meter = account[terms.tier];
    if (!meter.at)
      meter.at = meter.seen = state.now;  // of a snapshot from before there were meters
    add(meter.now, amounts, sign);
  });
}

// What is held on a site that becomes a part of the platform counts from now on, and no longer when
// it ceases to be one.
void set_by_name(State& state, Site& site, bool by_name) {
  if (site.by_name == by_name) return;
  site.by_name = by_name;
  for (const auto& [name, node] : site.nodes) {
    for (const auto& [task, holder] : node.holders) {
      const Job& job = state.jobs.at(task.job);
      advance_accounts(state, job);
      charge(state, job, state.terms_of(job), {site.id, name, holder.devices}, by_name ? -1 : +1);
    }
  }
}

void hold(State& state, const Job& job, uint32_t index, const Task& task, int sign) {
  const Placement& placement = *placement_of(task.state);
  Site& site = state.sites.at(placement.site);
  Node& node = site.nodes.at(placement.node);
  const Terms& terms = state.terms_of(job);
  node.cpu_milli_used += sign * terms.resources.cpu_milli;
  node.memory_bytes_used += sign * terms.resources.memory_bytes;
  if (sign > 0)
    node.holders.emplace(TaskId{job.id, index}, holder_of(state, job, task));
  else
    node.holders.erase(TaskId{job.id, index});
  for (const HeldDevice& device : placement.devices) {
    CHECK(cut(node, device, sign), "of device " + device.unit + " of " + site.name + "/" +
                                       placement.node + " more is held than there is");
  }
  Namespace& ns = state.namespaces.at(job.ns);
  add_in_use(ns.in_use, terms, placement, sign);
  if (!site.by_name) charge(state, job, terms, placement, sign);
  for_each_cohort(state, ns.stake.cohort,
                  [&](Cohort& cohort) { add_in_use(cohort.in_use, terms, placement, sign); });
}

template <class T>
void set_member(std::set<T>& set, const T& member, int sign) {
  if (sign > 0)
    set.insert(member);
  else
    set.erase(member);
}

uint32_t before(const State& state, AttemptId attempt) {
  uint32_t count = 0;
  for (;; ++count) {
    const Task& task = state.jobs.at(attempt.job).tasks.at(attempt.index);
    if (!task.line) return count;
    attempt = task.line->behind;
  }
}

// The last of the line in which that one, whom `many` are before, is.
void set_leader(State& state, AttemptId attempt, uint32_t many, int sign) {
  for (auto next = state.followers.find(attempt); next != state.followers.end();
       next = state.followers.find(attempt)) {
    attempt = next->second;
    ++many;
  }
  const Job& job = state.jobs.at(attempt.job);
  if (!state.terms_of(job).resources.devices.empty()) return;
  auto& groups = state.leaders[job.ns];
  auto& leaders = groups[job.terms];
  set_member(leaders, {many, attempt}, sign);
  if (leaders.empty()) groups.erase(job.terms);
  if (groups.empty()) state.leaders.erase(job.ns);
}

// One in line and the one before it, of whom either may be the last then. Those behind one that
// leaves are in nobody's line until they are put into another.
void set_follower(State& state, const Job& job, uint32_t index, const Task& task, int sign) {
  const TaskId id{job.id, index};
  const AttemptId behind = task.line->behind;
  const uint32_t many = before(state, behind);
  set_leader(state, behind, many, -1);
  if (sign > 0)
    state.followers.emplace(behind, AttemptId{id.job, id.index, task.attempt});
  else
    state.followers.erase(behind);
  set_leader(state, behind, many, +1);
  if (in_line(task))
    set_member(state.recalls, {std::get<TaskStarting>(task.state).placed + kInLineMax, id}, sign);
}

void set_task(State& state, Job& job, uint32_t index, const Task& task, int sign) {
  const Placement* placement = placement_of(task.state);
  if (placement && task.line) return set_follower(state, job, index, task, sign);
  if (placement) {
    hold(state, job, index, task, sign);
    job.placed += static_cast<uint32_t>(sign);
    set_leader(state, {job.id, index, task.attempt}, 0, sign);
    return;
  }
  set_member(state.backoffs, {std::get<TaskBackoff>(task.state).not_before, TaskId{job.id, index}},
             sign);
}

}  // namespace

Waiting place_of(const State& state, const Job& job) {
  const int64_t step = state.policy.ageing.us;
  return {job.yielded.empty(), job.submitted - Duration{state.terms_of(job).priority * step},
          job.id};
}

void leave_backlog(State& state, const Job& job) {
  const TermsEntry& entry = state.terms.at(job.terms);
  const auto tier = state.backlog.find(entry.terms.tier);
  if (tier == state.backlog.end()) return;
  const auto ns = tier->second.find(job.ns);
  if (ns == tier->second.end()) return;
  const auto user = ns->second.find(job.user);
  if (user == ns->second.end()) return;
  const auto queue = user->second.find(entry.shape);
  if (queue == user->second.end()) return;
  queue->second.erase(place_of(state, job));
  if (!queue->second.empty()) return;
  user->second.erase(queue);
  if (user->second.empty()) ns->second.erase(user);
  if (ns->second.empty()) tier->second.erase(ns);
  if (tier->second.empty()) state.backlog.erase(tier);
}

void index_user(State& state, const User& user) {
  state.user_names[user.name] = user.id;
  if (user.uid) state.user_uids[*user.uid] = user.id;
}

void index_job(State& state, const Job& job) {
  ++state.namespaces.at(job.ns).jobs;
  ++state.terms.at(job.terms).jobs;
  for (const Dependency& dependency : job.dependencies) {
    if (!dependency.outcome) state.dependents[dependency.job].insert(job.id);
  }
  index_unsettled(state, job);
  index_ready(state, job);
}

void index_unsettled(State& state, const Job& job) {
  if (dependencies_decided(job)) state.unsettled.insert(job.id);
}

void unindex_job(State& state, const Job& job) {
  state.owed.erase(job.id);
  leave_backlog(state, job);
  for (const Dependency& dependency : job.dependencies) {
    const auto it = state.dependents.find(dependency.job);
    if (it == state.dependents.end()) continue;
    it->second.erase(job.id);
    if (it->second.empty()) state.dependents.erase(it);
  }
  state.unsettled.erase(job.id);
  --state.namespaces.at(job.ns).jobs;
  const auto entry = state.terms.find(job.terms);
  if (--entry->second.jobs > 0) return;
  forget_shape(state, entry->second.shape);
  state.terms_ids.erase(entry->second.terms);
  state.terms.erase(entry);
}

void index_task(State& state, Job& job, uint32_t index, const Task& task) {
  set_task(state, job, index, task, +1);
}

void unindex_task(State& state, Job& job, uint32_t index, const Task& task) {
  set_task(state, job, index, task, -1);
}

void reindex_holder(State& state, const Job& job, uint32_t index, const Task& task) {
  if (task.line) return;
  const Placement& at = *placement_of(task.state);
  state.sites.at(at.site).nodes.at(at.node).holders.at(TaskId{job.id, index}) =
      holder_of(state, job, task);
}

void index_tasks(State& state, Job& job) {
  for (const auto& [index, task] : job.tasks) index_task(state, job, index, task);
}

// The last of each line first: their leaving makes leaders of those before them, who must still be
// there.
void unindex_tasks(State& state, Job& job) {
  std::set<std::pair<uint32_t, uint32_t>> order;
  for (const auto& [index, task] : job.tasks)
    order.emplace(before(state, {job.id, index, task.attempt}), index);
  for (auto at = order.rbegin(); at != order.rend(); ++at)
    unindex_task(state, job, at->second, job.tasks.at(at->second));
}

void index_ready(State& state, const Job& job) {
  set_member(state.owed, job.id, job.owed > 0 && job.ready() ? +1 : -1);
  if (job.ready())
    state.backlog[state.terms_of(job).tier][job.ns][job.user][state.terms.at(job.terms).shape]
        .insert(place_of(state, job));
  else
    leave_backlog(state, job);
}

// Of one that is being cancelled nothing more is said.
void index_limit(State& state, Workflow& workflow) {
  const bool limited = workflow.began && workflow.time_limit > Duration{} && !workflow.cancelled;
  const Time until = limited ? workflow.began + workflow.time_limit : Time{};
  if (until == workflow.until) return;
  if (workflow.until) state.workflow_limits.erase({workflow.until, workflow.id});
  workflow.until = until;
  if (until) state.workflow_limits.insert({until, workflow.id});
}

void index_workflow(State& state, Workflow& workflow) {
  bool due = workflow::due(workflow);
  for (const auto& [number, feed] : workflow.feeds) {
    const bool fed = workflow.steps[number].state == StepState::running && feed.queue;
    set_member(state.feeders, std::pair(feed.queue, StepRef{workflow.id, number}), fed ? +1 : -1);
    due = due || workflow::feed_due(state, workflow, number);
  }
  set_member(state.workflows_due, workflow.id, due ? +1 : -1);
  set_member(state.workflows_unsealed, workflow.id, workflow.sealed ? -1 : +1);
  index_limit(state, workflow);
}

void wake_feeders(State& state, QueueId queue) {
  auto at = state.feeders.lower_bound({queue, {}});
  while (at != state.feeders.end() && at->first == queue) {
    const WorkflowId id = at->second.workflow;
    at = state.feeders.upper_bound({queue, {id, UINT32_MAX}});
    index_workflow(state, state.workflows.at(id));
  }
}

void count_workflow(State& state, Workflow& workflow, int sign) {
  state.namespaces.at(workflow.ns).workflows += static_cast<uint64_t>(sign);
  if (!workflow.lane.empty()) {
    auto& lane = state.lanes[{workflow.ns, workflow.lane}];
    set_member(lane, workflow.id, sign);
    if (lane.empty()) state.lanes.erase({workflow.ns, workflow.lane});
  }
  if (sign > 0) return index_workflow(state, workflow);
  state.workflows_due.erase(workflow.id);
  state.workflows_unsealed.erase(workflow.id);
  if (workflow.until) state.workflow_limits.erase({workflow.until, workflow.id});
}

void index_terms(State& state, TermsEntry& entry) {
  const Terms& terms = entry.terms;
  const Shape shape{terms.resources, terms.site, terms.gang, span_of(terms)};
  if (!entry.shape) {
    const auto [known, added] = state.shape_ids.try_emplace(shape, ShapeId{});
    if (added) known->second = ShapeId{++state.counters.shape};
    entry.shape = known->second;
  }
  state.shape_ids.emplace(shape, entry.shape);
  ShapeEntry& counted = state.shapes[entry.shape];
  counted.shape = shape;
  ++counted.terms;
}

TermsId intern_terms(State& state, const Terms& terms) {
  const auto [it, added] = state.terms_ids.try_emplace(terms, TermsId{});
  if (added) {
    it->second = TermsId{++state.counters.terms};
    index_terms(state, state.terms.emplace(it->second, TermsEntry{terms}).first->second);
  }
  return it->second;
}

void add_in_use(InUse& in_use, const Terms& terms, const Placement& placement, int sign) {
  in_use.cpu_milli += sign * terms.resources.cpu_milli;
  in_use.memory_bytes += sign * terms.resources.memory_bytes;
  in_use.tasks += static_cast<uint64_t>(sign);
  for (const HeldDevice& device : placement.devices) {
    const int64_t more = sign * int64_t{device.counts_milli};
    add_count(in_use.devices, device.kind, more);
    if (!device.model.empty())
      add_count(in_use.devices, device_name(device.kind, device.model), more);
  }
}

Amounts amounts_of(const Terms& terms, const Placement& placement) {
  constexpr int64_t kMib = 1 << 20;
  Amounts amounts{terms.resources.cpu_milli, (terms.resources.memory_bytes + kMib - 1) / kMib, {}};
  for (const HeldDevice& device : placement.devices)
    amounts.devices_milli[device.kind] += device.counts_milli;
  return amounts;
}

void advance_accounts(State& state, const Job& job) {
  const Tier tier = state.terms_of(job).tier;
  for_each_account(state, job, [&](Account& account) {
    advance(account[tier], state.now, state.policy.half_life);
  });
}

void count_capacity(State& state) {
  state.capacity = {};
  for (auto& [id, site] : state.sites) {
    set_by_name(state, site, only_by_name(state, site));
    if (site.by_name) continue;
    for (const auto& [name, node] : site.nodes) {
      if (node.gone) continue;
      Amounts amounts{node.capacity.cpu_milli, node.capacity.memory_bytes >> 20, {}};
      for (const Device& device : node.capacity.devices) amounts.devices_milli[device.kind] += 1000;
      add(state.capacity, amounts);
    }
  }
}

}  // namespace atl::core
