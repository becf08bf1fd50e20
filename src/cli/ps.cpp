// ps: what runs, what waits and why, what has ended.
#include <algorithm>
#include <chrono>
#include <limits>
#include <map>
#include <optional>
#include <ostream>
#include <set>
#include <thread>
#include <utility>

#include "base/text.h"
#include "base/time.h"
#include "cli/exit.h"
#include "cli/interrupt.h"
#include "cli/job_view.h"
#include "cli/screen.h"
#include "cli/selectors.h"
#include "cli/verbs.h"
#include "cli/waiting.h"

namespace atl::cli {
namespace {

constexpr std::size_t kPage = 1000;   // what the server gives at once
constexpr std::size_t kListed = 100;  // unless --limit says otherwise
constexpr auto kInterval = std::chrono::seconds(2);
constexpr auto kChangesInterval = std::chrono::milliseconds(500);
constexpr auto kOverlap = std::chrono::seconds(2);  // of looks at what has ended: rounding, delays

struct PsFlags {
  bool all = false;
  std::string state;
  std::string outcome;
  std::string user;
  std::string ns;
  std::string name;
  std::string since;
  std::vector<std::string> labels;
  std::optional<std::size_t> limit;  // none: 100, or all for programs that watch
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

std::int64_t id_of(const Json& job) { return parse_int(job.text("id")).value_or(0); }

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
    for (const Json& job : *jobs) found[id_of(job)] = job;
  }
  std::vector<Json> merged;
  for (auto& [id, job] : found) {
    if (limit > 0 && merged.size() == limit) break;
    merged.push_back(std::move(job));
  }
  return merged;
}

// Long lists are given out as they come.
Result<int> stream_jobs(Session& session, const PsFlags& flags, std::size_t limit) {
  auto api = session.api();
  if (!api) return tl::unexpected(api.error());
  const auto print = [&](const Json& job) {
    session.out << (session.names_only() ? job.text("id") : job.compact()) << "\n";
    return true;
  };
  const auto paths = request_paths(flags, limit);
  if (!paths) return tl::unexpected(paths.error());
  if (paths->size() > 1) {
    const auto jobs = fetch(session, flags, limit);
    if (!jobs) return tl::unexpected(jobs.error());
    for (const Json& job : *jobs) print(job);
    return kExitOk;
  }
  auto done = (*api)->each(paths->front(), limit, print);
  if (!done) return tl::unexpected(done.error());
  return kExitOk;
}

Result<int> list_jobs(Session& session, const PsFlags& flags) {
  const std::size_t limit = flags.limit.value_or(kListed);
  if (session.names_only() || session.globals.format == Format::jsonl)
    return stream_jobs(session, flags, limit);
  // One more than is shown tells whether there are more.
  auto jobs = fetch(session, flags, limit == 0 ? 0 : limit + 1);
  if (!jobs) return tl::unexpected(jobs.error());
  const bool more = limit > 0 && jobs->size() > limit;
  if (more) jobs->resize(limit);
  if (jobs->empty() && session.for_people()) {
    const bool filtered =
        flags.all || !flags.state.empty() || !flags.outcome.empty() || !flags.since.empty();
    session.say(filtered ? "no such jobs"
                         : "nothing runs or waits; `atoll ps -a` shows what has ended");
    return kExitOk;
  }
  print_list(session, job_list_view(), *jobs);
  if (more) {
    session.say("only the newest " + std::to_string(limit) + " are shown; --limit 0 shows all");
  }
  return kExitOk;
}

bool has_ended(const Json& job) { return job.text("state") == "ended"; }

// What of a job is a change when it is another one. Progress is none: it would make a line of
// every look.
std::string told_of(const Json& job) {
  std::string text;
  for (const auto& [key, value] : job.members()) {
    if (key != "progress") text += key + "=" + value.compact() + "\n";
  }
  return text;
}

// For programs: what is new since the last look, and whether anything more can come.
class Changes {
 public:
  // Those that were listed and had not ended, and are not in the list now.
  std::vector<std::int64_t> missing(const std::vector<Json>& listed) const {
    std::set<std::int64_t> ids;
    for (const auto& [id, document] : live_) ids.insert(id);
    for (const Json& job : listed) ids.erase(id_of(job));
    return {ids.begin(), ids.end()};
  }

  // The jobs of a list that are new or not as they were. `others` were read later: of those, the
  // ones that were listed, and those after `begun` that ended before a list could have them.
  std::vector<Json> take(const std::vector<Json>& listed, const std::vector<Json>& others,
                         std::int64_t begun) {
    const auto before = std::exchange(live_, {});
    std::multimap<std::int64_t, Json> changed;  // in order of submission
    for (const Json& job : listed) {
      if (is_news(job, before)) changed.emplace(id_of(job), job);
      if (!has_ended(job)) live_[id_of(job)] = told_of(job);
    }
    for (const Json& job : others) {
      const std::int64_t id = id_of(job);
      const bool known = before.contains(id) || live_.contains(id);
      if ((known || id > begun) && is_news(job, before)) changed.emplace(id, job);
      live_.erase(id);
    }
    std::vector<Json> jobs;
    for (auto& [id, job] : changed) jobs.push_back(std::move(job));
    return jobs;
  }
  bool live() const { return !live_.empty(); }

 private:
  using Documents = std::map<std::int64_t, std::string>;

  // An end is told once, until the job lives again.
  bool is_news(const Json& job, const Documents& before) {
    const std::int64_t id = id_of(job);
    if (has_ended(job)) return ended_.insert(id).second;
    ended_.erase(id);
    const auto was = before.find(id);
    return was == before.end() || was->second != told_of(job);
  }

