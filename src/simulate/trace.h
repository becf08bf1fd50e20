// A trace: who submitted what when, and how long it ran. Read from the Standard Workload Format
// (https://www.cs.huji.ac.il/labs/parallel/workload/swf.html) or from our own history, one JSON
// object a line as `atoll ps --all --limit 0 -o jsonl` prints them. docs/guides/simulate.md says
// what of each is used.
#pragma once

#include <iosfwd>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "core/types.h"

namespace atl::simulate {

// A million of them are held at once, so they are small: names and devices are indices.
struct TraceJob {
  Duration submit;           // after the trace's begin
  Duration run;              // of each task, if nothing disturbs it
  Duration wall;             // zero: not limited; never less than `run`
  int64_t memory_bytes = 0;  // of each task
  uint32_t cpu_milli = 0;    // of each task
  uint32_t user = 0;         // of Trace::users
  uint32_t tasks = 1;
  uint16_t ns = 0;       // of Trace::namespaces
  uint16_t devices = 0;  // of Trace::devices
  core::Tier tier = core::Tier::batch;
  bool operator==(const TraceJob&) const = default;
};

struct Trace {
  std::string name;            // of the file
  Time begin;                  // of the first day; never zero
  std::vector<TraceJob> jobs;  // by when they were submitted
  std::vector<std::string> users;
  std::vector<std::string> namespaces;
  std::vector<std::vector<core::DeviceRequest>> devices{{}};  // the first: none

  // What the header says of the machine; zero: nothing.
  uint32_t nodes = 0;
  uint32_t processors = 0;

  // Jobs that cannot be run again: they never ran, or nobody knows for how long.
  uint64_t without_run = 0;
  uint64_t broken = 0;  // lines that were skipped
  std::string first_broken;

  uint64_t tasks() const;
  Duration span() const;  // from the first submission to the last
};

// By submission; those of one instant stay in their order.
void sort_jobs(std::vector<TraceJob>& jobs);

struct ReadOptions {
  bool skip_broken = false;             // count lines that make no sense instead of refusing them
  std::map<int64_t, core::Tier> tiers;  // of the Standard Workload Format's queues; others: batch
};

[[nodiscard]] Result<Trace> read_trace(const std::string& path, const ReadOptions& options);
// "-" in error messages is whatever `name` says.
[[nodiscard]] Result<Trace> read_trace(std::istream& stream, const std::string& name,
                                       const ReadOptions& options);

// "0=interactive,3=opportunistic"
[[nodiscard]] Result<std::map<int64_t, core::Tier>> parse_tiers(const std::string& text);

inline constexpr uint64_t kTraceTasksMax = 100'000'000;  // one record of 32 bytes each
inline constexpr size_t kTraceLineMax = 1 << 16;

}  // namespace atl::simulate
