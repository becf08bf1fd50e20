// What people ask of schedules.
#include "core/decide.h"

#include <algorithm>

#include "base/text.h"
#include "core/limits.h"

namespace atl::core {
namespace {

tl::unexpected<Error> bad_schedule(const char* field, std::string message) {
  return fail(ErrorCode::invalid, std::move(message), field);
}

// One that the actor may act on: who set it as member, or an administrator of its namespace.
Result<const Schedule*> actionable_schedule(const State& state, const Actor& actor,
                                            const std::string& ns_name, const std::string& name) {
  const auto ns = namespace_for(state, actor, ns_name, Role::viewer);
  if (!ns) return tl::unexpected(ns.error());
  const Schedule* found = state.schedule_named((*ns)->id, name);
  if (!found)
    return fail(ErrorCode::not_found,
                "there is no schedule " + quote(name) + " in namespace " + (*ns)->name, "schedule");
  const Role needed = found->user == actor.user ? Role::member : Role::admin;
  if (require_role(state, actor, found->ns, needed)) return found;
  return fail(ErrorCode::forbidden,
              "schedule " + quote(name) +
                  " belongs to another user; only they or an administrator of the namespace may",
              "schedule");
}

// A delivery is allowed by its signature. Whether the schedule's owner still may run anything shows
// when the run is made, and is then told in the schedule as of any other firing.
Result<const Schedule*> fired_schedule(const State& state, const Actor& actor,
                                       const FireSchedule& command) {
  const Namespace* ns = state.namespace_named(command.ns);
  const Schedule* found = ns ? state.schedule_named(ns->id, command.name) : nullptr;
  if (command.cause == Cause::webhook && found && found->terms.trigger == Trigger::webhook)
    return found;
  return actionable_schedule(state, actor, command.ns, command.name);
}

Result<void> check_times(const std::vector<Time>& due) {
  if (due.empty()) return bad_schedule("timing", "its time never comes again");
  if (due.size() > kTimesKept || !std::is_sorted(due.begin(), due.end()))
    return bad_schedule("timing", "its times are out of order");
  return {};
}

Result<void> check_terms(const State& state, const Namespace& ns, const ScheduleTerms& terms) {
  if (terms.program.empty()) return bad_schedule("files", "a schedule needs a workflow to run");
  if (terms.program.size() > kProgramBytesMax)
    return fail(ErrorCode::too_large,
                "the workflow's files have " + std::to_string(terms.program.size()) +
                    " bytes; a schedule may keep 1 MiB of them",
                "files");
  if (terms.trigger == Trigger::file) {
    if (terms.path.empty()) return bad_schedule("on_file", "there is no path to watch");
    if (terms.quiet < seconds(1) || terms.quiet > kQuietMax)
      return bad_schedule("quiet", "quiet must be between 1s and 1d");
  }
  if (terms.trigger == Trigger::queue) {
    if (!state.queue_named(ns.id, terms.queue))
      return fail(ErrorCode::not_found,
                  "there is no queue " + quote(terms.queue) + " in namespace " + ns.name,
                  "on_queue");
    if (terms.at_least < 1 || terms.at_least > kQueueItemsMax)
      return bad_schedule("at_least", "at_least must be between 1 and 10000000");
    if (terms.interval < seconds(1) || terms.interval > kWallMax)
      return bad_schedule("interval", "interval must be between 1s and 366d");
  }
  return {};
}

Result<void> check_room_for_schedule(const State& state, const Namespace& ns) {
  size_t here = 0;
  for (auto at = state.schedule_names.lower_bound({ns.id, ""});
       at != state.schedule_names.end() && at->first.first == ns.id; ++at)
    ++here;
  if (here < kSchedulesPerNamespaceMax && state.schedules.size() < kSchedulesMax) return {};
  return fail(ErrorCode::exhausted,
              "namespace " + ns.name + " has " + std::to_string(here) +
                  " schedules; it may have 1000, and all of them together 10000");
}

}  // namespace

Result<void> decide_command(const State& state, const Actor& actor, const SetSchedule& command,
                            Draft& draft) {
  const auto ns = namespace_for(state, actor, command.ns, Role::member);
  if (!ns) return tl::unexpected(ns.error());
  if (auto ok = check_word(command.name, "name"); !ok) return ok;
  if (auto ok = check_terms(state, **ns, command.terms); !ok) return ok;
  if (command.terms.trigger == Trigger::time) {
    if (auto ok = check_times(command.due); !ok) return ok;
  }
  ScheduleSet set{{state.counters.schedule + 1},
                  1,
                  (*ns)->id,
                  actor.user,
                  command.name,
                  command.terms,
                  command.due,
                  command.paused};
  // One may have passed since they were found out.
  std::erase_if(set.due, [&](Time at) { return at <= draft.now(); });
  const Schedule* known = state.schedule_named((*ns)->id, command.name);
  if (command.revision != 0 && (!known || known->revision != command.revision))
    return fail(ErrorCode::conflict,
                "schedule " + quote(command.name) + " was changed by somebody else; try again",
                "schedule");
  if (known && !command.replace)
    return fail(ErrorCode::conflict,
                "there is a schedule " + quote(command.name) + " in namespace " + (*ns)->name +
                    " already; say that it shall be replaced, or choose another name",
                "name");
  if (known) {
    if (auto allowed = actionable_schedule(state, actor, command.ns, command.name); !allowed)
      return tl::unexpected(allowed.error());
    set.id = known->id;
    set.revision = known->revision + 1;
    if (known->terms.trigger == Trigger::webhook && set.terms.trigger == Trigger::webhook)
      set.terms.secret = known->terms.secret;  // who calls it goes on with the one they have
  } else if (auto ok = check_room_for_schedule(state, **ns); !ok) {
    return ok;
  }
  draft.add(std::move(set));
  return {};
}

Result<void> decide_command(const State& state, const Actor& actor, const PauseSchedule& command,
                            Draft& draft) {
  const auto found = actionable_schedule(state, actor, command.ns, command.name);
  if (!found) return tl::unexpected(found.error());
  if ((*found)->paused != command.paused)
    draft.add(SchedulePaused{(*found)->id, (*found)->ns, command.paused});
  return {};
}

Result<void> decide_command(const State& state, const Actor& actor, const DeleteSchedule& command,
                            Draft& draft) {
  const auto found = actionable_schedule(state, actor, command.ns, command.name);
  if (!found) return tl::unexpected(found.error());
  draft.add(ScheduleDeleted{(*found)->id, (*found)->ns});
  return {};
}

// A delivery that was taken before is no refusal: it decides nothing.
Result<void> decide_command(const State& state, const Actor& actor, const FireSchedule& command,
                            Draft& draft) {
  const auto found = fired_schedule(state, actor, command);
  if (!found) return tl::unexpected(found.error());
  const Schedule& of = **found;
  for (const std::string& key : command.keys) {
    if (std::ranges::find(of.keys, key) != of.keys.end()) return {};
  }
  if (command.body.size() > kFiringBodyMax)
    return fail(ErrorCode::too_large, "the body may have at most 64 KiB", "body");
  if (command.cause == Cause::webhook && of.paused)
    return fail(ErrorCode::conflict, "schedule " + quote(of.name) + " is paused", "schedule");
  if (of.opening() >= kOpeningMax)
    return fail(ErrorCode::exhausted,
                "100 runs of schedule " + quote(of.name) + " are being made; try again later");
  draft.add(ScheduleFired{
      of.id, of.ns, of.last + 1, command.cause, {}, false, command.body, command.keys, {}});
  return {};
}

}  // namespace atl::core
