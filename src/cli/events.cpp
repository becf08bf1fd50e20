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

// What the event is about: an attempt, a job, else a namespace.
std::string subject_of(const Json& event) {
  const std::string job = event.text("job");
  const std::string attempt = event["data"].text("attempt");
  if (!attempt.empty()) return attempt;
  return job.empty() ? event.text("namespace") : job;
}

// The parts of an event that are not said elsewhere on its line.
std::string shown_data(const Json& event) {
  std::string out;
  const auto add = [&out](const std::string& text) { out += (out.empty() ? "" : "  ") + text; };
  const Json data = event["data"];
  for (const auto& [key, value] : data.members()) {
    const std::string text = value.is_object() || value.is_array() ? "" : value.text();
    const bool said = key == "id" || key == "attempt" ||
                      (key == "task" && text == event.text("job")) ||
                      (key == "user" && text == event.text("by")) ||
                      (key == "ns" && text == event.text("namespace"));
    if (said || text.empty() || text == "false" || text == "0") continue;
    add(key + "=" + text);
  }
  const Json place = data["placement"];
  if (place.is_object()) add("on " + place.text("site") + "/" + place.text("node"));
  const Json result = data["result"];
  const std::string message = result.text("message");
  if (!message.empty())
    add(message);
  else if (result["exit_code"].integer() != 0)
    add("exit code " + result.text("exit_code"));
  return out;
}

constexpr int kNumberWidth = 6;
constexpr int kTimeWidth = 19;
constexpr int kByWidth = 10;
constexpr int kTypeWidth = 18;

std::string event_line(const Json& event, const Terminal& terminal) {
  const std::string by = event.text("by").empty() ? "-" : printable(event.text("by"));
  const std::string type = printable(event.text("type"));
  const std::string subject = printable(subject_of(event));
  const std::string rest = printable(shown_data(event));
  const std::string what = subject + (subject.empty() || rest.empty() ? "" : "  ") + rest;
  const std::string head = pad(printable(event.text("sequence")), kNumberWidth, Align::right) +
                           "  " + pad(show_local_time(event.text("at")), kTimeWidth, Align::left);
  const std::string who = "  " + pad(by, kByWidth, Align::left) + "  ";
  const std::string kind = pad(type, kTypeWidth, Align::left);
  const int left =
      terminal.width - display_width(head) - display_width(who) - display_width(kind) - 2;
  const std::string shown = terminal.width > 0 ? cut(what, std::max(10, left)) : what;
  return paint(head, Color::faint, terminal.color) + who +
         paint(kind, type_color(type), terminal.color) + "  " + shown;
}

std::string header_line() {
  return pad("SEQ", kNumberWidth, Align::right) + "  " + pad("TIME", kTimeWidth, Align::left) +
         "  " + pad("BY", kByWidth, Align::left) + "  " + pad("EVENT", kTypeWidth, Align::left) +
         "  WHAT\n";
}

// Prints events as they come. JSON is one list when the events have an end, else one event a line.
class EventPrinter {
 public:
  EventPrinter(Session& session, bool endless)
      : session_(session),
        list_(session.globals.format == Format::json && !session.names_only() && !endless) {}

  void print(const Json& event) {
    if (session_.names_only()) {
      session_.out << printable(event.text("sequence")) << "\n";
    } else if (session_.for_people()) {
      print_line(event);
    } else if (session_.globals.format == Format::yaml) {
      session_.out << "---\n" << event.yaml();
    } else if (list_) {
      session_.out << (count_ == 0 ? "[\n  " : ",\n  ") << event.compact();
    } else {
      session_.out << event.compact() << "\n";
    }
    ++count_;
    session_.out << std::flush;
  }
  void finish() {
    if (list_) session_.out << (count_ == 0 ? "[]\n" : "\n]\n") << std::flush;
  }

 private:
  void print_line(const Json& event) {
    if (count_ == 0 && !session_.globals.no_headers)
      session_.out << paint(header_line(), Color::faint, session_.terminal.color);
    std::string line = event_line(event, session_.terminal);
    line.erase(line.find_last_not_of(' ') + 1);
    session_.out << line << "\n";
  }

  Session& session_;
  const bool list_;
  std::size_t count_ = 0;
};

std::string path_of(const EventsFlags& flags, const std::string& after) {
  return "/events" + query({{"after", after}, {"namespace", flags.ns}, {"job", flags.job}});
}

Result<int> follow(Session& session, Api& api, const EventsFlags& flags) {
  const Interrupts interrupts([](Interrupts&) { return kExitInterrupt; });
  EventPrinter printer(session, true);
  auto followed =
      follow_stream(api, path_of(flags, flags.after), "", [&](const http::Event& event) {
        if (event.event == "reset")
          session.warn("older events are gone; going on from now");
        else if (const auto parsed = Json::parse(event.data))
          printer.print(*parsed);
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
  EventPrinter printer(session, false);
  const auto gone = each_event(api, flags, flags.after, [&](const Json& event) {
    printer.print(event);
    return flags.limit == 0 || --left > 0;
  });
  if (!gone) return tl::unexpected(gone.error());
  printer.finish();
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
  EventPrinter printer(session, false);
  for (const Json& event : kept) printer.print(event);
  printer.finish();
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
