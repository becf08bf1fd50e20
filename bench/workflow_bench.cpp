// What a workflow costs before anything runs: a file of 100,000 steps is read and planned, and its
// steps are gone through in memory. There is no peer here: the bars are the issue's.
#include <sys/resource.h>

#include <chrono>
#include <cstdio>
#include <functional>
#include <string>

#include "core/workflow/graph.h"
#include "spec/workflow/plan.h"

namespace atl {
namespace {

constexpr int kSteps = 100'000;

std::string file_of(int steps) {
  std::string text = "params:\n  year: 2017\nsteps:\n  step0:\n    run: echo {params.year}\n";
  for (int i = 1; i < steps; ++i) {
    const std::string n = std::to_string(i);
    text += "  step" + n + ":\n    run: echo " + n + " > out" + n + ".txt\n    needs: [step" +
            std::to_string(i / 2) + "]\n    resources: {cpus: 1, memory: 1Gi}\n";
  }
  return text;
}

double seconds_of(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

long peak_mib() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss / 1024;
}

void go_through(const spec::WorkflowPlan& plan) {
  using namespace core::workflow;
  std::vector<std::vector<Need>> needs;
  for (const spec::PlannedStep& step : plan.steps) {
    auto& own = needs.emplace_back();
    for (const spec::PlannedNeed& need : step.needs)
      own.push_back({need.step, need.can_fail, need.can_skip});
  }
  const Graph graph(needs);
  Steps steps = begin(graph);
  while (!steps.ready.empty()) {
    const uint32_t step = *steps.ready.begin();
    advance(graph, steps, step, StepState::started);
    advance(graph, steps, step, StepState::succeeded);
  }
}

int measure() {
  const std::string text = file_of(kSteps);
  std::printf("%d steps, %.1f MB\n", kSteps, static_cast<double>(text.size()) / 1e6);
  Result<spec::WorkflowFile> file = spec::WorkflowFile{};
  Result<spec::WorkflowPlan> plan = spec::WorkflowPlan{};
  std::printf("  read and checked    %6.2f s   bar < 1\n",
              seconds_of([&] { file = spec::parse_workflow(text, "bench.yaml"); }));
  if (!file) {
    std::printf("%s\n", file.error().message.c_str());
    return 1;
  }
  std::printf("  planned             %6.2f s\n",
              seconds_of([&] { plan = spec::plan_workflow(*file, {}); }));
  std::printf("  gone through        %6.2f s\n", seconds_of([&] { go_through(*plan); }));
  std::printf("  memory, at most     %6ld MiB\n", peak_mib());
  return 0;
}

}  // namespace
}  // namespace atl

int main() { return atl::measure(); }
