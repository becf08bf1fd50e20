#include "report/test_runs.h"

#include <algorithm>

namespace atl::report {

WorkflowRun run_of(const std::vector<std::pair<std::string, std::vector<uint32_t>>>& steps) {
  WorkflowRun run;
  run.id = "w7";
  run.name = "example";
  run.namespace_name = "lab";
  run.user = "ada";
  run.state = "ended";
  run.outcome = "succeeded";
  run.submitted = kBegin;
  run.started = kBegin + seconds(1);
  run.version = 3;
  run.version_sha256 = std::string(64, 'a');
  run.server_version = "0.5.0";
  run.files = {{"workflow.yaml", "steps:\n  a: {run: echo}\n"}};
  run.ended = run.started;
  for (const auto& [name, needs] : steps) {
    StepRun step;
    step.name = name;
    step.state = StepState::succeeded;
    step.ready = run.started;
    for (const uint32_t need : needs) {
      step.needs.push_back({need, false, false});
      if (need < run.steps.size()) step.ready = std::max(step.ready, run.steps[need].ended);
    }
    step.submitted = step.ready;
    step.started = step.ready + seconds(2);
    step.ended = step.started + minutes(1);
    step.exit_code = 0;
    step.attempts = 1;
    step.cpu_milli = 1000;
    step.memory_bytes = int64_t{1} << 30;
    run.ended = std::max(run.ended, step.ended);
    run.steps.push_back(std::move(step));
  }
  run.as_of = run.ended;
  return run;
}

WorkflowRun connect_run() {
  WorkflowRun run = run_of(
      {{"download", {}}, {"train", {0}}, {"infer", {0, 1}}, {"analyse", {2}}, {"plot", {2}}});
  run.name = "connect";
  run.outcome = "failed";
  run.message = "step plot failed: exit code 1";
  run.params = {{"threshold", "250"}, {"years", "1980-2018"}};
  run.environment = {{"host", "nautilus-1"}, {"kernel", "6.1.0"}};
  const auto set = [&](size_t i, int64_t cpus, uint32_t gpus, double gib, int64_t mins) {
    StepRun& step = run.steps[i];
    step.ready = i == 0 ? run.started : run.steps[step.needs.back().step].ended;
    step.submitted = step.ready;
    step.started = step.ready + seconds(40);
    step.ended = step.started + minutes(mins);
    step.cpu_milli = cpus * 1000;
    step.gpus = gpus;
    step.memory_bytes = static_cast<int64_t>(gib * (1 << 30));
    step.memory_peak = step.memory_bytes * 8 / 10;
    step.cpu_seconds = static_cast<double>(mins * 60 * cpus) * 0.7;
    step.site = "local";
    step.node = "node-" + std::to_string(i);
    step.job = std::to_string(100 + i);
    run.ended = std::max(run.ended, step.ended);
  };
  set(0, 42, 0, 225, 37);
  set(1, 1, 1, 14.8, 306);
  set(2, 50, 50, 600, 1133);
  set(3, 1, 0, 12, 12);
  set(4, 1, 0, 2, 1);
  run.as_of = run.ended;
  run.steps[0].tasks = 14;
  run.steps[0].bytes_read = 246'000'000'000;
  run.steps[0].bytes_written = 246'000'000'000;
  run.steps[0].outputs = {{"files", "112249", "", -1, "", {}},
                          {"list", "", "out/list.txt", 12, std::string(64, 'b'), "a.nc\nb.nc\n"}};
  run.steps[1].energy_joules = 3.1e6;
  run.steps[2].energy_joules = 8.2e8;
  run.steps[2].checks = {{"objects found", true, ""}, {"wraps around", false, "3 objects are cut"}};
  run.steps[2].outputs = {
      {"segments", "", "/data/seg.npz", 2'300'000'000, std::string(64, 'c'), {}}};
  run.steps[4].state = StepState::failed;
  run.steps[4].reason = "exit code 1";
  run.steps[4].exit_code = 1;
  run.steps[4].log_end_err =
      "\x1b[31mTraceback\x1b[0m\n  File \"plot.py\", line 3\nKeyError: 'ivt'\n";
  run.steps[4].command = "python3 plot.py --in seg.npz";
  return run;
}

WorkflowRun hostile_run() {
  const std::string evil = "\"><script>alert('x')</script><img src=x onerror=alert(1)>";
  const std::string bytes =
      "\xff\xfe\xc0\xaf \x1b[2J\x07 \xe2\x80\xae]]> --> */ \\N \\\" {} ${HOME} `id`";
  WorkflowRun run = run_of({{evil, {}}, {bytes, {0}}, {"../../etc/passwd", {0, 1, 7, 2}}});
  run.name = run.user = run.namespace_name = run.message = run.license = evil + bytes;
  run.id = "w9";
  run.outcome = "failed";
  run.params = {{evil, bytes}, {"--set", "a'b\nc"}};
  run.environment = run.params;
  run.files = {{"../../../" + evil, bytes + "</pre>" + evil},
               {"/etc/cron.d/x", ""},
               {"..", "dots"},
               {"", ""}};
  for (StepRun& step : run.steps) {
    step.reason = step.command = step.site = step.node = step.job = evil + bytes;
    step.label = evil + "\n" + bytes;
    step.color = "red\" onload=\"alert(1)";
    step.shape = "box\"]; evil [";
    step.log_end_out = std::string(1 << 20, '\xfe') + evil;
    step.log_end_err = "50%\r100%\n\x1b]0;title\x07\x1b[31mred\x1b[0m\n" + evil;
    step.outputs = {{evil, bytes, "", -1, "", {}},
                    {evil, "", "../../" + evil, 3, evil, "abc"},
                    {evil, "", "../../" + evil, 3, evil, "abd"},
                    {evil, "", "C:\\windows\\x", 3, evil, {}}};
    step.checks = {{evil, false, bytes}};
  }
  return run;
}

WorkflowRun fan_out(uint32_t width) {
  std::vector<std::pair<std::string, std::vector<uint32_t>>> steps{{"split", {}}};
  std::vector<uint32_t> all;
  for (uint32_t i = 0; i < width; ++i) {
    steps.push_back({"work[" + std::to_string(i) + "]", {0}});
    all.push_back(i + 1);
  }
  steps.push_back({"join", all});
  return run_of(steps);
}

}  // namespace atl::report
