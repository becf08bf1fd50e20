// events: what has happened, and what happens.
#include <deque>
#include <ostream>

#include "base/text.h"
#include "cli/display.h"
#include "cli/event_stream.h"
#include "cli/exit.h"
#include "cli/interrupt.h"
#include "cli/output.h"
#include "cli/selectors.h"
#include "cli/verbs.h"

namespace atl::cli {
namespace {

struct EventsFlags {
  bool follow = false;
  std::string after;
  std::string ns;
  std::string job;
  std::size_t limit = 50;
};

Color color_of(const std::string& type) {
  if (type.ends_with("ended")) return Color::good;
  if (type.ends_with("started") || type.ends_with("placed")) return Color::active;
  if (type.find("cancel") != std::string::npos || type.find("lost") != std::string::npos)
    return Color::warning;
  return Color::plain;
}

// The parts of an event that are not said elsewhere on its line.
std::string shown_data(const Json& event) {
  std::string out;
  for (const auto& [key, value] : event["data"].members()) {
    const std::string text = value.is_object() || value.is_array() ? "" : value.text();
    if (text.empty() || text == "false" || text == "0" || key == "id") continue;
    out += (out.empty() ? "" : "  ") + key + "=" + text;
  }
  return out;
}

std::string event_line(const Json& event, const Terminal& terminal) {
  const std::string when = show_local_time(event.text("at"));
  const std::string type = printable(event.text("type"));
  const std::string job = event.text("job").empty() ? event.text("namespace") : event.text("job");
  const std::string rest = printable(shown_data(event));
  const std::string head =
      pad(printable(event.text("sequence")), 6, Align::right) + "  " + when + "  ";
  const std::string middle = pad(printable(job), 8, Align::left) + "  ";
  const int left = terminal.width - display_width(head) - display_width(middle) - 22;
  const std::string shown = terminal.width > 0 ? cut(rest, std::max(10, left)) : rest;
  return paint(head, Color::faint, terminal.color) + middle +
         paint(pad(type, 20, Align::left), color_of(type), terminal.color) + "  " + shown;
}

void print_event(Session& session, const Json& event) {
  if (session.names_only()) {
    session.out << printable(event.text("sequence")) << "\n";
  } else if (session.for_people()) {
    std::string line = event_line(event, session.terminal);
    line.erase(line.find_last_not_of(' ') + 1);
    session.out << line << "\n";
  } else if (session.globals.format == Format::yaml) {
    session.out << "---\n" << event.yaml();
  } else {
    // A stream has no end, so json too is one event a line.
    session.out << event.compact() << "\n";
  }
  session.out << std::flush;
}

std::string path_of(const EventsFlags& flags, const std::string& after) {
  return "/events" + query({{"after", after}, {"namespace", flags.ns}, {"job", flags.job}});
}

Result<int> follow(Session& session, Api& api, const EventsFlags& flags) {
  const Interrupts interrupts([](Interrupts&) { return kExitInterrupt; });
  auto followed =
      follow_stream(api, path_of(flags, flags.after), "", [&](const http::Event& event) {
        if (event.event == "reset")
          session.warn("older events are gone; going on from now");
        else if (const auto parsed = Json::parse(event.data))
          print_event(session, *parsed);
        return !interrupts.seen();
      });
  if (!followed) return tl::unexpected(followed.error());
  return kExitOk;
}

// The newest ones, or the first ones after a number that was given.
Result<int> list_events(Session& session, Api& api, const EventsFlags& flags) {
  std::deque<Json> kept;
  std::string after = flags.after.empty() ? "0" : flags.after;
  while (true) {
    const auto page = api.get(path_of(flags, after) + "&limit=1000");
    if (!page) return tl::unexpected(page.error());
    if ((*page)["reset"].truth()) session.warn("older events are gone");
    for (const Json& event : (*page)["events"].items()) {
      kept.push_back(event);
      if (flags.after.empty() && flags.limit > 0 && kept.size() > flags.limit) kept.pop_front();
    }
    const bool full = !flags.after.empty() && flags.limit > 0 && kept.size() >= flags.limit;
    if (full || !(*page)["more"].truth() || page->text("after") == after) break;
    after = page->text("after");
  }
  if (flags.limit > 0 && kept.size() > flags.limit) kept.resize(flags.limit);
  for (const Json& event : kept) print_event(session, event);
  return kExitOk;
}

Result<int> events(Session& session, EventsFlags flags) {
  auto api = session.api();
  if (!api) return tl::unexpected(api.error());
  if (!flags.job.empty()) {
    auto id = one_job(session, flags.job);
    if (!id) return tl::unexpected(id.error());
    flags.job = std::move(*id);
  }
  return flags.follow ? follow(session, **api, flags) : list_events(session, **api, flags);
}

}  // namespace

void add_events_verb(Verbs& verbs) {
  auto flags = std::make_shared<EventsFlags>();
  CLI::App* verb =
      verbs.add(nullptr, "events", "Show what has happened, or follow what happens",
                "atoll events -f\natoll events --job 12\natoll events --after 100 -o jsonl",
                [flags](Session& session) { return events(session, *flags); });
  verb->add_flag("-f,--follow", flags->follow, "Stay and show new ones");
  verb->add_option("--after", flags->after, "Those after this number")->type_name("N");
  verb->add_option("--job", flags->job, "Only of that job")->type_name("ID");
  verb->add_option("-n,--ns", flags->ns, "Only of that namespace")->type_name("NAMESPACE");
  verb->add_option("--limit", flags->limit, "At most that many; 0 is all (50)")->type_name("N");
}

}  // namespace atl::cli
