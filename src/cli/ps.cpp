// ps: what runs, what waits and why, what has ended.
#include <algorithm>
#include <chrono>
#include <map>
#include <ostream>
#include <thread>
#include <utility>

#include "base/text.h"
#include "cli/exit.h"
#include "cli/interrupt.h"
#include "cli/job_view.h"
#include "cli/screen.h"
#include "cli/selectors.h"
#include "cli/verbs.h"
#include "cli/waiting.h"

namespace atl::cli {
namespace {

constexpr std::size_t kPage = 1000;  // what the server gives at once
constexpr auto kInterval = std::chrono::seconds(2);
constexpr auto kChangesInterval = std::chrono::milliseconds(500);

struct PsFlags {
  bool all = false;
  std::string state;
  std::string outcome;
  std::string user;
  std::string ns;
  std::string name;
  std::string since;
  std::vector<std::string> labels;
  std::size_t limit = 100;
  bool watch = false;
};

constexpr std::string_view kStates = "waiting,starting,running,stopping,ended";
constexpr std::string_view kOutcomes = "succeeded,failed,cancelled,timed_out,lost,skipped";

bool is_one_of(std::string_view word, std::string_view words) {
  const auto all = split(words, ',');
  return std::find(all.begin(), all.end(), word) != all.end();
}

std::vector<std::string> words_of(std::string_view words) {
  const auto all = split(words, ',');
  return {all.begin(), all.end()};
}

// What is asked of the server. Its two filters narrow each other, so that states and each outcome
// are requests of their own.
struct Kinds {
  std::string states;                 // with commas
  std::vector<std::string> outcomes;  // each once
};

Result<void> add_outcome(Kinds& kinds, std::string_view word) {
  if (!is_one_of(word, kOutcomes)) {
    return fail(ErrorCode::invalid,
                quote(word) + " is not an outcome: write one of " + std::string(kOutcomes));
  }
  if (std::find(kinds.outcomes.begin(), kinds.outcomes.end(), word) == kinds.outcomes.end())
    kinds.outcomes.emplace_back(word);
  return {};
}

// An outcome given as a state is what people mean by it.
Result<Kinds> kinds_of(const PsFlags& flags) {
  Kinds kinds;
  for (const std::string_view word : split(flags.outcome, ',')) {
    if (word.empty()) continue;
    if (auto ok = add_outcome(kinds, word); !ok) return tl::unexpected(ok.error());
  }
  const bool narrowed = !kinds.outcomes.empty();
  for (const std::string_view word : split(flags.state, ',')) {
    if (word.empty() || (word == "ended" && narrowed)) continue;
    if (is_one_of(word, kStates)) {
      kinds.states += (kinds.states.empty() ? "" : ",") + std::string(word);
    } else if (!is_one_of(word, kOutcomes)) {
      return fail(ErrorCode::invalid, quote(word) + " is not a state: write one or more of the " +
                                          "states " + std::string(kStates) + " or the outcomes " +
                                          std::string(kOutcomes));
    } else if (auto ok = add_outcome(kinds, word); !ok) {
      return tl::unexpected(ok.error());
    }
  }
  // What has ended is asked for by any look back.
  const bool any = flags.all || !flags.since.empty();
  if (kinds.states.empty() && kinds.outcomes.empty() && !any) kinds.states = kLiveStates;
  return kinds;
}

std::string request_path(const PsFlags& flags, std::size_t limit, const std::string& states,
                         const std::string& outcome) {
  std::vector<std::pair<std::string, std::string>> pairs{
      {"state", states},       {"outcome", outcome}, {"user", flags.user},
      {"namespace", flags.ns}, {"name", flags.name}, {"since", flags.since}};
  for (const std::string& label : flags.labels) pairs.emplace_back("label", label);
  pairs.emplace_back("limit", std::to_string(limit == 0 ? kPage : std::min(limit, kPage)));
  return "/jobs" + query(pairs);
}

Result<std::vector<std::string>> request_paths(const PsFlags& flags, std::size_t limit) {
  const auto kinds = kinds_of(flags);
  if (!kinds) return tl::unexpected(kinds.error());
  std::vector<std::string> paths;
  if (!kinds->states.empty() || kinds->outcomes.empty())
    paths.push_back(request_path(flags, limit, kinds->states, ""));
  for (const std::string& outcome : kinds->outcomes)
    paths.push_back(request_path(flags, limit, "", outcome));
  return paths;
}

Result<std::vector<Json>> fetch(Session& session, const PsFlags& flags, std::size_t limit) {
  auto api = session.api();
  if (!api) return tl::unexpected(api.error());
  const auto paths = request_paths(flags, limit);
  if (!paths) return tl::unexpected(paths.error());
  if (paths->size() == 1) return (*api)->list(paths->front(), limit);
  // Newest first; one that ended between two requests is in both, and the later answer is true.
  std::map<std::int64_t, Json, std::greater<>> found;
  for (const std::string& path : *paths) {
    const auto jobs = (*api)->list(path, limit);
    if (!jobs) return tl::unexpected(jobs.error());
    for (const Json& job : *jobs) found[parse_int(job.text("id")).value_or(0)] = job;
  }
  std::vector<Json> merged;
  for (auto& [id, job] : found) {
    if (limit > 0 && merged.size() == limit) break;
    merged.push_back(std::move(job));
  }
  return merged;
}

// Long lists are given out as they come.
Result<int> stream_jobs(Session& session, const PsFlags& flags) {
  auto api = session.api();
  if (!api) return tl::unexpected(api.error());
  const auto print = [&](const Json& job) {
    session.out << (session.names_only() ? job.text("id") : job.compact()) << "\n";
    return true;
  };
  const auto paths = request_paths(flags, flags.limit);
  if (!paths) return tl::unexpected(paths.error());
  if (paths->size() > 1) {
    const auto jobs = fetch(session, flags, flags.limit);
    if (!jobs) return tl::unexpected(jobs.error());
    for (const Json& job : *jobs) print(job);
    return kExitOk;
  }
  auto done = (*api)->each(paths->front(), flags.limit, print);
  if (!done) return tl::unexpected(done.error());
  return kExitOk;
}

Result<int> list_jobs(Session& session, const PsFlags& flags) {
  if (session.names_only() || session.globals.format == Format::jsonl)
    return stream_jobs(session, flags);
  // One more than is shown tells whether there are more.
  auto jobs = fetch(session, flags, flags.limit == 0 ? 0 : flags.limit + 1);
  if (!jobs) return tl::unexpected(jobs.error());
  const bool more = flags.limit > 0 && jobs->size() > flags.limit;
  if (more) jobs->resize(flags.limit);
  if (jobs->empty() && session.for_people()) {
    const bool filtered =
        flags.all || !flags.state.empty() || !flags.outcome.empty() || !flags.since.empty();
    session.say(filtered ? "no such jobs"
                         : "nothing runs or waits; `atoll ps -a` shows what has ended");
    return kExitOk;
  }
  print_list(session, job_list_view(), *jobs);
  if (more) {
    session.say("only the newest " + std::to_string(flags.limit) +
                " are shown; --limit 0 shows all");
  }
  return kExitOk;
}

using Documents = std::map<std::string, std::string>;  // by id

// For programs: what is new since the last look, and whether anything more can come.
class Changes {
 public:
  // The jobs that are new or not as they were; those that are no longer listed are `left`.
  std::vector<Json> take(const std::vector<Json>& jobs, Documents& left) {
    Documents now;
    std::vector<Json> changed;
    live_ = false;
    for (const Json& job : jobs) {
      const std::string id = job.text("id");
      live_ = live_ || job.text("state") != "ended";
      if (const auto was = seen_.find(id); was == seen_.end() || was->second != job.compact())
        changed.push_back(job);
      now.emplace(id, job.compact());
      seen_.erase(id);
    }
    left = std::exchange(seen_, std::move(now));
    return changed;
  }
  bool live() const { return live_; }

