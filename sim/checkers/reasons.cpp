#include "sim/checkers/reasons.h"

#include <algorithm>

#include "base/overloaded.h"

namespace atl::sim {
namespace {

using core::scheduling::Block;
using core::scheduling::Explanation;
using core::scheduling::Obstacle;

bool in_backoff(const core::Job& job) {
  return std::any_of(job.tasks.begin(), job.tasks.end(), [](const auto& entry) {
    return std::holds_alternative<core::TaskBackoff>(entry.second.state);
  });
}

bool is_waiting(const core::Job& job) { return !job.waiting.empty() || in_backoff(job); }

bool meant(const core::Site& site, const core::Node& node, const core::Terms& terms) {
  return !node.gone && (terms.site.empty() || terms.site == site.name);
}

// Whether the devices suffice: those asked for by model first, the rest of each kind from what is
// left.
bool devices_suffice(const std::vector<core::Device>& free, const core::Resources& asked) {
  std::map<std::string, int64_t> left;
  std::map<std::pair<std::string, std::string>, int64_t> left_of_model;
  for (const core::Device& device : free) {
    ++left[device.kind];
    ++left_of_model[{device.kind, device.model}];
  }
  for (const core::DeviceRequest& request : asked.devices) {
    left[request.kind] -= request.count;
    if (left[request.kind] < 0) return false;
    if (!request.model.empty() &&
        (left_of_model[{request.kind, request.model}] -= request.count) < 0)
      return false;
  }
  return true;
}

bool fits(const core::Node& node, const core::Resources& asked, bool were_it_empty) {
  const int64_t cpu = were_it_empty ? 0 : node.cpu_milli_used;
  const int64_t memory = were_it_empty ? 0 : node.memory_bytes_used;
  std::vector<core::Device> devices = node.capacity.devices;
  if (!were_it_empty) {
    std::erase_if(devices,
                  [&](const core::Device& d) { return node.units_used.count(d.unit) > 0; });
  }
  return node.capacity.cpu_milli - cpu >= asked.cpu_milli &&
         node.capacity.memory_bytes - memory >= asked.memory_bytes &&
         devices_suffice(devices, asked);
}

struct Fit {
  bool any_node = false;
  bool were_it_empty = false;
  bool now = false;
  bool drained = false;  // were it empty and its site not draining
};

Fit look_for_room(const core::State& state, const core::Terms& terms) {
  Fit fit;
  for (const auto& [id, site] : state.sites) {
    for (const auto& [name, node] : site.nodes) {
      if (!meant(site, node, terms)) continue;
      if (site.draining) {
        fit.drained |= fits(node, terms.resources, true);
        continue;
      }
      fit.any_node = true;
      fit.were_it_empty |= fits(node, terms.resources, true);
      fit.now |= fits(node, terms.resources, false);
    }
  }
  return fit;
}

// What the namespace's placed tasks add up to, by the quota's word for it.
bool belongs(const core::State& state, NamespaceId ns, const std::string& holder);

int64_t used_by(const core::State& state, const std::string& holder, const std::string& resource) {
  int64_t sum = 0;
  for (const auto& [id, job] : state.jobs) {
    if (!belongs(state, job.ns, holder)) continue;
    const core::Resources& each = state.terms_of(job).resources;
    for (const auto& [index, task] : job.tasks) {
      const core::Placement* placement = core::placement_of(task.state);
      if (!placement || task.line) continue;
      if (resource == "cpu")
        sum += each.cpu_milli;
      else if (resource == "memory")
        sum += each.memory_bytes;
      else if (resource == "tasks")
        sum += 1;
      for (const core::HeldDevice& device : placement->devices) {
        sum += resource == device.kind || resource == device.kind + ":" + device.model;
      }
    }
  }
  return sum;
}

std::string untrue_dependency(const core::State& state, const core::Job& job,
                              const Explanation& why) {
  if (why.waits_for.empty()) return "it names no job to wait for";
  for (const JobId other : why.waits_for) {
    if (!state.job(other)) return "it waits for job " + to_string(other) + ", which is over";
  }
  return job.dependencies.empty() ? "it has no dependency" : "";
}

std::string untrue_claim(const core::State& state, const Explanation& why) {
  const core::Job* other = why.waits_for.size() == 1 ? state.job(why.waits_for[0]) : nullptr;
  if (!other) return "there is nobody for whom the room is kept";
  return other->ready() ? "" : "job " + to_string(other->id) + " does not wait for it";
}

std::string untrue_yielding(const core::State& state, const core::Job& job, int64_t tasks) {
  if (tasks == 0) return "nobody makes room for it";
  for (const auto& [id, other] : state.jobs) {
    for (const auto& [index, task] : other.tasks) {
      const auto* stop = std::get_if<core::TaskStop>(&task.state);
      tasks -= stop && stop->reason == core::StopReason::yielded && stop->beneficiary == job.id;
    }
  }
  return tasks == 0 ? "" : "another number of tasks makes room for it";
}

// Whether the namespace belongs to the holder of a quota: itself, or a cohort above it.
bool belongs(const core::State& state, NamespaceId ns, const std::string& holder) {
  const core::Namespace& space = state.namespaces.at(ns);
  if (holder == "namespace " + space.name) return true;
  for (CohortId at = space.stake.cohort; at; at = state.cohorts.at(at).stake.cohort) {
    if (holder == "cohort " + state.cohorts.at(at).name) return true;
  }
  return false;
}

std::string untrue_quota(const core::State& state, const core::Job& job, const Block& block) {
  if (!belongs(state, job.ns, block.holder)) return "that quota is not its own";
  const int64_t used = used_by(state, block.holder, block.resource);
  if (used != block.in_use)
    return std::to_string(used) + " of the quota's " + block.resource + " are in use";
  return used + block.asked > block.limit ? "" : "the quota of " + block.resource + " leaves room";
}

// Room for this job alone: everything else is held, and a node as large as it asks for appears.
void make_room(core::State& copy, const core::Job& job, Time now) {
  const core::Terms terms = copy.terms_of(job);
  core::NodeCapacity node{"giant", terms.resources.cpu_milli, terms.resources.memory_bytes, {}};
  for (const core::DeviceRequest& request : terms.resources.devices) {
    for (uint32_t i = 0; i < request.count; ++i) {
      const std::string unit = "giant" + std::to_string(node.devices.size());
      node.devices.push_back({unit, request.kind, request.model, 0, true});
    }
  }
  const core::Site* site = copy.site_named(terms.site.empty() ? "elsewhere" : terms.site);
  const SiteId id = site ? site->id : SiteId{copy.counters.site + 1};
  if (!site)
    core::apply(
        copy,
        {now, {}, core::SiteAdded{id, terms.site.empty() ? "elsewhere" : terms.site, "test"}});
  core::SiteReport report;
  for (const auto& [name, known] : copy.sites.at(id).nodes) {
    if (!known.gone) report.nodes.push_back(known.capacity);
  }
  report.nodes.push_back(std::move(node));
  core::apply(copy, {now, {}, core::SiteReported{id, std::move(report)}});
  core::apply(copy, {now, {}, core::SiteDrained{id, false}});
}

void hold_others(core::State& copy, JobId job, Time now) {
  std::vector<JobId> others;
  for (const auto& [id, other] : copy.jobs) {
    if (id != job && !other.held) others.push_back(id);
  }
  for (const JobId id : others) core::apply(copy, {now, {}, core::JobHeld{id}});
}

// Those that make room have ended, and wait for good; so have others that were stopping anyway, and
// were counted on.
void end_stopping(core::State& copy, Time now) {
  std::vector<AttemptId> ended;
  for (const auto& [id, other] : copy.jobs) {
    for (const auto& [index, task] : other.tasks) {
      if (std::holds_alternative<core::TaskStop>(task.state) && !task.line)
        ended.push_back({id, index, task.attempt});
    }
  }
  for (const AttemptId attempt : ended) {
    core::apply(copy, {now, {}, core::TaskRetried{attempt, core::RetryReason::yielded, {}, now}});
    core::apply(copy, {now, {}, core::JobHeld{attempt.job}});
  }
}

void remove(core::State& copy, const core::Job& job, Time now, Obstacle obstacle) {
  const auto say = [&](core::EventBody body) { core::apply(copy, {now, {}, std::move(body)}); };
  switch (obstacle) {
    case Obstacle::held:
      return say(core::JobReleased{job.id});
    case Obstacle::dependency:
      return say(core::DependenciesSettled{job.id});
    case Obstacle::quota:
      say(core::StakeSet{job.ns, {}});
      return say(core::QuotaSet{job.ns, {}});
    case Obstacle::array_limit:
      copy.terms.at(job.terms).terms.parallel_max = 0;
      return;
    case Obstacle::backoff:
      for (const auto& [index, task] : job.tasks) {
        if (std::holds_alternative<core::TaskBackoff>(task.state))
          return say(core::BackoffEnded{{job.id, index}});
      }
      return;
    case Obstacle::yielding:
      return end_stopping(copy, now);
    default:
      return make_room(copy, job, now);
  }
}

}  // namespace

Reasons::Reasons()
    : explain_([](const core::State& state, const core::Job& job) {
        return core::scheduling::explain(state, job);
      }) {}

void Reasons::looked(const Glimpse& glimpse) {
  const core::State& state = glimpse.live;
  if (!glimpse.writable || state.jobs.empty() || ++looks_ % kLookEvery != 0) return;
  if (!core::decide(state, {glimpse.now, core::Tick{}})->empty()) return;
  auto at = state.jobs.upper_bound(last_);
  for (int checked = 0; checked < kJobsPerLook; ++at) {
    if (at == state.jobs.end()) break;
    if (!is_waiting(at->second)) continue;
    check(state, at->second, glimpse.now);
    ++checked;
  }
  last_ = at == state.jobs.end() ? JobId{} : JobId{at->first.value - 1};
}

void Reasons::check(const core::State& state, const core::Job& job, Time now) {
  const Explanation why = explain_(state, job);
  const Obstacle obstacle = why.block.obstacle;
  const std::string said = "job " + to_string(job.id) + " says \"" + why.sentence + "\" (" +
                           enum_name(obstacle) + "), but ";
  const std::string wrong = untrue(state, job, now, why);
  if (!wrong.empty()) return broke(said + wrong);
  if (!starts_without(state, job, now, obstacle))
    broke(said + "without that it does not start and gives no other reason");
}

std::string Reasons::untrue(const core::State& state, const core::Job& job, Time now,
                            const Explanation& why) {
  const core::Terms& terms = state.terms_of(job);
  const Fit fit = look_for_room(state, terms);
  switch (why.block.obstacle) {
    case Obstacle::held:
      return job.held ? "" : "it is not held";
    case Obstacle::dependency:
      return untrue_dependency(state, job, why);
    case Obstacle::backoff:
      return in_backoff(job) && why.until > now ? "" : "no pause is under way";
    case Obstacle::array_limit:
      return terms.parallel_max > 0 && job.placed >= terms.parallel_max
                 ? ""
                 : "its limit is not reached";
    case Obstacle::quota:
      return untrue_quota(state, job, why.block);
    case Obstacle::no_site:
      return fit.any_node ? "there is a node" : "";
    case Obstacle::draining:
      return fit.were_it_empty ? "a node is large enough" : fit.drained ? "" : "none would do";
    case Obstacle::infeasible:
      return fit.were_it_empty ? "a node is large enough" : fit.any_node ? "" : "there is no node";
    case Obstacle::capacity:
      return fit.now ? "a node has room" : fit.were_it_empty ? "" : "no node is large enough";
    case Obstacle::claimed:
      return fit.now ? untrue_claim(state, why) : "there is no room anyway";
    case Obstacle::yielding:
      return untrue_yielding(state, job, why.block.asked);
    default:
      return "a tick starts nothing";
  }
}

bool Reasons::starts_without(core::State copy, const core::Job& job, Time now, Obstacle obstacle) {
  hold_others(copy, job.id, now);
  remove(copy, job, now, obstacle);
  for (int round = 0; round < 4; ++round) {
    const auto events = core::decide(copy, {now, core::Tick{}});
    if (!events || events->empty()) break;
    for (const core::Event& event : *events) {
      const auto* placed = std::get_if<core::TaskPlaced>(&event.body);
      if (placed && placed->attempt.job == job.id) return true;
      core::apply(copy, event);
    }
  }
  const core::Job* still = copy.job(job.id);
  if (!still || !is_waiting(*still)) return true;
  const Obstacle next = explain_(copy, *still).block.obstacle;
  return next != obstacle && next != Obstacle::turn;
}

}  // namespace atl::sim
