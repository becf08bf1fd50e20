#include "api/view_fields.h"

namespace atl::api {
namespace {

constexpr std::array kFiring{always(Kind::integer, "number", "Of the schedule's firings, from 1."),
                             always(Kind::text, "cause", "time, webhook, file, queue or person."),
                             maybe(Kind::time, "planned", "The time it was for."),
                             always(Kind::time, "fired", "When it was decided."),
                             always(Kind::text, "state", "opening, opened, skipped or failed."),
                             maybe(Kind::text, "workflow", "The run that it opened."),
                             always(Kind::text, "message", "Why there is no run.")};
const Shape& firing_shape() {
  static constexpr Shape shape{"Firing", "One time that a schedule was due.", kFiring};
  return shape;
}
constexpr std::array kSchedule{
    always(Kind::text, "name", "Its name."),
    always(Kind::text, "namespace", "Where it is."),
    always(Kind::text, "user", "Who set it last, and whose runs they are."),
    always(Kind::text, "trigger", "time, webhook, file or queue."),
    always(Kind::boolean, "paused", "Whether it runs for now only when somebody says so."),
    maybe(Kind::text, "cron", "When it runs."),
    maybe(Kind::text, "calendar", "When it runs, as a calendar expression."),
    maybe(Kind::text, "zone", "The time zone of that."),
    maybe(Kind::text, "missed", "What becomes of times that were missed."),
    always(Kind::text, "overlap", "What happens when the run before is still under way."),
    maybe(Kind::text, "url", "Where a webhook is posted to."),
    sometimes(Kind::text, "secret", "What its deliveries are signed with. It is shown once."),
    maybe(Kind::text, "on_file", "The file it waits for."),
    maybe(Kind::text, "quiet", "How long that has to be left alone."),
    maybe(Kind::text, "on_queue", "The queue it waits for."),
    maybe(Kind::integer, "at_least", "How many ready items that must have."),
    maybe(Kind::text, "interval", "How long it waits between two runs for the queue."),
    always(Kind::text, "workflow", "The name of its runs."),
    always(Kind::texts, "next", "The next times, up to five."),
    always(Kind::time, "created", "When it was made."),
    always(Kind::time, "changed", "When it was set last."),
    always(Kind::integer, "fired", "How often it was due."),
    always(Kind::objects, "firings", "The last of them, newest first.", firing_shape)};
constexpr std::array kScheduleList{always(Kind::objects, "schedules", "By name.", schedule_shape)};
constexpr std::array kScheduleTried{
    always(Kind::text, "name", "As it would be named."),
    always(Kind::text, "workflow", "The name of its runs."),
    maybe(Kind::text, "zone", "The time zone that its times are meant in."),
    always(Kind::texts, "next", "The next times, up to five.")};
constexpr std::array kFired{
    maybe(Kind::integer, "number", "Of the firing."),
    always(Kind::boolean, "repeated", "Whether this delivery was taken before.")};

}  // namespace

#define ATOLL_VIEW(function, name, sentence, fields)      \
  const Shape& function() {                               \
    static constexpr Shape shape{name, sentence, fields}; \
    return shape;                                         \
  }
ATOLL_VIEW(schedule_shape, "Schedule", "A workflow that is run again and again.", kSchedule)
ATOLL_VIEW(schedule_list_shape, "ScheduleList", "Schedules of a namespace.", kScheduleList)
ATOLL_VIEW(schedule_tried_shape, "ScheduleTried", "What would be made.", kScheduleTried)
ATOLL_VIEW(fired_shape, "Fired", "A run is being made.", kFired)
#undef ATOLL_VIEW

}  // namespace atl::api
