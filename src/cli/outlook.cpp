#include "cli/outlook.h"

#include "base/amount.h"

namespace atl::cli {
namespace {

constexpr std::size_t kHoldersShown = 5;
constexpr std::size_t kPlacesShown = 20;

std::string shown_amount(const Json& why, const Json& amount) {
  return why.text("resource") == "memory" ? format_bytes(amount.integer()) : amount.text();
}

std::string shown_tasks(const Json& job) {
  const auto tasks = job["tasks"].integer(), now = job["tasks_now"].integer();
  if (tasks == 1) return "now";
  return std::to_string(now) + " of " + std::to_string(tasks) + " tasks now";
}

// "local/n1, local/n2 (3 tasks)".
std::string shown_places(const Json& job) {
  std::string out;
  std::size_t shown = 0;
  const auto places = job["places"].items();
  for (const Json& place : places) {
    if (shown++ == kPlacesShown) break;
    const auto tasks = place["tasks"].integer();
    out += (out.empty() ? "" : ", ") + place.text("site") + "/" + place.text("node");
    if (places.size() > 1 && tasks > 1) out += " (" + std::to_string(tasks) + " tasks)";
  }
  if (places.size() > kPlacesShown)
    out += " and " + std::to_string(places.size() - kPlacesShown) + " more nodes";
  return out;
}

// "2 tasks from about 14:05 on, the last about 15:20".
std::string shown_rest(const Json& rest) {
  if (!rest.is_object() || !rest.has("first")) return {};
  const auto tasks = rest["tasks"].integer();
  std::string out = std::to_string(tasks) + (tasks == 1 ? " task " : " tasks ");
  if (tasks == 1) return out + "about " + show_clock(rest.text("first"));
  out += "from about " + show_clock(rest.text("first")) + " on";
  if (rest.has("last"))
    out += std::string(", the last ") + (rest["rough"].truth() ? "roughly " : "") + "about " +
           show_clock(rest.text("last"));
  return out;
}

void job_lines(Card& card, const Json& job) {
  if (job.text("starts") == "now")
    card.line("starts", shown_tasks(job) + " on " + shown_places(job));
  else
    card.line("starts", job.text("reason") == "skipped" ? "never" : "not now");
  card.line("rest", shown_rest(job["rest"]));
  card.line("reason", job.text("reason")).line("why", with_local_times(job.text("sentence")));
  start_lines(card, job);
}

// "--tier interactive (2 runs make room)".
std::string shown_change(const Json& each) {
  const auto yields = each["yields"].integer();
  std::string out = each.text("change");
  if (yields > 0)
    out += " (" + std::to_string(yields) + (yields == 1 ? " run makes" : " runs make") + " room)";
  return out;
}

}  // namespace

std::string shown_start(const Json& start) {
  if (!start.is_object()) return {};
  const std::string at = start.text("expected");
  const std::string bound = start.text("not_before");
  if (at.empty())
    return start["rough"].truth() && !bound.empty() ? "to start after " + show_clock(bound)
                                                    : "nobody can tell when";
  const std::string earliest = show_clock(start.text("earliest"));
  const std::string latest = start.has("latest") ? show_clock(start.text("latest")) : "";
  std::string out =
      std::string(start["rough"].truth() ? "to start roughly about " : "to start about ") +
      show_clock(at);
  if (latest.empty())
    out += ", not before " + earliest + ", perhaps much later";
  else if (earliest != latest)
    out += ", between " + earliest + " and " + latest;
  return out;
}

void holder_lines(Card& card, const Json& why) {
  std::size_t shown = 0;
  for (const Json& held : why["held_by"].items()) {
    if (shown++ == kHoldersShown) break;
    std::string text = held.text("namespace") + " has " + shown_amount(why, held["amount"]);
    if (held["borrowed"].number() > 0)
      text += ", " + shown_amount(why, held["borrowed"]) + " of it borrowed";
    text += ", since " + show_clock(held.text("since"));
    text += held.has("until") ? ", until " + show_clock(held.text("until")) + " at the latest"
                              : ", without a time limit";
    card.line(shown == 1 ? "held by" : "and", text);
  }
}

void start_lines(Card& card, const Json& why) {
  card.line("expected", shown_start(why["expected_start"]));
  const std::string by = why.text("starts_by");
  if (!by.empty())
    card.line("room", "by " + show_clock(by) + " at the latest, if nobody else takes it");
  for (const Json& each : why["alternatives"].items()) {
    const std::string starts = each.text("starts");
    card.line(starts == "now"  ? "would start now"
              : starts.empty() ? "could start"
                               : "would start about " + show_clock(starts),
              shown_change(each));
  }
}

std::string dry_run_card(Session& session, const Json& answer) {
  std::string out;
  for (const Json& job : answer["jobs"].items()) {
    Card card(session.terminal.color);
    job_lines(card, job);
    out += (out.empty() ? "" : "\n") + card.str();
  }
  session.say("nothing was submitted");
  return out;
}

}  // namespace atl::cli
