// How our policy shares a machine, against first come first served without and with EASY backfill:
// the same generated trace, the same nodes, waits and utilisation side by side.
#include <sys/resource.h>

#include <chrono>
#include <cstdio>
#include <fstream>
#include <string>

#include "base/check.h"
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

template <class Fn>
Run timed(const std::string& name, const simulate::Trace& trace, const simulate::Nodes& nodes,
          const std::vector<double>& entitled, Fn fn) {
  const auto begin = std::chrono::steady_clock::now();
  const simulate::Outcome outcome = fn();
  const double spent =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return {name, simulate::measure(trace, outcome, simulate::cores_milli(nodes), entitled), spent,
          outcome.rounds};
}

void print(const std::vector<Run>& runs, const char* what, const char* format, auto value) {
  std::printf("%-38s", what);
  for (const Run& run : runs) {
    char text[32];
    std::snprintf(text, sizeof text, format, value(run.measures));
    std::printf(" %14s", text);
  }
  std::printf("\n");
}

void compare(const simulate::GenerateOptions& options, bool yardsticks) {
  const auto trace = simulate::generate(options);
  CHECK(trace.has_value(), trace.error().message);
  const spec::PlatformFile file;
  const auto nodes = simulate::nodes_for(file, *trace);
  auto state = simulate::build_state(file, "defaults", *nodes, *trace);
  CHECK(state.has_value(), state.error().message);
  const auto entitled = simulate::entitlements(*state, *trace);
  std::printf("%s\n", simulate::command_of(options).c_str());

  std::vector<Run> runs;
  if (yardsticks) {
    runs.push_back(timed("fcfs", *trace, *nodes, entitled, [&] {
      return bench::run_yardstick(*trace, *nodes, bench::Backfill::none);
    }));
    runs.push_back(timed("easy", *trace, *nodes, entitled, [&] {
      return bench::run_yardstick(*trace, *nodes, bench::Backfill::easy);
    }));
  }
  runs.push_back(timed("atoll", *trace, *nodes, entitled,
                       [&] { return simulate::run_trace(*trace, *nodes, std::move(*state), {}); }));

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
  print(runs, "got of what was due, worst namespace", "%.2f",
        [](const Measures& m) { return m.worst; });
  std::printf("%-38s", "spent [s]");
  for (const Run& run : runs) std::printf(" %14.1f", run.seconds);
  std::printf("\n%-38s", "rounds");
  for (const Run& run : runs) std::printf(" %14lu", run.rounds);
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  std::printf("\n%-38s %14ld MiB\n", "most memory", used.ru_maxrss / 1024);
  if (yardsticks) {
    const Measures& easy = runs[1].measures;
    const Measures& ours = runs[2].measures;
    std::printf("%-38s %14.3f x        bar >= 0.98\n", "utilisation, atoll / easy",
                ours.steady / easy.steady);
    std::printf("%-38s %14.3f x        bar <= 0.70\n", "p95 wait of the smallest quarter",
                ours.quarters[0].p95 / easy.quarters[0].p95);
  }
  std::fflush(stdout);
}

uint64_t argument(int argc, char** argv, int at, uint64_t otherwise) {
  return argc > at ? std::stoull(argv[at]) : otherwise;
}

}  // namespace
}  // namespace atl

// sharing_bench [JOBS [NODES [DAYS [LOAD_PERMILLE [SEED]]]]]
int main(int argc, char** argv) {
  using namespace atl;
  simulate::GenerateOptions options;
  options.jobs = argument(argc, argv, 1, 100'000);
  options.nodes = static_cast<uint32_t>(argument(argc, argv, 2, 100));
  options.days = static_cast<uint32_t>(argument(argc, argv, 3, 30));
  options.load_permille = argument(argc, argv, 4, 900);
  options.seed = argument(argc, argv, 5, 1);
  compare(options, true);
  return 0;
}
