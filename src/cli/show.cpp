// show and explain: one job in full, and why it waits.
#include <algorithm>
#include <ostream>

#include "base/amount.h"
#include "base/interval_set.h"
#include "base/text.h"
#include "cli/exit.h"
#include "cli/job_view.h"
#include "cli/outlook.h"
#include "cli/selectors.h"
#include "cli/verbs.h"

namespace atl::cli {
namespace {

std::string join(const Json& list, const char* separator) {
  std::string out;
  for (const Json& item : list.items()) out += (out.empty() ? "" : separator) + item.text();
  return out;
}

std::size_t line_count(const std::string& text) {
  const auto ends = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
  return ends + (text.empty() || text.ends_with('\n') ? 0 : 1);
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
    const std::size_t lines = line_count(spec.text("script"));
    out = "script of " + std::to_string(lines) + (lines == 1 ? " line" : " lines");
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

std::string shown_progress(const Json& job) {
  const std::string bar = show_bar(job);
  const std::string at = job["progress"].text("at");
  return bar.empty() || at.empty() ? bar : bar + "  (" + show_age(at) + ")";
}

// Lines that said what cannot be; who wrote the program wants to know.
std::string shown_ignored(const Json& job) {
  const std::int64_t lines = job["progress"]["ignored"].integer();
  if (lines == 0) return {};
  return std::to_string(lines) + (lines == 1 ? " progress line" : " progress lines") +
         " with something else than a number from 0 to 100, or a part such as 3/10";
}

void spec_lines(Card& card, const Json& job) {
  const Json spec = job["spec"];
  card.line("command", shown_command(spec)).line("directory", spec.text("directory"));
  card.line("resources", shown_resources(job));
  card.line("tier", spec.text("tier"));
  if (spec.has("gang"))
    card.line("gang", spec.text("gang") + " tasks that start together or not at all");
  card.line("after", shown_dependencies(spec)).line("time limit", spec.text("time"));
  card.line("grace",
            spec.has("grace") ? spec.text("grace") + " to save its work when it is stopped" : "");
  card.line("retries", spec["retries"].text("max"));
  card.line("isolation", spec.text("isolation"));
  card.line("priority", job["priority"].integer() ? job.text("priority") : "");
  card.line("labels", shown_labels(job));
}

View attempt_view() {
  return {.columns = {{{.title = "ATTEMPT"}, cell_text("id")},
                      {{.title = "OUTCOME"},
                       [](const Json& attempt) {
                         if (attempt["checkpointed"].truth()) return Cell{"checkpointed"};
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
                      {{.title = "ENERGY", .align = Align::right},
                       [](const Json& attempt) { return Cell{shown_energy(attempt)}; }},
                      {{.title = "ENDED"}, cell_time("ended")},
                      {{.title = "MESSAGE", .least = 10}, cell_text("message")}},
          .name_key = "id"};
}

constexpr std::int64_t kAttemptsShown = 100;

// The newest attempts of a job or task; they are numbered from 1, so the first one listed says how
// many came before.
std::string attempts_table(Session& session, const std::vector<Json>& attempts) {
  if (attempts.empty()) return {};
  std::string out = "\n" + format_list(attempt_view(), attempts, session.globals, session.terminal);
  const std::int64_t earlier = attempts.front()["attempt"].integer() - 1;
  if (earlier <= 0) return out;
  const std::string id = attempts.front().text("id");
  const std::string first = id.substr(0, id.rfind('.')) + ".1";
  return out + "and " + std::to_string(earlier) + " earlier: `atoll show '" + first +
         "'` shows the first\n";
}

// An array's own lines: which indices, how many at once, and how many are in which state.
constexpr std::size_t kTaskPage = 1000;    // what the server gives at once
constexpr std::size_t kTaskPagesMax = 50;  // looked through for failed ones: well under a second
constexpr std::size_t kFailedShown = 20;
constexpr std::int64_t kRangeMax = 20'000;  // tasks looked through for the range alone

struct ArrayView {
  std::string indices;       // "1-1000", when it can be told
  std::vector<Json> failed;  // the first ones
};

bool went_wrong(const Json& task) {
  const std::string outcome = task.text("outcome");
  return outcome == "failed" || outcome == "timed_out" || outcome == "lost";
}

std::int64_t failures_of(const Json& job) {
  const Json tasks = job["tasks"];
  return tasks["failed"].integer() + tasks["timed_out"].integer() + tasks["lost"].integer();
}

// Pages until there are enough failed ones and, for an array that is not too long, all indices.
Result<ArrayView> look_at_array(Api& api, const Json& job) {
  ArrayView view;
  IntervalSet all;
  const std::int64_t total = job["tasks"]["total"].integer();
  const auto wanted = std::min<std::int64_t>(failures_of(job), kFailedShown);
  const std::string first = job_path(job.text("id")) + "/tasks?limit=" + std::to_string(kTaskPage);
  std::string path = first;
  for (std::size_t pages = 0; pages < kTaskPagesMax; ++pages) {
    const auto page = api.get(path);
    if (!page) return tl::unexpected(page.error());
    add_task_indices(all, *page);
    for (const Json& task : (*page)["tasks"].items()) {
      if (went_wrong(task) && std::ssize(view.failed) < wanted) view.failed.push_back(task);
    }
    const bool whole = total > kRangeMax || static_cast<std::int64_t>(all.size()) >= total;
    if (!page->has("next") || (whole && std::ssize(view.failed) >= wanted)) break;
    path = first + "&cursor=" + encode(page->text("next"));
  }
  // Tasks that were cancelled before they started are in no page: then the range is not known.
  if (static_cast<std::int64_t>(all.size()) == total) view.indices = format_intervals(all);
  return view;
}

std::string shown_counts(const Json& tasks) {
  std::string out = tasks.text("total") + " in all";
  for (const auto& [word, count] : tasks.members()) {
    if (word != "total" && count.integer() > 0) out += ", " + count.text() + " " + word;
  }
  return out;
}

void array_lines(Card& card, const Json& job, const ArrayView& view) {
  std::string range = view.indices;
  if (const std::string limit = job.text("parallel_max"); !limit.empty()) {
    if (range.empty()) range = job["tasks"].text("total") + " tasks";
    range += ", at most " + limit + " at a time";
  }
  card.line("array", range);
  card.line("tasks", shown_counts(job["tasks"]));
}

View failed_view() {
  return {.columns = {{{.title = "FAILED TASK"}, cell_text("id")},
                      {{.title = "OUTCOME"},
                       [](const Json& task) {
                         const std::string word = task.text("outcome");
                         return Cell{word, state_color(word)};
                       }},
                      {{.title = "EXIT"}, [](const Json& task) { return Cell{shown_exit(task)}; }},
                      {{.title = "ATTEMPT", .align = Align::right}, cell_text("attempt")},
                      {{.title = "PLACE", .least = 8},
                       [](const Json& task) { return Cell{shown_place(task)}; }},
                      {{.title = "ENDED"}, cell_time("ended")},
                      {{.title = "MESSAGE", .least = 10}, cell_text("message")}},
          .name_key = "id"};
}

std::string failed_table(Session& session, const Json& job, const ArrayView& view) {
  if (view.failed.empty()) return {};
  const std::string id = job.text("id");
  const std::int64_t more = failures_of(job) - std::ssize(view.failed);
  std::string out =
      "\n" + format_list(failed_view(), view.failed, session.globals, session.terminal);
  if (more > 0)
    out += "and " + std::to_string(more) + " more: `atoll show --failed " + id + "` lists all\n";
  const std::string one = view.failed.front().text("id");
  return out + "`atoll logs '" + one + "'` shows what a task wrote, `atoll requeue " + id +
         "` runs again what did not succeed\n";
}

std::string job_card(Session& session, const Json& job, const ArrayView& array) {
  const std::string word = state_word(job);
  Card card(session.terminal.color);
  card.line("job", job.text("id") + (job.text("name").empty() ? "" : "  " + job.text("name")),
            Color::strong);
  const bool live = job.text("state") != "ended";
  card.line("state", word + (live ? ", " + show_job_time(job) : ""), state_color(word));
  card.line("why", job.text("sentence").empty() ? end_message(job)
                                                : with_local_times(job.text("sentence")));
  card.line("exit code", shown_exit(job));
  card.line("progress", shown_progress(job)).line("ignored", shown_ignored(job));
  card.line("namespace", job.text("namespace")).line("user", job.text("user"));
  if (job.has("spec")) spec_lines(card, job);
  if (job["tasks"].is_object()) array_lines(card, job, array);
  card.line("place", shown_place(job));
  card.line("devices held", job.has("spec") ? "" : join(job["devices"], ", "));
  card.line("submitted", shown_time(job, "submitted")).line("started", shown_time(job, "started"));
  card.line("ended", shown_time(job, "ended"));
  return card.str() + attempts_table(session, job["attempts"].items()) +
         failed_table(session, job, array);
}

// What `show` was asked about: a job, a task, or one attempt, with what people see besides.
struct Shown {
  Json thing;
  ArrayView array;
  std::vector<Json> attempts;  // of a task; a job carries its own
};

// One attempt that has ended; the one that runs is the job or task itself.
Result<Json> find_attempt(Api& api, const NamedAttempt& named) {
  Json found;
  const auto look = [&](const Json& attempt) {
    if (attempt.text("attempt") == named.attempt) found = attempt;
    return found.is_null();
  };
  const auto ended = api.each(job_path(named.id) + "/attempts?limit=1000", 0, look);
  if (!ended) return tl::unexpected(ended.error());
  if (!found.is_null()) return found;
  auto whole = api.get(job_path(named.id));
  if (whole && whole->text("attempt") != named.attempt) {
    return fail(ErrorCode::not_found, named.id + " has no attempt " + named.attempt +
                                          ": `atoll show " + named.id + "` lists what it has");
  }
  return whole;
}

Result<Shown> look_up(Session& session, Api& api, const NamedAttempt& named) {
  auto thing = named.attempt.empty() ? api.get(job_path(named.id)) : find_attempt(api, named);
  if (!thing) return tl::unexpected(thing.error());
  Shown shown{std::move(*thing), {}, {}};
  if (!session.for_people() || !named.attempt.empty()) return shown;
  if (shown.thing["tasks"].is_object()) {
    auto array = look_at_array(api, shown.thing);
    if (!array) return tl::unexpected(array.error());
    shown.array = std::move(*array);
  } else if (shown.thing.has("index")) {
    const std::int64_t before = shown.thing["attempt"].integer() - kAttemptsShown;
    const std::string from =
        before > 0 ? "&cursor=" + shown.thing.text("index") + "." + std::to_string(before) : "";
    const std::string limit = std::to_string(kAttemptsShown);
    auto attempts = api.list(job_path(named.id) + "/attempts?limit=" + limit + from,
                             static_cast<std::size_t>(kAttemptsShown));
    if (!attempts) return tl::unexpected(attempts.error());
    shown.attempts = std::move(*attempts);
  }
  return shown;
}

std::string shown_card(Session& session, const Shown& shown) {
  if (shown.thing.has("wall_seconds"))
    return format_list(attempt_view(), {shown.thing}, session.globals, session.terminal);
  return job_card(session, shown.thing, shown.array) + attempts_table(session, shown.attempts);
}

Result<std::vector<NamedAttempt>> many_attempts(Session& session,
                                                const std::vector<std::string>& words) {
  std::vector<NamedAttempt> all;
  for (const std::string& word : words) {
    if (word != "all") {
      auto one = one_attempt(session, word);
      if (!one) return tl::unexpected(one.error());
      all.push_back(std::move(*one));
      continue;
    }
    const auto ids = many_jobs(session, {word});
    if (!ids) return tl::unexpected(ids.error());
    for (const std::string& id : *ids) all.push_back({id, ""});
  }
  return all;
}

Result<int> show(Session& session, const std::vector<std::string>& words) {
  const auto wanted = many_attempts(session, words);
  if (!wanted) return tl::unexpected(wanted.error());
  auto api = session.api();
  if (!api) return tl::unexpected(api.error());
  std::vector<Json> things;
  for (const NamedAttempt& named : *wanted) {
    const auto shown = look_up(session, **api, named);
    if (!shown) return tl::unexpected(shown.error());
    if (session.for_people())
      session.out << (things.empty() ? "" : "\n") << shown_card(session, *shown) << std::flush;
    things.push_back(shown->thing);
  }
  if (!session.for_people())
    print_answers(session, things, words.size() > 1 || names_all(words), "id");
  return kExitOk;
}

// Every failed task of an array, however many.
Result<int> show_failed(Session& session, const std::vector<std::string>& words) {
  auto ids = many_jobs(session, words);
  if (!ids) return tl::unexpected(ids.error());
  auto api = session.api();
  if (!api) return tl::unexpected(api.error());
  std::vector<Json> failed;
  for (const std::string& id : *ids) {
    const auto done = (*api)->each(job_path(id) + "/tasks?limit=" + std::to_string(kTaskPage), 0,
                                   [&](const Json& task) {
                                     if (went_wrong(task)) failed.push_back(task);
                                     return true;
                                   });
    if (!done) return tl::unexpected(done.error());
  }
  if (failed.empty() && session.for_people()) {
    session.say("no task has failed");
    return kExitOk;
  }
  print_list(session, failed_view(), failed);
  return kExitOk;
}

std::string explanation_card(Session& session, const Json& why) {
  Card card(session.terminal.color);
  const std::string state = why.text("state");
  card.line("job", why.text("id"), Color::strong).line("state", state, state_color(state));
  card.line("reason", why.text("reason")).line("why", with_local_times(why.text("sentence")));
  card.line("waits for", join(why["waits_for"], ", ")).line("until", shown_time(why, "until"));
  card.line("position", why.has("position") ? why.text("position") + " in its namespace" : "");
  holder_lines(card, why);
  start_lines(card, why);
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
  auto failed = std::make_shared<bool>(false);
  CLI::App* verb =
      verbs.add(nullptr, "show", "Show all about a job and its newest attempts",
                "atoll show 12\natoll show 12[7] -o json\natoll show 12[7].2       its second "
                "attempt\natoll show --failed 12    every failed task\natoll show last",
                [ids, failed](Session& session) {
                  return *failed ? show_failed(session, *ids) : show(session, *ids);
                });
  verb->add_flag("--failed", *failed, "List the tasks of an array that failed, all of them");
  verb->add_option("ID", *ids, "12, 12[7], last, or an attempt such as 12.1")->required();

  auto id = std::make_shared<std::string>();
  verb = verbs.add(nullptr, "explain",
                   "Say why a job waits, when it is expected to start, and what would start sooner",
                   "atoll explain 12\natoll explain 12[7]       one task of an array\natoll "
                   "explain last -o json",
                   [id](Session& session) { return explain(session, *id); });
  verb->add_option("ID", *id, "12, 12[7] or last")->required();
}

}  // namespace atl::cli
