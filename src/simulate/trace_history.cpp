// Our own history: one JSON object a line, with the names that `atoll ps -o jsonl` uses.
#include <algorithm>
#include <boost/json.hpp>

#include "base/amount.h"
#include "base/describe.h"
#include "base/text.h"
#include "core/limits.h"
#include "simulate/trace_reader.h"

namespace atl::simulate {
namespace {

namespace json = boost::json;

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
Result<Duration> read_span(const json::object& object, const char* key) {
  const json::value* value = member(object, key);
  if (!value) return Duration{};
  if (value->is_number()) {
    const double number = value->to_number<double>();
    if (number >= 0 && number <= 1e10) return Duration{static_cast<int64_t>(number * 1e6)};
  } else if (value->is_string()) {
    return parse_duration(std::string_view(value->get_string()));
  }
  return wrong(key, "must be seconds, or text such as \"2h\"");
}

Result<std::string> read_name(const json::object& object, const char* key, const char* otherwise) {
  const json::value* value = member(object, key);
  if (!value) return otherwise;
  if (!value->is_string()) return wrong(key, "must be text");
  std::string name(value->get_string());
  if (auto ok = check_identifier(name, key); !ok) return tl::unexpected(ok.error());
  return name;
}

Result<int64_t> read_cpus(const json::object& object) {
  const json::value* value = member(object, "cpus");
  double cpus = 1;
  if (value) {
    if (!value->is_number()) return wrong("cpus", "must be a number of cores, such as 4 or 0.5");
    cpus = value->to_number<double>();
  }
  if (cpus < 0.001 || cpus > 4e6) return wrong("cpus", "must be between 0.001 and 4000000");
  return static_cast<int64_t>(cpus * 1000 + 0.5);
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

// "gpu:2" or "gpu:a100:2".
Result<core::DeviceRequest> read_device(std::string_view text) {
  const std::string instead = " is no device; write \"gpu:2\" or \"gpu:a100:2\"";
  const auto parts = split(text, ':');
  const auto count = parse_int(parts.back());
  if (parts.size() < 2 || parts.size() > 3 || !count || *count < 1 ||
      *count > core::kDeviceCountMax)
    return fail(ErrorCode::invalid, quote(text) + instead);
  for (size_t i = 0; i + 1 < parts.size(); ++i) {
    if (!check_identifier(parts[i], "devices"))
      return fail(ErrorCode::invalid, quote(text) + instead);
  }
  return core::DeviceRequest{std::string(parts[0]),
                             parts.size() == 3 ? std::string(parts[1]) : std::string(),
                             static_cast<uint32_t>(*count)};
}

Result<std::vector<core::DeviceRequest>> read_devices(const json::object& object) {
  std::vector<core::DeviceRequest> devices;
  const json::value* list = member(object, "devices");
  if (!list) return devices;
  if (!list->is_array()) return wrong("devices", "must be a list, such as [\"gpu:a100:2\"]");
  for (const json::value& each : list->get_array()) {
    if (!each.is_string()) return wrong("devices", "must be a list of texts, such as \"gpu:2\"");
    auto device = read_device(std::string_view(each.get_string()));
    if (!device) return tl::unexpected(device.error());
    devices.push_back(std::move(*device));
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

// How many tasks: {"total": 20}, as `ps` writes it, or a plain number.
Result<int64_t> read_tasks(const json::object& object) {
  const json::value* value = member(object, "tasks");
  if (value && value->is_object())
    return read_count(value->get_object(), "total", 1, 1, core::kArraySizeMax);
  return read_count(object, "tasks", 1, 1, core::kArraySizeMax);
}

// The members that only need to be of their kind.
Result<void> read_plain(const json::object& object, TraceJob& job) {
  const auto cpus = read_cpus(object);
  if (!cpus) return tl::unexpected(cpus.error());
  const auto memory = read_count(object, "memory_bytes", 0, 0, core::kMemoryBytesMax);
  if (!memory) return tl::unexpected(memory.error());
  const auto tasks = read_tasks(object);
  if (!tasks) return tl::unexpected(tasks.error());
  const auto tier = read_tier(object);
  if (!tier) return tl::unexpected(tier.error());
  const auto wall = read_span(object, "time");
  if (!wall) return tl::unexpected(wall.error());
  job.cpu_milli = static_cast<uint32_t>(*cpus);
  job.memory_bytes = *memory;
  job.tasks = static_cast<uint32_t>(*tasks);
  job.tier = *tier;
  job.wall = std::min(*wall, core::kWallMax);
  return {};
}

// How long a task ran: as it is said, or from start to end of a job that has only one. False when
// nobody knows.
Result<bool> read_run(const json::object& object, TraceJob& job) {
  const auto run = read_span(object, "run");
  if (!run) return tl::unexpected(run.error());
  const auto started = read_time(object, "started");
  if (!started) return tl::unexpected(started.error());
  const auto ended = read_time(object, "ended");
  if (!ended) return tl::unexpected(ended.error());
  job.run = *run;
  if (job.run.us == 0) {
    if (!*started || !*ended || job.tasks > 1) return false;
    if (*ended < *started) return wrong("ended", "is before started");
    job.run = *ended - *started;
  }
  job.run = std::min(job.run, core::kWallMax);
  if (job.wall.us > 0) job.wall = std::max(job.wall, job.run);
  return true;
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
  TraceJob job;
  const auto submitted = read_time(object, "submitted");
  if (!submitted) return tl::unexpected(submitted.error());
  if (!*submitted)
    return wrong("submitted", "is missing; write when, such as \"2026-11-15T21:23:31Z\"");
  job.submit = {submitted->us};
  if (auto plain = read_plain(object, job); !plain) return plain;
  const auto known = read_run(object, job);
  if (!known) return tl::unexpected(known.error());
  const auto user_name = read_name(object, "user", "nobody");
  if (!user_name) return tl::unexpected(user_name.error());
  const auto ns_name = read_name(object, "namespace", "default");
  if (!ns_name) return tl::unexpected(ns_name.error());
  const auto wanted = read_devices(object);
  if (!wanted) return tl::unexpected(wanted.error());
  if (!*known) {
    ++trace_.without_run;
    return {};
  }
  job.user = user(*user_name);
  const auto space = ns(*ns_name);
  if (!space) return tl::unexpected(space.error());
  job.ns = *space;
  const auto list = devices(*wanted);
  if (!list) return tl::unexpected(list.error());
  job.devices = *list;
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
