#include <algorithm>
#include <set>
#include <string_view>

#include "base/amount.h"
#include "base/text.h"
#include "core/decide.h"
#include "core/limits.h"
#include "core/scheduling/bounds.h"
#include "core/scheduling/explain.h"
#include "core/scheduling/place.h"
#include "core/scheduling/sentence.h"
#include "core/site_choice.h"

namespace atl::core {
namespace {

tl::unexpected<Error> refuse(std::string field, std::string message) {
  return fail(ErrorCode::invalid, std::move(message), std::move(field));
}

Result<void> check_range(std::string_view field, int64_t value, int64_t low, int64_t high,
                         std::string (*format)(int64_t)) {
  if (value >= low && value <= high) return {};
  return refuse(std::string(field), std::string(field) + " is " + format(value) +
                                        "; it must be between " + format(low) + " and " +
                                        format(high));
}

std::string plain(int64_t value) { return std::to_string(value); }
std::string span(int64_t us) { return format_duration({us}); }

Result<void> check_terms(const Terms& terms) {
  const Resources& r = terms.resources;
  if (auto ok = check_range("cpus", r.cpu_milli, 1, kCpuMilliMax, format_milli); !ok) return ok;
  if (auto ok = check_range("memory", r.memory_bytes, 0, kMemoryBytesMax, format_bytes); !ok)
    return ok;
  if (auto ok = check_devices(r.devices); !ok) return ok;
  if (auto ok = check_site_choice(terms.site); !ok) return ok;
  if (auto ok = check_range("priority", terms.priority, -kPriorityMax, kPriorityMax, plain); !ok)
    return ok;
  if (auto ok = check_range("time", terms.wall.us, 0, kWallMax.us, span); !ok) return ok;
  if (auto ok = check_range("grace", terms.grace.us, 0, kGraceMax.us, span); !ok) return ok;
  if (auto ok = check_range("retries", terms.retry.max, 0, kRetriesMax, plain); !ok) return ok;
  if (auto ok = check_range("backoff", terms.retry.backoff.us, 0, kBackoffMax.us, span); !ok)
    return ok;
  if (terms.gang > kGangMax || (terms.gang > 0 && terms.parallel_max > 0))
    return refuse("gang", terms.gang > kGangMax
                              ? "a gang may have at most 10000 members"
                              : "all members of a gang run at once: leave out the array's limit");
  return check_range("backoff_max", terms.retry.backoff_max.us, 0, kBackoffMax.us, span);
}

Result<void> check_labels(const Labels& labels) {
  if (labels.size() > kLabelsMax) return refuse("labels", "at most 64 labels are allowed");
  for (const Label& label : labels) {
    if (label.key.empty()) return refuse("labels", "a label needs a name");
    if (auto ok = check_name(label.key, "labels", kLabelBytesMax); !ok) return ok;
    if (label.value.size() > kLabelBytesMax || !valid_utf8(label.value)) {
      return refuse("labels", "the value of label " + quote(label.key) +
                                  " must be UTF-8 of at most 256 bytes");
    }
  }
  return {};
}

}  // namespace

Result<void> check_indices(const Terms& terms, const IntervalSet& indices) {
  if (indices.empty()) return refuse("array", "an array needs at least one index");
  if (indices.size() > kArraySizeMax)
    return refuse("array", "an array may have at most 10000000 indices");
  if (indices.back() > kArrayIndexMax) return refuse("array", "an index may be at most 2000000000");
  if (indices.ranges().size() > kArrayRangesMax)
    return refuse("array", "an array may have at most 10000 ranges");
  if (terms.gang > 0 && indices != IntervalSet({0, terms.gang - 1}))
    return refuse("gang",
                  "the members of a gang are numbered from 0: leave out the array, or write "
                  "0-" +
                      std::to_string(terms.gang - 1));
  return {};
}

namespace {

Result<void> check_dependencies(const State& state, const Actor& actor,
                                const std::vector<Dependency>& dependencies) {
  if (dependencies.size() > kDependenciesMax)
    return refuse("after", "a job may wait for at most 1000 others");
  for (const Dependency& dependency : dependencies) {
    const Job* other = state.job(dependency.job);
    if (other && may_view(state, actor, other->ns)) continue;
    if (!other && dependency.outcome) continue;
    return refuse("after", "job " + to_string(dependency.job) + " does not exist");
  }
  return {};
}

Result<void> check_feasible(const State& state, const SubmitJob& job) {
  if (job.keep) return {};
  if (auto ok = check_sites_exist(state, job.terms.site); !ok) return ok;
  const bool any_reported = std::any_of(state.sites.begin(), state.sites.end(),
                                        [](const auto& entry) { return entry.second.reported; });
  if (!any_reported || scheduling::feasible(state, job.terms)) return {};
  const uint32_t members = scheduling::members_feasible(state, job.terms);
  if (members > 0)
    return fail(ErrorCode::infeasible,
                "a gang of " + std::to_string(job.terms.gang) + " with " +
                    scheduling::format_resources(job.terms.resources) +
                    " each is larger than the platform; the largest that fits has " +
                    std::to_string(members) + (members == 1 ? " member" : " members") +
                    " (keep: true or --keep waits for capacity to come)",
                "gang");
  return fail(
      ErrorCode::infeasible,
      why_infeasible(state, job.terms) + " (keep: true or --keep waits for capacity to come)",
      "resources");
}

std::string asks_for(const Terms& terms) {
  const std::string each = scheduling::format_resources(terms.resources);
  if (terms.gang < 2) return each;
  return "a gang of " + std::to_string(terms.gang) + " with " + each + " each";
}

// A calendar that never leaves its tier so much.
Result<void> check_tier(const State& state, const Terms& terms) {
  const auto block = scheduling::beyond_calendar(state, terms, state.now);
  if (!block) return {};
  return fail(ErrorCode::infeasible,
              asks_for(terms) + " is more than the calendar ever leaves " + enum_name(terms.tier) +
                  " work: " + scheduling::format_amount(block->resource, block->limit) +
                  " (entry " + block->holder + "; keep: true or --keep waits for another calendar)",
              terms.gang > 1 ? "gang" : "resources");
}

// A quota, with what may be borrowed, or a calendar that could never hold it.
Result<void> check_limits(const State& state, const SubmitJob& job, NamespaceId ns) {
  if (job.keep) return {};
  Terms terms = job.terms;
  settle_parts(state, terms.resources);
  const auto block = scheduling::beyond_quota(state, ns, terms);
  if (!block) return check_tier(state, terms);
  std::string message = asks_for(terms) + " is more than the quota of " + block->holder +
                        " ever allows: " + scheduling::format_amount(block->resource, block->limit);
  if (const auto nearest = scheduling::nearest_possible(state, ns, terms))
    message += "; the nearest that fits is " +
               (nearest->gang != terms.gang ? "a gang of " + std::to_string(nearest->gang)
                                            : scheduling::format_resources(nearest->resources));
  return fail(ErrorCode::infeasible, message + " (keep: true or --keep waits for a larger quota)",
              terms.gang > 1 ? "gang" : "resources");
}

// The quota of jobs not ended; `ahead` of them are decided but not applied yet.
Result<void> check_queued(const Namespace& space, uint64_t ahead) {
  if (!space.quota.queued || space.jobs + ahead < *space.quota.queued) return {};
  return fail(ErrorCode::exhausted,
              "namespace " + space.name + " has " + std::to_string(space.jobs) + " of " +
                  std::to_string(*space.quota.queued) +
                  " jobs queued or running; wait for some to end",
              "namespace");
}

Result<void> check_submission(const State& state, const Actor& actor, const SubmitJob& job,
                              NamespaceId ns, uint64_t ahead) {
  if (auto ok = check_name(job.name, "name", kNameBytesMax); !ok) return ok;
  if (job.key.size() > kKeyBytesMax)
    return refuse("key", "an idempotency key may have at most 256 bytes");
  if (auto ok = check_terms(job.terms); !ok) return ok;
  if (auto ok = check_indices(job.terms, job.indices); !ok) return ok;
  if (auto ok = check_labels(job.labels); !ok) return ok;
  if (auto ok = check_dependencies(state, actor, job.dependencies); !ok) return ok;
  if (auto ok = check_feasible(state, job); !ok) return ok;
  if (auto ok = check_limits(state, job, ns); !ok) return ok;
  return check_queued(state.namespaces.at(ns), ahead);
}

JobSubmitted submitted(const State& state, const SubmitJob& job, JobId id, NamespaceId ns,
                       UserId user) {
  Terms terms = job.terms;
  settle_parts(state, terms.resources);
  return JobSubmitted{id,          ns,         user,        job.name,         std::move(terms),
                      job.payload, job.array,  job.indices, job.dependencies, job.labels,
                      job.held,    job.notify, job.key};
}

IntervalSet backoff_indices(const Job& job) {
  IntervalSet indices;
  for (const auto& [index, task] : job.tasks) {
    if (!placement_of(task.state)) indices.add(index);
  }
  return indices;
}

Result<void> cancel_index(const State& state, const Job& job, uint32_t index, Duration grace,
                          Draft& draft) {
  const auto it = job.tasks.find(index);
  if (it != job.tasks.end() && placement_of(it->second.state)) {
    draft.add(TaskStopping{{job.id, index, it->second.attempt}, StopReason::cancelled, grace});
    return {};
  }
  if (it == job.tasks.end() && !job.waiting.contains(index)) {
    return fail(ErrorCode::not_found,
                "task " + to_string(TaskId{job.id, index}, true) + " is not waiting or running",
                "id");
  }
  draft.add(WaitingEnded{job.id, IntervalSet({index, index}), Outcome::cancelled, ""});
  auto tally = job.tally;
  ++tally[static_cast<size_t>(Outcome::cancelled)];
  end_if_done(state, job, 1, tally, "cancelled", draft);
  return {};
}

// Terms are the job's, and placed tasks were given their resources and time by them; what only
// concerns tasks that are not placed may change while others are.
Result<void> check_placed(const Job& job, const Terms& before, const Terms& after) {
  if (!has_placed(job)) return {};
  const std::string name = "job " + to_string(job.id);
  if (job.waiting.empty() && backoff_indices(job).empty()) {
    return fail(ErrorCode::conflict,
                job.placed == 0 ? name + " is next in line and about to start: hold it first"
                                : name + " has started; only a waiting job can be changed",
                "id");
  }
  if (after.resources == before.resources && after.wall == before.wall && after.tier == before.tier)
    return {};
  return fail(
      ErrorCode::conflict,
      "tasks of " + name +
          " have started, and its resources, time and tier are theirs too: only name, priority, "
          "parallel_max, grace, retries and labels can be changed now",
      "id");
}

Result<void> reopen(const State& state, const Actor& actor, const RequeueJob& command,
                    Draft& draft) {
  const JobReopened& ended = *command.ended;
  if (!state.namespaces.count(ended.job.ns))
    return fail(ErrorCode::conflict, "its namespace no longer exists", "id");
  if (ended.job.of.workflow)
    return fail(ErrorCode::conflict,
                "it is a step of workflow " + to_string(ended.job.of.workflow) +
                    ": retry the workflow, or that step of it",
                "id");
  const Role needed = ended.job.user == actor.user ? Role::member : Role::admin;
  if (auto allowed = require_role(state, actor, ended.job.ns, needed); !allowed) return allowed;
  if (ended.job.indices.empty())
    return fail(ErrorCode::conflict, "nothing of it could run again", "id");
  if (auto room = check_queued(state.namespaces.at(ended.job.ns), 0); !room) return room;
  draft.add(ended);
  return {};
}

}  // namespace

void cancel_whole(const State& state, const Job& job, Duration grace, bool with_step,
                  Draft& draft) {
  IntervalSet unplaced = backoff_indices(job);
  for (const Interval& range : job.waiting.ranges()) unplaced.add(range);
  if (!unplaced.empty()) draft.add(WaitingEnded{job.id, unplaced, Outcome::cancelled, ""});
  for (const auto& [index, task] : job.tasks) {
    if (placement_of(task.state))
      draft.add(TaskStopping{{job.id, index, task.attempt}, StopReason::cancelled, grace});
  }
  auto tally = job.tally;
  tally[static_cast<size_t>(Outcome::cancelled)] += static_cast<uint32_t>(unplaced.size());
  end_if_done(state, job, unplaced.size(), tally, "cancelled", draft, with_step);
}

Result<void> check_kind(const State& state, const StepKind& kind, NamespaceId ns, bool keep) {
  if (auto ok = check_terms(kind.terms); !ok) return ok;
  if (auto ok = check_labels(kind.labels); !ok) return ok;
  SubmitJob probe;
  probe.terms = kind.terms;
  probe.keep = keep;
  if (auto ok = check_feasible(state, probe); !ok) return ok;
  return check_limits(state, probe, ns);
}

std::string why_infeasible(const State& state, const Terms& terms) {
  const auto nearest = scheduling::nearest_feasible(state, terms);
  return "no node could ever hold " + scheduling::format_resources(terms.resources) + "; " +
         (nearest ? "the nearest that fits is " + scheduling::format_resources(*nearest)
                  : why_no_device(state, terms));
}

Result<void> decide_command(const State& state, const Actor& actor, const SubmitJobs& command,
                            Draft& draft) {
  if (command.jobs.empty()) return refuse("jobs", "a batch needs at least one job");
  if (command.jobs.size() > kBatchJobsMax)
    return fail(ErrorCode::invalid, "a batch may have at most 10000 jobs", "jobs");
  uint64_t id = state.counters.job;
  std::map<NamespaceId, uint64_t> ahead;
  std::set<std::string_view> keys;
  for (size_t i = 0; i < command.jobs.size(); ++i) {
    const SubmitJob& job = command.jobs[i];
    const auto ns = namespace_for(state, actor, job.ns, Role::member);
    Result<void> ok = ns ? check_submission(state, actor, job, (*ns)->id, ahead[(*ns)->id])
                         : tl::unexpected(ns.error());
    if (ok && !job.key.empty() && !keys.insert(job.key).second)
      ok = refuse("key", "another job of this batch has the same idempotency key");
    // A batch that is sent again is either known as a whole or not at all.
    if (ok && job.key.empty() != command.jobs.front().key.empty())
      ok = refuse("key", "either every job of a batch has an idempotency key or none has");
    if (!ok) {
      Error error = ok.error();
      if (command.jobs.size() > 1) error.field = "jobs[" + std::to_string(i) + "]." + error.field;
      return tl::unexpected(error);
    }
    ++ahead[(*ns)->id];
    draft.add(submitted(state, job, JobId{++id}, (*ns)->id, actor.user));
  }
  return {};
}

Result<void> decide_command(const State& state, const Actor& actor, const CancelJob& command,
                            Draft& draft) {
  const auto job = actionable_job(state, actor, command.id);
  if (!job) return tl::unexpected(job.error());
  const Duration grace = command.grace.value_or(state.terms_of(**job).grace);
  if (auto ok = check_range("grace", grace.us, 0, kGraceMax.us, span); !ok) return ok;
  if (command.index && (*job)->gang)
    return fail(ErrorCode::conflict,
                "the members of job " + to_string(command.id) +
                    " run together or not at all: cancel the job",
                "id");
  if (command.index) return cancel_index(state, **job, *command.index, grace, draft);
  cancel_whole(state, **job, grace, false, draft);
  return {};
}

Result<void> decide_command(const State& state, const Actor& actor, const HoldJob& command,
                            Draft& draft) {
  const auto job = actionable_job(state, actor, command.id);
  if (!job) return tl::unexpected(job.error());
  const auto lined_up = [](const auto& entry) { return entry.second.line.has_value(); };
  const auto& tasks = (*job)->tasks;
  if ((*job)->waiting.empty() && std::none_of(tasks.begin(), tasks.end(), lined_up))
    return fail(ErrorCode::conflict, "nothing of job " + to_string(command.id) + " is waiting",
                "id");
  if ((*job)->held) return {};
  draft.add(JobHeld{command.id});
  for (const auto& [index, task] : tasks) {
    if (in_line(task)) recall(state, {command.id, index}, draft);
  }
  return {};
}

Result<void> decide_command(const State& state, const Actor& actor, const ReleaseJob& command,
                            Draft& draft) {
  const auto job = actionable_job(state, actor, command.id);
  if (!job) return tl::unexpected(job.error());
  if ((*job)->held) draft.add(JobReleased{command.id});
  return {};
}

Result<void> decide_command(const State& state, const Actor& actor, const ChangeJob& command,
                            Draft& draft) {
  const auto found = actionable_job(state, actor, command.id);
  if (!found) return tl::unexpected(found.error());
  const Job& job = **found;
  JobChanged changed{job.id, command.name.value_or(job.name), state.terms_of(job),
                     command.labels.value_or(job.labels)};
  Terms& terms = changed.terms;
  terms.priority = command.priority.value_or(terms.priority);
  terms.resources.cpu_milli = command.cpu_milli.value_or(terms.resources.cpu_milli);
  terms.resources.memory_bytes = command.memory_bytes.value_or(terms.resources.memory_bytes);
  terms.resources.devices = command.devices.value_or(terms.resources.devices);
  terms.wall = command.wall.value_or(terms.wall);
  terms.parallel_max = command.parallel_max.value_or(terms.parallel_max);
  terms.grace = command.grace.value_or(terms.grace);
  terms.retry = command.retry.value_or(terms.retry);
  terms.tier = command.tier.value_or(terms.tier);
  if (command.devices) settle_parts(state, terms.resources);
  if (auto ok = check_placed(job, state.terms_of(job), terms); !ok) return ok;
  if (auto ok = check_name(changed.name, "name", kNameBytesMax); !ok) return ok;
  if (auto ok = check_terms(terms); !ok) return ok;
  if (auto ok = check_labels(changed.labels); !ok) return ok;
  SubmitJob probe;
  probe.terms = terms;
  if (auto ok = check_feasible(state, probe); !ok) return ok;
  // A limit may have become smaller since: what asks for no more than before goes on waiting.
  if (terms.resources != state.terms_of(job).resources || terms.tier != state.terms_of(job).tier) {
    if (auto ok = check_limits(state, probe, job.ns); !ok) return ok;
  }
  draft.add(std::move(changed));
  return {};
}

Result<void> decide_command(const State& state, const Actor& actor, const RequeueJob& command,
                            Draft& draft) {
  if (command.ended) return reopen(state, actor, command, draft);
  const auto found = actionable_job(state, actor, command.id);
  if (!found) return tl::unexpected(found.error());
  const Job& job = **found;
  const Duration grace = state.terms_of(job).grace;
  for (const auto& [index, task] : job.tasks) {
    if (command.index && *command.index != index && !job.gang) continue;
    if (placement_of(task.state) && !std::holds_alternative<TaskStop>(task.state)) {
      draft.add(TaskStopping{{job.id, index, task.attempt}, StopReason::requeued, grace});
    }
  }
  if (draft.empty())
    return fail(ErrorCode::conflict, "nothing of job " + to_string(job.id) + " is running", "id");
  return {};
}

}  // namespace atl::core
