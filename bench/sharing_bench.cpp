// How our policy shares a machine, against first come first served without and with EASY backfill:
// the same generated trace, the same nodes, waits and utilisation side by side.
#include <sys/resource.h>

#include <chrono>
#include <cstdio>
#include <string>

#include "bench/yardsticks.h"
#include "simulate/generate.h"
#include "simulate/measures.h"

namespace atl {
namespace {

using simulate::Measures;

struct Run {
  std::string name;
  Measures measures;
  double seconds = 0;
  uint64_t rounds = 0;
};

void print(const std::vector<Run>& runs, const char* what, const char* format, auto value) {
  std::printf("%-38s", what);
  for (const Run& run : runs) {
    char text[32];
    std::snprintf(text, sizeof text, format, value(run.measures));
    std::printf(" %14s", text);
  }
  std::printf("\n");
}

// The trace on its own machine, with nothing set: everybody counts the same.
struct Stage {
  explicit Stage(const simulate::GenerateOptions& options)
      : trace(*simulate::generate(options)), nodes(*simulate::nodes_for({}, trace)) {
    std::printf("%s\n", simulate::command_of(options).c_str());
  }
  core::State state() const { return *simulate::build_state({}, "defaults", nodes, trace); }

  const simulate::Trace trace;
  const simulate::Nodes nodes;
};

template <class Fn>
Run timed(const std::string& name, const Stage& stage, Fn fn) {
  const auto begin = std::chrono::steady_clock::now();
  const simulate::Outcome outcome = fn();
  const double spent =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  const auto entitled = simulate::entitlements(stage.state(), stage.trace);
  return {name,
          simulate::measure(stage.trace, outcome, simulate::cores_milli(stage.nodes), entitled),
          spent, outcome.rounds};
}

Run ours(const Stage& stage, Duration round) {
  return timed("atoll", stage,
               [&] { return simulate::run_trace(stage.trace, stage.state(), {.round = round}); });
}

void print_measures(const std::vector<Run>& runs) {
  std::printf("%-38s", "");
  for (const Run& run : runs) std::printf(" %14s", run.name.c_str());
  std::printf("\n");
  print(runs, "utilisation, steady part", "%.4f", [](const Measures& m) { return m.steady; });
  print(runs, "utilisation, whole", "%.4f", [](const Measures& m) { return m.utilisation; });
  print(runs, "wait, mean [s]", "%.0f", [](const Measures& m) { return m.all.mean; });
  print(runs, "wait, median [s]", "%.0f", [](const Measures& m) { return m.all.median; });
  print(runs, "wait, p95 [s]", "%.0f", [](const Measures& m) { return m.all.p95; });
  for (size_t i = 0; i < 4; ++i) {
    const std::string what = "wait, p95, quarter " + std::to_string(i + 1) + " by work [s]";
    print(runs, what.c_str(), "%.0f", [i](const Measures& m) { return m.quarters[i].p95; });
  }
  print(runs, "bounded slowdown, mean", "%.2f", [](const Measures& m) { return m.all.slowdown; });
  print(runs, "fairness (Jain)", "%.3f", [](const Measures& m) { return m.fairness; });
  print(runs, "got of its due, worst namespace", "%.3f", [](const Measures& m) { return m.worst; });
  std::printf("%-38s", "spent [s]");
  for (const Run& run : runs) std::printf(" %14.1f", run.seconds);
  std::printf("\n");
}

void compare(const simulate::GenerateOptions& options) {
  const Stage stage(options);
  const std::vector<Run> runs{
      timed("fcfs", stage,
            [&] { return run_yardstick(stage.trace, stage.nodes, bench::Backfill::none); }),
      timed("easy", stage,
            [&] { return run_yardstick(stage.trace, stage.nodes, bench::Backfill::easy); }),
      ours(stage, seconds(10))};
  print_measures(runs);
  const Measures& easy = runs[1].measures;
  const Measures& atoll = runs[2].measures;
  std::printf("%-38s %14.3f x       bar >= 0.98\n", "utilisation, atoll / easy",
              atoll.steady / easy.steady);
  std::printf("%-38s %14.3f x       bar <= 0.70\n\n", "p95 of the smallest quarter, atoll / easy",
              atoll.quarters[0].p95 / easy.quarters[0].p95);
  std::fflush(stdout);
}

// A month, a thousand nodes, a million jobs.
void race(Duration round) {
  simulate::GenerateOptions options;
  options.jobs = 1'000'000;
  options.nodes = 1000;
  const Stage stage(options);
  const Run run = ours(stage, round);
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  std::printf("rounds at least %s apart: %lu rounds, wait mean %.0f s, median %.0f s\n",
              format_duration(round).c_str(), run.rounds, run.measures.all.mean,
              run.measures.all.median);
  std::printf("%-38s %14.1f s       bar <= 60\n", "spent", run.seconds);
  std::printf("%-38s %14ld s\n", "processor time", used.ru_utime.tv_sec + used.ru_stime.tv_sec);
  std::printf("%-38s %14ld MiB     bar <= 1024\n", "most memory", used.ru_maxrss / 1024);
}

uint64_t argument(int argc, char** argv, int at, uint64_t otherwise) {
  return argc > at ? std::stoull(argv[at]) : otherwise;
}

}  // namespace
}  // namespace atl

// sharing_bench: the comparison, then the million. sharing_bench JOBS [NODES [DAYS [LOAD_PERMILLE
// [SEED]]]]: only the comparison. sharing_bench race [ROUND_SECONDS]: only the million.
int main(int argc, char** argv) {
  using namespace atl;
  if (argc > 1 && std::string(argv[1]) == "race") {
    race(seconds(static_cast<int64_t>(argument(argc, argv, 2, 60))));
    return 0;
  }
  simulate::GenerateOptions options;
  options.jobs = argument(argc, argv, 1, 100'000);
  options.nodes = static_cast<uint32_t>(argument(argc, argv, 2, 100));
  options.days = static_cast<uint32_t>(argument(argc, argv, 3, 30));
  options.load_permille = argument(argc, argv, 4, 900);
  options.seed = argument(argc, argv, 5, 1);
  compare(options);
  if (argc == 1) race(seconds(60));
  return 0;
}
