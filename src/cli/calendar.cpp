// calendar: when, in every week, a tier may not have more than so much.
#include <array>

#include "base/amount.h"
#include "base/text.h"
#include "cli/amounts.h"
#include "cli/exit.h"
#include "cli/output.h"
#include "cli/platform.h"
#include "cli/verbs.h"
#include "spec/platform_json.h"
#include "spec/week.h"

namespace atl::cli {
namespace {

struct CalendarFlags {
  std::string name;
  std::string tier;
  std::string days;
  std::string from;
  std::string until;
  std::string share;
  std::vector<std::string> limit;
};

// What is left of a tier in an hour.
struct HourLeft {
  int share_milli = 1000;
  bool limited = false;  // in amounts too

  bool shut() const { return share_milli == 0; }
  bool open() const { return share_milli == 1000 && !limited; }
  auto operator<=>(const HourLeft&) const = default;
};
using TierWeek = std::array<std::array<HourLeft, 24>, 7>;
using TierWeeks = std::map<std::string, TierWeek>;

bool shuts(const Json& entry) {
  const Json limit = entry["limit"];
  const auto zero = [](const Json& value) { return !value.is_null() && value.number() == 0; };
  return zero(entry["share"]) || zero(limit["cpus"]) || zero(limit["memory"]) ||
         zero(limit["running"]);
}

HourLeft left_by(const Json& entry) {
  HourLeft left{.limited = !shown_amounts(entry["limit"]).empty()};
  if (entry.has("share")) left.share_milli = static_cast<int>(entry["share"].number() * 1000 + 0.5);
  return shuts(entry) ? HourLeft{.share_milli = 0} : left;
}

// How an hour is drawn: a digit is a share in tenths; any other share, and one with amounts beside
// it, has a letter of its own.
class HourMarks {
 public:
  explicit HourMarks(const TierWeeks& weeks) {
    for (const auto& [tier, week] : weeks) {
      for (const auto& day : week) {
        for (const HourLeft& left : day) marks_[left];
      }
    }
    char letter = 'a';
    for (auto& [left, mark] : marks_) {
      const bool tenths = left.share_milli % 100 == 0 && !left.limited;
      if (left.open())
        mark = "·";
      else if (left.shut())
        mark = "x";
      else if (left.share_milli == 1000)
        mark = "-";
      else if (tenths)
        mark = std::to_string(left.share_milli / 100);
      else
        mark = letter <= 'w' ? std::string(1, letter++) : "?";
    }
  }

  std::string painted(const HourLeft& left, bool color) const {
    const Color tone = left.open() ? Color::good : left.shut() ? Color::bad : Color::warning;
    return paint(marks_.at(left), tone, color);
  }

  std::string key() const {
    std::string out = "· open";
    for (const auto& [left, mark] : marks_) {
      if (!left.open()) out += ", " + mark + meaning(left);
    }
    return out;
  }

 private:
  static std::string meaning(const HourLeft& left) {
    if (left.shut()) return " shut";
    if (left.share_milli == 1000) return " limited in amounts";
    return " at most " + format_milli(left.share_milli * 100) + " %" +
           (left.limited ? " and limited in amounts" : "");
  }

