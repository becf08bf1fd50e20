// Our own history: one JSON object a line, with the names that `atoll ps -o jsonl` uses.
#include <algorithm>
#include <boost/json.hpp>

#include "base/amount.h"
#include "base/describe.h"
#include "base/text.h"
#include "core/limits.h"
#include "simulate/trace_reader.h"
#include "spec/job_spec.h"

namespace atl::simulate {
namespace {

namespace json = boost::json;

constexpr int64_t kCpuMilliMost = 4'000'000'000;  // fits 32 bits

tl::unexpected<Error> wrong(const char* key, const std::string& why) {
  return fail(ErrorCode::invalid, std::string(key) + " " + why);
}

// Null when it is absent, which a null is too.
const json::value* member(const json::object& object, const char* key) {
  const json::value* value = object.if_contains(key);
  return value && !value->is_null() ? value : nullptr;
}

Result<Time> read_time(const json::object& object, const char* key) {
  const json::value* value = member(object, key);
  if (!value) return Time{};
  if (!value->is_string())
    return wrong(key, "must be a time as text, such as \"2026-11-15T21:23:31Z\"");
  auto time = parse_time(std::string_view(value->get_string()));
  if (!time) return wrong(key, "is no time: " + time.error().message);
  return time;
}

// "2h", or a number of seconds.
Result<Duration> span_of(const json::value& value) {
  if (value.is_number()) {
    const double number = value.to_number<double>();
    if (number >= 0 && number <= 1e10) return Duration{static_cast<int64_t>(number * 1e6 + 0.5)};
  } else if (value.is_string()) {
    return parse_duration(std::string_view(value.get_string()));
  }
  return fail(ErrorCode::invalid, "must be seconds, or text such as \"2h\"");
}

Result<Duration> read_span(const json::object& object, const char* key) {
  const json::value* value = member(object, key);
  if (!value) return Duration{};
  const auto span = span_of(*value);
  return span ? span : wrong(key, span.error().message);
}

Result<std::string> read_name(const json::object& object, const char* key, const char* otherwise) {
  const json::value* value = member(object, key);
  if (!value) return otherwise;
  if (!value->is_string()) return wrong(key, "must be text");
  std::string name(value->get_string());
  if (auto ok = check_identifier(name, key); !ok) return tl::unexpected(ok.error());
  return name;
}

// To a thousandth.
Result<int64_t> read_milli(const json::object& object, const char* key, int64_t otherwise,
                           int64_t most) {
  const json::value* value = member(object, key);
  if (!value) return otherwise;
  const double number = value->is_number() ? value->to_number<double>() : -1;
  const auto milli = number <= 4e6 ? static_cast<int64_t>(number * 1000 + 0.5) : -1;
  if (milli >= 1 && milli <= most) return milli;
  return wrong(key, "must be a number between 0.001 and " + format_milli(most));
}

Result<int64_t> read_count(const json::object& object, const char* key, int64_t otherwise,
                           int64_t least, int64_t most) {
  const json::value* value = member(object, key);
  if (!value) return otherwise;
  json::error_code error;
  const auto number = value->to_number<int64_t>(error);
  if (error || number < least || number > most)
    return wrong(key, "must be a whole number between " + std::to_string(least) + " and " +
                          std::to_string(most));
  return number;
}

// "gpu:2", "gpu:a100|any:0.25" or, several parts, "gpu:a100:1g.5gb x 2".
Result<spec::DeviceSpec> read_device(std::string_view text) {
  const size_t times = text.find(" x ");
  auto device = spec::parse_device(text.substr(0, times));
  if (!device || times == std::string_view::npos) return device;
  device->count = parse_int(text.substr(times + 3));
  if (!device->count) return fail(ErrorCode::invalid, quote(text) + " has no count after x");
  return device;
}

Result<std::vector<core::DeviceRequest>> read_device_texts(const json::object& object) {
  std::vector<spec::DeviceSpec> devices;
  const json::value* list = member(object, "devices");
  if (!list) return std::vector<core::DeviceRequest>{};
  if (!list->is_array()) return wrong("devices", "must be a list, such as [\"gpu:a100:2\"]");
  for (const json::value& each : list->get_array()) {
    if (!each.is_string()) return wrong("devices", "must be a list of texts, such as \"gpu:2\"");
    auto device = read_device(std::string_view(each.get_string()));
    if (!device) return tl::unexpected(device.error());
    devices.push_back(std::move(*device));
  }
  return spec::device_requests({}, devices);
}

// "a100", "v100" and then "any".
Result<void> read_models(const json::object& object, core::DeviceRequest& request) {
  const json::value* list = member(object, "models");
  if (!list) return {};
  if (!list->is_array()) return wrong("models", "must be a list, such as [\"a100\", \"any\"]");
  std::vector<std::string> models;
  for (const json::value& each : list->get_array()) {
    if (!each.is_string()) return wrong("models", "must be a list of texts");
    models.emplace_back(each.get_string() == "any" ? "" : std::string(each.get_string()));
  }
  if (models.empty()) return {};
  request.model = models.front();
  request.also.assign(models.begin() + 1, models.end());
  return {};
}

Result<core::DeviceRequest> read_request(const json::value& value) {
  if (!value.is_object()) return wrong("device_requests", "must be a list of objects");
  const json::object& object = value.get_object();
  core::DeviceRequest request;
  const auto kind = read_name(object, "kind", "gpu");
  if (!kind) return tl::unexpected(kind.error());
  const auto count = read_count(object, "count", 1, 1, core::kDeviceCountMax);
  if (!count) return tl::unexpected(count.error());
  const auto memory = read_count(object, "memory_bytes", 0, 0, core::kMemoryBytesMax);
  if (!memory) return tl::unexpected(memory.error());
  const auto share = read_milli(object, "share", core::kWholeDevice, core::kWholeDevice);
  if (!share) return tl::unexpected(share.error());
  if (auto models = read_models(object, request); !models) return tl::unexpected(models.error());
  if (const json::value* slice = member(object, "slice")) {
    if (!slice->is_string()) return wrong("slice", "must be the name of a profile");
    request.profile = slice->get_string();
  }
  request.kind = *kind;
  request.count = static_cast<uint32_t>(*count);
  request.memory_bytes = *memory;
  request.share_milli = static_cast<int32_t>(*share);
  return request;
}

// In full as a newer server tells them, or else as texts.
Result<std::vector<core::DeviceRequest>> read_devices(const json::object& object) {
  const json::value* list = member(object, "device_requests");
  if (!list) return read_device_texts(object);
  if (!list->is_array()) return wrong("device_requests", "must be a list of objects");
  std::vector<core::DeviceRequest> devices;
  for (const json::value& each : list->get_array()) {
    auto request = read_request(each);
    if (!request) return tl::unexpected(request.error());
    devices.push_back(std::move(*request));
  }
  std::sort(devices.begin(), devices.end());
  return devices;
}

Result<core::Tier> read_tier(const json::object& object) {
  core::Tier tier = core::Tier::batch;
  const json::value* value = member(object, "tier");
  if (!value || (value->is_string() && enum_from_name(std::string_view(value->get_string()), tier)))
    return tier;
  return wrong("tier", "must be interactive, service, batch or opportunistic");
}

// The first of two spellings that is there: `time`, or `time_seconds` as servers write it.
Result<Duration> read_either(const json::object& object, const char* plain, const char* with_unit) {
  return read_span(object, member(object, plain) ? plain : with_unit);
}

// How many tasks: {"total": 20}, as `ps` writes it, or a plain number.
Result<int64_t> read_tasks(const json::object& object) {
  const json::value* value = member(object, "tasks");
  if (value && value->is_object())
    return read_count(value->get_object(), "total", 1, 1, core::kArraySizeMax);
  return read_count(object, "tasks", 1, 1, core::kArraySizeMax);
}

// The members that only need to be of their kind.
Result<void> read_plain(const json::object& object, TraceJob& job) {
  const auto cpus = read_milli(object, "cpus", 1000, kCpuMilliMost);
  if (!cpus) return tl::unexpected(cpus.error());
  const auto memory = read_count(object, "memory_bytes", 0, 0, core::kMemoryBytesMax);
  if (!memory) return tl::unexpected(memory.error());
  const auto tasks = read_tasks(object);
  if (!tasks) return tl::unexpected(tasks.error());
  const auto tier = read_tier(object);
  if (!tier) return tl::unexpected(tier.error());
  const auto wall = read_either(object, "time", "time_seconds");
  if (!wall) return tl::unexpected(wall.error());
  job.cpu_milli = static_cast<uint32_t>(*cpus);
  job.memory_bytes = *memory;
  job.tasks = static_cast<uint32_t>(*tasks);
  job.tier = *tier;
  job.wall = std::min(*wall, core::kWallMax);
  return {};
}

Result<Wishes> read_wishes(const json::object& object, uint32_t tasks) {
  Wishes wishes;
  auto devices = read_devices(object);
  if (!devices) return tl::unexpected(devices.error());
  const bool graceful = member(object, "grace") || member(object, "grace_seconds");
  const auto grace = read_either(object, "grace", "grace_seconds");
  if (!grace) return tl::unexpected(grace.error());
  const auto priority = read_count(object, "priority", 0, -core::kPriorityMax, core::kPriorityMax);
  if (!priority) return tl::unexpected(priority.error());
  const auto parallel = read_count(object, "parallel_max", 0, 0, core::kArraySizeMax);
  if (!parallel) return tl::unexpected(parallel.error());
  const auto gang = read_count(object, "gang", 0, 0, core::kGangMax);
  if (!gang) return tl::unexpected(gang.error());
  wishes.devices = std::move(*devices);
  if (graceful) wishes.grace = std::min(*grace, core::kGraceMax);
  wishes.priority = static_cast<int32_t>(*priority);
  wishes.parallel_max = static_cast<uint32_t>(*parallel);
  if (*gang > 0) wishes.gang = tasks;  // those of its members that have run
  return wishes;
}

// The run times of an array's tasks, one by one. None when nothing is said of them.
Result<std::vector<Duration>> read_runs(const json::object& object) {
  std::vector<Duration> runs;
  const json::value* list = member(object, "runs");
  if (!list) return runs;
  if (!list->is_array() || list->get_array().size() > core::kArraySizeMax)
    return wrong("runs", "must be a list of seconds, one for each task");
  for (const json::value& each : list->get_array()) {
    const auto run = span_of(each);
    if (!run) return wrong("runs", "must be a list of seconds, one for each task");
    runs.push_back(*run);
  }
  return runs;
}

// How long a job's only task ran: as it is said, or from its start to its end. Zero when nobody
// knows.
Result<Duration> read_run(const json::object& object, uint32_t tasks) {
  const auto run = read_span(object, "run");
  if (!run || run->us > 0) return run;
  const auto started = read_time(object, "started");
  if (!started) return tl::unexpected(started.error());
  const auto ended = read_time(object, "ended");
  if (!ended) return tl::unexpected(ended.error());
  if (!*started || !*ended || tasks > 1) return Duration{};
  if (*ended < *started) return wrong("ended", "is before started");
  return std::max(Duration{1}, *ended - *started);
}

Result<core::Device> read_machine_device(const json::value& value, size_t number) {
  if (!value.is_object()) return wrong("devices", "of a node must be a list of objects");
  const auto kind = read_name(value.get_object(), "kind", "gpu");
  if (!kind) return tl::unexpected(kind.error());
  const auto memory = read_count(value.get_object(), "memory_bytes", 0, 0, core::kMemoryBytesMax);
  if (!memory) return tl::unexpected(memory.error());
  core::Device device{*kind + std::to_string(number), *kind, "", *memory, true};
  if (const json::value* model = member(value.get_object(), "model"); model && model->is_string())
    device.model = model->get_string();
  return device;
}

// {"name": "local/host", "cpus": 4, "memory_bytes": 1, "devices": [{"kind": "gpu"}]}
Result<core::NodeCapacity> read_node(const json::value& value) {
  if (!value.is_object()) return wrong("machine", "must be an object");
  const json::object& object = value.get_object();
  core::NodeCapacity node;
  const json::value* name = member(object, "name");
  if (!name || !name->is_string()) return wrong("machine", "has no name");
  node.name = name->get_string();
  const auto cpus = read_milli(object, "cpus", 1000, kCpuMilliMost);
  if (!cpus) return tl::unexpected(cpus.error());
  node.cpu_milli = *cpus;
  const auto memory =
      read_count(object, "memory_bytes", core::kMemoryBytesMax, 0, core::kMemoryBytesMax);
  if (!memory) return tl::unexpected(memory.error());
  node.memory_bytes = *memory;
  const json::value* list = member(object, "devices");
  if (!list) return node;
  if (!list->is_array()) return wrong("devices", "of a node must be a list of objects");
  for (const json::value& each : list->get_array()) {
    auto device = read_machine_device(each, node.devices.size());
    if (!device) return tl::unexpected(device.error());
    node.devices.push_back(std::move(*device));
  }
  return node;
}

}  // namespace

Result<void> HistoryReader::line(std::string_view text) {
  json::error_code error;
  const json::value value = json::parse(text, error);
  if (error || !value.is_object())
    return fail(ErrorCode::invalid,
                "it is no JSON object" + (error ? " (" + error.message() + ")" : std::string()) +
                    "; write one a line, such as {\"submitted\": \"2026-11-15T21:23:31Z\", "
                    "\"user\": \"ada\", \"run\": 90}");
  const json::object& object = value.get_object();
  if (const json::value* described = member(object, "machine")) {
    auto node = read_node(*described);
    if (!node) return tl::unexpected(node.error());
    if (!nodes_.insert(node->name).second)
      return wrong("machine", quote(node->name) + " is there twice");
    trace_.machine.push_back(std::move(*node));
    return {};
  }
  TraceJob job;
  const auto submitted = read_time(object, "submitted");
  if (!submitted) return tl::unexpected(submitted.error());
  if (!*submitted)
    return wrong("submitted", "is missing; write when, such as \"2026-11-15T21:23:31Z\"");
  job.submit = {submitted->us};
  if (auto plain = read_plain(object, job); !plain) return plain;
  const auto runs = read_runs(object);
  if (!runs) return tl::unexpected(runs.error());
  if (!runs->empty()) job.tasks = static_cast<uint32_t>(runs->size());
  const auto run = read_run(object, job.tasks);
  if (!run) return tl::unexpected(run.error());
  const auto user_name = read_name(object, "user", "nobody");
  if (!user_name) return tl::unexpected(user_name.error());
  const auto ns_name = read_name(object, "namespace", "default");
  if (!ns_name) return tl::unexpected(ns_name.error());
  const auto wanted = read_wishes(object, job.tasks);
  if (!wanted) return tl::unexpected(wanted.error());
  if (runs->empty() && run->us == 0) {
    ++trace_.without_run;
    return {};
  }
  job.user = user(*user_name);
  const auto space = ns(*ns_name);
  if (!space) return tl::unexpected(space.error());
  job.ns = *space;
  const auto known = wishes(*wanted);
  if (!known) return tl::unexpected(known.error());
  job.wishes = *known;
  // A task that was ended at its wall-time took a moment longer.
  const Duration most = job.wall.us > 0 ? job.wall : core::kWallMax;
  job.run = std::min(*run, most);
  if (!runs->empty()) {
    job.runs = static_cast<uint32_t>(trace_.runs.size());
    for (const Duration each : *runs) trace_.runs.push_back(std::min(each, most));
  }
  return add(job);
}

void HistoryReader::finish() {
  if (trace_.jobs.empty()) return;
  constexpr int64_t kDay = int64_t{86'400} * 1'000'000;
  int64_t first = INT64_MAX;
  for (const TraceJob& job : trace_.jobs) first = std::min(first, job.submit.us);
  trace_.begin = {std::max(kDay, first - first % kDay)};
  for (TraceJob& job : trace_.jobs) job.submit = Time{job.submit.us} - trace_.begin;
}

}  // namespace atl::simulate
