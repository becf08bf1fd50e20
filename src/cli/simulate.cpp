// simulate: tries a policy on a trace of work, without a server.
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <filesystem>
#include <iostream>

#include "base/amount.h"
#include "base/text.h"
#include "cli/exit.h"
#include "cli/output.h"
#include "cli/verbs.h"
#include "core/core.h"
#include "simulate/generate.h"
#include "simulate/plots.h"
#include "simulate/report.h"

namespace atl::cli {
namespace {

using simulate::NamedRun;

struct SimulateFlags {
  std::string trace;
  std::vector<std::string> configs;
  std::string round;
  std::string checkpoint = "10s";
  std::string tiers;
  std::string plots;
  bool skip_broken = false;
};

// A configuration that is known to be good.
struct Trial {
  std::string path;
  std::string name;  // what its column is called: the file's name, when no other has the same
  spec::PlatformFile file;
  simulate::Nodes nodes;
};

Result<Duration> span_flag(const char* flag, const std::string& text, Duration most) {
  const auto span = parse_duration(text);
  if (!span) return fail(ErrorCode::invalid, std::string(flag) + ": " + span.error().message);
  if (span->us >= 0 && *span <= most) return span;
  return fail(ErrorCode::invalid, std::string(flag) + " is " + format_duration(*span) +
                                      "; it must be between 0s and " + format_duration(most));
}

Result<simulate::EngineOptions> engine_options(const SimulateFlags& flags) {
  simulate::EngineOptions options;
  if (!flags.round.empty()) {
    const auto round = span_flag("--round", flags.round, hours(1));
    if (!round) return tl::unexpected(round.error());
    options.round = *round;
  }
  const auto checkpoint = span_flag("--checkpoint", flags.checkpoint, hours(24));
  if (!checkpoint) return tl::unexpected(checkpoint.error());
  options.checkpoint = *checkpoint;
  return options;
}

Result<simulate::Trace> trace_of(const Session& session, const SimulateFlags& flags) {
  if (flags.trace.empty())
    return fail(ErrorCode::invalid,
                "name a trace with --trace FILE; `atoll simulate generate > FILE` writes one");
  simulate::ReadOptions options;
  options.skip_broken = flags.skip_broken;
  if (!flags.tiers.empty()) {
    auto tiers = simulate::parse_tiers(flags.tiers);
    if (!tiers) return fail(ErrorCode::invalid, "--tiers: " + tiers.error().message);
    options.tiers = std::move(*tiers);
  }
  auto trace = simulate::read_trace(flags.trace, options);
  // A file that is not there is a slip of the command line, as it is for every other verb.
  if (!trace && trace.error().code == ErrorCode::not_found)
    return fail(ErrorCode::invalid, trace.error().message);
  if (!trace) return trace;
  const std::string idle = simulate::tiers_without_jobs(*trace, options.tiers);
  if (!idle.empty()) session.warn(idle);
  return trace;
}

// Looked at first, because a long run would be lost on it.
Result<void> check_plots(const std::string& directory) {
  if (directory.empty()) return {};
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (!error && !std::filesystem::is_directory(directory))
    error = std::make_error_code(std::errc::not_a_directory);
  if (!error && ::access(directory.c_str(), W_OK | X_OK) != 0)
    error = {errno, std::generic_category()};
  if (!error) return {};
  return fail(ErrorCode::invalid, "--plots: cannot write into " + quote(directory) + ": " +
                                      error.message() + "; name a directory of yours");
}

void shorten_names(std::vector<Trial>& trials) {
  std::map<std::string, int> count;
  const auto short_name = [](const Trial& trial) {
    return std::filesystem::path(trial.path).filename().string();
  };
  for (const Trial& trial : trials) ++count[short_name(trial)];
  for (Trial& trial : trials) {
    if (count[short_name(trial)] == 1) trial.name = short_name(trial);
  }
}

Result<core::State> state_of(const Trial& trial, const simulate::Trace& trace) {
  return simulate::build_state(trial.file, trial.path, trial.nodes, trace);
}

// All of them are looked at before the first is run: a mistake in the last one is told at once.
Result<std::vector<Trial>> trials_of(const SimulateFlags& flags, const simulate::Trace& trace) {
  std::vector<Trial> trials;
  for (const std::string& path : flags.configs) {
    auto file = spec::load_platform_file(path);
    if (!file) return tl::unexpected(file.error());
    trials.push_back({path, path, std::move(*file), {}});
  }
  if (trials.empty()) trials.push_back({"defaults", "defaults", {}, {}});
  shorten_names(trials);
  for (Trial& trial : trials) {
    auto nodes = simulate::nodes_for(trial.file, trace);
    if (!nodes) return tl::unexpected(nodes.error());
    trial.nodes = std::move(*nodes);
    const auto state = state_of(trial, trace);
    if (!state) return tl::unexpected(state.error());
  }
  return trials;
}

// "simulating A.yaml: 43 %", once it takes long.
class TrialProgress {
 public:
  TrialProgress(const Terminal& terminal, std::string name, uint64_t tasks)
      : status_(terminal), name_(std::move(name)), tasks_(tasks) {}
  void operator()(uint64_t ended) {
    const auto spent = std::chrono::steady_clock::now() - begin_;
    if (spent < std::chrono::seconds(2)) return;
    status_.show("simulating " + name_ + ": " + std::to_string(ended * 100 / tasks_) + " %");
  }

