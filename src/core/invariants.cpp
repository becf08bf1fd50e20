#include "base/overloaded.h"
#include "core/core.h"
#include "core/queue/index.h"
#include "core/schedule/index.h"

namespace atl::core {
namespace {

std::string broken_in_job(const State& state, const Job& job) {
  const std::string name = "job " + to_string(job.id);
  if (!state.namespaces.count(job.ns)) return name + " has no namespace";
  if (!state.users.count(job.user)) return name + " has no user";
  if (!state.terms.count(job.terms)) return name + " has no terms";
  if (job.waiting.empty() && job.tasks.empty()) return name + " is live but has nothing left to do";
  uint64_t ended = 0;
  for (const uint64_t n : job.tally) ended += n;
  if (job.waiting.size() + job.tasks.size() + ended != job.size)
    return name + " lost or gained an index";
  for (const auto& [index, task] : job.tasks) {
    if (job.waiting.contains(index)) return name + " has an index both waiting and placed";
    if (task.attempt == 0) return name + " has a task without an attempt";
  }
  return {};
}

// Each of its jobs has a lease that is its own, and is alive or being collected.
std::string broken_in_feed(const State& state, const Workflow& workflow, uint32_t number) {
  const Feed& feed = workflow.feeds.at(number);
  const StepState how = workflow.steps[number].state;
  const std::string name =
      "step " + workflow.steps[number].name + " of workflow " + to_string(workflow.id);
  if (!feed.jobs.empty() && how != StepState::running) return name + " has jobs and does not run";
  for (const auto& [id, fed] : feed.jobs) {
    const WorkQueue* queue = workflow::queue_of(state, feed);
    const auto lease =
        queue ? queue->leases.find(fed.lease) : std::map<LeaseId, Lease>::const_iterator{};
    if (!queue || lease == queue->leases.end() || lease->second.job != id)
      return name + " has job " + to_string(id) + " without its lease";
    if (!fed.collecting && !state.job(id)) return name + " has a job that is gone";
  }
  return {};
}

// A step that runs names its job, and the job names the step.
std::string broken_in_step(const State& state, const Workflow& workflow, uint32_t number) {
  const Step& step = workflow.steps[number];
  const std::string name = "step " + step.name + " of workflow " + to_string(workflow.id);
  const Job* job = state.job(step.job);
  if (step.kind >= workflow.kinds.size()) return name + " is of no kind";
  if (step.fed) {
    if (std::string broken = broken_in_feed(state, workflow, number); !broken.empty())
      return broken;
  } else if (step.state == StepState::running && (!job || job->of != StepRef{workflow.id, number}))
    return name + " runs without a job";
  if (job && step.state != StepState::running && job->of == StepRef{workflow.id, number})
    return name + " has a job and does not run";
  if (step.state == StepState::waiting && step.unmet == 0) return name + " waits for nothing";
  if (step.state == StepState::ready && step.unmet != 0) return name + " is ready too soon";
  return {};
}

std::string broken_in_workflow(const State& state, const Workflow& workflow) {
  const std::string name = "workflow " + to_string(workflow.id);
  if (!state.namespaces.count(workflow.ns)) return name + " has no namespace";
  std::vector<uint32_t> unmet(workflow.steps.size());
  for (uint32_t i = 0; i < workflow.steps.size(); ++i) {
    if (std::string broken = broken_in_step(state, workflow, i); !broken.empty()) return broken;
    const StepState how = workflow.steps[i].state;
    workflow::for_each_follower(workflow, i, [&](const Edge& edge) {
      unmet[edge.to] += !ended(how) || !workflow::enough(edge, how);
    });
  }
  for (uint32_t i = 0; i < workflow.steps.size(); ++i) {
    const Step& step = workflow.steps[i];
    const bool counts = step.state <= StepState::ready;
    if (counts && step.unmet != unmet[i]) return name + " miscounts the needs of " + step.name;
    if (under_way(step.state) && unmet[i] != 0) return name + " began " + step.name + " too soon";
  }
  return {};
}

std::string broken_in_node(const Site& site, const Node& node) {
  const std::string name = "node " + site.name + "/" + node.capacity.name;
  if (node.cpu_milli_used < 0 || node.memory_bytes_used < 0)
    return name + " released more than it gave";
  if (node.holders.empty() &&
      (node.cpu_milli_used != 0 || node.memory_bytes_used != 0 || !node.units_used.empty())) {
    return name + " holds resources for nobody";
  }
  return {};
}

std::string broken_quota(const Namespace& ns) {
  const std::string name = "namespace " + ns.name;
  if (ns.in_use.cpu_milli < 0 || ns.in_use.memory_bytes < 0)
    return name + " released more than it took";
  return {};
}

void clear_now(Account& account) {
  for (auto& [tier, meter] : account) meter.now = {};
}

}  // namespace

std::string broken_invariant(const State& state) {
  for (const auto& [id, job] : state.jobs) {
    if (std::string broken = broken_in_job(state, job); !broken.empty()) return broken;
  }
  for (const auto& [id, site] : state.sites) {
    for (const auto& [name, node] : site.nodes) {
      if (std::string broken = broken_in_node(site, node); !broken.empty()) return broken;
    }
  }
  for (const auto& [id, ns] : state.namespaces) {
    if (std::string broken = broken_quota(ns); !broken.empty()) return broken;
  }
  for (const auto& [id, workflow] : state.workflows) {
    if (std::string broken = broken_in_workflow(state, workflow); !broken.empty()) return broken;
  }
  for (const auto& [id, queue] : state.queues) {
    if (std::string broken = broken_in_queue(state, queue); !broken.empty()) return broken;
  }
  for (const auto& [id, schedule] : state.schedules) {
    if (std::string broken = broken_in_schedule(state, schedule); !broken.empty()) return broken;
  }
  // The derived parts must be what a snapshot would rebuild.
  State rebuilt;
  rebuilt.now = state.now;
  rebuilt.counters = state.counters;
  rebuilt.users = state.users;
  rebuilt.tokens = state.tokens;
  rebuilt.namespaces = state.namespaces;
  rebuilt.sites = state.sites;
  rebuilt.terms = state.terms;
  rebuilt.jobs = state.jobs;
  rebuilt.notices = state.notices;
  rebuilt.cohorts = state.cohorts;
  rebuilt.policy = state.policy;
  rebuilt.calendar = state.calendar;
  rebuilt.reservations = state.reservations;
  rebuilt.workflows = state.workflows;
  rebuilt.queues = state.queues;
  rebuilt.kept = state.kept;
  for (auto& [id, queue] : rebuilt.queues) clear_derived(queue);
  rebuilt.schedules = state.schedules;
  for (auto& [id, schedule] : rebuilt.schedules) schedule.timer = {};
  for (auto& [id, ns] : rebuilt.namespaces) {
    ns.in_use = {};
    ns.jobs = ns.workflows = 0;
    clear_now(ns.account);
    for (auto& [user, account] : ns.user_accounts) clear_now(account);
  }
  for (auto& [id, cohort] : rebuilt.cohorts) {
    cohort.in_use = {};
    cohort.nominal = {};
    clear_now(cohort.account);
  }
  for (auto& [id, site] : rebuilt.sites) {
    site.by_name = false;
    for (auto& [name, node] : site.nodes) {
      node.cpu_milli_used = node.memory_bytes_used = 0;
      node.units_used.clear();
      node.holders.clear();
    }
  }
  for (auto& [id, entry] : rebuilt.terms) entry.jobs = 0;
  for (auto& [id, job] : rebuilt.jobs) job.placed = 0;
  rebuild_derived(rebuilt);
  if (rebuilt == state) return {};
  return "the derived part of the state is not what a snapshot would rebuild";
}

}  // namespace atl::core
