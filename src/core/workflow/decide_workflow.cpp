// What people ask of workflows.
#include <algorithm>

#include "base/text.h"
#include "core/decide.h"
#include "core/limits.h"

namespace atl::core {
namespace {

tl::unexpected<Error> refuse(std::string field, std::string message) {
  return fail(ErrorCode::invalid, std::move(message), std::move(field));
}

std::string field_of(size_t step, const char* name) {
  return "steps[" + std::to_string(step) + "]." + name;
}

// What the step is of, among those of the workflow and those added; null for none.
const StepKind* kind_of(const NewStep& step, const Workflow& into,
                        const std::vector<StepKind>& added) {
  if (step.kind < into.kinds.size()) return &into.kinds[step.kind];
  const size_t place = step.kind - into.kinds.size();
  return place < added.size() ? &added[place] : nullptr;
}

// One that needs others may go through a queue that they make.
Result<void> check_feed(const State& state, NamespaceId ns, const NewStep& step, size_t place,
                        const StepKind& kind) {
  const FeedTerms& feed = step.feed;
  const std::string field = field_of(place, "for_each");
  const std::string name = "step " + quote(step.name);
  if (auto ok = check_identifier(feed.queue, field); !ok) return ok;
  if (feed.workers_min < 1 || feed.workers_min > feed.workers_max ||
      feed.workers_max > kStepsUnderWayMax)
    return refuse(field,
                  name + " must have 1 to 4000 workers, and not fewer at most than at least");
  if (feed.batch < 1 || feed.batch > kItemsPerLeaseMax)
    return refuse(field, name + " may take 1 to 1000 items at a time");
  if (kind.terms.gang > 0) return refuse(field, name + " is a gang; it goes through no queue");
  if (!step.needs.empty() || step.prepared || state.queue_named(ns, feed.queue)) return {};
  return refuse(field, name + " goes through queue " + quote(feed.queue) +
                           ", which is not in namespace " + state.namespaces.at(ns).name +
                           ": atoll queue create " + feed.queue);
}

Result<void> check_step(const State& state, NamespaceId ns, const NewStep& step, size_t place,
                        const Workflow& into, const std::vector<StepKind>& added) {
  if (auto ok = check_name(step.name, field_of(place, "name"), kNameBytesMax); !ok) return ok;
  if (step.name.empty()) return refuse(field_of(place, "name"), "a step needs a name");
  const StepKind* kind = kind_of(step, into, added);
  if (!kind) return refuse(field_of(place, "kind"), "step " + quote(step.name) + " is of no kind");
  if (step.needs.size() > kStepNeedsMax)
    return refuse(field_of(place, "needs"),
                  "step " + quote(step.name) + " needs more than 100000 others");
  for (const Need& need : step.needs) {
    if (need.step >= into.steps.size() + place)
      return refuse(field_of(place, "needs"),
                    "step " + quote(step.name) + " needs one that is not before it");
  }
  if (!step.feed.queue.empty()) return check_feed(state, ns, step, place, *kind);
  if (step.prepared) return {};
  if (step.indices.empty() || step.indices.size() > kArraySizeMax)
    return refuse(field_of(place, "for_each"), "step " + quote(step.name) + " has " +
                                                   std::to_string(step.indices.size()) +
                                                   " tasks; it must have 1 to 10000000");
  if (auto ok = check_indices(kind->terms, step.indices); !ok)
    return refuse(field_of(place, "for_each"),
                  "step " + quote(step.name) + ": " + ok.error().message);
  return {};
}

Result<void> check_steps(const State& state, NamespaceId ns, bool keep,
                         const std::vector<StepKind>& kinds, const std::vector<NewStep>& steps,
                         const Workflow& into) {
  if (steps.size() > kStepsBatchMax) return refuse("steps", "at most 2000 steps are added at once");
  if (into.steps.size() + steps.size() > kStepsMax)
    return refuse("steps", "a workflow may have at most 2000000 steps");
  for (const StepKind& kind : kinds) {
    if (auto ok = check_kind(state, kind, ns, keep); !ok) return ok;
  }
  std::set<std::string_view> names;
  size_t feeds = into.feeds.size();
  for (size_t i = 0; i < steps.size(); ++i) {
    if (auto ok = check_step(state, ns, steps[i], i, into, kinds); !ok) return ok;
    if (!steps[i].feed.queue.empty() && ++feeds > kFeedsMax)
      return refuse(field_of(i, "for_each"), "a workflow may go through queues in 1000 steps");
    if (into.names.contains(steps[i].name) || !names.insert(steps[i].name).second)
      return fail(ErrorCode::conflict, "there is a step " + quote(steps[i].name) + " already",
                  field_of(i, "name"));
  }
  return {};
}

Result<const Workflow*> actionable(const State& state, const Actor& actor, WorkflowId id) {
  const Workflow* found = state.workflow(id);
  if (!found || !may_view(state, actor, found->ns))
    return fail(ErrorCode::not_found, "no workflow " + to_string(id) + " is under way", "id");
  const Role needed = found->user == actor.user ? Role::member : Role::admin;
  if (auto allowed = require_role(state, actor, found->ns, needed); !allowed)
    return fail(ErrorCode::forbidden,
                "workflow " + to_string(id) +
                    " belongs to another user; only they or an administrator of the namespace may",
                "id");
  return found;
}

Result<void> check_count(const State& state) {
  if (state.workflows.size() < kWorkflowsMax) return {};
  return fail(ErrorCode::exhausted, "10000 workflows are under way; wait for some to end");
}

// Finds what is named among the workflow's steps and those added before it.
Result<void> link(const Workflow& into, const AddSteps& command, std::vector<NewStep>& steps) {
  std::map<std::string_view, uint32_t> added;
  for (size_t i = 0; i < steps.size(); ++i) {
    if (i >= command.needs.size()) break;
    for (const auto& [name, terms] : command.needs[i]) {
      const auto known = into.names.find(name);
      const auto here = added.find(name);
      if (known == into.names.end() && here == added.end())
        return refuse(field_of(i, "needs"), "step " + quote(steps[i].name) + " needs " +
                                                quote(name) + ", which is no step before it");
      Need need = terms;
      need.step = known != into.names.end() ? known->second : here->second;
      steps[i].needs.push_back(need);
    }
    added.emplace(steps[i].name, static_cast<uint32_t>(into.steps.size() + i));
  }
  return {};
}

// A step that is added behind one that has ended badly would wait for ever.
Result<void> check_reachable(const Workflow& into, const std::vector<NewStep>& steps) {
  for (size_t i = 0; i < steps.size(); ++i) {
    for (const Need& need : steps[i].needs) {
      if (need.step >= into.steps.size()) continue;
      const StepState how = into.steps[need.step].state;
      if (!ended(how) || workflow::enough({0, need.can_fail, need.can_skip}, how)) continue;
      return fail(ErrorCode::conflict,
                  "step " + quote(steps[i].name) + " needs " + quote(into.steps[need.step].name) +
                      ", which has ended as " + enum_name(how),
                  field_of(i, "needs"));
    }
  }
  return {};
}

// Who could not run once the others have ended, with because of whom.
std::multimap<uint32_t, uint32_t> kept_from_running(const Workflow& of) {
  std::multimap<uint32_t, uint32_t> kept;
  for (uint32_t i = 0; i < of.steps.size(); ++i) {
    const StepState how = of.steps[i].state;
    if (!ended(how) || how == StepState::succeeded) continue;
    workflow::for_each_follower(of, i, [&](const Edge& edge) {
      if (!workflow::enough(edge, how)) kept.emplace(edge.to, i);
    });
  }
  return kept;
}

// Those that would run again: the ones named, or all that ended without success and were not left
// out by a condition; whatever needs them; and what would keep one of them from running, for which
// it would wait for ever.
Result<IntervalSet> steps_again(const Workflow& of, const std::vector<std::string>& named) {
  IntervalSet again;
  std::vector<uint32_t> todo;
  for (const std::string& name : named) {
    const auto known = of.names.find(name);
    if (known == of.names.end())
      return fail(ErrorCode::not_found,
                  "workflow " + to_string(of.id) + " has no step " + quote(name), "steps");
    if (!ended(of.steps[known->second].state))
      return fail(ErrorCode::conflict, "step " + quote(name) + " has not ended", "steps");
    todo.push_back(known->second);
  }
  for (uint32_t i = 0; named.empty() && i < of.steps.size(); ++i) {
    const StepState how = of.steps[i].state;
    if (ended(how) && how != StepState::succeeded && how != StepState::skipped) todo.push_back(i);
  }
  const auto kept_from = kept_from_running(of);
  while (!todo.empty()) {
    const uint32_t step = todo.back();
    todo.pop_back();
    if (again.contains(step)) continue;
    again.add(step);
    workflow::for_each_follower(of, step, [&](const Edge& edge) {
      if (ended(of.steps[edge.to].state)) todo.push_back(edge.to);
    });
    const auto [first, last] = kept_from.equal_range(step);
    for (auto at = first; at != last; ++at) todo.push_back(at->second);
  }
  return again;
}

// Nobody who needs one of them may have begun: it would go on with what was before.
Result<void> check_begun(const Workflow& of, const IntervalSet& again) {
  for (const Interval& range : again.ranges()) {
    for (uint64_t i = range.first; i <= range.last; ++i) {
      std::string begun;
      workflow::for_each_follower(of, static_cast<uint32_t>(i), [&](const Edge& edge) {
        if (under_way(of.steps[edge.to].state)) begun = of.steps[edge.to].name;
      });
      if (!begun.empty())
        return fail(ErrorCode::conflict,
                    "step " + quote(begun) + ", which needs " + quote(of.steps[i].name) +
                        ", is under way; wait for it to end",
                    "steps");
    }
  }
  return {};
}

// Names with / between them, as in schedule/nightly.
Result<void> check_names(const std::string& path, const char* field) {
  if (path.size() > kLaneBytesMax)
    return refuse(field, std::string(field) + " may have at most 500 bytes");
  for (const std::string_view name : split(path, '/')) {
    if (auto ok = check_name(name, field, kLaneBytesMax); !ok) return ok;
  }
  return {};
}

// What it means for the others of its lane that it comes.
Result<void> enter_lane(const State& state, NamespaceId ns, WorkflowId id,
                        const SubmitWorkflow& command, Draft& draft) {
  if (auto ok = check_names(command.lane, "lane"); !ok) return ok;
  if (auto ok = check_names(command.origin, "origin"); !ok) return ok;
  if (command.time_limit < Duration{} || command.time_limit > kTimeLimitMax)
    return refuse("time_limit", "a workflow may take up to a year");
  const auto lane = state.lanes.find({ns, command.lane});
  if (command.lane.empty() || lane == state.lanes.end()) return {};
  if (command.overlap == Overlap::refuse)
    return fail(ErrorCode::conflict,
                "workflow " + to_string(*lane->second.begin()) + " of " + quote(command.lane) +
                    " is under way, and another one is refused until it has ended");
  for (const WorkflowId other : lane->second) {
    const Workflow& of = state.workflows.at(other);
    if (command.overlap == Overlap::replace && !of.cancelled)
      stop_workflow(state, of, "workflow " + to_string(id) + " took its place", false, draft);
  }
  return {};
}

}  // namespace

Result<void> decide_command(const State& state, const Actor& actor, const SubmitWorkflow& command,
                            Draft& draft) {
  const auto space = namespace_for(state, actor, command.ns, Role::member);
  if (!space) return tl::unexpected(space.error());
  const NamespaceId ns = (*space)->id;
  if (auto ok = check_name(command.name, "name", kNameBytesMax); !ok) return ok;
  if (command.steps.empty()) return refuse("steps", "a workflow needs steps");
  if (auto room = check_count(state); !room) return room;
  if (auto ok = check_steps(state, ns, command.keep, command.kinds, command.steps, {}); !ok)
    return ok;
  const WorkflowId id{state.counters.workflow + 1};
  if (auto ok = enter_lane(state, ns, id, command, draft); !ok) return ok;
  draft.add(WorkflowSubmitted{id, ns, actor.user, command.name, command.files, command.document,
                              command.fail_fast, command.paused, command.parallel_max, command.lane,
                              command.overlap, command.origin, command.time_limit});
  draft.add(StepsAdded{id, 0, command.kinds, command.steps});
  if (command.sealed) draft.add(WorkflowSealed{id});
  return {};
}

Result<void> decide_command(const State& state, const Actor& actor, const AddSteps& command,
                            Draft& draft) {
  const auto found = actionable(state, actor, command.id);
  if (!found) return tl::unexpected(found.error());
  const Workflow& into = **found;
  if (into.cancelled)
    return fail(ErrorCode::conflict, "workflow " + to_string(into.id) + " is being cancelled",
                "id");
  std::vector<NewStep> steps = command.steps;
  for (size_t i = 0; i < steps.size() && !command.numbered; ++i) {
    if (steps[i].kind >= command.kinds.size())
      return refuse(field_of(i, "kind"), "step " + quote(steps[i].name) + " is of no kind");
    steps[i].kind += static_cast<uint32_t>(into.kinds.size());
  }
  if (auto ok = link(into, command, steps); !ok) return ok;
  if (auto ok = check_steps(state, into.ns, command.keep, command.kinds, steps, into); !ok)
    return ok;
  if (auto ok = check_reachable(into, steps); !ok) return ok;
  if (!steps.empty())
    draft.add(StepsAdded{into.id, static_cast<uint32_t>(into.steps.size()), command.kinds,
                         std::move(steps)});
  if (command.seal && !into.sealed) draft.add(WorkflowSealed{into.id});
  return {};
}

Result<void> decide_command(const State& state, const Actor& actor, const PauseWorkflow& command,
                            Draft& draft) {
  const auto found = actionable(state, actor, command.id);
  if (!found) return tl::unexpected(found.error());
  if ((*found)->paused != command.paused) draft.add(WorkflowPaused{command.id, command.paused});
  return {};
}

Result<void> decide_command(const State& state, const Actor& actor, const CancelWorkflow& command,
                            Draft& draft) {
  const auto found = actionable(state, actor, command.id);
  if (!found) return tl::unexpected(found.error());
  if (!(*found)->cancelled) draft.add(WorkflowCancelled{command.id, "", false});
  stop_steps(state, **found, StepState::cancelled, "", {}, draft);
  return {};
}

Result<void> decide_command(const State& state, const Actor& actor, const RetryWorkflow& command,
                            Draft& draft) {
  const Workflow* of = command.ended ? &*command.ended : nullptr;
  if (of) {
    if (!state.namespaces.count(of->ns) || !may_view(state, actor, of->ns))
      return fail(ErrorCode::not_found, "there is no workflow " + to_string(command.id), "id");
    const Role needed = of->user == actor.user ? Role::member : Role::admin;
    if (auto allowed = require_role(state, actor, of->ns, needed); !allowed) return allowed;
    if (auto room = check_count(state); !room) return room;
    draft.add(WorkflowReopened{*of});
  } else {
    const auto found = actionable(state, actor, command.id);
    if (!found) return tl::unexpected(found.error());
    of = *found;
  }
  const auto again = steps_again(*of, command.steps);
  if (!again) return tl::unexpected(again.error());
  if (again->empty())
    return fail(ErrorCode::conflict,
                "no step of workflow " + to_string(of->id) + " has failed or was cancelled", "id");
  if (auto ok = check_begun(*of, *again); !ok) return ok;
  draft.add(StepsReopened{of->id, *again});
  return {};
}

}  // namespace atl::core
