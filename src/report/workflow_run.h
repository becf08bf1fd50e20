// A run of a workflow as it is drawn, reported and published: plain values that the caller fills
// in from wherever they are. Everything in this room is a pure function of them, may be called on
// any thread, and takes every text as hostile: names, logs and values are escaped where they are
// shown. Only a drawing waits for another program (layout.h).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "core/workflow/workflow.h"

namespace atl::report {

enum class StepState : uint8_t {
  waiting,  // for other steps
  ready,    // for its turn
  queued,   // its job waits for room
  running,
  succeeded,
  failed,
  cancelled,
  skipped,  // its condition did not hold
  blocked,  // what it needs did not succeed
};
inline constexpr size_t kStepStates = 9;
inline constexpr std::array<StepState, kStepStates> kAllStates{
    StepState::failed,  StepState::blocked,   StepState::cancelled,
    StepState::running, StepState::queued,    StepState::ready,
    StepState::waiting, StepState::succeeded, StepState::skipped,
};  // those first that a person should look at first

std::string_view word(StepState state);              // "succeeded"
std::string_view mark(StepState state, bool ascii);  // "✓"; colour is never the only sign
bool ended(StepState state);

struct Parameter {
  std::string name;
  std::string value;
};

// A file of the workflow, as it was when it ran. The first one is the workflow itself.
struct WorkflowFile {
  std::string path;
  std::string text;
};

// What a step left: a value, or a file when `path` is given.
struct StepOutput {
  std::string name;
  std::string value;
  std::string path;
  int64_t size = -1;                 // bytes; -1: not known
  std::string sha256;                // hex; empty: not known
  std::optional<std::string> bytes;  // what is in it, when it should travel in the crate
};

struct StepCheck {
  std::string name;
  bool passed = false;
  std::string message;
};

struct StepRun {
  std::string name;
  StepState state = StepState::waiting;
  std::string reason;  // why it waits, was skipped, or failed: a sentence
  std::vector<core::Need> needs;

  // How it is drawn, when the workflow's file says so; otherwise by name and state.
  std::optional<std::string> label;  // lines
  std::optional<std::string> color;  // a CSS name or #rrggbb; anything else counts for nothing
  std::optional<std::string> shape;  // box, ellipse, circle, diamond or hexagon

  std::string job;  // its id; empty before there is one
  uint64_t tasks = 1;
  uint64_t tasks_succeeded = 0;
  uint64_t tasks_failed = 0;
  uint64_t tasks_cancelled = 0;
  std::optional<int> progress;  // percent
  uint32_t attempts = 0;
  std::optional<int> exit_code;
  std::string site;
  std::string node;

  // Zero where it has not come to it.
  Time ready;      // what it needs has ended
  Time submitted;  // its job is in the queue
  Time started;
  Time ended;

  // What it asked for, of all its tasks that ran at a time.
  int64_t cpu_milli = 0;
  int64_t memory_bytes = 0;
  uint32_t gpus = 0;
  // What it used; nothing where it was not measured.
  std::optional<double> cpu_seconds;
  std::optional<int64_t> memory_peak;
  std::optional<int64_t> bytes_read;
  std::optional<int64_t> bytes_written;
  std::optional<double> energy_joules;

  std::string command;  // the script, or the words of argv
  std::string log_end_out;
  std::string log_end_err;
  std::vector<StepOutput> outputs;
  std::vector<StepCheck> checks;
};

struct WorkflowRun {
  std::string id;
  std::string name;
  std::string namespace_name;
  std::string user;
  std::string state;    // "running", "paused", "ended"
  std::string outcome;  // "succeeded", "failed", "cancelled"; empty while it goes on
  std::string message;  // why, in a sentence
  Time as_of;           // when these values were read; open ends are drawn up to here
  Time submitted;
  Time started;
  Time ended;
  std::vector<Parameter> params;
  uint64_t version = 0;  // of the workflow's file on this server
  std::string version_sha256;
  std::vector<WorkflowFile> files;
  std::string license;  // a URL or a sentence, as the workflow's file says
  std::string server_version;
  std::vector<Parameter> environment;  // host, kernel, site: what is worth knowing of where it ran
  std::vector<StepRun> steps;
};

// How long a step has been in each state, up to now when it has not ended. What it never came to
// is zero.
struct Spans {
  Duration waited;  // for other steps, from the run's start
  Duration queued;  // ready, but not running
  Duration ran;
};
Spans spans_of(const StepRun& step, const WorkflowRun& run);

using Tally = std::array<uint64_t, kStepStates>;
Tally tally_of(const WorkflowRun& run);
std::string describe(const Tally& tally);  // "480 succeeded, 20 failed"

}  // namespace atl::report
