// What a workflow costs before anything runs: a file of 100,000 steps is read and planned, and its
// steps are gone through in memory. There is no peer here: the bars are the issue's.
#include <sys/resource.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>

#include "core/workflow/workflow.h"
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

// As the core does it, without jobs: each step begins and ends in its turn.
void go_through(core::Workflow& flow) {
  while (!flow.ready.empty()) {
    const uint32_t step = *flow.ready.begin();
    core::workflow::advance(flow, step, core::StepState::running);
    core::workflow::advance(flow, step, core::StepState::succeeded);
  }
}

core::Workflow made_of(const spec::WorkflowPlan& plan) {
  core::Workflow flow;
  spec::StepMaker maker;
  for (const spec::PlannedStep& step : plan.steps) {
    spec::StepsBatch batch;
    if (!maker.add(step, batch)) std::abort();
    core::workflow::add_step(flow, batch.steps.front());
  }
  return flow;
}

// A graph of a million steps, in the form that the API hands to the core.
void measure_million() {
  constexpr uint32_t kMany = 1'000'000;
  core::Workflow flow;
  std::printf("%u steps, each behind two others\n", kMany);
  std::printf("  added to the state  %6.2f s   bar < 5\n", seconds_of([&] {
                for (uint32_t i = 0; i < kMany; ++i) {
                  core::NewStep step;
                  step.name = "step" + std::to_string(i);
                  if (i > 1) step.needs = {{i / 2}, {i - 1}};
                  core::workflow::add_step(flow, step);
                }
              }));
  std::printf("  gone through        %6.2f s\n", seconds_of([&] { go_through(flow); }));
  std::printf("  one more added      %6.2f us\n", 1e6 * seconds_of([&] {
                core::NewStep step;
                step.name = "late";
                step.needs = {{kMany - 1}};
                core::workflow::add_step(flow, step);
              }));
  std::printf("  memory, at most     %6ld MiB  bar < 1024\n", peak_mib());
  const auto file = spec::parse_workflow(
      "steps:\n  all: {run: 'echo {item}', for_each: {range: 1-1000000}}\n", "bench.yaml");
  std::printf("a step that goes through a million items\n");
  std::printf("  planned             %6.2f s   bar < 5\n", seconds_of([&] {
                const auto plan = spec::plan_workflow(*file);
                spec::StepMaker maker;
                spec::StepsBatch batch;
                if (!plan || !maker.add(plan->steps.front(), batch)) std::abort();
              }));
  std::printf("  memory, at most     %6ld MiB  bar < 1024\n", peak_mib());
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
              seconds_of([&] { plan = spec::plan_workflow(*file); }));
  core::Workflow flow;
  std::printf("  made for the core   %6.2f s\n", seconds_of([&] { flow = made_of(*plan); }));
  std::printf("  gone through        %6.2f s\n", seconds_of([&] { go_through(flow); }));
  std::printf("  memory, at most     %6ld MiB\n", peak_mib());
  plan = spec::WorkflowPlan{};
  file = spec::WorkflowFile{};
  flow = {};
  measure_million();
  return 0;
}

}  // namespace
}  // namespace atl

int main() { return atl::measure(); }
