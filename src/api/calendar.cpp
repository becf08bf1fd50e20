// The calendar: when, in every week, a tier may not have more than so much.
#include "core/calendar.h"

#include "api/context.h"
#include "api/handlers.h"
#include "api/quota_view.h"
#include "core/notes.h"
#include "spec/when_json.h"

namespace atl::api {
namespace {

struct ShownCalendar {
  core::Calendar calendar;
  Time now;
  std::vector<std::string> warnings = {};  // about an entry that was just set
};

void write_calendar_entry(spec::JsonWriter& json, const ShownCalendar& shown,
                          const core::CalendarEntry& entry) {
  const spec::CalendarWish words = spec::to_wish(entry);
  json.begin_object().member("name", entry.name).member("tier", *words.tier);
  json.member("days", *words.days).member("from", *words.from).member("until", *words.until);
  json.key("share");
  entry.share_milli ? json.milli(*entry.share_milli) : json.null();
  json.key("limit");
  write_quota(json, entry.limit);
  json.member("holds", core::holds_at(shown.calendar, entry, shown.now));
  if (!shown.warnings.empty()) json.member("warnings", shown.warnings);
  json.end_object();
}

std::string entry_in_path(const CallPtr& call) {
  return std::string(call->request().param("entry"));
}

Result<ShownCalendar> look_at_calendar(const CallPtr& call, const core::State& state) {
  return ShownCalendar{state.calendar, call->context.options.now()};
}

}  // namespace

void show_calendar(const CallPtr& call) {
  view(
      call, [call](const core::State& state) { return look_at_calendar(call, state); },
      [call](const ShownCalendar& shown) {
        std::string body;
        spec::JsonWriter json(body);
        json.begin_object().member("now", shown.now);
        json.member("utc_offset_minutes", shown.calendar.utc_offset).key("next_change");
        const Time next = core::next_change(shown.calendar, shown.now);
        next ? json.time(next) : json.null();
        json.key("entries").begin_array();
        for (const core::CalendarEntry& entry : shown.calendar.entries)
          write_calendar_entry(json, shown, entry);
        json.end_array().end_object();
        call->respond_json(std::move(body));
      });
}

void set_calendar_entry(const CallPtr& call) {
  const auto wish = body_of<spec::CalendarWish>(call);
  if (!wish) return;
  auto entry = spec::to_entry(entry_in_path(call), *wish);
  if (!entry) return call->refuse(entry.error());
  command(call, core::SetCalendarEntry{*entry}, {},
          [call, entry = *entry](const runtime::Accepted&) {
            view(
                call,
                [call, entry](const core::State& state) {
                  auto shown = look_at_calendar(call, state);
                  if (shown) shown->warnings = core::unknown_devices(state, entry.limit);
                  return shown;
                },
                [call, entry](const ShownCalendar& shown) {
                  std::string body;
                  spec::JsonWriter json(body);
                  write_calendar_entry(json, shown, entry);
                  call->respond_json(std::move(body));
                });
          });
}

void delete_calendar_entry(const CallPtr& call) {
  command(call, core::DeleteCalendarEntry{entry_in_path(call)}, {},
          [call](const runtime::Accepted&) { call->respond_empty(204); });
}

}  // namespace atl::api
