// show and explain: one job in full, and why it waits.
#include <ostream>

#include "base/amount.h"
#include "base/text.h"
#include "cli/exit.h"
#include "cli/job_view.h"
#include "cli/selectors.h"
#include "cli/verbs.h"

namespace atl::cli {
namespace {

std::string join(const Json& list, const char* separator) {
  std::string out;
  for (const Json& item : list.items()) out += (out.empty() ? "" : separator) + item.text();
  return out;
}

// The command as one could type it.
std::string shown_command(const Json& spec) {
  std::string out;
  for (const Json& word : spec["command"].items()) {
    const std::string text = word.text();
    const bool plain =
        !text.empty() && text.find_first_of(" \t\n'\"\\$`|&;<>()*?[]#~!{}") == std::string::npos;
    out += (out.empty() ? "" : " ") + (plain ? text : "'" + text + "'");
  }
  if (out.empty() && spec.has("script")) {
    out = "script of " + std::to_string(split(spec.text("script"), '\n').size()) + " lines";
    if (spec["args"].is_array()) out += " with " + join(spec["args"], " ");
  }
  return out;
}

std::string shown_resources(const Json& job) {
  const std::string devices = show_devices(job);
  return show_cpus(job) + " cpu, " + show_memory(job["memory_bytes"]) +
         (devices.empty() ? "" : ", " + devices);
}

std::string shown_place(const Json& thing) {
  const std::string site = thing.text("site");
  return site.empty() ? "" : site + "/" + thing.text("node");
}

std::string shown_time(const Json& thing, const char* key) {
  const std::string when = thing.text(key);
  return when.empty() ? "" : show_local_time(when) + "  (" + show_age(when) + ")";
}

// Slurm's way: code, and the signal behind it.
std::string shown_exit(const Json& thing) {
  const std::string signal = thing.text("signal");
  if (!signal.empty()) return "signal " + signal;
  return thing.text("exit_code");
}

std::string shown_labels(const Json& job) {
  std::string out;
  for (const auto& [key, value] : job["labels"].members())
    out += (out.empty() ? "" : "  ") + key + "=" + value.text();
  return out;
}

std::string shown_dependencies(const Json& spec) {
  std::string out;
  for (const Json& after : spec["after"].items()) {
    out += (out.empty() ? "" : ", ") + after.text("job") + " (" + after.text("kind") + ")";
  }
  return out;
}

void spec_lines(Card& card, const Json& job) {
  const Json spec = job["spec"];
  card.line("command", shown_command(spec)).line("directory", spec.text("directory"));
  card.line("resources", shown_resources(job));
  card.line("array", spec.text("array")).line("tasks", show_progress(job));
  card.line("after", shown_dependencies(spec)).line("time limit", spec.text("time"));
  card.line("retries", spec["retries"].text("max"));
  card.line("isolation", spec.text("isolation"));
  card.line("priority", job["priority"].integer() ? job.text("priority") : "");
  card.line("labels", shown_labels(job));
}

View attempt_view() {
  return {.columns = {{{.title = "ATTEMPT"}, cell_text("id")},
                      {{.title = "OUTCOME"},
                       [](const Json& attempt) {
                         const std::string word = attempt.text("outcome");
                         return Cell{word, state_color(word)};
                       }},
                      {{.title = "EXIT"},
                       [](const Json& attempt) { return Cell{shown_exit(attempt)}; }},
                      {{.title = "PLACE", .least = 8},
                       [](const Json& attempt) { return Cell{shown_place(attempt)}; }},
                      {{.title = "WALL", .align = Align::right},
                       [](const Json& attempt) {
                         return Cell{format_duration(
                             {static_cast<std::int64_t>(attempt["wall_seconds"].number() * 1e6)})};
                       }},
                      {{.title = "CPU", .align = Align::right},
                       [](const Json& attempt) {
                         return Cell{format_duration(
                             {static_cast<std::int64_t>(attempt["cpu_seconds"].number() * 1e6)})};
                       }},
                      {{.title = "PEAK MEM", .align = Align::right},
                       [](const Json& attempt) {
                         return Cell{show_memory(attempt["memory_peak_bytes"])};
                       }},
                      {{.title = "ENDED"}, cell_time("ended")},
                      {{.title = "MESSAGE", .least = 10}, cell_text("message")}},
          .name_key = "id"};
}

std::string job_card(Session& session, const Json& job) {
  const std::string word = state_word(job);
  Card card(session.terminal.color);
  card.line("job", job.text("id") + (job.text("name").empty() ? "" : "  " + job.text("name")),
            Color::strong);
  const bool live = job.text("state") != "ended";
  card.line("state", word + (live ? ", " + show_job_time(job) : ""), state_color(word));
  card.line("why", job.text("sentence").empty() ? job.text("message") : job.text("sentence"));
  card.line("exit code", shown_exit(job));
  card.line("namespace", job.text("namespace")).line("user", job.text("user"));
  if (job.has("spec")) spec_lines(card, job);
  card.line("place", shown_place(job));
  card.line("devices held", job.has("spec") ? "" : join(job["devices"], ", "));
  card.line("submitted", shown_time(job, "submitted")).line("started", shown_time(job, "started"));
  card.line("ended", shown_time(job, "ended"));
  std::string out = card.str();
  const auto attempts = job["attempts"].items();
  if (!attempts.empty())
    out += "\n" + format_list(attempt_view(), attempts, session.globals, session.terminal);
  return out;
}

Result<int> show(Session& session, const std::vector<std::string>& words) {
  auto ids = many_jobs(session, words);
  if (!ids) return tl::unexpected(ids.error());
  auto api = session.api();
  if (!api) return tl::unexpected(api.error());
  bool first = true;
  for (const std::string& id : *ids) {
    const auto job = (*api)->get(job_path(id));
    if (!job) return tl::unexpected(job.error());
    if (!first && session.for_people()) session.out << "\n";
    first = false;
    print_one(session, *job, "id", [&] { return job_card(session, *job); });
  }
  return kExitOk;
}

std::string explanation_card(Session& session, const Json& why) {
  Card card(session.terminal.color);
  const std::string state = why.text("state");
  card.line("job", why.text("id"), Color::strong).line("state", state, state_color(state));
  card.line("reason", why.text("reason")).line("why", why.text("sentence"));
  card.line("waits for", join(why["waits_for"], ", ")).line("until", shown_time(why, "until"));
  card.line("position", why.has("position") ? why.text("position") + " in its namespace" : "");
  if (why.text("sentence").empty()) card.line("why", "it does not wait");
  return card.str();
}

Result<int> explain(Session& session, const std::string& word) {
  auto id = one_job(session, word);
  if (!id) return tl::unexpected(id.error());
  auto api = session.api();
  if (!api) return tl::unexpected(api.error());
  const auto why = (*api)->get(job_path(*id) + "/explain");
  if (!why) return tl::unexpected(why.error());
  print_one(session, *why, "id", [&] { return explanation_card(session, *why); });
  return kExitOk;
}

}  // namespace

void add_show_verbs(Verbs& verbs) {
  auto ids = std::make_shared<std::vector<std::string>>();
  CLI::App* verb = verbs.add(nullptr, "show", "Show all about a job and its attempts",
                             "atoll show 12\natoll show 12[7] -o json\natoll show last",
                             [ids](Session& session) { return show(session, *ids); });
  verb->add_option("ID", *ids, "12, 12[7] or last")->required();

  auto id = std::make_shared<std::string>();
  verb = verbs.add(nullptr, "explain", "Say why a job waits, and for what", "atoll explain 12",
                   [id](Session& session) { return explain(session, *id); });
  verb->add_option("ID", *id, "12 or last")->required();
}

}  // namespace atl::cli
