// A job as people write it, in JSON, in flags and in directives, and its way to what the core
// understands.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/input.h"
#include "core/payload.h"
#include "core/state.h"
#include "spec/fields.h"

namespace atl::spec {

struct DeviceSpec {
  Text kind;
  Text model;  // several in order of preference: "a100|v100|any"
  Integer count;
  std::optional<Cpus> share;  // of each device; all of it when nothing is said
  std::optional<Bytes> memory;
  Text slice;
  bool operator==(const DeviceSpec&) const = default;
};

struct RetriesSpec {
  Integer max;
  std::optional<Duration> backoff;
  std::optional<Duration> backoff_max;
  Integers exit_codes;
  Flag on_timeout;
  bool operator==(const RetriesSpec&) const = default;
};

struct AfterSpec {
  Text job;
  Text kind;
  bool operator==(const AfterSpec&) const = default;
};

struct NotifySpec {
  Text webhook;
  Text mail;
  bool operator==(const NotifySpec&) const = default;
};

struct SimulateSpec {
  std::optional<Duration> run_for;
  Integer exit_code;
  Text start_error;
  bool operator==(const SimulateSpec&) const = default;
};

struct JobSpec {
  Text name;
  Text ns;
  Texts command;
  Text script;
  Texts args;
  TextMap env;
  Text directory;
  Text stdin_text;
  Text stdin_file;
  std::optional<Cpus> cpus;
  std::optional<Bytes> memory;
  Text gpus;
  std::optional<std::vector<DeviceSpec>> devices;
  std::optional<Duration> time;
  std::optional<Duration> grace;
  std::optional<RetriesSpec> retries;
  Integer priority;
  Text tier;
  Text array;
  Integer gang;
  std::optional<std::vector<AfterSpec>> after;
  Flag hold;
  Flag keep;
  TextMap labels;
  std::optional<NotifySpec> notify;
  Text isolation;
  Flag network;
  Texts writable;
  Integer processes;
  std::optional<Bytes> log_limit;
  Text venv;
  Text site;
  std::optional<SimulateSpec> simulate;
  TextMap secrets;
  bool operator==(const JobSpec&) const = default;
};

// What may be changed while a job waits.
struct JobChange {
  Text name;
  Integer priority;
  Text tier;
  std::optional<Cpus> cpus;
  std::optional<Bytes> memory;
  Text gpus;
  std::optional<std::vector<DeviceSpec>> devices;
  std::optional<Duration> time;
  Integer parallel_max;
  std::optional<Duration> grace;
  std::optional<RetriesSpec> retries;
  TextMap labels;
  bool operator==(const JobChange&) const = default;
};

template <>
const Shape& shape_of<DeviceSpec>();
template <>
const Shape& shape_of<RetriesSpec>();
template <>
const Shape& shape_of<AfterSpec>();
template <>
const Shape& shape_of<NotifySpec>();
template <>
const Shape& shape_of<SimulateSpec>();
template <>
const Shape& shape_of<JobSpec>();
template <>
const Shape& shape_of<JobChange>();

inline constexpr int64_t kDefaultCpuMilli = 1000;
inline constexpr int64_t kDefaultMemoryBytes =
    int64_t{1} << 30;  // 1Gi: a Python process with numpy fits, a laptop still runs several
inline constexpr int64_t kMemoryBytesMin = 1 << 20;  // less holds no process
inline constexpr int64_t kScriptBytesMax = 4 << 20;
inline constexpr int64_t kTextBytesMax = 128 << 10;  // one argument: the kernel's own limit
inline constexpr int64_t kSiteBytesMax = 1024;       // sixteen names
inline constexpr size_t kPayloadBytesMax = 6 << 20;  // all of a job together
inline constexpr size_t kItemsMax = 10'000;          // of a list or map

// What POST /jobs takes: one job, or {"jobs": […]} with at most kBatchJobsMax of them.
struct JobRequest {
  std::vector<JobSpec> jobs;
  bool batch = false;
};
[[nodiscard]] Result<JobRequest> parse_job_request(std::string_view json);

struct NewJob {
  core::SubmitJob job;  // its payload digest is filled in
  core::Payload payload;
  std::string payload_bytes;
};
// Fills in the defaults and checks what does not need the platform's state; the core checks the
// rest.
[[nodiscard]] Result<NewJob> to_submission(const JobSpec& spec);
[[nodiscard]] Result<core::ChangeJob> to_change(JobId id, const JobChange& change);

// The way back, for showing a job: everything that is known of how it was asked for.
JobSpec describe_job(const core::Job& job, const core::Terms& terms, const core::Payload& payload,
                     const std::string& ns);

// "a100:1", "2", "a100", "gpu:a100:2", "a100:1g.5gb:2", several with commas.
[[nodiscard]] Result<std::vector<DeviceSpec>> parse_gpus(std::string_view text);

// KIND, KIND:MODEL, KIND:2, KIND:MODEL:2; for the number also a share (0.25), memory (10Gi) or a
// slice (1g.5gb), and behind those how many of them.
[[nodiscard]] Result<DeviceSpec> parse_device(std::string_view text);
[[nodiscard]] Result<std::vector<core::DeviceRequest>> device_requests(
    const Text& gpus, const std::optional<std::vector<DeviceSpec>>& devices);
DeviceSpec describe_device(const core::DeviceRequest& request);
// The same as one word: "gpu:a100:2".
std::string device_text(const core::DeviceRequest& request);

// "12", "after_end:12", "afterok:12:13", several with commas; `kind` is that of a bare id.
[[nodiscard]] Result<void> add_dependencies(std::string_view text, const char* kind, JobSpec& spec);

// Any name that a shell could have exported, its functions included.
[[nodiscard]] Result<void> check_variable_name(std::string_view name);

// Standard input is one of two fields, and the top's choice is the one that counts.
inline void overlay(JobSpec& base, const JobSpec& top) {
  if (top.stdin_text) base.stdin_file.reset();
  if (top.stdin_file) base.stdin_text.reset();
  overlay(shape_of<JobSpec>(), &base, &top);
}

Digest sha256(std::string_view bytes);

}  // namespace atl::spec
