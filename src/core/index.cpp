#include "core/index.h"

#include "base/check.h"
#include "base/overloaded.h"
#include "core/limits.h"

namespace atl::core {
namespace {

GroupKey group_of(const State& state, const Job& job) {
  return {-static_cast<int64_t>(state.terms_of(job).priority), job.terms};
}

void leave_backlog(State& state, const Job& job) {
  const auto ns = state.backlog.find(job.ns);
  if (ns == state.backlog.end()) return;
  const auto group = ns->second.find(group_of(state, job));
  if (group == ns->second.end()) return;
  group->second.erase(job.id);
  if (group->second.empty()) ns->second.erase(group);
  if (ns->second.empty()) state.backlog.erase(ns);
}

void add_count(std::map<std::string, uint32_t>& counts, const std::string& key, int sign) {
  const auto it = counts.try_emplace(key, 0).first;
  CHECK(sign > 0 || it->second > 0, "device " + key + " released more often than taken");
  it->second += static_cast<uint32_t>(sign);
  if (it->second == 0) counts.erase(it);
}

void hold(State& state, const Job& job, const Placement& placement, int sign) {
  Site& site = state.sites.at(placement.site);
  Node& node = site.nodes.at(placement.node);
  const Terms& terms = state.terms_of(job);
  node.cpu_milli_used += sign * terms.resources.cpu_milli;
  node.memory_bytes_used += sign * terms.resources.memory_bytes;
  node.tasks += static_cast<uint32_t>(sign);
  for (const HeldDevice& device : placement.devices) {
    const bool changed = sign > 0 ? node.units_used.insert(device.unit).second
                                  : node.units_used.erase(device.unit) == 1;
    CHECK(changed, "device " + device.unit + " of " + site.name + "/" + placement.node +
                       " held twice or not at all");
  }
  add_in_use(state.namespaces.at(job.ns).in_use, terms, placement, sign);
}

template <class T>
void set_member(std::set<T>& set, const T& member, int sign) {
  if (sign > 0)
    set.insert(member);
  else
    set.erase(member);
}

void set_leader(State& state, const Job& job, AttemptId attempt, int sign) {
  if (!state.terms_of(job).resources.devices.empty()) return;
  const std::pair key{job.ns, job.terms};
  std::set<AttemptId>& leaders = state.leaders[key];
  set_member(leaders, attempt, sign);
  if (leaders.empty()) state.leaders.erase(key);
}

// One in line and the one before it.
void set_follower(State& state, const Job& job, uint32_t index, const Task& task, int sign) {
  const TaskId id{job.id, index};
  const AttemptId behind = task.line->behind;
  if (sign > 0)
    state.followers.emplace(behind, id);
  else
    state.followers.erase(behind);
  set_leader(state, state.jobs.at(behind.job), behind, -sign);
  if (in_line(task))
    set_member(state.recalls, {std::get<TaskStarting>(task.state).placed + kInLineMax, id}, sign);
}

void set_task(State& state, Job& job, uint32_t index, const Task& task, int sign) {
  const Placement* placement = placement_of(task.state);
  if (placement && task.line) return set_follower(state, job, index, task, sign);
  if (placement) {
    hold(state, job, *placement, sign);
    job.placed += static_cast<uint32_t>(sign);
    const AttemptId attempt{job.id, index, task.attempt};
    if (sign < 0 || !state.followers.contains(attempt)) set_leader(state, job, attempt, sign);
    return;
  }
  set_member(state.backoffs, {std::get<TaskBackoff>(task.state).not_before, TaskId{job.id, index}},
             sign);
}

}  // namespace

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
  state.terms_ids.erase(entry->second.terms);
  state.terms.erase(entry);
}

void index_task(State& state, Job& job, uint32_t index, const Task& task) {
  set_task(state, job, index, task, +1);
}

void unindex_task(State& state, Job& job, uint32_t index, const Task& task) {
  set_task(state, job, index, task, -1);
}

void index_tasks(State& state, Job& job) {
  for (const auto& [index, task] : job.tasks) index_task(state, job, index, task);
}

// Those in line first: their leaving makes leaders of those before them, who must still be there.
void unindex_tasks(State& state, Job& job) {
  for (const bool lined_up : {true, false}) {
    for (const auto& [index, task] : job.tasks) {
      if (task.line.has_value() == lined_up) unindex_task(state, job, index, task);
    }
  }
}

void index_ready(State& state, const Job& job) {
  if (job.ready())
    state.backlog[job.ns][group_of(state, job)].insert(job.id);
  else
    leave_backlog(state, job);
}

TermsId intern_terms(State& state, const Terms& terms) {
  const auto [it, added] = state.terms_ids.try_emplace(terms, TermsId{});
  if (added) {
    it->second = TermsId{++state.counters.terms};
    state.terms.emplace(it->second, TermsEntry{terms, 0});
  }
  return it->second;
}

void add_in_use(InUse& in_use, const Terms& terms, const Placement& placement, int sign) {
  in_use.cpu_milli += sign * terms.resources.cpu_milli;
  in_use.memory_bytes += sign * terms.resources.memory_bytes;
  in_use.tasks += static_cast<uint64_t>(sign);
  for (const HeldDevice& device : placement.devices) {
    add_count(in_use.devices, device.kind, sign);
    if (!device.model.empty()) add_count(in_use.devices, device.kind + ":" + device.model, sign);
  }
}

}  // namespace atl::core
