// Runs a trace through the very core that the server runs: its events are applied as they come, on
// nodes that only exist in its state, by a clock that jumps from one happening to the next. Nothing
// is journaled and nothing but a few numbers of each task is kept.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "simulate/curve.h"
#include "simulate/platform.h"
#include "simulate/trace.h"

namespace atl::simulate {

struct EngineOptions {
  // The least time between two rounds of scheduling. A busy server takes many reports in one turn;
  // zero has a round after each.
  Duration round = seconds(10);
  // How long a task takes to save its work when it is told to yield. When that is longer than its
  // grace it loses what it has done since it began.
  Duration checkpoint = seconds(10);
  // Told now and then how many of the trace's tasks have ended; may be absent.
  std::function<void(uint64_t ended)> progress;
};

// The rounds' distance that fits the trace: as many of them as a month has every ten seconds, so
// that a short trace is more exact and none takes longer. At most ten seconds.
Duration round_for(const Trace& trace);

// Times are since the trace began; negative: it never came to that.
struct TaskRecord {
  Duration started{-1};
  Duration ended{-1};
  Duration lost;  // work that was done in vain
  uint32_t evictions = 0;
};

struct Outcome {
  std::vector<TaskRecord> tasks;     // of all jobs, one after the other
  std::vector<uint32_t> first_task;  // of each job, in `tasks`
  std::vector<bool> kept_out;        // of each job: too large, or refused
  Curve curve;
  Duration end;            // when nothing more happened
  uint64_t too_large = 0;  // jobs that the nodes could never hold
  uint64_t refused = 0;    // jobs that the core kept out, such as by a quota of queued jobs
  std::map<std::string, uint64_t> left_out;  // how many of both, by why
  uint64_t spread = 0;                       // jobs wider than a node, that ran as gangs
  uint64_t rounds = 0;
};

// The part of the trace's time that counts as steady: without its first and its last tenth.
struct Steady {
  Duration from, to;
};
Steady steady_part(const Trace& trace);

// For whatever runs a trace: everything of it before anything has happened.
Outcome empty_outcome(const Trace& trace);

// The state is one that build_state made for this trace.
Outcome run_trace(const Trace& trace, core::State state, const EngineOptions& options);

inline constexpr size_t kReasonsMax = 20;  // to leave jobs out that are told apart

}  // namespace atl::simulate
