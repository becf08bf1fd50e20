// events: what has happened, and what happens.
#include <algorithm>
#include <deque>
#include <functional>
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

constexpr std::size_t kPage = 1000;  // what the server gives at once

struct EventsFlags {
  bool follow = false;
  std::string after;
  std::string ns;
  std::string job;
  std::size_t limit = 50;
};

Color type_color(const std::string& type) {
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
         paint(pad(type, 20, Align::left), type_color(type), terminal.color) + "  " + shown;
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

using Take = std::function<bool(const Json&)>;

// Hands on every event after that number until `take` has enough. True when the server no longer
// has what came right after it.
Result<bool> each_event(Api& api, const EventsFlags& flags, std::string after, const Take& take) {
  bool gone = false;
  while (true) {
    const auto page = api.get(path_of(flags, after) + "&limit=" + std::to_string(kPage));
    if (!page) return tl::unexpected(page.error());
    gone = gone || (*page)["reset"].truth();
    const std::vector<Json> events = (*page)["events"].items();
    for (const Json& event : events) {
      if (!take(event)) return gone;
    }
    if (!(*page)["more"].truth()) return gone;
    after = page->text("after");
  }
}

Result<int> first_events(Session& session, Api& api, const EventsFlags& flags) {
  std::size_t left = flags.limit;
  const auto gone = each_event(api, flags, flags.after, [&](const Json& event) {
    print_event(session, event);
    return flags.limit == 0 || --left > 0;
  });
  if (!gone) return tl::unexpected(gone.error());
  if (*gone) session.warn("older events are gone");
  return kExitOk;
}

// The lowest number in that range after which the server still has everything.
Result<std::int64_t> oldest_kept(Api& api, std::int64_t low, std::int64_t high) {
  while (low < high) {
    const std::int64_t middle = low + (high - low) / 2;
    const auto gone =
        each_event(api, {}, std::to_string(middle), [](const Json&) { return false; });
    if (!gone) return tl::unexpected(gone.error());
    *gone ? low = middle + 1 : high = middle;
  }
  return high;
}

// Looks back from the end in growing steps until there are enough, so that a long history costs
// nothing unless it is asked for, and one whose beginning is gone still shows its end.
Result<int> newest_events(Session& session, Api& api, const EventsFlags& flags) {
  const auto last = api.get("/events?limit=1");
  if (!last) return tl::unexpected(last.error());
  const std::int64_t end = (*last)["after"].integer();
  std::deque<Json> kept;
  const auto look = [&](std::int64_t begin) {
    kept.clear();
    return each_event(api, flags, std::to_string(begin), [&](const Json& event) {
      kept.push_back(event);
      if (flags.limit > 0 && kept.size() > flags.limit) kept.pop_front();
      return true;
    });
  };
  std::int64_t good = end;
  for (std::int64_t back = kPage;; back *= 2) {
    const std::int64_t begin = std::max<std::int64_t>(0, end - back);
    const auto gone = look(begin);
    if (!gone) return tl::unexpected(gone.error());
    if (*gone) {
      session.warn("older events are gone");
      const auto oldest = oldest_kept(api, begin, good);
      if (!oldest) return tl::unexpected(oldest.error());
      if (const auto again = look(*oldest); !again) return tl::unexpected(again.error());
    }
    const bool enough = flags.limit > 0 && kept.size() >= flags.limit;
    if (enough || *gone || begin == 0) break;
    good = begin;
  }
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
  if (flags.follow) return follow(session, **api, flags);
  return flags.after.empty() ? newest_events(session, **api, flags)
                             : first_events(session, **api, flags);
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
  verb->add_option("--limit", flags->limit,
                   "At most that many, the newest unless --after is given; 0 is all (50)")
      ->type_name("N");
}

}  // namespace atl::cli
