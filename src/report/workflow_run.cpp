#include "report/workflow_run.h"

#include <algorithm>

namespace atl::report {
namespace {

constexpr std::array<std::string_view, kStepStates> kWords{
    "waiting", "ready",     "queued",  "running", "succeeded",
    "failed",  "cancelled", "skipped", "blocked",
};
constexpr std::array<std::string_view, kStepStates> kMarks{
    "·", "○", "◔", "▶", "✓", "✗", "■", "»", "⊘",
};
constexpr std::array<std::string_view, kStepStates> kAsciiMarks{
    ".", "o", "q", ">", "+", "X", "#", "-", "!",
};

Duration between(Time from, Time to) { return from && to && to > from ? to - from : Duration{}; }

}  // namespace

std::string_view word(StepState state) { return kWords[static_cast<size_t>(state)]; }

std::string_view mark(StepState state, bool ascii) {
  return (ascii ? kAsciiMarks : kMarks)[static_cast<size_t>(state)];
}

bool ended(StepState state) { return state >= StepState::succeeded; }

Spans spans_of(const StepRun& step, const WorkflowRun& run) {
  const Time begin = run.started ? run.started : run.submitted;
  const Time end = step.ended ? step.ended : ended(step.state) ? Time{} : run.as_of;
  const Time ready = step.ready ? step.ready : step.submitted;
  Spans spans;
  spans.waited = between(begin, ready ? ready : end);
  spans.queued = between(ready, step.started ? step.started : end);
  spans.ran = between(step.started, end);
  return spans;
}

Tally tally_of(const WorkflowRun& run) {
  Tally tally{};
  for (const StepRun& step : run.steps) ++tally[static_cast<size_t>(step.state)];
  return tally;
}

std::string describe(const Tally& tally) {
  std::string out;
  for (const StepState state : kAllStates) {
    const uint64_t count = tally[static_cast<size_t>(state)];
    if (count == 0) continue;
    if (!out.empty()) out += ", ";
    (out += std::to_string(count) + " ") += word(state);
  }
  return out;
}

}  // namespace atl::report
