#include "core/scheduling/explain.h"

#include <algorithm>

#include "base/amount.h"
#include "core/index.h"
#include "core/scheduling/bounds.h"
#include "core/scheduling/place.h"
#include "core/scheduling/plan.h"
#include "core/scheduling/reserved.h"
#include "core/scheduling/round.h"
#include "core/scheduling/sentence.h"
#include "core/scheduling/yield.h"

namespace atl::core::scheduling {
namespace {

// What the jobs that are waited for have to do, if it is the same for all.
const char* awaited(const Job& job) {
  std::optional<DependencyKind> kind;
  for (const Dependency& each : job.dependencies) {
    if (each.outcome) continue;
    if (kind && *kind != each.kind) return "end";
    kind = each.kind;
  }
  if (kind == DependencyKind::after_success) return "succeed";
  return kind == DependencyKind::after_failure ? "fail" : "end";
}

Explanation dependency(const Job& job) {
  Explanation why;
  why.block.obstacle = Obstacle::dependency;
  for (const Dependency& each : job.dependencies) {
    if (!each.outcome) why.waits_for.push_back(each.job);
  }
  why.sentence = "waiting for job";
  if (why.waits_for.size() > 1) why.sentence += "s";
  for (size_t i = 0; i < why.waits_for.size() && i < 5; ++i) {
    why.sentence += (i ? ", " : " ") + to_string(why.waits_for[i]);
  }
  if (why.waits_for.size() > 5)
    why.sentence += " and " + std::to_string(why.waits_for.size() - 5) + " more";
  why.sentence += std::string(" to ") + awaited(job);
  return why;
}

// Of a job of which nothing can start: its tasks pause, the next of them has its place already, or
// other members of a gang have theirs.
Explanation pausing_or_in_line(const Job& job, std::optional<uint32_t> only) {
  Explanation why;
  for (const auto& [index, task] : job.tasks) {
    if (only && index != *only && !job.gang) continue;
    if (task.line && why.sentence.empty()) {
      why.block.obstacle = Obstacle::in_line;
      why.sentence = "next in line: it starts when a task of job " +
                     to_string(task.line->behind.job) + " ends on " +
                     placement_of(task.state)->node;
    }
    const auto* pause = std::get_if<TaskBackoff>(&task.state);
    if (!pause) continue;
    // All members of a gang wait for the longest pause.
    const bool counts = job.gang ? pause->not_before > why.until : pause->not_before < why.until;
    if (!why.until || counts) why.until = pause->not_before;
  }
  if (!why.until && job.gang) {
    why.block.obstacle = Obstacle::members;
    why.sentence = "waiting for its other members to stop: all of them start together again";
  }
  if (!why.until) return why;
  why.block.obstacle = Obstacle::backoff;
  why.sentence = "waiting for the pause before its next attempt, until " + told(why.until);
  return why;
}

// Others have been told to make room for the job: how many, and until when at the latest.
std::optional<Explanation> yielding(const State& state, const Job& job) {
  Explanation why;
  int64_t tasks = 0;
  for (const auto& [id, site] : state.sites) {
    for (const auto& [name, node] : site.nodes) {
      for (const auto& [task, holder] : node.holders) {
        if (!holder.stopping || holder.beneficiary != job.id) continue;
        ++tasks;
        why.until = std::max(why.until, holder.until);
        if (std::find(why.waits_for.begin(), why.waits_for.end(), task.job) == why.waits_for.end())
          why.waits_for.push_back(task.job);
      }
    }
  }
  if (tasks == 0) return std::nullopt;
  why.block = {Obstacle::yielding, "tasks", tasks, 0, 0, {}};
  why.sentence = "waiting for " + std::to_string(tasks) + (tasks == 1 ? " task" : " tasks") +
                 " to make room for it" +
                 (why.until ? ", until " + told(why.until) + " at the latest" : "");
  return why;
}

// Whether the job could start if those that stop had ended.
bool starts_after_them(const World& world, const Job& job, const Block& block) {
  if (block.obstacle != Obstacle::capacity && block.obstacle != Obstacle::quota) return false;
  const World then = without_stopping(world);
  const Terms& terms = world.state->terms_of(job);
  const Allowance allowed = allowance(then, job.ns, terms);
  const Guest guest = guest_now(world, job.ns, terms);
  return !over_quota(then, job.ns, terms) &&
         std::any_of(world.nodes.begin(), world.nodes.end(), [&](const NodeView& view) {
           return meant(view, terms) && fits(later_for(view, guest), terms.resources, allowed);
         });
}

// Of the holder of a quota; none: it is a namespace.
CohortId cohort_named(const State& state, const std::string& holder) {
  for (const auto& [id, cohort] : state.cohorts) {
    if (holder == "cohort " + cohort.name) return id;
  }
  return {};
}

// The quota has room now, but not when those have theirs for whom others stop.
std::optional<Explanation> quota_claimed(const World& world, const Job& job, const Terms& terms) {
  if (!world.then) return std::nullopt;
  World then = *world.then;
  auto block = over_quota(then, job.ns, terms);
  for (uint32_t i = 1; i < terms.gang && !block; ++i) {
    promise(then, job, terms);
    block = over_quota(then, job.ns, terms);
  }
  if (!block && !terms.resources.devices.empty()) {
    // Or of one model, whichever would do.
    World both = world;
    both.in_use = world.then->in_use;
    both.cohort_in_use = world.then->cohort_in_use;
    block = over_model_quota(both, job, terms, std::max<uint32_t>(1, terms.gang));
  }
  if (!block || block->obstacle != Obstacle::quota) return std::nullopt;
  const CohortId cohort = cohort_named(*world.state, block->holder);
  for (const Claim& claim : world.claims) {
    const NamespaceId ns = world.state->jobs.at(claim.job).ns;
    if (!claim.promised || claim.job == job.id ||
        (cohort ? !below(*world.state, ns, cohort) : ns != job.ns))
      continue;
    Explanation why;
    block->obstacle = Obstacle::claimed;
    why.block = *block;
    why.waits_for = {claim.job};
    why.sentence = "waiting behind job " + to_string(claim.job) +
                   ", for which others make room within the quota of " + block->holder;
    return why;
  }
  return std::nullopt;
}

// The calendar leaves enough now, but not beside what those will have for whom others stop, be it
// on nodes that are nothing to the job. One with a claim of its own lacked room, not that.
std::optional<Explanation> calendar_claimed(const World& world, const Job& job, const Terms& terms,
                                            Block block) {
  if (block.obstacle != Obstacle::calendar ||
      std::any_of(world.claims.begin(), world.claims.end(),
                  [&](const Claim& each) { return each.job == job.id; }))
    return std::nullopt;
  for (const Claim& claim : world.claims) {
    const Terms& theirs = world.state->terms_of(world.state->jobs.at(claim.job));
    if (!claim.promised || theirs.tier != terms.tier || !counts(*world.state, theirs)) continue;
    Explanation why;
    block.obstacle = Obstacle::claimed;
    why.block = std::move(block);
    why.waits_for = {claim.job};
    why.sentence = "waiting behind job " + to_string(claim.job) +
                   ", for which others make room within what the calendar leaves " +
                   enum_name(terms.tier) + " work at this time (entry " + why.block.holder + ")";
    return why;
  }
  return std::nullopt;
}

// There would be room, were it not kept for somebody who is served before. The world is as a round
// leaves it, and the block what is in the way in it.
Explanation claimed(const World& world, const Job& job, Block block) {
  Explanation why;
  const Terms& terms = world.state->terms_of(job);
  if (auto quota = quota_claimed(world, job, terms)) return std::move(*quota);
  if (auto limit = calendar_claimed(world, job, terms, std::move(block))) return std::move(*limit);
  for (const Claim& claim : world.claims) {
    const NodeView& view = world.nodes[claim.node];
    if (claim.job == job.id || !meant(view, terms) || !node_could(*view.node, terms.resources))
      continue;
    why.block = {Obstacle::claimed, view.node->capacity.name, 0, 0, 0, {}};
    why.waits_for = {claim.job};
    why.until = claim.until;
    why.sentence = "waiting behind job " + to_string(claim.job) + ", for which room is kept on " +
                   view.node->capacity.name;
    if (claim.until) {
      why.sentence +=
          " from " + told(claim.until) + " on; with a --time that ends before, it could start now";
    }
    return why;
  }
  if (world.owed && terms.tier == Tier::opportunistic) {
    why.block.obstacle = Obstacle::claimed;
    why.waits_for = {world.owed};
    why.sentence = "waiting behind job " + to_string(world.owed) +
                   ", for which others have made room that it has not found yet";
    return why;
  }
  why.sentence = "starting in the next round";
  return why;
}

void tell_reserved(const State& state, NamespaceId ns, Explanation& why, Time now) {
  for (const auto& [id, reservation] : state.reservations) {
    if (reservation.name != why.block.holder) continue;
    const bool own = may_use(reservation, ns);
    why.until = own ? reservation.from : reservation.until;
    why.sentence += " has it from " + told(reservation.from) + " to " + told(reservation.until);
    if (own) why.sentence += ", for its namespace too";
    if (reservation.from > now)
      why.sentence += "; with a --time that ends before, it could start now";
  }
}

// What is in the way of one more task, as the stages ask; what no node could hold before a limit.
Block next_block(const World& world, const Job& job, const Terms& terms) {
  if (auto block = over_array_limit(world, job, terms)) return *block;
  auto limit = over_calendar(world, terms);
  if (!limit) limit = over_quota(world, job.ns, terms);
  if (limit && feasible(*world.state, terms)) return *limit;
  const Block block = why_not_placed(world, terms, job.ns);
  if (limit) {
    const bool before =
        block.obstacle == Obstacle::infeasible || block.obstacle == Obstacle::no_site;
    return before ? block : *limit;
  }
  if (block.obstacle == Obstacle::capacity)
    return reserved_for_others(world, terms, job.ns).value_or(block);
  if (block.obstacle != Obstacle::turn) return block;
  return over_model_quota(world, job, terms).value_or(block);
}

// What the members before would have is asked for as well: nobody uses it.
void ask_together(const World& now, const Job& job, const std::vector<Place>& before,
                  Block& block) {
  const bool on_node = block.obstacle == Obstacle::capacity;
  if (!on_node && block.obstacle != Obstacle::quota && block.obstacle != Obstacle::calendar) return;
  const Terms& terms = now.state->terms_of(job);
  int64_t own = 0;
  for (const Place& each : before) {
    if (on_node && full_name(now.nodes[each.node]) != block.holder) continue;
    ++block.members;
    InUse its;
    add_in_use(its, terms, each.placement, +1);
    if (on_node)  // of all of them
      own = block.in_use - in_use_on(now, each.node, terms, job.ns, block.resource);
    else
      own += amount_of(its, block.resource);
  }
  block.asked += own;
  block.in_use -= own;
}

// Of a gang, the first member that has no room beside those before it; `members` are those.
Block first_block(const World& now, const Job& job, uint32_t& members) {
  const Terms& terms = now.state->terms_of(job);
  members = 0;
  if (terms.gang < 2) return next_block(now, job, terms);
  World world = now;
  std::vector<Place> before;
  for (;; ++members) {
    Block block = next_block(world, job, terms);
    std::optional<Place> room;
    if (block.obstacle == Obstacle::turn && members + 1 < terms.gang)
      room = find_place(world, terms, allowance(world, job.ns, terms), job.ns);
    if (!room) {
      // Where a limit keeps the first ones from a model, they take what others have to have.
      if (block.obstacle == Obstacle::capacity || block.obstacle == Obstacle::reserved) {
        if (auto limit = over_model_quota(now, job, terms, terms.gang)) return *limit;
      }
      ask_together(now, job, before, block);
      return block;
    }
    take(world, job, terms, room->placement, room->node);
    before.push_back(std::move(*room));
  }
}

// Of nodes on which the same is missing, the one that has it first.
void look_where_first(const World& world, const Job& job, const Terms& terms, Block& block) {
  if (block.obstacle != Obstacle::capacity || terms.gang > 1) return;
  const auto lacks = [](const Block& each) { return each.asked + each.in_use - each.limit; };
  for (const Opening& opening : soonest(world, job.ns, terms)) {
    const Block there = missing_on(world, opening.node, terms, job.ns);
    if (opening.at && there.resource == block.resource && lacks(there) == lacks(block))
      block = there;
  }
}

// A calendar or a quota that could never hold it, whatever else there is.
void tell_never(const World& world, const Job& job, const Terms& terms, Explanation& why) {
  Block& block = why.block;
  const bool by_calendar = block.obstacle == Obstacle::calendar;
  const auto never = by_calendar ? beyond_calendar(*world.state, terms, world.now)
                                 : beyond_quota(*world.state, job.ns, terms);
  if (!never && by_calendar) why.until = calendar_opens(world, terms, block);
  if (!never) return;
  const int64_t in_use = by_calendar ? amount_of(world.in_use_of(terms.tier), never->resource) : 0;
  const bool same = never->resource == block.resource && never->holder == block.holder;
  if (!same && !by_calendar) return;
  block = {.obstacle = block.obstacle,
           .resource = never->resource,
           .asked = never->asked + never->in_use,
           .in_use = same ? block.in_use : in_use,
           .limit = never->limit,
           .holder = never->holder,
           .members = std::max<uint32_t>(1, terms.gang),
           .never = true};
}

// Counting stops at kPositionMax: nobody reads further, and the core's thread has other things to
// do.
constexpr uint64_t kPositionMax = 20'000;

// Calls fn with the ready jobs of its namespace and tier that come before it; false: it is not
// among them.
template <class Fn>
bool for_each_ahead(const State& state, const Job& job, const Fn& fn) {
  const auto tier = state.backlog.find(state.terms_of(job).tier);
  if (tier == state.backlog.end()) return false;
  const auto ns = tier->second.find(job.ns);
  if (ns == tier->second.end()) return false;
  const Waiting place = place_of(state, job);
  uint64_t ahead = 0;
  for (const auto& [user, queues] : ns->second) {
    for (const auto& [shape, queue] : queues) {
      for (auto it = queue.begin(); it != queue.end() && *it < place && ahead < kPositionMax;
           ++it, ++ahead)
        fn((*it).job);
    }
  }
  return true;
}

}  // namespace

uint64_t position_of(const State& state, const Job& job) {
  uint64_t ahead = 0;
  return for_each_ahead(state, job, [&](JobId) { ++ahead; }) ? ahead + 1 : 0;
}

uint64_t tasks_until(const State& state, const Job& job) {
  uint64_t tasks = 0;
  const auto add = [&](JobId id) { tasks += state.jobs.at(id).waiting.size(); };
  return for_each_ahead(state, job, add) ? tasks + 1 : 0;
}

Glance::Glance(const State& state, Time now) : state_(state), now_(std::max(now, state.now)) {}

const World& Glance::world() {
  if (!world_) world_ = look(state_, now_);
  return *world_;
}

const World& Glance::after_round() {
  if (!after_round_) after_round_ = scheduling::after_round(state_, now_);
  return *after_round_;
}

Explanation explain(const State& state, const Job& job, bool quick, Time now) {
  Glance glance(state, now);
  return explain(glance, job, quick);
}

Explanation explain(Glance& glance, const Job& job, bool quick, std::optional<uint32_t> index) {
  const State& state = glance.state();
  const Time now = glance.now();
  Explanation why;
  if (job.held) {
    why.block.obstacle = Obstacle::held;
    why.sentence = "held: release it with `atoll release " + to_string(job.id) + "`";
    return why;
  }
  if (!job.dependencies.empty()) return dependency(job);
  const bool waits = index ? job.waiting.contains(*index) : !job.waiting.empty();
  if (!waits || (job.gang && !job.tasks.empty())) return pausing_or_in_line(job, index);
  uint32_t members = 0;
  const World& world = glance.world();
  why.block = first_block(world, job, members);
  const Terms& terms = state.terms_of(job);
  if (!quick) look_where_first(world, job, terms, why.block);
  if (!quick && (why.block.obstacle == Obstacle::calendar || why.block.obstacle == Obstacle::quota))
    tell_never(world, job, terms, why);
  why.sentence = sentence_for(world, job, why.block);
  if (terms.gang > 1 && why.block.obstacle != Obstacle::turn)
    why.sentence = "its " + std::to_string(terms.gang) + " members start together and " +
                   std::to_string(members) + " would have room: " + why.sentence;
  if (why.block.obstacle == Obstacle::reserved) tell_reserved(state, job.ns, why, now);
  if (why.block.obstacle == Obstacle::turn) {
    const World& after = glance.after_round();
    why = claimed(after, job, first_block(after, job, members));
  }
  if (auto room = yielding(state, job); room && starts_after_them(world, job, why.block))
    why = std::move(*room);
  if (quick) return why;
  Holders holders = holders_of(world, job, terms, why.block);
  why.sentence += holders_text(world, why.block, holders);
  if (why.block.obstacle == Obstacle::calendar && why.until)
    why.sentence += "; it leaves more from " + told(why.until) + " on";
  why.held_by = std::move(holders.all);
  const Prospects prospect = prospects(state, job, terms, now);
  why.alternatives = prospect.alternatives;
  why.sooner = prospect.sooner;
  why.nearest = prospect.nearest;
  why.position = position_of(state, job);
  if (why.position <= 1) why.starts_by = prospect.by;  // those ahead may take it first
  why.sentence += "; position " + std::to_string(why.position) +
                  (why.position > kPositionMax ? " or later" : "");
  return why;
}

const char* reason_word(const Explanation& explanation) {
  return enum_name(explanation.block.obstacle);
}

std::string format_resources(const Resources& resources) {
  std::string out =
      format_milli(resources.cpu_milli) + (resources.cpu_milli == 1000 ? " cpu" : " cpus");
  if (resources.memory_bytes > 0) out += ", " + format_bytes(resources.memory_bytes) + " of memory";
  for (const DeviceRequest& request : resources.devices) {
    out += ", " + device_name(request.kind, request.model);
    for (const std::string& model : request.also) out += "|" + (model.empty() ? "any" : model);
    out += ":";
    if (takes_slice(request) || !takes_whole(request))
      out += takes_slice(request)       ? request.profile
             : request.memory_bytes > 0 ? format_bytes(request.memory_bytes)
                                        : format_milli(request.share_milli);
    if (request.count > 1 || takes_whole(request))
      out += (out.ends_with(':') ? "" : " x ") + std::to_string(request.count);
  }
  return out;
}

}  // namespace atl::core::scheduling