  Documents live_;
  std::set<std::int64_t> ended_;
};

// How a job that is no longer listed is now; nothing when it is gone. The page behind the next id
// begins with it, in the form that lists have.
Result<std::optional<Json>> look_again(Api& api, std::int64_t id) {
  auto page = api.list("/jobs" + query({{"cursor", std::to_string(id + 1)}, {"limit", "1"}}), 1);
  if (!page) return tl::unexpected(page.error());
  if (page->empty() || id_of(page->front()) != id) return std::optional<Json>();
  return std::optional<Json>(page->front());
}

using Clock = std::chrono::steady_clock;

std::string as_seconds(Clock::duration time) {
  return std::to_string(std::chrono::ceil<std::chrono::seconds>(time).count()) + "s";
}

// Looks again and again at the jobs that the flags name.
class Watch {
 public:
  Watch(Session& session, const PsFlags& flags) : session_(session), flags_(flags) {
    lines_ = session.globals.format == Format::jsonl && !session.names_only();
  }

  // What to print after a look; empty when nothing changed. A look that fails changes nothing.
  Result<std::string> look() {
    const auto now = Clock::now();
    if (auto ok = begin(now); !ok) return tl::unexpected(ok.error());
    const auto jobs = fetch(session_, wanted(now), limit());
    if (!jobs) return tl::unexpected(jobs.error());
    if (limit() > 0 && jobs->size() >= limit()) tell_limit();
    const auto others = lines_ ? look_aside(*jobs, now) : Result<std::vector<Json>>();
    if (!others) return tl::unexpected(others.error());
    const bool fewer = !changes_.missing(*jobs).empty();
    const std::int64_t begun = any_state() ? begun_ : std::numeric_limits<std::int64_t>::max();
    const auto changed = changes_.take(*jobs, *others, begun);
    looked_ = now;
    if (lines_) return format(changed);
    if (changed.empty() && !fewer) return std::string();
    return (session_.globals.format == Format::yaml ? "---\n" : "") + format(*jobs);
  }
  bool live() const { return changes_.live(); }

 private:
  std::size_t limit() const { return flags_.limit.value_or(0); }
  bool any_state() const { return flags_.state.empty() && flags_.outcome.empty(); }
  std::string format(const std::vector<Json>& jobs) const {
    return format_list(job_list_view(), jobs, session_.globals, session_.terminal);
  }

  // Jobs after the newest one of now are submitted while we watch.
  Result<void> begin(Clock::time_point now) {
    if (started_) return {};
    auto api = session_.api();
    if (!api) return tl::unexpected(api.error());
    const auto newest = (*api)->list("/jobs" + query({{"limit", "1"}}), 1);
    if (!newest) return tl::unexpected(newest.error());
    if (!newest->empty()) begun_ = id_of(newest->front());
    started_ = now;
    return {};
  }

  // --since stays the moment that it was at the start. What has ended does not change, so that
  // lines need it at the first look only.
  PsFlags wanted(Clock::time_point now) const {
    PsFlags flags = flags_;
    const auto since = parse_duration(flags.since);
    if (!flags.since.empty() && since)
      flags.since = as_seconds(std::chrono::microseconds(since->us) + (now - *started_));
    if (lines_ && looked_ && any_state() && limit() == 0) flags.state = kLiveStates;
    return flags;
  }

  // Jobs that ended since the last look, and how those are that left the list for another reason.
  Result<std::vector<Json>> look_aside(const std::vector<Json>& listed, Clock::time_point now) {
    std::vector<Json> others;
    if (!looked_) return others;
    PsFlags ended = flags_;
    ended.state = "ended";
    ended.outcome.clear();
    ended.since = as_seconds(now - *looked_ + kOverlap);
    auto recent = fetch(session_, ended, 0);
    if (!recent) return recent;
    std::set<std::int64_t> found;
    for (Json& job : *recent) {
      found.insert(id_of(job));
      others.push_back(std::move(job));
    }
    for (const std::int64_t id : changes_.missing(listed)) {
      if (found.contains(id)) continue;
      auto job = look_again(**session_.api(), id);
      if (!job) return tl::unexpected(job.error());
      if (*job) others.push_back(std::move(**job));
    }
    return others;
  }

  void tell_limit() {
    if (std::exchange(limit_told_, true)) return;
    session_.say("only the newest " + std::to_string(limit()) +
                 " are watched; --limit 0 watches all");
  }

  Session& session_;
  const PsFlags& flags_;
  bool lines_ = false;  // one per change, and no lists
  bool limit_told_ = false;
  Changes changes_;
  std::int64_t begun_ = 0;
  std::optional<Clock::time_point> started_;
  std::optional<Clock::time_point> looked_;
};

// Until every job that is listed has ended.
Result<int> follow_jobs(Session& session, const PsFlags& flags) {
  const Interrupts interrupts([](Interrupts&) { return kExitOk; });
  Watch watch(session, flags);
  auto heard = Clock::now();
  while (true) {
    const auto text = watch.look();
    const auto now = Clock::now();
    if (text) {
      heard = now;
      session.out << *text << std::flush;
      if (!watch.live()) return kExitOk;
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
  verb->add_option("--limit", flags->limit,
                   "At most that many, newest first; 0 is all (100; all for programs that watch)")
      ->type_name("N");
  verb->add_flag("-w,--watch", flags->watch,
                 "Stay and show changes; with -o jsonl one line each, until all have ended");
}

}  // namespace atl::cli
