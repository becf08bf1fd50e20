// Schedules: made, shown, paused, run and deleted.
#include "api/schedules.h"

#include "api/handlers.h"
#include "base/text.h"
#include "spec/workflow/program.h"

namespace atl::api {
namespace {

constexpr size_t kNextShown = 5;

std::string schedules_namespace(const CallPtr& call) {
  return std::string(call->request().param("namespace"));
}
std::string schedule_name(const CallPtr& call) {
  return std::string(call->request().param("schedule"));
}

const char* overlap_word(core::Overlap overlap) {
  return overlap == core::Overlap::refuse ? "skip" : enum_name(overlap);
}

std::string hook_url(const CallPtr& call, ScheduleId id) {
  const auto& listen = call->context.options.listen;
  const auto addresses = listen ? listen() : std::vector<std::string>{};
  return (addresses.empty() ? "" : addresses.front()) + "/api/v1/hooks/" + std::to_string(id.value);
}

void write_optional(spec::JsonWriter& json, const char* name, bool there, const std::string& text) {
  json.key(name);
  there ? json.text(text) : json.null();
}

void write_firing(spec::JsonWriter& json, const core::Firing& firing) {
  json.begin_object().member("number", firing.number).member("cause", enum_name(firing.cause));
  json.member("planned", firing.planned).member("fired", firing.fired);
  json.member("state", enum_name(firing.state));
  write_optional(json, "workflow", static_cast<bool>(firing.workflow), to_string(firing.workflow));
  json.member("message", firing.message).end_object();
}

void write_next(spec::JsonWriter& json, const std::vector<Time>& due) {
  json.key("next").begin_array();
  for (size_t i = 0; i < std::min(due.size(), kNextShown); ++i) json.time(due[i]);
  json.end_array();
}

void write_trigger(spec::JsonWriter& json, const CallPtr& call, const core::Schedule& schedule) {
  using core::Trigger;
  const core::ScheduleTerms& terms = schedule.terms;
  const bool timed = terms.trigger == Trigger::time;
  const bool file = terms.trigger == Trigger::file;
  const bool queue = terms.trigger == Trigger::queue;
  write_optional(json, "cron", timed && !terms.calendar, terms.timing);
  write_optional(json, "calendar", timed && terms.calendar, terms.timing);
  write_optional(json, "zone", timed, terms.zone);
  write_optional(json, "missed", timed, enum_name(terms.missed));
  json.member("overlap", overlap_word(terms.overlap));
  write_optional(json, "url", terms.trigger == Trigger::webhook, hook_url(call, schedule.id));
  write_optional(json, "on_file", file, terms.path);
  write_optional(json, "quiet", file, spec::exact_duration(terms.quiet));
  write_optional(json, "on_queue", queue, terms.queue);
  json.key("at_least");
  queue ? json.number(terms.at_least) : json.null();
  write_optional(json, "interval", queue, spec::exact_duration(terms.interval));
}

// `secret`: of one that has just been made.
void write_schedule(spec::JsonWriter& json, const CallPtr& call, const core::Schedule& schedule,
                    const std::string& secret) {
  const auto table = call->context.directory.table();
  json.begin_object().member("name", schedule.name);
  json.member("namespace", name_of(*table, schedule.ns));
  json.member("user", name_of(*table, schedule.user));
  json.member("trigger", enum_name(schedule.terms.trigger)).member("paused", schedule.paused);
  write_trigger(json, call, schedule);
  if (!secret.empty()) json.member("secret", secret);
  const auto program = spec::parse_json<spec::Program>(schedule.terms.program);
  json.member("workflow", program ? program->name.value_or("") : std::string());
  write_next(json, schedule.due);
  json.member("created", schedule.created).member("changed", schedule.changed);
  json.member("fired", schedule.last).key("firings").begin_array();
  for (auto at = schedule.firings.rbegin(); at != schedule.firings.rend(); ++at)
    write_firing(json, *at);
  json.end_array().end_object();
}

// Says what would be made, or why it would be refused.
void try_schedule(const CallPtr& call, const core::SetSchedule& set) {
  call->context.runtime.read([call, set](const core::State& state) {
    const auto events = core::decide(state, {state.now, core::Request{call->actor, set}});
    if (!events) return call->refuse(events.error());
    const auto program = spec::parse_json<spec::Program>(set.terms.program);
    std::string body;
    spec::JsonWriter json(body);
    json.begin_object().member("name", set.name).member("workflow", *program->name);
    write_optional(json, "zone", set.terms.trigger == core::Trigger::time, set.terms.zone);
    write_next(json, set.due);
    json.end_object();
    call->respond_json(std::move(body));
  });
}

void set_paused(const CallPtr& call, bool paused) {
  command(call, core::PauseSchedule{schedules_namespace(call), schedule_name(call), paused}, {},
          [call](const runtime::Accepted&) { respond_schedule(call, schedule_name(call), 200); });
}

}  // namespace

Result<const core::Schedule*> schedule_named(const CallPtr& call, const core::State& state,
                                             const std::string& name) {
  const std::string ns_name = schedules_namespace(call);
  const core::Namespace* ns = state.namespace_named(ns_name);
  if (!ns || !core::may_view(state, call->actor, ns->id))
    return tl::unexpected(core::no_such_namespace(ns_name));
  if (const core::Schedule* found = state.schedule_named(ns->id, name)) return found;
  return fail(ErrorCode::not_found,
              "there is no schedule " + quote(name) + " in namespace " + ns->name, "schedule");
}

void respond_schedule(const CallPtr& call, const std::string& name, int status,
                      const std::string& secret) {
  view(
      call,
      [call, name](const core::State& state) -> Result<core::Schedule> {
        const auto found = schedule_named(call, state, name);
        if (!found) return tl::unexpected(found.error());
        return **found;
      },
      [call, status, secret](const core::Schedule& schedule) {
        std::string body;
        spec::JsonWriter json(body);
        write_schedule(json, call, schedule, secret);
        call->respond_json(std::move(body), status);
      });
}

void list_schedules(const CallPtr& call) {
  view(
      call,
      [call](const core::State& state) -> Result<std::vector<core::Schedule>> {
        const std::string name = schedules_namespace(call);
        const core::Namespace* ns = state.namespace_named(name);
        if (!ns || !core::may_view(state, call->actor, ns->id))
          return tl::unexpected(core::no_such_namespace(name));
        std::vector<core::Schedule> list;
        for (auto at = state.schedule_names.lower_bound({ns->id, ""});
             at != state.schedule_names.end() && at->first.first == ns->id; ++at)
          list.push_back(state.schedules.at(at->second));
        return list;
      },
      [call](const std::vector<core::Schedule>& list) {
        std::string body;
        spec::JsonWriter json(body);
        json.begin_object().key("schedules").begin_array();
        for (const core::Schedule& each : list) write_schedule(json, call, each, {});
        json.end_array().end_object();
        call->respond_json(std::move(body));
      });
}

void create_schedule(const CallPtr& call) {
  const bool dry = call->query_all("dry_run") == std::vector<std::string>{"true"};
  auto wish = body_of<ScheduleWish>(call);
  if (!wish) return;
  auto kept = std::make_shared<ScheduleWish>(std::move(*wish));
  run_on(call->context.slow, call, [call, kept, dry] {
    std::string secret;
    auto set = to_schedule(*kept, schedules_namespace(call), call->context.options, secret);
    if (!set) return call->refuse(set.error());
    if (dry) return try_schedule(call, *set);
    const std::string sealed = set->terms.secret;
    command(call, std::move(*set), {},
            [call, name = *kept->name, secret, sealed](const runtime::Accepted& accepted) {
              const auto* made = event_of<core::ScheduleSet>(accepted);
              // One that was there before has kept its own.
              const bool told = made && made->terms.secret == sealed;
              respond_schedule(call, name, made && made->revision > 1 ? 200 : 201,
                               told ? secret : std::string());
            });
  });
}

void show_schedule(const CallPtr& call) { respond_schedule(call, schedule_name(call), 200); }
void pause_schedule(const CallPtr& call) { set_paused(call, true); }
void resume_schedule(const CallPtr& call) { set_paused(call, false); }

void write_fired(const CallPtr& call, const runtime::Accepted& accepted) {
  const auto* fired = event_of<core::ScheduleFired>(accepted);
  std::string body;
  spec::JsonWriter json(body);
  json.begin_object().key("number");
  fired ? json.number(fired->number) : json.null();
  json.member("repeated", fired == nullptr).end_object();
  call->respond_json(std::move(body), 202);
}

void run_schedule(const CallPtr& call) {
  core::FireSchedule fire{schedules_namespace(call), schedule_name(call), core::Cause::person};
  command(call, std::move(fire), {},
          [call](const runtime::Accepted& accepted) { write_fired(call, accepted); });
}

void delete_schedule(const CallPtr& call) {
  command(call, core::DeleteSchedule{schedules_namespace(call), schedule_name(call)}, {},
          [call](const runtime::Accepted&) { call->respond_empty(204); });
}

}  // namespace atl::api
