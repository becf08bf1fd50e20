#include "sim/checkers/reasons.h"

#include <algorithm>

#include "sim/checkers/agenda.h"
#include "sim/checkers/fit.h"
#include "sim/checkers/removal.h"

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

bool belongs(const core::State& state, NamespaceId ns, const std::string& holder);

// What the placed tasks add up to, by the quota's word for it.
int64_t used_by_job(const core::State& state, const core::Job& job, const std::string& resource,
                    bool of_platform_only = false) {
  int64_t sum = 0;
  for (const auto& [index, task] : job.tasks) {
    const core::Placement* placement = core::placement_of(task.state);
    if (placement && !task.line &&
        (!of_platform_only || of_platform(state, state.sites.at(placement->site))))
      sum += amount_of(state.terms_of(job).resources, *placement, resource);
  }
  return sum;
}

int64_t used_by(const core::State& state, const std::string& holder, const std::string& resource) {
  int64_t sum = 0;
  for (const auto& [id, job] : state.jobs) {
    if (belongs(state, job.ns, holder)) sum += used_by_job(state, job, resource);
  }
  return sum;
}

std::string untrue_amount(const Block& block, int64_t used, const std::string& whose) {
  if (block.in_use != used)
    return std::to_string(used) + " of " + whose + "'s " + block.resource + " are in use";
  return block.in_use + block.asked > block.limit ? ""
                                                  : whose + "'s " + block.resource + " leaves room";
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
  return untrue_amount(block, used, "the quota");
}

// The platform counts its memory in MiB, each node's rounded down.
bool limit_differs(std::optional<int64_t> limit, const Block& block) {
  const int64_t slack = block.resource == "memory" ? int64_t{16} << 20 : 0;
  return !limit || block.limit > *limit || block.limit < *limit - slack;
}

std::string untrue_calendar(const core::State& state, const core::Job& job, Time now,
                            const Block& block) {
  const core::Terms& terms = state.terms_of(job);
  for (const core::CalendarEntry& entry : state.calendar.entries) {
    if (entry.name != block.holder) continue;
    if (entry.tier != terms.tier) return "that entry is for another tier";
    const core::Site* named = terms.site.empty() ? nullptr : state.site_named(terms.site);
    if (named && !of_platform(state, *named)) return "its site is no part of the platform";
    if (!in_force(state.calendar, entry, now)) return "that entry does not hold now";
    if (limit_differs(leaves(entry, block.resource, state), block)) return "its limit is another";
    int64_t used = 0;
    for (const auto& [id, other] : state.jobs) {
      if (state.terms_of(other).tier == terms.tier)
        used += used_by_job(state, other, block.resource, true);
    }
    return untrue_amount(block, used, "the calendar");
  }
  return "the calendar has no such entry";
}

// Room that others have reserved, for now or for a time that the job would reach into.
std::string untrue_reserved(const core::State& state, const core::Job& job, Time now,
                            const Block& block) {
  const core::Terms& terms = state.terms_of(job);
  const Time end = terms.wall.us > 0 ? now + terms.wall + terms.grace : Time{};
  for (const auto& [id, reservation] : state.reservations) {
    if (reservation.name != block.holder) continue;
    if (reservation.from <= now && reserved_for(reservation, job.ns))
      return "that is reserved for it";
    if (reservation.from > now &&
        ((end && end <= reservation.from) || terms.tier == core::Tier::opportunistic))
      return "it could use that until then";
    // Of a gang one member would have room there, whatever is in the way of the others.
    for (const core::ReservedPart& part : reservation.parts) {
      if (part.node != block.resource || !state.sites.count(part.site)) continue;
      const auto& nodes = state.sites.at(part.site).nodes;
      const auto node = nodes.find(part.node);
      if (node != nodes.end() && members_on(state, part.site, node->second, terms, 1, false) > 0)
        return "";
    }
    return "nothing is reserved there, or there is no room anyway";
  }
  return "there is no such reservation";
}

std::string untrue_members(const core::Job& job) {
  const bool stops = std::any_of(job.tasks.begin(), job.tasks.end(), [](const auto& entry) {
    return std::holds_alternative<core::TaskStop>(entry.second.state);
  });
  return job.gang && stops ? "" : "no other member of it stops";
}

}  // namespace

Reasons::Reasons()
    : explain_([](const core::State& state, const core::Job& job, Time now) {
        return core::scheduling::explain(state, job, true, now);
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
  const Explanation why = explain_(state, job, now);
  const Obstacle obstacle = why.block.obstacle;
  const std::string said = "job " + to_string(job.id) + " says \"" + why.sentence + "\" (" +
                           enum_name(obstacle) + "), but ";
  const std::string wrong = untrue(state, job, now, why);
  if (!wrong.empty()) return broke(said + wrong);
  const std::string still = stuck_without(state, job, now, obstacle);
  if (!still.empty())
    broke(said + "without that it does not start and gives no other reason: " + still);
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
      return fit.were_it_empty ? "a node is large enough" : fit.reported ? "" : "there is no node";
    case Obstacle::capacity:
      return fit.now ? "a node has room" : fit.were_it_empty ? "" : "no node is large enough";
    case Obstacle::claimed:
      return fit.now ? untrue_claim(state, why) : "there is no room anyway";
    case Obstacle::calendar:
      return untrue_calendar(state, job, now, why.block);
    case Obstacle::reserved:
      return untrue_reserved(state, job, now, why.block);
    case Obstacle::members:
      return untrue_members(job);
    case Obstacle::yielding:
      return untrue_yielding(state, job, why.block.asked);
    default:
      return "a tick starts nothing";
  }
}

std::string Reasons::stuck_without(core::State copy, const core::Job& job, Time now,
                                   Obstacle obstacle) {
  hold_others(copy, job.id, now);
  remove_obstacle(copy, job, now, obstacle);
  for (int round = 0; round < 4; ++round) {
    const auto events = core::decide(copy, {now, core::Tick{}});
    if (!events || events->empty()) break;
    for (const core::Event& event : *events) {
      const auto* placed = std::get_if<core::TaskPlaced>(&event.body);
      if (placed && placed->attempt.job == job.id) return "";
      core::apply(copy, event);
    }
  }
  const core::Job* still = copy.job(job.id);
  if (!still || !is_waiting(*still)) return "";
  const Explanation next = explain_(copy, *still, now);
  const bool other = next.block.obstacle != obstacle && next.block.obstacle != Obstacle::turn;
  return other ? "" : next.sentence + " (" + enum_name(next.block.obstacle) + ")";
}

}  // namespace atl::sim