  std::map<HourLeft, std::string> marks_;
};

// Every hour that the entry touches has at most what it leaves.
void lay_over(TierWeek& week, const Json& entry) {
  const auto days = spec::parse_days(entry.text("days"));
  const auto from = spec::parse_clock_time(entry.text("from"));
  const auto until = spec::parse_clock_time(entry.text("until"));
  if (!days || !from || !until) return;
  const uint32_t end = *until > *from ? *until : *until + 24 * 60;
  const HourLeft by_entry = left_by(entry);
  for (uint32_t day = 0; day < 7; ++day) {
    if (!(*days >> day & 1)) continue;
    for (uint32_t hour = *from / 60; hour * 60 < end; ++hour) {
      HourLeft& left = week[(day + hour / 24) % 7][hour % 24];
      left.share_milli = std::min(left.share_milli, by_entry.share_milli);
      left.limited = !left.shut() && (left.limited || by_entry.limited);
    }
  }
}

std::string week_text(const std::string& tier, const TierWeek& week, const HourMarks& marks,
                      bool color) {
  std::string out = pad(tier, 15, Align::left) + "0     6     12    18\n";
  for (size_t day = 0; day < week.size(); ++day) {
    out += "           " + spec::format_days(static_cast<uint8_t>(1 << day)) + " ";
    for (const HourLeft& left : week[day]) out += marks.painted(left, color);
    out += "\n";
  }
  return out + "\n";
}

std::string weeks_text(const TierWeeks& weeks, const HourMarks& marks, bool color) {
  std::string out;
  for (const char* tier : {"interactive", "service", "batch", "opportunistic"}) {
    if (const auto week = weeks.find(tier); week != weeks.end())
      out += week_text(tier, week->second, marks, color);
  }
  return out;
}

std::string percent_text(const Json& share) {
  return share.is_null()
             ? ""
             : format_milli(static_cast<int64_t>(share.number() * 100'000 + 0.5)) + " %";
}

View calendar_view() {
  return {.columns = {{{.title = "NAME", .least = 6}, cell_text("name")},
                      {{.title = "TIER"}, cell_text("tier")},
                      {{.title = "DAYS"}, cell_text("days")},
                      {{.title = "FROM"}, cell_text("from")},
                      {{.title = "UNTIL"}, cell_text("until")},
                      {{.title = "SHARE", .align = Align::right},
                       [](const Json& entry) { return Cell{percent_text(entry["share"])}; }},
                      {{.title = "LIMIT", .least = 8},
                       [](const Json& entry) { return Cell{shown_amounts(entry["limit"])}; }},
                      {{.title = "NOW"}, [](const Json& entry) {
                         return entry["holds"].truth() ? Cell{"holds", Color::warning} : Cell{"-"};
                       }}}};
}

std::string zone_text(std::int64_t minutes) {
  const std::int64_t size = minutes < 0 ? -minutes : minutes;
  return std::string(minutes < 0 ? "-" : "+") +
         spec::format_clock_time(static_cast<uint32_t>(size));
}

Result<int> show_calendar(Session& session) {
  auto api = session.api();
  if (!api) return tl::unexpected(api.error());
  const auto calendar = (*api)->get("/calendar");
  if (!calendar) return tl::unexpected(calendar.error());
  const std::vector<Json> entries = (*calendar)["entries"].items();
  if (session.names_only()) {
    print_list(session, calendar_view(), entries);
    return kExitOk;
  }
  print_one(session, *calendar, "now", [&] {
    if (entries.empty())
      return std::string("the calendar is empty: every tier may always have everything\n");
    const bool color = session.terminal.color;
    Card card(color);
    card.line("next change", show_local_time(calendar->text("next_change")));
    card.line("clock", "UTC" + zone_text((*calendar)["utc_offset_minutes"].integer()) +
                           ", that of the server");
    TierWeeks weeks;
    for (const Json& entry : entries) lay_over(weeks[printable(entry.text("tier"))], entry);
    const HourMarks marks(weeks);
    card.line("key", marks.key());
    return format_list(calendar_view(), entries, session.globals, session.terminal) + "\n" +
           weeks_text(weeks, marks, color) + card.str();
  });
  return kExitOk;
}

std::string entry_in_words(const Json& entry) {
  const std::string share = percent_text(entry["share"]);
  const std::string limit = shown_amounts(entry["limit"]);
  std::string most = share.empty() ? "" : share + " of everything";
  if (!limit.empty()) most += (most.empty() ? "" : ", ") + limit;
  return "set calendar entry " + entry.text("name") + ": " + entry.text("tier") +
         " may have at most " + most + ", " + entry.text("days") + " from " + entry.text("from") +
         " until " + entry.text("until");
}

Result<int> set_calendar(Session& session, const CalendarFlags& flags) {
  spec::CalendarWish wish;
  const auto given = [](const std::string& text) {
    return text.empty() ? spec::Text{} : spec::Text{text};
  };
  wish.tier = given(flags.tier);
  wish.days = given(flags.days);
  wish.from = given(flags.from);
  wish.until = given(flags.until);
  if (wish.days) {
    if (auto ok = spec::parse_days(*wish.days); !ok) return tl::unexpected(ok.error());
  }
  for (const auto& [flag, text] : {std::pair("--from: ", wish.from), {"--until: ", wish.until}}) {
    if (auto ok = spec::parse_clock_time(text.value_or("00:00")); !ok)
      return fail(ErrorCode::invalid, flag + ok.error().message);
  }
  if (wish.until &&
      *spec::parse_clock_time(wish.from.value_or("00:00")) == *spec::parse_clock_time(*wish.until))
    return fail(ErrorCode::invalid,
                "--until " + *wish.until +
                    " is when it begins; for the whole day leave out --from and --until");
  if (!flags.share.empty()) {
    const auto share = parse_milli(flags.share);
    if (!share || *share > 1000 || flags.share.ends_with('m'))
      return fail(ErrorCode::invalid,
                  "--share: a share is a number from 0 to 1, in steps of 0.001, such as 0.3, not " +
                      quote(flags.share));
    wish.share = spec::Cpus{*share};
  }
  if (!flags.limit.empty()) {
    const auto limit = parse_amounts(flags.limit);
    if (!limit) return tl::unexpected(limit.error());
    wish.limit = spec::to_wish(*limit);
  }
  return do_and_say(session, "PUT", "/calendar/" + encode(flags.name), spec::to_json(wish),
                    flags.name, entry_in_words);
}

void add_calendar_options(Verbs& verbs, CLI::App* verb, CalendarFlags& flags) {
  CLI::Option* tier = verb->add_option("--tier", flags.tier,
                                       "Whose work it limits: interactive, service, batch or "
                                       "opportunistic (batch)")
                          ->type_name("TIER");
  verbs.set_choices(tier, {"interactive", "service", "batch", "opportunistic"});
  verb->add_option("--days", flags.days, "On which days: mon-fri, sat,sun, tue (daily)")
      ->type_name("DAYS");
  verb->add_option("--from", flags.from, "From this time of the day on (00:00)")
      ->type_name("HH:MM");
  verb->add_option("--until", flags.until,
                   "Until then; an earlier time is one of the next day (24:00)")
      ->type_name("HH:MM");
  verb->add_option("--share", flags.share, "The most it may have of everything: 0.3; 0 shuts it")
      ->type_name("PART");
  verb->add_option("--limit", flags.limit, "The most it may have: cpu=16,gpu=2")
      ->allow_extra_args(false)
      ->type_name("AMOUNTS");
}

}  // namespace

void add_calendar_verbs(Verbs& verbs) {
  CLI::App* noun = verbs.add(
      nullptr, "calendar", "Show when in the week a tier may have how much; set, remove",
      "atoll calendar\n"
      "atoll calendar set days --tier batch --days mon-fri --from 08:00 --until 18:00 --share 0.3\n"
      "atoll calendar remove days",
      show_calendar);
  auto flags = std::make_shared<CalendarFlags>();
  CLI::App* set = verbs.add(
      noun, "set", "Limit a tier at some time of the week; replaces the entry of that name",
      "atoll calendar set days --tier batch --days mon-fri --from 08:00 --until 18:00 --share 0.3\n"
      "atoll calendar set nights --tier interactive --from 22:00 --until 06:00 --limit "
      "cpu=16,gpu=2",
      [flags](Session& session) { return set_calendar(session, *flags); });
  set->add_option("NAME", flags->name, "The entry")->required();
  add_calendar_options(verbs, set, *flags);
  auto name = std::make_shared<std::string>();
  verbs
      .add(noun, "remove", "Remove an entry: the tier may have everything again",
           "atoll calendar remove days",
           [name](Session& session) {
             return do_and_say(session, "DELETE", "/calendar/" + encode(*name), "", *name,
                               "removed calendar entry " + *name);
           })
      ->add_option("NAME", *name, "The entry")
      ->required();
}

}  // namespace atl::cli
