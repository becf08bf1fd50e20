// ps: what runs, what waits and why, what has ended.
#include <ostream>

#include "base/text.h"
#include "cli/exit.h"
#include "cli/job_view.h"
#include "cli/screen.h"
#include "cli/selectors.h"
#include "cli/verbs.h"

namespace atl::cli {
namespace {

constexpr std::size_t kPage = 1000;  // what the server gives at once
constexpr auto kInterval = std::chrono::seconds(2);

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

// An outcome given as a state is what people mean by it.
void split_states(const PsFlags& flags, std::string& states, std::string& outcome) {
  outcome = flags.outcome;
  for (const std::string_view word : split(flags.state, ',')) {
    const bool state =
        std::string_view(kLiveStates).find(word) != std::string_view::npos || word == "ended";
    if (word.empty()) continue;
    if (state)
      states += (states.empty() ? "" : ",") + std::string(word);
    else
      outcome = std::string(word);
  }
}

std::string request_path(const PsFlags& flags, std::size_t limit) {
  std::string states;
  std::string outcome;
  split_states(flags, states, outcome);
  if (states.empty() && outcome.empty() && !flags.all) states = kLiveStates;
  std::vector<std::pair<std::string, std::string>> pairs{
      {"state", states},       {"outcome", outcome}, {"user", flags.user},
      {"namespace", flags.ns}, {"name", flags.name}, {"since", flags.since}};
  for (const std::string& label : flags.labels) pairs.emplace_back("label", label);
  pairs.emplace_back("limit", std::to_string(limit == 0 ? kPage : std::min(limit, kPage)));
  return "/jobs" + query(pairs);
}

Result<std::vector<Json>> fetch(Session& session, const PsFlags& flags, std::size_t limit) {
  auto api = session.api();
  if (!api) return tl::unexpected(api.error());
  return (*api)->list(request_path(flags, limit), limit);
}

// Long lists are given out as they come.
Result<int> stream_jobs(Session& session, const PsFlags& flags) {
  auto api = session.api();
  if (!api) return tl::unexpected(api.error());
  const bool names = session.names_only();
  auto done = (*api)->each(request_path(flags, flags.limit), flags.limit, [&](const Json& job) {
    session.out << (names ? job.text("id") : job.compact()) << "\n";
    return true;
  });
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

Result<int> watch_jobs(Session& session, const PsFlags& flags) {
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
  CLI::App* verb =
      verbs.add(nullptr, "ps", "List jobs that run and wait, or all",
                "atoll ps\n"
                "atoll ps -a --since 1h --user me\n"
                "atoll ps --state failed -o json\n"
                "atoll ps --watch",
                [flags](Session& session) {
                  return flags->watch ? watch_jobs(session, *flags) : list_jobs(session, *flags);
                });
  verb->add_flag("-a,--all", flags->all, "Also those that have ended");
  verb->add_option("-s,--state", flags->state,
                   "Only in these states, or with this outcome; several with commas")
      ->type_name("STATE");
  verb->add_option("--outcome", flags->outcome, "Only those that ended so")->type_name("OUTCOME");
  verb->add_option("-u,--user", flags->user, "Only of that user; `me` is you")->type_name("USER");
  verb->add_option("-n,--ns", flags->ns, "Only in that namespace")->type_name("NAMESPACE");
  verb->add_option("--name", flags->name, "Only those with this in their name")->type_name("TEXT");
  verb->add_option("-l,--label", flags->labels, "Only those with this label; may be repeated")
      ->allow_extra_args(false)
      ->type_name("K=V");
  verb->add_option("--since", flags->since, "Only those submitted or ended since")
      ->type_name("DURATION");
  verb->add_option("--limit", flags->limit, "At most that many, newest first; 0 is all (100)")
      ->type_name("N");
  verb->add_flag("-w,--watch", flags->watch, "Stay and show changes");
}

}  // namespace atl::cli
