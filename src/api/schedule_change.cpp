// Some fields of a schedule changed, the others kept.
#include "api/handlers.h"
#include "api/schedules.h"
#include "base/text.h"
#include "spec/tapis/tapis_run.h"
#include "spec/workflow/program.h"

namespace atl::api {
namespace {

const char* overlap_of(core::Overlap overlap) {
  return overlap == core::Overlap::refuse ? "skip" : enum_name(overlap);
}

// What made the schedule as it is.
Result<ScheduleWish> wish_of(const core::Schedule& schedule) {
  const core::ScheduleTerms& terms = schedule.terms;
  auto program = spec::parse_json<spec::Program>(terms.program);
  if (!program || spec::tapis::is_pipeline(*program))
    return fail(ErrorCode::conflict,
                "schedule " + quote(schedule.name) + " belongs to a pipeline: change that",
                "schedule");
  ScheduleWish wish;
  wish.name = schedule.name;
  wish.files = std::move(program->files);
  wish.main = std::move(program->main);
  wish.set = std::move(program->set);
  wish.workflow = std::move(program->name);
  wish.directory = std::move(program->directory);
  wish.body_param = std::move(program->body_param);
  wish.body_fields = program->body_fields;
  wish.time_param = std::move(program->time_param);
  wish.overlap = overlap_of(terms.overlap);
  wish.paused = schedule.paused;
  switch (terms.trigger) {
    case core::Trigger::time:
      (terms.calendar ? wish.calendar : wish.cron) = terms.timing;
      wish.zone = terms.zone;
      wish.missed = enum_name(terms.missed);
      break;
    case core::Trigger::webhook:
      wish.webhook = true;
      break;
    case core::Trigger::file:
      wish.on_file = terms.path;
      wish.quiet = terms.quiet;
      break;
    case core::Trigger::queue:
      wish.on_queue = terms.queue;
      wish.at_least = static_cast<int64_t>(terms.at_least);
      wish.interval = terms.interval;
      break;
  }
  return wish;
}

// Another thing starts it now: what only the old one knows goes with it.
void forget_trigger(ScheduleWish& wish) {
  wish.zone.reset();
  wish.missed.reset();
  wish.time_param.reset();
  wish.quiet.reset();
  wish.at_least.reset();
  wish.interval.reset();
  wish.body_param.reset();
  wish.body_fields.reset();
}

void lay_over(ScheduleWish& wish, const ScheduleWish& change) {
  const bool timed = change.cron || change.calendar;
  const bool other = change.webhook || change.on_file || change.on_queue;
  if (timed || other) {
    const bool kept = (timed && (wish.cron || wish.calendar)) || (change.webhook && wish.webhook) ||
                      (change.on_file && wish.on_file) || (change.on_queue && wish.on_queue);
    if (!kept) forget_trigger(wish);
    wish.cron.reset();
    wish.calendar.reset();
    wish.webhook.reset();
    wish.on_file.reset();
    wish.on_queue.reset();
  }
  if (change.files) {
    wish.files.reset();
    wish.main.reset();
    wish.workflow.reset();
  }
  spec::overlay(wish, change);
}

void change(const CallPtr& call, const core::Schedule& before, const ScheduleWish& change) {
  auto wish = wish_of(before);
  if (!wish) return call->refuse(wish.error());
  lay_over(*wish, change);
  std::string secret;
  auto set = to_schedule(*wish, std::string(call->request().param("namespace")),
                         call->context.options, secret);
  if (!set) return call->refuse(set.error());
  set->replace = true;
  set->revision = before.revision;
  const std::string sealed = set->terms.secret;
  command(call, std::move(*set), {},
          [call, secret, sealed, name = before.name](const runtime::Accepted& accepted) {
            const auto* made = event_of<core::ScheduleSet>(accepted);
            const bool told = made && made->terms.secret == sealed;
            respond_schedule(call, name, 200, told ? secret : std::string());
          });
}

}  // namespace

void change_schedule(const CallPtr& call) {
  const std::string body = call->exchange->take_body();
  auto said = std::make_shared<ScheduleWish>();
  const auto read =
      spec::parse_json(spec::shape_of<ScheduleChange>(), said.get(), body.empty() ? "{}" : body);
  if (!read) return call->refuse(read.error());
  view(
      call,
      [call](const core::State& state) -> Result<core::Schedule> {
        const auto found =
            schedule_named(call, state, std::string(call->request().param("schedule")));
        if (!found) return tl::unexpected(found.error());
        return **found;
      },
      [call, said](core::Schedule before) {
        run_on(call->context.slow, call,
               [call, said, before = std::move(before)] { change(call, before, *said); });
      });
}

}  // namespace atl::api
