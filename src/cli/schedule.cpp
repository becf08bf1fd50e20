// schedule: workflows that are run again and again.
#include "cli/schedule.h"

#include <chrono>
#include <iostream>
#include <thread>

#include "base/text.h"
#include "cli/exit.h"
#include "cli/platform.h"
#include "cli/queue_path.h"
#include "cli/submit.h"
#include "cli/verbs.h"
#include "cli/workflow.h"
#include "spec/timing/timing.h"

namespace atl::cli {
namespace {

struct ScheduleName {
  std::string name;
  std::string ns;
};

struct ScheduleFlags {
  std::string name;
  WorkflowFlags workflow;
  std::string cron;
  std::string calendar;
  std::string zone;
  std::string missed;
  std::string overlap;
  bool webhook = false;
  std::string on_file;
  std::string quiet;
  std::string on_queue;
  std::string at_least;
  std::string interval;
  std::string body_param;
  bool body_fields = false;
  std::string time_param;
  bool paused = false;
  bool replace = false;
  bool dry_run = false;
};

void add_ns_option(CLI::App* verb, std::string& ns) {
  verb->add_option("-n,--ns", ns, "The namespace it is in (the context's, or your own)")
      ->type_name("NAMESPACE");
}

void add_schedule_options(CLI::App* verb, ScheduleName& schedule) {
  verb->add_option("NAME", schedule.name, "The schedule")->required();
  add_ns_option(verb, schedule.ns);
}

Result<std::string> schedules_path(Session& session, const std::string& ns) {
  auto path = queues_path(session, ns);
  if (!path) return path;
  return path->substr(0, path->rfind('/')) + "/schedules";
}

Result<std::string> schedule_path(Session& session, const ScheduleName& schedule) {
  auto path = schedules_path(session, schedule.ns);
  if (!path) return path;
  return *path + "/" + encode(schedule.name);
}

// `changes`: of one that is there, only what was said.
Result<std::string> schedule_body(Session& session, const ScheduleFlags& flags, bool changes) {
  std::string body;
  spec::JsonWriter json(body);
  json.begin_object();
  if (!changes) json.member("name", flags.name);
  if (!changes || !flags.workflow.file.empty()) {
    if (auto ok = write_files(json, flags.workflow); !ok) return tl::unexpected(ok.error());
  } else if (auto ok = write_params(json, flags.workflow); !ok) {
    return tl::unexpected(ok.error());
  }
  const bool timed = !flags.cron.empty() || !flags.calendar.empty();
  // What changes keeps the zone it has.
  const std::string zone =
      flags.zone.empty() && timed && !changes ? local_zone(session.environment) : flags.zone;
  for (const auto& [key, value] :
       {std::pair("workflow", flags.workflow.name), std::pair("cron", flags.cron),
        std::pair("calendar", flags.calendar), std::pair("zone", zone),
        std::pair("missed", flags.missed), std::pair("overlap", flags.overlap),
        std::pair("on_file", flags.on_file), std::pair("quiet", flags.quiet),
        std::pair("on_queue", flags.on_queue), std::pair("interval", flags.interval),
        std::pair("body_param", flags.body_param), std::pair("time_param", flags.time_param)}) {
    if (!value.empty()) json.member(key, value);
  }
  if (!flags.at_least.empty()) {
    const auto number = parse_int(flags.at_least);
    if (!number) return fail(ErrorCode::invalid, "--at-least must be a whole number");
    json.member("at_least", *number);
  }
  for (const auto& [key, value] :
       {std::pair("webhook", flags.webhook), std::pair("body_fields", flags.body_fields),
        std::pair("paused", flags.paused), std::pair("replace", flags.replace)}) {
    if (value) json.member(key, true);
  }
  json.end_object();
  return body;
}

std::vector<std::string> texts_of(const Json& list) {
  std::vector<std::string> texts;
  for (const Json& each : list.items()) texts.push_back(each.text());
  return texts;
}

Result<int> create_schedule(Session& session, const ScheduleFlags& flags) {
  const auto path = schedules_path(session, flags.workflow.ns);
  if (!path) return tl::unexpected(path.error());
  auto body = schedule_body(session, flags, false);
  if (!body) return tl::unexpected(body.error());
  const auto answer =
      (*session.api())->post(*path + (flags.dry_run ? "?dry_run=true" : ""), std::move(*body));
  if (!answer) return tl::unexpected(answer.error());
  if (flags.dry_run) {
    print_one(session, *answer, "name",
              [&] { return next_lines(texts_of((*answer)["next"]), answer->text("zone")); });
    return kExitOk;
  }
  print_one(session, *answer, "name", [&] { return schedule_card(session, *answer); });
  return kExitOk;
}

Result<int> change_schedule(Session& session, const ScheduleFlags& flags) {
  const auto path = schedule_path(session, {flags.name, flags.workflow.ns});
  if (!path) return tl::unexpected(path.error());
  auto body = schedule_body(session, flags, true);
  if (!body) return tl::unexpected(body.error());
  if (*body == "{}")
    return fail(ErrorCode::invalid, "nothing is changed: say what, such as --cron \"0 2 * * *\"");
  const auto answer = (*session.api())->patch(*path, std::move(*body));
  if (!answer) return tl::unexpected(answer.error());
  print_one(session, *answer, "name", [&] { return schedule_card(session, *answer); });
  return kExitOk;
}

Result<int> show_schedule(Session& session, const ScheduleName& schedule) {
  const auto path = schedule_path(session, schedule);
  if (!path) return tl::unexpected(path.error());
  const auto answer = (*session.api())->get(*path);
  if (!answer) return tl::unexpected(answer.error());
  print_one(session, *answer, "name", [&] { return schedule_card(session, *answer); });
  return kExitOk;
}

Result<int> pause_schedule(Session& session, const ScheduleName& schedule, bool pause) {
  const auto path = schedule_path(session, schedule);
  if (!path) return tl::unexpected(path.error());
  return do_and_say(session, "POST", *path + (pause ? "/pause" : "/resume"), "", schedule.name,
                    (pause ? "paused schedule " : "resumed schedule ") + schedule.name);
}

Result<int> delete_schedule(Session& session, const ScheduleName& schedule, bool yes) {
  const auto path = schedule_path(session, schedule);
  if (!path) return tl::unexpected(path.error());
  if (!yes) {
    const auto sure = session.confirm("Delete schedule " + schedule.name + "?");
    if (!sure) return tl::unexpected(sure.error());
    if (!*sure) return kExitFailure;
  }
  return do_and_say(session, "DELETE", *path, "", schedule.name,
                    "deleted schedule " + schedule.name);
}

// The firing once its run is made, or is known not to be.
Result<Json> settled_firing(Session& session, const std::string& path, const std::string& number) {
  for (;;) {
    const auto schedule = (*session.api())->get(path);
    if (!schedule) return tl::unexpected(schedule.error());
    Json found;
    for (const Json& firing : (*schedule)["firings"].items()) {
      if (firing.text("number") == number) found = firing;
    }
    if (found.is_null())
      return fail(ErrorCode::not_found, "firing " + number + " is no longer known");
    if (found.text("state") != "opening") return found;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
}

Result<int> run_schedule(Session& session, const ScheduleName& schedule, bool follow) {
  const auto path = schedule_path(session, schedule);
  if (!path) return tl::unexpected(path.error());
  const auto answer = (*session.api())->post(*path + "/run", "");
  if (!answer) return tl::unexpected(answer.error());
  const auto firing = settled_firing(session, *path, answer->text("number"));
  if (!firing) return tl::unexpected(firing.error());
  if (firing->text("state") != "opened")
    return fail(firing->text("state") == "skipped" ? ErrorCode::conflict : ErrorCode::invalid,
                firing->text("message"));
  const std::string id = firing->text("workflow");
  if (follow) return follow_workflow(session, id);
  print_one(session, *firing, "workflow", [&] { return id + "\n"; });
  return kExitOk;
}

struct NextFlags {
  ScheduleName schedule;
  std::string cron;
  std::string calendar;
  std::string zone;
  std::string count = "5";
};

// What a schedule that is there goes by.
Result<void> take_timing(Session& session, NextFlags& flags) {
  const auto path = schedule_path(session, flags.schedule);
  if (!path) return tl::unexpected(path.error());
  const auto schedule = (*session.api())->get(*path);
  if (!schedule) return tl::unexpected(schedule.error());
  flags.cron = schedule->text("cron");
  flags.calendar = schedule->text("calendar");
  flags.zone = schedule->text("zone");
  if (!flags.zone.empty()) return {};
  return fail(ErrorCode::invalid, "schedule " + flags.schedule.name + " starts by " +
                                      schedule->text("trigger") + ": nobody knows when");
}

Result<int> show_next(Session& session, NextFlags flags) {
  const int said = !flags.schedule.name.empty() + !flags.cron.empty() + !flags.calendar.empty();
  if (said != 1)
    return fail(ErrorCode::invalid, "say the name of a schedule, --cron or --calendar");
  const auto count = parse_int(flags.count);
  if (!count || *count < 1 || *count > 1000)
    return fail(ErrorCode::invalid, "--count must be between 1 and 1000");
  if (!flags.schedule.name.empty()) {
    if (auto ok = take_timing(session, flags); !ok) return tl::unexpected(ok.error());
  }
  const std::string zone = flags.zone.empty() ? local_zone(session.environment) : flags.zone;
  const auto timing = flags.cron.empty() ? spec::parse_calendar(flags.calendar, zone)
                                         : spec::parse_cron(flags.cron, zone);
  if (!timing) return tl::unexpected(timing.error());
  std::string json;
  spec::JsonWriter writer(json);
  writer.begin_object().member("zone", timing->zone).key("next").begin_array();
  std::vector<std::string> times;
  for (const Time at : spec::next_times(*timing, wall_clock(), static_cast<size_t>(*count))) {
    times.push_back(format_time(at));
    writer.time(at);
  }
  writer.end_array().end_object();
  print_one(session, *Json::parse(json), "zone", [&] { return next_lines(times, timing->zone); });
  return kExitOk;
}

void add_time_options(Verbs& verbs, CLI::App* verb, ScheduleFlags& flags) {
  verb->add_option("--cron", flags.cron, "Five fields: minute, hour, day, month, day of the week")
      ->type_name("\"M H D M W\"");
  verb->add_option("--calendar", flags.calendar, "Instead: days, date and time, \"Mon..Fri 06:00\"")
      ->type_name("TIMES");
  verb->add_option("--zone", flags.zone, "Their time zone (this machine's)")->type_name("ZONE");
  CLI::Option* missed =
      verb->add_option("--missed", flags.missed,
                       "For times that were missed: skip, once for all of them, or all (skip)")
          ->type_name("WHAT")
          ->check(CLI::IsMember({"skip", "once", "all"}));
  verbs.set_choices(missed, {"skip", "once", "all"});
  CLI::Option* overlap =
      verb->add_option("--overlap", flags.overlap,
                       "While a run is under way: skip, wait, replace it, or allow (skip)")
          ->type_name("WHAT")
          ->check(CLI::IsMember({"skip", "wait", "replace", "allow"}));
  verbs.set_choices(overlap, {"skip", "wait", "replace", "allow"});
}

void add_trigger_options(CLI::App* verb, ScheduleFlags& flags) {
  verb->add_flag("--webhook", flags.webhook, "Run when a signed request comes; prints the secret");
  verb->add_option("--on-file", flags.on_file, "Run when a file appears or changes")
      ->type_name("PATH");
  verb->add_option("--quiet-for", flags.quiet, "How long it has to be left alone before (5s)")
      ->type_name("TIME");
  verb->add_option("--on-queue", flags.on_queue, "Run when a queue has items")->type_name("QUEUE");
  verb->add_option("--at-least", flags.at_least, "So many of them (1)")->type_name("N");
  verb->add_option("--interval", flags.interval, "Between two runs for the queue (10s)")
      ->type_name("TIME");
  verb->add_option("--param-from-body", flags.body_param,
                   "The parameter that takes a delivery's body, or the file's path")
      ->type_name("NAME");
  verb->add_flag("--params-from-body", flags.body_fields,
                 "Members of a delivery's JSON object are parameters");
  verb->add_option("--param-from-time", flags.time_param, "The parameter that takes the run's time")
      ->type_name("NAME");
}

void add_run_options(CLI::App* verb, ScheduleFlags& flags) {
  verb->add_option("--set", flags.workflow.set, "A parameter of the workflow")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false);
  verb->add_option("--name", flags.workflow.name, "The name of its runs (the file's)")
      ->type_name("NAME");
  add_ns_option(verb, flags.workflow.ns);
}

void add_create_verb(Verbs& verbs, CLI::App* noun) {
  auto flags = std::make_shared<ScheduleFlags>();
  CLI::App* verb = verbs.add(
      noun, "create", "Run a workflow again and again",
      "atoll schedule create nightly flow.yaml --cron \"0 2 * * *\" --zone Europe/Berlin\n"
      "atoll schedule create report flow.yaml --calendar \"Mon..Fri 06:00\" --missed once\n"
      "atoll schedule create build flow.yaml --webhook --params-from-body\n"
      "atoll schedule create ingest flow.yaml --on-file '/data/in/*.nc' --param-from-body file\n"
      "atoll schedule create frames flow.yaml --on-queue frames --at-least 100\n"
      "atoll schedule create nightly flow.yaml --cron @daily --dry-run   only the next times",
      [flags](Session& session) { return create_schedule(session, *flags); });
  verb->add_option("NAME", flags->name, "The schedule")->required();
  verb->add_option("FILE", flags->workflow.file, "The workflow's file")->required();
  add_time_options(verbs, verb, *flags);
  add_trigger_options(verb, *flags);
  add_run_options(verb, *flags);
  verb->add_flag("--paused", flags->paused, "Begin paused");
  verb->add_flag("--replace", flags->replace, "Change the one of that name");
  verb->add_flag("--dry-run", flags->dry_run, "Only say when it would run, or what is wrong");
}

void add_change_verb(Verbs& verbs, CLI::App* noun) {
  auto flags = std::make_shared<ScheduleFlags>();
  CLI::App* verb =
      verbs.add(noun, "set", "Change some of a schedule, and keep the rest",
                "atoll schedule set nightly --cron \"0 3 * * *\"\n"
                "atoll schedule set nightly --overlap wait --set rate=0.2\n"
                "atoll schedule set nightly --file flow.yaml   what it runs",
                [flags](Session& session) { return change_schedule(session, *flags); });
  verb->add_option("NAME", flags->name, "The schedule")->required();
  verb->add_option("--file", flags->workflow.file, "Another file of a workflow")->type_name("FILE");
  add_time_options(verbs, verb, *flags);
  add_trigger_options(verb, *flags);
  add_run_options(verb, *flags);
}

void add_look_verbs(Verbs& verbs, CLI::App* noun) {
  auto ns = std::make_shared<std::string>();
  CLI::App* list = verbs.add(noun, "list", "List schedules with their next time and last run",
                             "atoll schedule list\natoll schedule list -o json",
                             [ns](Session& session) -> Result<int> {
                               const auto path = schedules_path(session, *ns);
                               if (!path) return tl::unexpected(path.error());
                               return show_list(session, *path, schedule_view());
                             });
  add_ns_option(list, *ns);
  auto shown = std::make_shared<ScheduleName>();
  add_schedule_options(
      verbs.add(noun, "show", "Show its next times and what became of the last",
                "atoll schedule show nightly\natoll schedule show nightly -o json",
                [shown](Session& session) { return show_schedule(session, *shown); }),
      *shown);
  auto flags = std::make_shared<NextFlags>();
  CLI::App* next = verbs.add(noun, "next", "Say the next times of a schedule, or of an expression",
                             "atoll schedule next nightly\n"
                             "atoll schedule next --cron \"*/15 8-18 * * MON-FRI\"\n"
                             "atoll schedule next --calendar \"*-*~1 18:00\" --zone Asia/Tokyo",
                             [flags](Session& session) { return show_next(session, *flags); });
  next->add_option("NAME", flags->schedule.name, "The schedule");
  next->add_option("--cron", flags->cron, "Five fields")->type_name("\"M H D M W\"");
  next->add_option("--calendar", flags->calendar, "Days, date and time")->type_name("TIMES");
  next->add_option("--zone", flags->zone, "The time zone (this machine's)")->type_name("ZONE");
  next->add_option("--count", flags->count, "How many (5)")->type_name("N");
  add_ns_option(next, flags->schedule.ns);
}

void add_action_verbs(Verbs& verbs, CLI::App* noun) {
  auto paused = std::make_shared<ScheduleName>();
  add_schedule_options(
      verbs.add(noun, "pause", "Open no more runs", "atoll schedule pause nightly",
                [paused](Session& session) { return pause_schedule(session, *paused, true); }),
      *paused);
  auto resumed = std::make_shared<ScheduleName>();
  add_schedule_options(
      verbs.add(noun, "resume", "Go on; times that have passed are missed ones",
                "atoll schedule resume nightly",
                [resumed](Session& session) { return pause_schedule(session, *resumed, false); }),
      *resumed);
  auto ran = std::make_shared<ScheduleName>();
  auto follow = std::make_shared<bool>(false);
  CLI::App* run =
      verbs.add(noun, "run", "Run it now and print the workflow's number",
                "atoll schedule run nightly\natoll schedule run nightly --follow",
                [ran, follow](Session& session) { return run_schedule(session, *ran, *follow); });
  add_schedule_options(run, *ran);
  run->add_flag("--follow", *follow, "Follow the run to its end");
  auto gone = std::make_shared<ScheduleName>();
  auto yes = std::make_shared<bool>(false);
  CLI::App* remove = verbs.add(noun, "delete", "Delete a schedule; runs that it has opened go on",
                               "atoll schedule delete nightly", [gone, yes](Session& session) {
                                 return delete_schedule(session, *gone, *yes);
                               });
  add_schedule_options(remove, *gone);
  remove->add_flag("-y,--yes", *yes, "Do not ask");
}

}  // namespace

void add_schedule_verbs(Verbs& verbs) {
  CLI::App* noun = verbs.add_noun(
      "schedule", "Workflows that run again and again: by time, webhook, file or queue",
      "atoll schedule create nightly flow.yaml --cron \"0 2 * * *\"\n"
      "atoll schedule list\n"
      "atoll schedule run nightly --follow");
  add_create_verb(verbs, noun);
  add_change_verb(verbs, noun);
  add_look_verbs(verbs, noun);
  add_action_verbs(verbs, noun);
}

}  // namespace atl::cli