 private:
  StatusLine status_;
  const std::string name_;
  const uint64_t tasks_;
  const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

Result<NamedRun> run_trial(const Session& session, const simulate::Trace& trace, const Trial& trial,
                           simulate::EngineOptions options) {
  auto state = state_of(trial, trace);
  if (!state) return tl::unexpected(state.error());
  const auto entitled = simulate::entitlements(*state, trace);
  TrialProgress progress(session.terminal, trial.name, trace.tasks());
  options.progress = [&](uint64_t ended) { progress(ended); };
  simulate::Outcome outcome = run_trace(trace, std::move(*state), options);
  const int64_t cores = simulate::cores_milli(trial.nodes);
  simulate::Measures measures = simulate::measure(trace, outcome, cores, entitled);
  return NamedRun{trial.name, trial.nodes.size(), cores, std::move(measures), std::move(outcome)};
}

std::string comparison_table(const Session& session, const std::vector<NamedRun>& runs) {
  std::vector<Column> columns{{.title = "MEASURE"}};
  for (size_t i = 0; i < runs.size(); ++i) {
    const std::string number = runs.size() > 1 ? std::to_string(i + 1) + ": " : "";
    columns.push_back({.title = number + runs[i].name, .align = Align::right});
  }
  std::vector<Row> rows;
  for (const simulate::ReportRow& line : simulate::comparison(runs)) {
    Row row{{line.label}};
    for (const std::string& cell : line.cells) row.push_back({cell});
    rows.push_back(std::move(row));
  }
  return render_table(columns, rows, {.color = session.terminal.color});
}

std::string namespace_table(const Session& session, const std::vector<NamedRun>& runs) {
  std::vector<Column> columns{{.title = "NAMESPACE"},
                              {.title = "BY WEIGHT", .align = Align::right}};
  for (size_t i = 0; i < runs.size(); ++i) {
    const std::string number = runs.size() > 1 ? " " + std::to_string(i + 1) : "";
    for (const char* title : {"USED", "WAIT P95", "GOT"})
      columns.push_back({.title = title + number, .align = Align::right});
  }
  std::vector<Row> rows;
  for (const simulate::NamespaceReport& line : simulate::by_namespace(runs)) {
    Row row{{line.name}, {line.entitled}};
    for (const std::string& cell : line.cells) row.push_back({cell});
    rows.push_back(std::move(row));
  }
  return render_table(columns, rows, {.color = session.terminal.color});
}

Result<int> simulate_trace(Session& session, const SimulateFlags& flags) {
  auto options = engine_options(flags);
  if (!options) return tl::unexpected(options.error());
  if (auto ok = check_plots(flags.plots); !ok) return tl::unexpected(ok.error());
  const auto trace = trace_of(session, flags);
  if (!trace) return tl::unexpected(trace.error());
  if (flags.round.empty()) options->round = simulate::round_for(*trace);
  const auto trials = trials_of(flags, *trace);
  if (!trials) return tl::unexpected(trials.error());
  std::vector<NamedRun> runs;
  for (const Trial& trial : *trials) {
    auto run = run_trial(session, *trace, trial, *options);
    if (!run) return tl::unexpected(run.error());
    runs.push_back(std::move(*run));
  }
  const auto document = Json::parse(simulate::report_json(*trace, runs));
  if (!document) return tl::unexpected(document.error());
  print_one(session, *document, "file", [&] {
    return comparison_table(session, runs) + "\n" + namespace_table(session, runs);
  });
  for (const std::string& line : simulate::remarks(*trace, runs)) session.say(line);
  if (flags.plots.empty()) return kExitOk;
  const auto written = simulate::write_plots(flags.plots, *trace, runs);
  if (!written) return tl::unexpected(written.error());
  for (const std::string& path : *written) session.say("wrote " + path);
  return kExitOk;
}

struct GenerateFlags {
  simulate::GenerateOptions options;
  std::string load = "0.9";
  std::string interactive = "0";
  std::string opportunistic = "0";
};

// To a thousandth.
Result<uint64_t> part_flag(const char* flag, const std::string& text, int64_t low, int64_t high) {
  const auto milli = parse_milli(text);
  if (milli && *milli >= low && *milli <= high && !text.ends_with('m'))
    return static_cast<uint64_t>(*milli);
  return fail(ErrorCode::invalid, std::string(flag) + " is " + text + "; it must be between " +
                                      format_milli(low) + " and " + format_milli(high) +
                                      ", in steps of 0.001");
}

Result<int> generate_trace(Session& session, GenerateFlags flags) {
  const auto load = part_flag("--load", flags.load, 1, 10'000);
  if (!load) return tl::unexpected(load.error());
  const auto interactive = part_flag("--interactive", flags.interactive, 0, 1000);
  if (!interactive) return tl::unexpected(interactive.error());
  const auto opportunistic = part_flag("--opportunistic", flags.opportunistic, 0, 1000);
  if (!opportunistic) return tl::unexpected(opportunistic.error());
  flags.options.load_permille = *load;
  flags.options.interactive_permille = *interactive;
  flags.options.opportunistic_permille = *opportunistic;
  const auto trace = simulate::generate(flags.options);
  if (!trace) return tl::unexpected(trace.error());
  simulate::write_swf(*trace, simulate::command_of(flags.options), session.out);
  session.out.flush();
  if (!session.out) return fail(ErrorCode::unavailable, "cannot write the trace");
  return kExitOk;
}

// What the generator cannot even look at: CLI11 alone would say that it cannot convert it.
CLI::Validator whole_from(int64_t low) {
  return CLI::Validator(
      [low](const std::string& text) {
        const auto number = parse_int(text);
        if (number && *number >= 0 && *number <= UINT32_MAX) return std::string();
        return quote(text) + " is not a whole number of at least " + std::to_string(low) +
               (number && *number > 0 ? " that is small enough" : "");
      },
      "", "whole");
}

void add_generate_verb(Verbs& verbs, CLI::App* parent) {
  auto flags = std::make_shared<GenerateFlags>();
  CLI::App* verb = verbs.add(
      parent, "generate", "Write a realistic trace: rhythm of the day, few long jobs, many short",
      "atoll simulate generate > month.swf\n"
      "atoll simulate generate --days 7 --jobs 20000 --nodes 20 --load 1.1 --seed 3 > busy.swf",
      [flags](Session& session) { return generate_trace(session, *flags); });
  simulate::GenerateOptions& options = flags->options;
  verb->add_option("--days", options.days, "How long (30)")->check(whole_from(1))->type_name("N");
  verb->add_option("--jobs", options.jobs, "How many jobs (100000)")
      ->check(whole_from(1))
      ->type_name("N");
  verb->add_option("--nodes", options.nodes, "Nodes of the machine (100)")
      ->check(whole_from(1))
      ->type_name("N");
  verb->add_option("--cores", options.cores, "Cores of each node (32)")
      ->check(whole_from(1))
      ->type_name("N");
  verb->add_option("--users", options.users, "People who submit (200)")
      ->check(whole_from(1))
      ->type_name("N");
  verb->add_option("--groups", options.groups, "Groups they belong to (8)")
      ->check(whole_from(1))
      ->type_name("N");
  verb->add_option("--load", flags->load, "Part of all cores that the work needs (0.9)")
      ->type_name("PART");
  verb->add_option("--interactive", flags->interactive,
                   "Part of the sessions that are interactive: queue 0 (0)")
      ->type_name("PART");
  verb->add_option("--opportunistic", flags->opportunistic,
                   "Part of the sessions that yield to others: queue 2 (0)")
      ->type_name("PART");
  verb->add_option("--seed", options.seed, "The same seed gives the same trace (1)")
      ->check(whole_from(0))
      ->type_name("N");
}

}  // namespace

void add_simulate_verbs(Verbs& verbs) {
  auto flags = std::make_shared<SimulateFlags>();
  CLI::App* verb = verbs.add(
      nullptr, "simulate", "Try policies on a trace of work and compare what they come to",
      "atoll simulate generate > month.swf\n"
      "atoll simulate --trace month.swf --config now.yaml --config new.yaml\n"
      "atoll simulate --trace month.swf --config new.yaml -o json --plots plots\n"
      "atoll simulate export > past.jsonl && atoll simulate --trace past.jsonl --config new.yaml",
      [flags](Session& session) { return simulate_trace(session, *flags); });
  verb->add_option(
          "--trace", flags->trace,
          "Standard Workload Format, or what `atoll simulate export` writes; - is standard "
          "input")
      ->type_name("FILE");
  verb->add_option("--config", flags->configs,
                   "A platform file with policy, cohorts, namespaces, nodes; may be repeated "
                   "(without one: the defaults)")
      ->type_name("FILE")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  verb->add_option("--tiers", flags->tiers,
                   "Tiers of the trace's queues, such as 0=interactive,2=opportunistic")
      ->type_name("QUEUE=TIER,…");
  verb->add_option("--round", flags->round,
                   "Least time between two rounds of scheduling (10s for a month, less for less)")
      ->type_name("TIME");
  verb->add_option("--checkpoint", flags->checkpoint,
                   "What a task takes to save its work when it must yield (10s)")
      ->type_name("TIME");
  verb->add_flag("--skip-broken", flags->skip_broken,
                 "Leave out lines of the trace that make no sense, and say how many");
  verb->add_option("--plots", flags->plots, "Write SVG pictures into this directory")
      ->type_name("DIR");
  add_generate_verb(verbs, verb);
  add_simulate_export_verb(verbs, verb);
}

}  // namespace atl::cli
