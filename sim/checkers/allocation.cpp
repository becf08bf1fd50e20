#include "sim/checkers/allocation.h"

#include <algorithm>

#include "base/overloaded.h"

namespace atl::sim {
namespace {

bool below(const core::State& state, NamespaceId ns, CohortId cohort) {
  CohortId at = state.namespaces.at(ns).stake.cohort;
  while (at && at != cohort) at = state.cohorts.at(at).stake.cohort;
  return at == cohort;
}

std::string where(const core::Placement& at) {
  return std::to_string(at.site.value) + "/" + at.node;
}

}  // namespace

void Allocation::recorded(uint64_t, const core::Event& event, const core::State& after) {
  match(
      event.body, [&](const core::TaskPlaced& e) { place(e, after); },
      [&](const core::TaskEnded& e) { release(e.attempt); },
      [&](const core::TaskRetried& e) { release(e.attempt); },
      [&](const core::StepPreparing& e) { prepared_.insert(e.step); },
      // A step that is prepared began when there was room, and others may have come meanwhile.
      [&](const core::JobSubmitted& e) {
        if (!e.of.workflow || prepared_.erase(e.of) == 0) check_queued(e.ns, after);
      },
      [&](const core::JobReopened& e) { check_queued(e.job.ns, after); }, [](const auto&) {});
}

void Allocation::add(Sum& sum, const Held& held, int sign) {
  sum.cpu_milli += sign * held.resources.cpu_milli;
  sum.memory_bytes += sign * held.resources.memory_bytes;
  sum.tasks += static_cast<uint64_t>(sign);
  for (const core::HeldDevice& device : held.placement.devices) {
    sum.devices_milli[device.kind] += sign * device.counts_milli;
    if (!device.model.empty())
      sum.devices_milli[device.kind + ":" + device.model] += sign * device.counts_milli;
  }
}

void Allocation::place(const core::TaskPlaced& placed, const core::State& after) {
  const core::Job* job = after.job(placed.attempt.job);
  if (!job) return broke(to_string(placed.attempt) + " is placed without a job");
  const Held held{placed.placement, after.terms_of(*job).resources, job->ns, placed.behind};
  check_open(held.placement, after);
  if (held.behind) return line_up(placed, held);
  for (const core::HeldDevice& device : placed.placement.devices) {
    const std::string other = units_.take(where(placed.placement), placed.attempt, device);
    if (!other.empty())
      broke("device " + device.unit + " goes to " + to_string(placed.attempt) + " and " + other);
  }
  held_.emplace(placed.attempt, held);
  count(held, +1);
  check_node(held, after);
  check_quota(held, after);
}

void Allocation::line_up(const core::TaskPlaced& placed, Held held) {
  const auto leader = held_.find(*held.behind);
  const bool same = leader != held_.end() && leader->second.placement == held.placement &&
                    leader->second.resources == held.resources && leader->second.ns == held.ns;
  if (!same) broke(to_string(placed.attempt) + " lines up for room that is not as it asks");
  if (!held.placement.devices.empty()) broke(to_string(placed.attempt) + " lines up for devices");
  if (!followers_.emplace(*held.behind, placed.attempt).second)
    broke("two are in line behind " + to_string(*held.behind));
  held_.emplace(placed.attempt, std::move(held));
}

void Allocation::count(const Held& held, int sign) {
  add(nodes_[{held.placement.site, held.placement.node}], held, sign);
  add(namespaces_[held.ns], held, sign);
}

void Allocation::release(AttemptId attempt) {
  const auto held = held_.extract(attempt);
  if (!held) return broke(to_string(attempt) + " ended without having been placed");
  if (const auto& leader = held.mapped().behind) {
    followers_.erase(*leader);
    if (const auto next = followers_.extract(attempt)) {
      held_.at(next.mapped()).behind = leader;
      followers_.emplace(*leader, next.mapped());
    }
    return;
  }
  if (const auto next = followers_.extract(attempt)) {
    Held& promoted = held_.at(next.mapped());
    promoted.behind.reset();
    count(promoted, +1);
  }
  const core::Placement& placement = held.mapped().placement;
  for (const core::HeldDevice& device : placement.devices)
    units_.give_back(where(placement), attempt, device);
  count(held.mapped(), -1);
}

// Also one that lines up may only do so where work may begin.
void Allocation::check_open(const core::Placement& at, const core::State& after) {
  const auto site = after.sites.find(at.site);
  if (site == after.sites.end() || !site->second.nodes.count(at.node))
    return broke("node " + at.node + " does not exist");
  const core::Node& node = site->second.nodes.at(at.node);
  if (node.gone || node.draining || site->second.draining)
    broke("node " + at.node + " is given work while it is gone or drains");
}

void Allocation::check_node(const Held& held, const core::State& after) {
  const core::Placement& at = held.placement;
  const std::string name = "node " + at.node;
  const auto site = after.sites.find(at.site);
  if (site == after.sites.end() || !site->second.nodes.count(at.node)) return;
  const core::NodeCapacity& capacity = site->second.nodes.at(at.node).capacity;
  const Sum& sum = nodes_[{at.site, at.node}];
  if (sum.cpu_milli > capacity.cpu_milli) broke(name + " gives more cores than it has");
  if (sum.memory_bytes > capacity.memory_bytes) broke(name + " gives more memory than it has");
  for (const core::HeldDevice& part : at.devices) {
    std::string wrong = "is not there";
    for (const core::Device& device : capacity.devices) {
      if (device.unit == part.unit) wrong = wrongly_cut(device, part);
    }
    if (!wrong.empty()) broke(name + " gives of device " + part.unit + ", which " + wrong);
  }
  if (!as_asked(capacity.devices, at.devices, held.resources.devices))
    broke(name + " gives other devices than were asked for");
}

// What is in use of a namespace or cohort against its quota, with what it may borrow if it belongs
// to somebody.
void Allocation::check_level(const std::string& name, const Sum& sum, const core::Quota& quota,
                             const core::Stake& stake, const Held& held) {
  const auto over = [&](auto used, const auto& own, const auto& more) {
    if (!own) return false;
    if (!stake.cohort) return used > static_cast<decltype(used)>(*own);
    return more && used > static_cast<decltype(used)>(*own + *more);
  };
  if (over(sum.cpu_milli, quota.cpu_milli, stake.borrow.cpu_milli))
    broke(name + " is over its quota of cores");
  const bool wants_memory = held.resources.memory_bytes > 0;
  if (wants_memory && over(sum.memory_bytes, quota.memory_bytes, stake.borrow.memory_bytes))
    broke(name + " is over its quota of memory");
  if (over(sum.tasks, quota.running, stake.borrow.running))
    broke(name + " is over its quota of running tasks");
  const auto entry = [](const core::Quota& of, const std::string& key) -> std::optional<uint64_t> {
    const auto it = of.devices.find(key);
    return it == of.devices.end() ? std::nullopt : std::optional<uint64_t>(it->second * 1000);
  };
  for (const core::HeldDevice& device : held.placement.devices) {
    for (const std::string& key : {device.kind, device.kind + ":" + device.model}) {
      const auto used = sum.devices_milli.find(key);
      if (used != sum.devices_milli.end() &&
          over(used->second, entry(quota, key), entry(stake.borrow, key)))
        broke(name + " is over its quota of " + key);
    }
  }
}

void Allocation::check_quota(const Held& held, const core::State& after) {
  const core::Namespace& ns = after.namespaces.at(held.ns);
  check_level(ns.name, namespaces_[held.ns], ns.quota, ns.stake, held);
  for (CohortId at = ns.stake.cohort; at;) {
    const core::Cohort& cohort = after.cohorts.at(at);
    Sum sum;
    for (const auto& [attempt, each] : held_) {
      if (!each.behind && below(after, each.ns, at)) add(sum, each, +1);
    }
    check_level(cohort.name, sum, cohort.nominal, cohort.stake, held);
    at = cohort.stake.cohort;
  }
}

void Allocation::check_queued(NamespaceId id, const core::State& after) {
  const core::Namespace& ns = after.namespaces.at(id);
  uint64_t jobs = 0;
  for (const auto& [job_id, job] : after.jobs) jobs += job.ns == id;
  if (ns.quota.queued && jobs > *ns.quota.queued)
    broke(ns.name + " is over its quota of queued jobs");
}

void Allocation::began(const RunBegan& run) {
  const auto held = held_.find(run.attempt);
  if (held != held_.end() && held->second.behind && running_.count(*held->second.behind))
    broke(to_string(run.attempt) + " begins while " + to_string(*held->second.behind) +
          " still has its room");
  running_.emplace(run.attempt, run);
  const std::string place = run.site + "/" + run.placement.node;
  for (const core::HeldDevice& device : run.placement.devices) {
    const std::string other = really_used_.take(place, run.attempt, device);
    if (!other.empty())
      broke("device " + device.unit + " is really used by " + other + " and " +
            to_string(run.attempt));
  }
}

void Allocation::ended(const RunEnded& run) {
  const auto found = running_.extract(run.attempt);
  if (!found) return;
  const std::string place = found.mapped().site + "/" + found.mapped().placement.node;
  for (const core::HeldDevice& device : found.mapped().placement.devices)
    really_used_.give_back(place, run.attempt, device);
}

}  // namespace atl::sim
