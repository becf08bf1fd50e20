// What a person wants of a schedule becomes what the core takes.
#include <algorithm>
#include <filesystem>

#include "api/schedules.h"
#include "auth/hook.h"
#include "auth/vault.h"
#include "base/text.h"
#include "core/limits.h"
#include "spec/timing/timing.h"
#include "spec/workflow/program.h"

namespace atl::api {
namespace {

constexpr Duration kQuietDefault = seconds(5);
constexpr Duration kIntervalDefault = seconds(10);

// Exactly one of the ways to start.
Result<core::Trigger> trigger_of(const ScheduleWish& wish) {
  const bool webhook = wish.webhook.value_or(false);
  const int ways = wish.cron.has_value() + wish.calendar.has_value() + webhook +
                   wish.on_file.has_value() + wish.on_queue.has_value();
  if (ways != 1)
    return fail(ErrorCode::invalid,
                std::string(ways == 0 ? "nothing starts it" : "several things start it") +
                    ": say one of cron, calendar, webhook, on_file and on_queue",
                "cron");
  if (webhook) return core::Trigger::webhook;
  if (wish.on_file) return core::Trigger::file;
  return wish.on_queue ? core::Trigger::queue : core::Trigger::time;
}

// What only one of the ways knows is refused with the others.
Result<void> check_fitting(const ScheduleWish& wish, core::Trigger trigger) {
  using core::Trigger;
  const std::tuple<bool, Trigger, const char*> only[] = {
      {wish.zone.has_value(), Trigger::time, "zone"},
      {wish.missed.has_value(), Trigger::time, "missed"},
      {wish.time_param.has_value(), Trigger::time, "time_param"},
      {wish.quiet.has_value(), Trigger::file, "quiet"},
      {wish.at_least.has_value(), Trigger::queue, "at_least"},
      {wish.interval.has_value(), Trigger::queue, "interval"},
      {wish.body_fields.has_value(), Trigger::webhook, "body_fields"}};
  for (const auto& [said, fitting, field] : only) {
    if (said && trigger != fitting)
      return fail(
          ErrorCode::invalid,
          std::string(field) + " does not go with a schedule that starts by " + enum_name(trigger),
          field);
  }
  if (wish.body_param && trigger != Trigger::webhook && trigger != Trigger::file)
    return fail(ErrorCode::invalid, "body_param needs a webhook or a file", "body_param");
  return {};
}

Result<void> set_times(const ScheduleWish& wish, Time now, core::SetSchedule& set) {
  core::ScheduleTerms& terms = set.terms;
  terms.calendar = wish.calendar.has_value();
  terms.timing = terms.calendar ? *wish.calendar : *wish.cron;
  const std::string zone = wish.zone.value_or("UTC");
  const auto timing = terms.calendar ? spec::parse_calendar(terms.timing, zone)
                                     : spec::parse_cron(terms.timing, zone);
  if (!timing) {
    Error error = timing.error();
    if (error.field.empty()) error.field = terms.calendar ? "calendar" : "cron";
    return tl::unexpected(std::move(error));
  }
  terms.zone = timing->zone;
  set.due = spec::next_times(*timing, now, core::kTimesKept);
  if (!set.due.empty()) return {};
  return fail(ErrorCode::invalid, quote(terms.timing) + " never comes again",
              terms.calendar ? "calendar" : "cron");
}

// Below one of the directories that the administrator lists; the pattern is in the last part only.
Result<void> set_path(const ScheduleWish& wish, const std::vector<std::string>& watch,
                      core::ScheduleTerms& terms) {
  const std::string& path = *wish.on_file;
  const std::filesystem::path given(path);
  if (!given.is_absolute() || given.lexically_normal() != given || path.size() > 4096 ||
      given.filename().empty() || !valid_utf8(path))
    return fail(ErrorCode::invalid,
                "on_file is " + quote(path) +
                    "; it must be a whole path such as /data/incoming/*.nc, without . and ..",
                "on_file");
  const std::string directory = given.parent_path().string();
  if (directory.find_first_of("*?[") != std::string::npos)
    return fail(ErrorCode::invalid, "only the last part of on_file may be a pattern", "on_file");
  const bool listed = std::ranges::any_of(watch, [&](const std::string& each) {
    return directory == each || directory.starts_with(each == "/" ? each : each + "/");
  });
  if (!listed)
    return fail(ErrorCode::forbidden,
                "this server watches no files in " + directory +
                    ": its administrator lists directories as `watch: [" + directory +
                    "]` in atoll.yaml",
                "on_file");
  terms.path = path;
  terms.quiet = wish.quiet.value_or(kQuietDefault);
  return {};
}

Result<void> set_secret(const Options& options, core::ScheduleTerms& terms, std::string& secret) {
  if (!options.vault)
    return fail(ErrorCode::unavailable, "this server keeps no secrets", "webhook");
  secret = auth::make_hook_secret();
  auto sealed = options.vault->seal(secret);
  if (!sealed) return tl::unexpected(sealed.error());
  terms.secret = std::move(*sealed);
  return {};
}

// The files are read and, where all parameters are known, planned: mistakes are told now.
Result<void> set_program(const ScheduleWish& wish, Time first, core::ScheduleTerms& terms) {
  spec::Program program{.files = wish.files,
                        .main = wish.main,
                        .set = wish.set,
                        .name = wish.workflow,
                        .directory = wish.directory,
                        .body_param = wish.body_param,
                        .body_fields = wish.body_fields,
                        .time_param = wish.time_param};
  const auto file = spec::check_program(program);
  if (!file) return tl::unexpected(file.error());
  if (!program.body_param && !program.body_fields.value_or(false)) {
    const auto planned = spec::plan_program(program, *file, {{}, first});
    if (!planned) return tl::unexpected(planned.error());
  }
  terms.program = spec::to_json(program);
  return {};
}

core::Overlap overlap_of(const std::string& word) {
  if (word == "allow") return core::Overlap::allow;
  if (word == "wait") return core::Overlap::wait;
  return word == "replace" ? core::Overlap::replace : core::Overlap::refuse;
}

}  // namespace

Result<core::SetSchedule> to_schedule(const ScheduleWish& wish, const std::string& ns,
                                      const Options& options, std::string& secret) {
  const auto trigger = trigger_of(wish);
  if (!trigger) return tl::unexpected(trigger.error());
  if (auto ok = check_fitting(wish, *trigger); !ok) return tl::unexpected(ok.error());
  core::SetSchedule set;
  set.ns = ns;
  set.name = *wish.name;
  set.paused = wish.paused.value_or(false);
  set.replace = wish.replace.value_or(false);
  core::ScheduleTerms& terms = set.terms;
  terms.trigger = *trigger;
  std::ignore = enum_from_name(wish.missed.value_or("skip"), terms.missed);
  terms.overlap = overlap_of(wish.overlap.value_or("skip"));
  Result<void> ok;
  switch (*trigger) {
    case core::Trigger::time:
      ok = set_times(wish, options.now(), set);
      break;
    case core::Trigger::webhook:
      ok = set_secret(options, terms, secret);
      break;
    case core::Trigger::file:
      ok = set_path(wish, options.watch, terms);
      break;
    case core::Trigger::queue:
      terms.queue = *wish.on_queue;
      terms.at_least = static_cast<uint64_t>(wish.at_least.value_or(1));
      terms.interval = wish.interval.value_or(kIntervalDefault);
      break;
  }
  if (!ok) return tl::unexpected(ok.error());
  const Time first = set.due.empty() ? Time{} : set.due.front();
  if (ok = set_program(wish, first, terms); !ok) return tl::unexpected(ok.error());
  return set;
}

}  // namespace atl::api
