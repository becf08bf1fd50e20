// Our own history: one JSON object a line, with the names that `atoll ps -o jsonl` uses.
#include <algorithm>

#include "base/describe.h"
#include "base/text.h"
#include "core/limits.h"
#include "simulate/trace_json.h"
#include "simulate/trace_reader.h"
#include "spec/job_spec.h"

namespace atl::simulate {
namespace {

constexpr int64_t kCpuMilliMost = 4'000'000'000;  // fits 32 bits

// "gpu:2", "gpu:a100|any:0.25" or, several parts, "gpu:a100:1g.5gb x 2".
Result<spec::DeviceSpec> read_device(std::string_view text) {
  const size_t times = text.find(" x ");
  auto device = spec::parse_device(text.substr(0, times));
  if (!device || times == std::string_view::npos) return device;
  device->count = parse_int(text.substr(times + 3));
  if (!device->count) return fail(ErrorCode::invalid, quote(text) + " has no count after x");
  return device;
}

// What part of a device a slice counts as, when only its name tells: "3g.20gb" has three of seven
// processors, and with them half of the memory.
Result<int32_t> share_of_slice(const std::string& profile) {
  const size_t g = profile.find("g.");
  const auto processors = parse_int(std::string_view(profile).substr(0, g));
  if (g == std::string::npos || !processors || *processors < 1)
    return wrong("slice", quote(profile) +
                              " does not tell what part of a device it is; write it as "
                              "\"device_requests\": [{\"kind\": \"gpu\", \"slice\": " +
                              quote(profile) + ", \"share\": 0.25}]");
  if (*processors <= 2) return static_cast<int32_t>(*processors * core::kWholeDevice / 8);
  return *processors <= 4 ? core::kWholeDevice / 2 : core::kWholeDevice;
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
  auto requests = spec::device_requests({}, devices);
  if (!requests) return requests;
  for (core::DeviceRequest& request : *requests) {
    if (!core::takes_slice(request)) continue;
    const auto share = share_of_slice(request.profile);
    if (!share) return tl::unexpected(share.error());
    request.share_milli = *share;
  }
  return requests;
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
  request.kind = *kind;
  request.count = static_cast<uint32_t>(*count);
  request.memory_bytes = *memory;
  request.share_milli = static_cast<int32_t>(*share);
  const json::value* slice = member(object, "slice");
  if (!slice) return request;
  if (!slice->is_string()) return wrong("slice", "must be the name of a profile");
  request.profile = slice->get_string();
  if (member(object, "share")) return request;
  const auto by_name = share_of_slice(request.profile);
  if (!by_name) return tl::unexpected(by_name.error());
  request.share_milli = *by_name;
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

// The members that only need to be of their kind.
Result<void> read_plain(const json::object& object, TraceJob& job) {
  const auto cpus = read_milli(object, "cpus", 1000, kCpuMilliMost);
  if (!cpus) return tl::unexpected(cpus.error());
  const auto memory = read_count(object, "memory_bytes", 0, 0, core::kMemoryBytesMax);
  if (!memory) return tl::unexpected(memory.error());
  const auto tier = read_tier(object);
  if (!tier) return tl::unexpected(tier.error());
  const auto wall = read_either(object, "time", "time_seconds");
  if (!wall) return tl::unexpected(wall.error());
  job.cpu_milli = static_cast<uint32_t>(*cpus);
  job.memory_bytes = *memory;
  job.tier = *tier;
  job.wall = std::min(*wall, core::kWallMax);
  return {};
}

Result<Wishes> read_wishes(const json::object& object) {
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
  wishes.devices = std::move(*devices);
  if (graceful) wishes.grace = std::min(*grace, core::kGraceMax);
  wishes.priority = static_cast<int32_t>(*priority);
  wishes.parallel_max = static_cast<uint32_t>(*parallel);
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

struct TaskList {
  uint32_t count = 1;
  bool gang = false;
  std::vector<Duration> runs;  // one for each; none: they run alike
};

// {"total": 20}, as `ps` writes it, or a plain number. Of what a server tells only those tasks
// count that have run.
Result<TaskList> read_tasks(const json::object& object) {
  const json::value* value = member(object, "tasks");
  const bool told = value && value->is_object();
  const auto tasks = told ? read_count(value->get_object(), "total", 1, 1, core::kArraySizeMax)
                          : read_count(object, "tasks", 1, 1, core::kArraySizeMax);
  if (!tasks) return tl::unexpected(tasks.error());
  const auto gang = read_count(object, "gang", 0, 0, core::kGangMax);
  if (!gang) return tl::unexpected(gang.error());
  if (value && *gang > 0 && *gang != *tasks)
    return wrong("gang", "is " + std::to_string(*gang) + ", and tasks is " +
                             std::to_string(*tasks) +
                             "; a gang is all tasks of its job: leave tasks out");
  auto runs = read_runs(object);
  if (!runs) return tl::unexpected(runs.error());
  if (!runs->empty() && member(object, "run"))
    return wrong("run", "and runs exclude each other; write one of them");
  const auto ran = static_cast<int64_t>(runs->size());
  const int64_t count = value || *gang == 0 ? *tasks : *gang;
  const bool counted = value || *gang > 0;
  const bool fits = !counted || (told ? ran <= count : ran == count);
  if (ran > 0 && !fits)
    return wrong("runs", "has " + std::to_string(ran) + " run times, and " +
                             (value ? "tasks" : "gang") + " is " + std::to_string(count) +
                             "; write one for each task, or `run` when all run alike");
  return TaskList{static_cast<uint32_t>(ran > 0 ? ran : count), *gang > 0, std::move(*runs)};
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

// No task holds its room for longer than its limit and its grace. A server saw to that, and when it
// tells of more it has noticed the end late; what somebody else wrote is a limit too short.
void settle_limit(bool kept, Duration grace, TraceJob& job, std::vector<Duration>& runs) {
  const bool limited = job.wall.us > 0;
  const Duration most =
      kept && limited ? std::min(job.wall + grace, core::kWallMax) : core::kWallMax;
  Duration longest = job.run = std::min(job.run, most);
  for (Duration& run : runs) longest = std::max(longest, run = std::min(run, most));
  if (limited) job.wall = std::max(job.wall, longest - grace);
}

// Words of other places that are easily written here, where what nobody knows is passed over.
Result<void> check_words(const json::object& object) {
  static constexpr std::pair<const char*, const char*> kMeant[] = {
      {"cpu", "cpus"},         {"cores", "cpus"},
      {"mem", "memory_bytes"}, {"memory", "memory_bytes"},
      {"gpu", "devices"},      {"gpus", "devices"},
      {"device", "devices"},   {"wall", "time"},
      {"limit", "time"},       {"submit", "submitted"},
      {"ns", "namespace"},     {"group", "namespace"},
      {"array", "tasks"}};
  for (const auto& [word, meant] : kMeant) {
    const json::value* value = member(object, word);
    if (value && !value->is_bool())
      return wrong(word, std::string("is not known here; write ") + meant);
  }
  return {};
}

// A job as its line tells it.
struct ToldJob {
  TraceJob job;
  Wishes wishes;
  std::string user, ns;
  std::vector<Duration> runs;
};

Result<ToldJob> read_job(const json::object& object) {
  ToldJob told;
  if (auto ok = check_words(object); !ok) return tl::unexpected(ok.error());
  const auto submitted = read_time(object, "submitted");
  if (!submitted) return tl::unexpected(submitted.error());
  if (!*submitted)
    return wrong("submitted", "is missing; write when, such as \"2026-11-15T21:23:31Z\"");
  told.job.submit = {submitted->us};
  if (auto plain = read_plain(object, told.job); !plain) return tl::unexpected(plain.error());
  auto tasks = read_tasks(object);
  if (!tasks) return tl::unexpected(tasks.error());
  told.job.tasks = tasks->count;
  told.runs = std::move(tasks->runs);
  const auto run = read_run(object, told.job.tasks);
  if (!run) return tl::unexpected(run.error());
  told.job.run = *run;
  auto user = read_name(object, "user", "nobody");
  if (!user) return tl::unexpected(user.error());
  told.user = std::move(*user);
  auto ns = read_name(object, "namespace", "default");
  if (!ns) return tl::unexpected(ns.error());
  told.ns = std::move(*ns);
  auto wishes = read_wishes(object);
  if (!wishes) return tl::unexpected(wishes.error());
  told.wishes = std::move(*wishes);
  if (tasks->gang) told.wishes.gang = told.job.tasks;
  settle_limit(member(object, "time") == nullptr, told.wishes.grace, told.job, told.runs);
  return told;
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
  if (const json::value* described = member(value.get_object(), "machine")) {
    auto node = read_node(*described);
    if (!node) return tl::unexpected(node.error());
    if (!nodes_.insert(node->name).second)
      return wrong("machine", quote(node->name) + " is there twice");
    trace_.machine.push_back(std::move(*node));
    return {};
  }
  auto told = read_job(value.get_object());
  if (!told) return tl::unexpected(told.error());
  TraceJob& job = told->job;
  if (told->runs.empty() && job.run.us == 0) {
    ++trace_.without_run;
    return {};
  }
  job.user = user(told->user);
  const auto space = ns(told->ns);
  if (!space) return tl::unexpected(space.error());
  job.ns = *space;
  const auto known = wishes(told->wishes);
  if (!known) return tl::unexpected(known.error());
  job.wishes = *known;
  if (!told->runs.empty()) {
    job.runs = static_cast<uint32_t>(trace_.runs.size());
    trace_.runs.insert(trace_.runs.end(), told->runs.begin(), told->runs.end());
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
