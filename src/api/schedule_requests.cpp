#include "api/schedule_requests.h"

#include <array>

namespace atl::spec {
namespace {

using namespace api;

constexpr const char* kMissedWords[] = {"skip", "once", "all"};
constexpr const char* kOverlapWords[] = {"skip", "wait", "replace", "allow"};

constexpr std::array kScheduleWish{
    field<&ScheduleWish::name>({.name = "name",
                                .sentence = "Its name in the namespace.",
                                .example = "\"nightly\"",
                                .low = 1,
                                .high = 63,
                                .required = true}),
    field<&ScheduleWish::files>({.name = "files",
                                 .sentence = "The workflow's files, by their paths: texts.",
                                 .example = R"({"flow.yaml":"steps: {a: {run: date}}"})",
                                 .required = true}),
    field<&ScheduleWish::main>({.name = "main",
                                .sentence = "Which of them is the workflow; the first one.",
                                .example = "\"flow.yaml\""}),
    field<&ScheduleWish::set>(
        {.name = "set", .sentence = "Values of its parameters.", .example = R"({"rate":"0.1"})"}),
    field<&ScheduleWish::workflow>({.name = "workflow",
                                    .sentence = "The name of its runs; the file's own.",
                                    .example = "\"report\""}),
    field<&ScheduleWish::directory>({.name = "directory",
                                     .sentence = "Where steps run that name no directory.",
                                     .example = "\"/home/ada\""}),
    field<&ScheduleWish::cron>({.name = "cron",
                                .sentence = "When it runs: five fields as in cron(5), or @daily.",
                                .example = "\"0 6 * * MON-FRI\"",
                                .high = 200}),
    field<&ScheduleWish::calendar>(
        {.name = "calendar",
         .sentence = "When it runs, instead of cron: days, date and time as in systemd.time(7).",
         .example = "\"Mon..Fri 06:00\"",
         .high = 200}),
    field<&ScheduleWish::zone>({.name = "zone",
                                .sentence = "The time zone that cron and calendar are meant in.",
                                .example = "\"Europe/Berlin\"",
                                .fallback = "\"UTC\""}),
    field<&ScheduleWish::missed>(
        {.name = "missed",
         .sentence = "What becomes of times that passed while it was paused or the server was "
                     "away: nothing, one run for all of them, or a run for each, up to 100.",
         .example = "\"once\"",
         .fallback = "\"skip\"",
         .choices = kMissedWords}),
    field<&ScheduleWish::overlap>(
        {.name = "overlap",
         .sentence = "What happens when the run before is still under way: no run, one that waits, "
                     "one that takes its place, or one beside it.",
         .example = "\"wait\"",
         .fallback = "\"skip\"",
         .choices = kOverlapWords}),
    field<&ScheduleWish::webhook>({.name = "webhook",
                                   .sentence = "It runs when somebody posts a signed request.",
                                   .example = "true",
                                   .fallback = "false"}),
    field<&ScheduleWish::on_file>(
        {.name = "on_file",
         .sentence = "It runs when this file appears or changes. The last part may be a pattern. "
                     "Only below directories that the server's setting `watch` lists.",
         .example = "\"/data/incoming/*.nc\""}),
    field<&ScheduleWish::quiet>({.name = "quiet",
                                 .sentence = "How long the file has to be left alone before.",
                                 .example = "\"1m\"",
                                 .fallback = "\"5s\""}),
    field<&ScheduleWish::on_queue>({.name = "on_queue",
                                    .sentence = "It runs when this queue of the namespace has "
                                                "items and no run of it is under way.",
                                    .example = "\"frames\""}),
    field<&ScheduleWish::at_least>({.name = "at_least",
                                    .sentence = "How many ready items the queue must have.",
                                    .example = "100",
                                    .fallback = "1",
                                    .low = 1}),
    field<&ScheduleWish::interval>({.name = "interval",
                                    .sentence = "How long it waits between two runs for the queue.",
                                    .example = "\"1m\"",
                                    .fallback = "\"10s\""}),
    field<&ScheduleWish::body_param>(
        {.name = "body_param",
         .sentence = "The parameter that takes what came: a delivery's body, or a file's path.",
         .example = "\"file\""}),
    field<&ScheduleWish::body_fields>(
        {.name = "body_fields",
         .sentence = "Members of a delivery's JSON object go to the parameters of their names.",
         .example = "true",
         .fallback = "false"}),
    field<&ScheduleWish::time_param>(
        {.name = "time_param",
         .sentence = "The parameter that takes the time a run is for, in RFC 3339.",
         .example = "\"day\""}),
    field<&ScheduleWish::paused>({.name = "paused",
                                  .sentence = "Whether it begins paused.",
                                  .example = "true",
                                  .fallback = "false"}),
    field<&ScheduleWish::replace>(
        {.name = "replace",
         .sentence = "Whether one of that name is changed; it keeps its webhook's secret.",
         .example = "true",
         .fallback = "false"})};

// All of it but `name` at the begin and `replace` at the end.
constexpr auto kScheduleChange = [] {
  std::array<Field, kScheduleWish.size() - 2> fields;
  for (size_t i = 0; i < fields.size(); ++i) {
    fields[i] = kScheduleWish[i + 1];
    fields[i].required = false;
    fields[i].fallback = nullptr;
  }
  return fields;
}();

}  // namespace

template <>
const Shape& shape_of<ScheduleChange>() {
  static constexpr Shape shape{
      "ScheduleChange",
      "What changes of a schedule; the rest stays. Parameters in `set` are added to the others.",
      kScheduleChange};
  return shape;
}

template <>
const Shape& shape_of<ScheduleWish>() {
  static constexpr Shape shape{
      "ScheduleWish",
      "A workflow to be run again and again: by cron, calendar, webhook, on_file or on_queue.",
      kScheduleWish};
  return shape;
}

}  // namespace atl::spec
