#include "site/slurm/slurm_json.h"

#include <algorithm>
#include <boost/json.hpp>

#include "base/text.h"

namespace atl::site {
namespace {

namespace json = boost::json;

const json::value* find(const json::value* in, std::string_view key) {
  const json::object* object = in ? in->if_object() : nullptr;
  return object ? object->if_contains(key) : nullptr;
}

// A field behind several others: find(job, "exit_code", "return_code").
template <class... More>
const json::value* find(const json::value* in, std::string_view key, More... more) {
  return find(find(in, key), more...);
}

std::optional<int64_t> number_of(const json::value* value) {
  if (!value) return std::nullopt;
  if (const auto* whole = value->if_int64()) return *whole;
  if (const auto* whole = value->if_uint64()) {
    return *whole > INT64_MAX ? std::nullopt : std::optional<int64_t>(*whole);
  }
  if (value->is_object()) {
    const json::value* set = find(value, "set");
    if (set && set->is_bool() && !set->as_bool()) return std::nullopt;
    return number_of(find(value, "number"));
  }
  return std::nullopt;
}

std::string text_of(const json::value* value) {
  const json::string* text = value ? value->if_string() : nullptr;
  return text ? std::string(text->data(), text->size()) : std::string();
}

// A word, or the first of a list; the others are flags such as "DRAIN".
std::vector<std::string> words_of(const json::value* value) {
  std::vector<std::string> words;
  if (const json::array* list = value ? value->if_array() : nullptr) {
    for (const json::value& word : *list) words.push_back(text_of(&word));
  } else if (value && value->is_string()) {
    words.push_back(text_of(value));
  }
  return words;
}

Time time_of(const json::value* value) {
  const int64_t since = number_of(value).value_or(0);
  return since > 0 && since < INT64_MAX / 2'000'000 ? Time{since * 1'000'000} : Time{};
}

int small_of(const json::value* value, int max) {
  return static_cast<int>(std::clamp<int64_t>(number_of(value).value_or(0), 0, max));
}

std::string reason_of(const json::value* value) {
  const std::string reason = text_of(value);
  return reason == "None" ? std::string() : reason;
}

// squeue has job_state and start_time; sacct has state.current and time.start.
std::optional<JobRecord> read_job(const json::value& job) {
  const std::optional<int64_t> id = number_of(find(&job, "job_id"));
  if (!id || *id <= 0) return std::nullopt;
  JobRecord record{.id = static_cast<uint64_t>(*id), .name = text_of(find(&job, "name"))};
  std::vector<std::string> state = words_of(find(&job, "job_state"));
  if (state.empty()) state = words_of(find(&job, "state", "current"));
  if (!state.empty()) record.state = state.front();
  record.reason = reason_of(find(&job, "state_reason"));
  if (record.reason.empty()) record.reason = reason_of(find(&job, "state", "reason"));
  record.exit_code = small_of(find(&job, "exit_code", "return_code"), 255);
  record.signal = small_of(find(&job, "exit_code", "signal", "id"), 127);
  record.started = time_of(find(&job, "start_time"));
  if (!record.started) record.started = time_of(find(&job, "time", "start"));
  record.ended = time_of(find(&job, "end_time"));
  if (!record.ended) record.ended = time_of(find(&job, "time", "end"));
  record.nodes = text_of(find(&job, "nodes"));
  record.restarts = static_cast<uint32_t>(small_of(find(&job, "restart_cnt"), 1'000'000));
  record.cancelled_by = text_of(find(&job, "kill_request_user"));
  return record;
}

std::optional<SlurmNode> read_node(const json::value& node) {
  SlurmNode read{.name = text_of(find(&node, "name"))};
  if (read.name.empty()) return std::nullopt;
  read.states = words_of(find(&node, "state"));
  for (const std::string& flag : words_of(find(&node, "state_flags"))) read.states.push_back(flag);
  read.cpus = number_of(find(&node, "effective_cpus")).value_or(0);
  if (read.cpus <= 0) read.cpus = number_of(find(&node, "cpus")).value_or(0);
  read.memory_mib = number_of(find(&node, "real_memory")).value_or(0);
  read.gres = text_of(find(&node, "gres"));
  read.partitions = words_of(find(&node, "partitions"));
  return read;
}

std::optional<SlurmPartition> read_partition(const json::value& partition) {
  SlurmPartition read{.name = text_of(find(&partition, "name"))};
  if (read.name.empty()) return std::nullopt;
  const json::value* most = find(&partition, "maximums", "time");
  const json::value* infinite = find(most, "infinite");
  if (!(infinite && infinite->is_bool() && infinite->as_bool())) {
    const int64_t limit = number_of(most).value_or(0);
    if (limit > 0 && limit < kMinutesMax) read.time_max = minutes(limit);
  }
  read.nodes_max = number_of(find(&partition, "maximums", "nodes")).value_or(0);
  const std::vector<std::string> state = words_of(find(&partition, "partition", "state"));
  read.up = state.empty() || state.front() == "UP";
  for (const std::string& flag : words_of(find(&partition, "flags"))) {
    if (flag == "DEFAULT") read.is_default = true;
  }
  return read;
}

template <class T, class Read>
Result<std::vector<T>> read_list(std::string_view bytes, std::string_view key, Read read) {
  boost::system::error_code error;
  const json::value whole = json::parse(bytes, error);
  if (error) return fail(ErrorCode::unavailable, "Slurm's JSON cannot be read: " + error.message());
  const json::value* list = find(&whole, key);
  if (!list || !list->is_array()) {
    return fail(ErrorCode::unavailable, "Slurm's JSON has no list of " + std::string(key));
  }
  std::vector<T> found;
  for (const json::value& one : list->as_array()) {
    if (std::optional<T> item = read(one)) found.push_back(std::move(*item));
  }
  return found;
}

}  // namespace

Result<std::vector<JobRecord>> parse_jobs_json(std::string_view bytes) {
  return read_list<JobRecord>(bytes, "jobs", read_job);
}
Result<std::vector<SlurmNode>> parse_nodes_json(std::string_view bytes) {
  return read_list<SlurmNode>(bytes, "nodes", read_node);
}
Result<std::vector<SlurmPartition>> parse_partitions_json(std::string_view bytes) {
  return read_list<SlurmPartition>(bytes, "partitions", read_partition);
}

}  // namespace atl::site
