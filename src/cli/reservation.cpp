// reservation: room that is kept for a time.
#include <set>

#include "base/amount.h"
#include "base/text.h"
#include "cli/amounts.h"
#include "cli/exit.h"
#include "cli/output.h"
#include "cli/platform.h"
#include "cli/verbs.h"
#include "spec/job_spec.h"
#include "spec/moment.h"
#include "spec/week.h"
#include "spec/when_json.h"

namespace atl::cli {
namespace {

struct ReservationFlags {
  std::string name;
  std::string from = "now";
  std::string until;
  std::string span;
  std::vector<std::string> namespaces;
  std::string nodes;
  std::string count;
  std::string cpus;
  std::string memory;
  std::string gpus;
  std::string site;
};

std::string moment_text(const std::string& rfc3339) {
  const auto at = parse_time(rfc3339);
  return at ? spec::format_local_minute(*at) : rfc3339;
}

std::string listed(const Json& names) {
  std::string out;
  for (const Json& name : names.items()) out += (out.empty() ? "" : ", ") + name.text();
  return out;
}

std::string reserved_amounts(const Json& each) {
  const std::int64_t nodes = each["nodes"].integer();
  if (nodes > 0) return std::to_string(nodes) + (nodes == 1 ? " node" : " nodes");
  std::string out = each.text("count") + " x cpu " + each.text("cpus");
  if (each["memory_bytes"].integer() > 0)
    out += ", memory " + exact_bytes(each["memory_bytes"].integer());
  for (const auto& [kind, count] : each["devices"].members())
    out += ", " + kind + " " + count.text();
  return out;
}

std::string reserved_nodes(const Json& each) {
  std::set<std::string> nodes;
  for (const Json& part : each["parts"].items())
    nodes.insert(part.text("site") + "/" + part.text("node"));
  return comma_list(nodes);
}

View reservation_view() {
  return {.columns = {{{.title = "NAME", .least = 6}, cell_text("name")},
                      {{.title = "FROM"},
                       [](const Json& each) { return Cell{moment_text(each.text("from"))}; }},
                      {{.title = "UNTIL"},
                       [](const Json& each) { return Cell{moment_text(each.text("until"))}; }},
                      {{.title = "STATUS"},
                       [](const Json& each) {
                         return each["active"].truth() ? Cell{"active", Color::active}
                                                       : Cell{"to come", Color::waiting};
                       }},
                      {{.title = "FOR", .least = 8},
                       [](const Json& each) { return Cell{listed(each["namespaces"])}; }},
                      {{.title = "WHAT", .least = 8},
                       [](const Json& each) { return Cell{reserved_amounts(each)}; }},
                      {{.title = "WHERE", .least = 8, .drop_rank = 1},
                       [](const Json& each) { return Cell{reserved_nodes(each)}; }}}};
}

tl::unexpected<Error> of_flag(const char* flag, const Error& error) {
  return fail(ErrorCode::invalid, std::string(flag) + ": " + error.message);
}

// The first such time after the beginning, unless that is not what somebody means who writes it.
Result<Time> end_of(const ReservationFlags& flags, Time now, Time from) {
  const std::string words(trim(flags.until));
  const std::string begins = spec::format_local_minute(from);
  const auto until = spec::parse_moment(words, now, from);
  if (!until) return of_flag("--until", until.error());
  const auto clock = spec::parse_clock_time(words);
  if (clock && begins.ends_with(spec::format_clock_time(*clock)))
    return fail(ErrorCode::invalid, "--until " + words +
                                        " is when it begins; write a later time, or --for 1d for a "
                                        "whole day");
  const bool weekday = spec::day_named(words.substr(0, words.find(' '))) >= 0;
  const std::string ends = spec::format_local_minute(*until);
  // From now on until next Monday may be meant; from Tuesday until Tuesday is one day.
  if (weekday && trim(flags.from) != "now" && ends.substr(0, 3) == begins.substr(0, 3) &&
      *until - from > hours(24))
    return fail(ErrorCode::invalid, "--until " + quote(words) + " is not after it begins, " +
                                        begins + "; write a later time, or with its date " +
                                        quote(ends.substr(4)) + " for one a week later");
  return *until;
}

Result<void> set_times(const ReservationFlags& flags, spec::ReservationWish& wish) {
  const Time now = wall_clock();
  const auto from = spec::parse_moment(flags.from, now, now);
  if (!from) return of_flag("--from", from.error());
  // The server's clock is the one that counts, so "now" is left to it.
  if (trim(flags.from) != "now") wish.from = format_time(*from);
  if (flags.until.empty() == flags.span.empty())
    return fail(ErrorCode::invalid,
                flags.until.empty()
                    ? "say when it ends: --until 12:00 or --for 2h"
                    : "it ends either at a time or after a while: leave out --until or --for");
  if (!flags.span.empty()) {
    const auto span = parse_duration(flags.span);
    if (!span) return of_flag("--for", span.error());
    // As a number of seconds it would be over before anybody could use it.
    if (parse_int(flags.span))
      return fail(ErrorCode::invalid,
                  "--for: " + quote(flags.span) + " has no unit: write 2h, 30m or 1d");
    if (*span == Duration{})
      return fail(ErrorCode::invalid,
                  "--for: " + quote(flags.span) + " is no time at all: write 2h, 30m or 1d");
    wish.until = format_time(*from + *span);
    return {};
  }
  const auto until = end_of(flags, now, *from);
  if (!until) return tl::unexpected(until.error());
  wish.until = format_time(*until);
  return {};
}

Result<spec::Integer> whole_number(const char* flag, const std::string& text) {
  if (text.empty()) return spec::Integer{};
  const auto number = parse_int(text);
  if (!number || *number < 1)
    return fail(ErrorCode::invalid,
                std::string(flag) + ": " + quote(text) + " is not a number: write 1 or more");
  return spec::Integer{*number};
}

Result<void> set_devices(const std::string& gpus, spec::ReservationWish& wish) {
  const auto asked = spec::device_requests(gpus, {});
  if (!asked) return of_flag("--gpus", asked.error());
  for (const core::DeviceRequest& request : *asked) {
    if (!core::takes_whole(request))
      return fail(ErrorCode::invalid,
                  "--gpus: only whole devices can be reserved: write 1, a100:2 or a100|v100");
  }
  wish.devices = spec::device_counts(*asked);
  return {};
}

Result<void> set_amounts(const ReservationFlags& flags, spec::ReservationWish& wish) {
  auto nodes = whole_number("--nodes", flags.nodes);
  if (!nodes) return tl::unexpected(nodes.error());
  auto count = whole_number("--count", flags.count);
  if (!count) return tl::unexpected(count.error());
  wish.nodes = *nodes;
  wish.count = *count;
  if (wish.nodes &&
      (wish.count || !flags.cpus.empty() || !flags.memory.empty() || !flags.gpus.empty()))
    return fail(ErrorCode::invalid,
                "say either --nodes 1, for whole ones, or --count 10 --cpus 4 --mem 8G");
  if (flags.cpus.empty() && (wish.count || !flags.memory.empty() || !flags.gpus.empty()))
    return fail(ErrorCode::invalid,
                "how many cores? add --cpus 1 for those of each; whole nodes are --nodes 1 alone");
  if (!wish.nodes && flags.cpus.empty())
    return fail(ErrorCode::invalid,
                "how much? say --nodes 1, for whole ones, or --count 10 --cpus 4 --mem 8G");
  if (!flags.cpus.empty()) {
    const auto milli = parse_milli(flags.cpus);
    if (!milli) return of_flag("--cpus", milli.error());
    wish.cpus = spec::Cpus{*milli};
  }
  if (!flags.memory.empty()) {
    const auto bytes = parse_bytes(flags.memory);
    if (!bytes) return of_flag("--mem", bytes.error());
    wish.memory = spec::Bytes{*bytes};
  }
  if (flags.gpus.empty()) return {};
  return set_devices(flags.gpus, wish);
}

constexpr std::size_t kOccupiedShown = 5;

// Work of others that may still be there when it begins.
void warn_occupied(const Session& session, const Json& made) {
  const auto tasks = made["occupied"].items();
  if (tasks.empty()) return;
  std::string who;
  for (std::size_t i = 0; i < std::min(kOccupiedShown, tasks.size()); ++i) {
    const Json& each = tasks[i];
    who += (who.empty() ? "" : "; ") + each.text("task") + " of " + each.text("namespace") +
           " on " + each.text("site") + "/" + each.text("node");
    who += each.has("until") ? " until " + moment_text(each.text("until")) + " at the latest"
                             : " without a time limit";
  }
  if (tasks.size() > kOccupiedShown)
    who += "; and " + std::to_string(tasks.size() - kOccupiedShown) + " more";
  session.warn("others may still have some of this room when it begins: " + who);
}

Result<int> create_reservation(Session& session, const ReservationFlags& flags) {
  spec::ReservationWish wish;
  wish.name = flags.name;
  if (!flags.site.empty()) wish.site = flags.site;
  wish.namespaces.emplace();
  for (const std::string& words : flags.namespaces) {
    for (const std::string_view name : split(words, ',')) wish.namespaces->emplace_back(trim(name));
  }
  if (auto ok = set_times(flags, wish); !ok) return tl::unexpected(ok.error());
  if (auto ok = set_amounts(flags, wish); !ok) return tl::unexpected(ok.error());
  const std::string begins = wish.from ? moment_text(*wish.from) : "now";
  const auto sentence = [&](const Json& made) {
    return "reserved " + flags.name + " from " + begins + " until " + moment_text(*wish.until) +
           ": " + reserved_amounts(made) + " on " + reserved_nodes(made);
  };
  return do_and_say(session, "POST", "/reservations", spec::to_json(wish), flags.name, sentence,
                    [&](const Json& made) { warn_occupied(session, made); });
}

void add_create_options(CLI::App* verb, ReservationFlags& flags) {
  verb->add_option("NAME", flags.name, "The reservation")->required();
  verb->add_option("--from", flags.from,
                   "When it begins: \"tue 10:00\", \"2026-11-17 10:00\" (now)")
      ->type_name("TIME");
  verb->add_option("--until", flags.until, "When it ends: 12:00, \"2026-11-17 12:00\"")
      ->type_name("TIME");
  verb->add_option("--for", flags.span, "How long it lasts: 2h")->type_name("SPAN");
  verb->add_option("--ns", flags.namespaces, "Whose work may use it, several with commas")
      ->allow_extra_args(false)
      ->required()
      ->type_name("NAMES");
  verb->add_option("--nodes", flags.nodes, "So many whole nodes")->type_name("N");
  verb->add_option("--count", flags.count, "So many times the amounts below (1)")->type_name("N");
  verb->add_option("--cpus", flags.cpus, "Cores of each")->type_name("C");
  verb->add_option("--mem", flags.memory, "Memory of each")->type_name("SIZE");
  verb->add_option("--gpus", flags.gpus, "Whole GPUs of each: 1, a100:2")->type_name("G");
  verb->add_option("--site", flags.site, "Only there")->type_name("SITE");
}

}  // namespace

void add_reservation_verbs(Verbs& verbs) {
  CLI::App* noun = verbs.add_noun(
      "reservation", "Room that is kept for a time: list, create, cancel",
      "atoll reservation create course --from \"tue 10:00\" --until 12:00 --ns course --nodes 1\n"
      "atoll reservation list\n"
      "atoll reservation cancel course");
  verbs.add(
      noun, "list", "List the reservations that are not over", "atoll reservation list",
      [](Session& session) { return show_list(session, "/reservations", reservation_view()); });
  auto flags = std::make_shared<ReservationFlags>();
  CLI::App* create = verbs.add(
      noun, "create", "Keep room for namespaces; others may use it only if they end before",
      "atoll reservation create course --from \"2026-11-17 10:00\" --until 12:00 --ns course "
      "--nodes 1\n"
      "atoll reservation create demo --from \"tomorrow 9:00\" --for 2h --ns lab,course --count 10 "
      "--cpus 2 --mem 4G\n"
      "atoll reservation create now-on --for 1h --ns lab --count 1 --cpus 4 --gpus a100:1",
      [flags](Session& session) { return create_reservation(session, *flags); });
  add_create_options(create, *flags);
  Verbs::set_note(create, "Times are those of the clock where this is typed.");
  auto name = std::make_shared<std::string>();
  verbs
      .add(noun, "cancel", "Give the room back", "atoll reservation cancel course",
           [name](Session& session) {
             return do_and_say(session, "DELETE", "/reservations/" + encode(*name), "", *name,
                               "cancelled reservation " + *name);
           })
      ->add_option("NAME", *name, "The reservation")
      ->required();
}

}  // namespace atl::cli
