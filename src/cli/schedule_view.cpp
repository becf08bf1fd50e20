#include <filesystem>

#include "base/text.h"
#include "cli/display.h"
#include "cli/schedule.h"
#include "spec/timing/timing.h"

namespace atl::cli {
namespace {

std::string starts_by(const Json& schedule) {
  const std::string trigger = schedule.text("trigger");
  if (trigger == "file") return "file " + schedule.text("on_file");
  if (trigger == "queue")
    return "queue " + schedule.text("on_queue") + ", at least " + schedule.text("at_least");
  if (trigger != "time") return trigger;
  return (schedule.has("cron") ? schedule.text("cron") : schedule.text("calendar")) + " (" +
         schedule.text("zone") + ")";
}

Json newest_firing(const Json& schedule) {
  const auto firings = schedule["firings"].items();
  return firings.empty() ? Json() : firings.front();
}

Color firing_color(const std::string& state) {
  if (state == "failed") return Color::bad;
  return state == "skipped" ? Color::faint : Color::plain;
}

std::string firing_text(const Json& firing) {
  const std::string state = firing.text("state");
  if (state == "opened") return "workflow " + firing.text("workflow");
  if (state == "opening") return "is being made";
  return state + ": " + with_local_times(firing.text("message"));
}

}  // namespace

View schedule_view() {
  return {.columns = {{{.title = "NAME", .least = 6}, cell_text("name")},
                      {{.title = "STATUS"},
                       [](const Json& each) {
                         return each["paused"].truth() ? Cell{"paused", Color::faint}
                                                       : Cell{"active", Color::active};
                       }},
                      {{.title = "STARTS BY", .least = 10},
                       [](const Json& each) { return Cell{starts_by(each)}; }},
                      {{.title = "NEXT"},
                       [](const Json& each) {
                         const auto next = each["next"].items();
                         return Cell{next.empty() ? "" : show_clock(next.front().text())};
                       }},
                      {{.title = "LAST", .least = 10, .drop_rank = 1},
                       [](const Json& each) {
                         const Json last = newest_firing(each);
                         if (!last.has("state")) return Cell{""};
                         return Cell{firing_text(last), firing_color(last.text("state"))};
                       }},
                      {{.title = "USER", .drop_rank = 2}, cell_text("user")}},
          .drop_empty = false};
}

std::string next_lines(const std::vector<std::string>& times, const std::string& zone) {
  std::string out;
  for (const std::string& each : times) {
    const auto at = parse_time(each);
    out += at ? spec::format_in_zone(*at, zone) + "\n" : each + "\n";
  }
  return out;
}

std::string schedule_card(const Session& session, const Json& schedule) {
  Card card(session.terminal.color);
  card.line("Schedule", schedule.text("name") + (schedule["paused"].truth() ? " (paused)" : ""));
  card.line("Namespace", schedule.text("namespace")).line("User", schedule.text("user"));
  card.line("Runs", schedule.text("workflow")).line("Starts by", starts_by(schedule));
  if (schedule.has("url")) card.line("Post to", schedule.text("url"));
  if (schedule.has("secret")) card.line("Secret", schedule.text("secret") + " (shown once)");
  if (schedule.has("missed")) card.line("Missed times", schedule.text("missed"));
  card.line("Overlap", schedule.text("overlap"));
  if (schedule.has("quiet")) card.line("Quiet for", schedule.text("quiet"));
  if (schedule.has("interval")) card.line("Between runs", schedule.text("interval"));
  std::string key = "Next";
  for (const Json& at : schedule["next"].items()) {
    const std::string zone = schedule.has("zone") ? schedule.text("zone") : "UTC";
    card.line(key, std::string(trim(next_lines({at.text()}, zone))));
    key = " ";
  }
  card.line("Firings", schedule.text("fired"));
  key = "Last";
  for (const Json& firing : schedule["firings"].items()) {
    card.line(key,
              firing.text("number") + "  " + show_local_time(firing.text("fired")) + "  " +
                  firing.text("cause") + "  " + firing_text(firing),
              firing_color(firing.text("state")));
    key = " ";
  }
  return card.str();
}

std::string local_zone(const Environment& environment) {
  if (const char* set = environment("TZ"); set && spec::check_zone(set)) return set;
  std::error_code error;
  const std::string link = std::filesystem::canonical("/etc/localtime", error).string();
  const std::string marker = "/zoneinfo/";
  const size_t at = link.find(marker);
  const std::string zone = at == std::string::npos ? "" : link.substr(at + marker.size());
  return !zone.empty() && spec::check_zone(zone) ? zone : "UTC";
}

}  // namespace atl::cli
