// A trace: who submitted what when, and how long it ran. Read from the Standard Workload Format
// (https://www.cs.huji.ac.il/labs/parallel/workload/swf.html) or from our own history, one JSON
// object a line as `atoll simulate export` and `atoll ps -o jsonl` print them.
// docs/guides/simulate.md says what of each is used.
#pragma once

#include <iosfwd>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "core/types.h"

namespace atl::simulate {

// What few jobs ask for, held once for all that ask for the same.
struct Wishes {
  std::vector<core::DeviceRequest> devices;  // of each task
  Duration grace = core::Terms{}.grace;
  int32_t priority = 0;
  uint32_t parallel_max = 0;
  uint32_t gang = 0;
  auto operator<=>(const Wishes&) const = default;
};

// A million of them are held at once, so they are small: names and wishes are indices.
struct TraceJob {
  Duration submit;           // after the trace's begin
  Duration run;              // of each task, if nothing disturbs it and `runs` says nothing else
  Duration wall;             // zero: not limited; with the grace never less than any run
  int64_t memory_bytes = 0;  // of each task
  uint32_t cpu_milli = 0;    // of each task
  uint32_t user = 0;         // of Trace::users
  uint32_t tasks = 1;
  uint32_t runs = 0;    // of Trace::runs, one for each task; zero: all run alike
  uint16_t ns = 0;      // of Trace::namespaces
  uint16_t wishes = 0;  // of Trace::wishes
  core::Tier tier = core::Tier::batch;
  bool operator==(const TraceJob&) const = default;
};

struct Trace {
  std::string name;            // of the file
  Time begin;                  // of the first day; never zero
  std::vector<TraceJob> jobs;  // by when they were submitted
  std::vector<std::string> users;
  std::vector<std::string> namespaces;
  std::vector<Wishes> wishes{{}};  // the first: none
  std::vector<Duration> runs{{}};  // of tasks that do not run alike; the first: nobody's
  // Whether a job is so many processors wherever they are, and not a task on one node.
  bool spreads = false;

  // What our own history says of the machine.
  std::vector<core::NodeCapacity> machine;
  // What the header says of it; zero: nothing.
  uint32_t nodes = 0;
  uint32_t processors = 0;
  std::set<int64_t> queues;  // that its jobs are in, as the Standard Workload Format numbers them

  // Jobs that cannot be run again: they never ran, or nobody knows for how long.
  uint64_t without_run = 0;
  uint64_t broken = 0;  // lines that were skipped
  std::string first_broken;

  uint64_t tasks() const;
  Duration run_of(const TraceJob& job, uint32_t task) const {
    return job.runs == 0 ? job.run : runs[job.runs + task];
  }
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

// In a sentence, which of the tiers say nothing of the trace; empty when all do.
std::string tiers_without_jobs(const Trace& trace, const std::map<int64_t, core::Tier>& tiers);

inline constexpr uint64_t kTraceTasksMax = 100'000'000;  // one record of 32 bytes each
inline constexpr size_t kTraceLineMax = 1 << 28;  // ten million run times of an array, and to spare

}  // namespace atl::simulate