 private:
  Documents seen_;
  bool live_ = false;
};

// How a job that is no longer listed is now; nothing when it is gone. The page behind the next id
// begins with it, in the form that lists have.
Result<std::optional<Json>> look_again(Api& api, const std::string& id) {
  const auto next = std::to_string(parse_int(id).value_or(0) + 1);
  auto page = api.list("/jobs" + query({{"cursor", next}, {"limit", "1"}}), 1);
  if (!page) return tl::unexpected(page.error());
  if (page->empty() || page->front().text("id") != id) return std::optional<Json>();
  return std::optional<Json>(page->front());
}

// What to print after a look, in order of submission; empty when nothing changed.
Result<std::string> news(Session& session, const PsFlags& flags, Changes& changes) {
  auto jobs = fetch(session, flags, flags.limit);
  if (!jobs) return tl::unexpected(jobs.error());
  Documents left;
  Changes after = changes;
  std::vector<Json> changed = after.take(*jobs, left);
  if (session.globals.format != Format::jsonl || session.names_only()) {
    changes = std::move(after);
    if (changed.empty() && left.empty()) return std::string();
    const std::string mark = session.globals.format == Format::yaml ? "---\n" : "";
    return mark + format_list(job_list_view(), *jobs, session.globals, session.terminal);
  }
  for (const auto& [id, document] : left) {
    auto job = look_again(**session.api(), id);
    if (!job) return tl::unexpected(job.error());  // and everything is told at the next look
    if (*job && (*job)->compact() != document) changed.push_back(std::move(**job));
  }
  changes = std::move(after);
  std::reverse(changed.begin(), changed.end());
  return format_list(job_list_view(), changed, session.globals, session.terminal);
}

// Until every job that is listed has ended.
Result<int> follow_jobs(Session& session, const PsFlags& flags) {
  const Interrupts interrupts([](Interrupts&) { return kExitOk; });
  Changes changes;
  auto heard = std::chrono::steady_clock::now();
  while (true) {
    const auto text = news(session, flags, changes);
    const auto now = std::chrono::steady_clock::now();
    if (text) {
      heard = now;
      session.out << *text << std::flush;
      if (!changes.live()) return kExitOk;
    } else if (text.error().code != ErrorCode::unavailable || now - heard > kServerAwayMax) {
      return tl::unexpected(text.error());
    }
    std::this_thread::sleep_for(kChangesInterval);
  }
}

Result<int> watch_jobs(Session& session, const PsFlags& flags) {
  if (!session.for_people()) return follow_jobs(session, flags);
  return watch(session, kInterval, [&]() -> Result<std::string> {
    Terminal terminal = session.terminal;
    if (terminal.out_is_terminal) terminal.width = terminal_width();
    const auto rows = static_cast<std::size_t>(terminal_height());
    auto jobs = fetch(session, flags, std::max<std::size_t>(rows, 1));
    if (!jobs) return tl::unexpected(jobs.error());
    return format_list(job_list_view(), *jobs, session.globals, terminal);
  });
}

}  // namespace

void add_ps_verb(Verbs& verbs) {
  auto flags = std::make_shared<PsFlags>();
  CLI::App* verb = verbs.add(
      nullptr, "ps", "List jobs that run and wait, or all",
      "atoll ps\n"
      "atoll ps --since 1h --user me\n"
      "atoll ps --state running,failed -o json\n"
      "atoll ps --watch\n"
      "atoll ps --watch -o jsonl --label sweep=7   one line per change, until all have ended",
      [flags](Session& session) {
        return flags->watch ? watch_jobs(session, *flags) : list_jobs(session, *flags);
      });
  verb->add_flag("-a,--all", flags->all, "Also those that have ended");
  CLI::Option* state =
      verb->add_option("-s,--state", flags->state,
                       "Only in these states, or with these outcomes; several with commas")
          ->type_name("STATE");
  verbs.set_choices(state, words_of(std::string(kStates) + "," + std::string(kOutcomes)));
  CLI::Option* outcome =
      verb->add_option("--outcome", flags->outcome, "Only those that ended so; several with commas")
          ->type_name("OUTCOME");
  verbs.set_choices(outcome, words_of(kOutcomes));
  verb->add_option("-u,--user", flags->user, "Only of that user; `me` is you")->type_name("USER");
  verb->add_option("-n,--ns", flags->ns, "Only in that namespace")->type_name("NAMESPACE");
  verb->add_option("--name", flags->name, "Only those with this in their name")->type_name("TEXT");
  verb->add_option("-l,--label", flags->labels, "Only those with this label; may be repeated")
      ->allow_extra_args(false)
      ->type_name("K=V");
  verb->add_option("--since", flags->since,
                   "Only those submitted or ended since, also those that have ended")
      ->type_name("DURATION");
  verb->add_option("--limit", flags->limit, "At most that many, newest first; 0 is all (100)")
      ->type_name("N");
  verb->add_flag("-w,--watch", flags->watch,
                 "Stay and show changes; with -o jsonl one line each, until all have ended");
}

}  // namespace atl::cli
