#include "api/task_view.h"

#include "api/context.h"
#include "api/job_row.h"
#include "api/progress_view.h"

namespace atl::api {
namespace {

struct TaskTimes {
  Time placed, started;
  bool unreachable = false;
};

TaskTimes times_of(const core::TaskState& state) {
  TaskTimes times;
  std::visit(
      [&](const auto& each) {
        if constexpr (requires { each.placed; }) times.placed = each.placed;
        if constexpr (requires { each.started; }) times.started = each.started;
        if constexpr (requires { each.unreachable; }) times.unreachable = each.unreachable;
      },
      state);
  return times;
}

void write_place(spec::JsonWriter& json, const core::State& table,
                 const core::Placement* placement) {
  json.key("site");
  placement ? json.text(name_of(table, placement->site)) : json.null();
  json.key("node");
  placement ? json.text(placement->node) : json.null();
  json.key("devices").begin_array();
  if (placement) {
    for (const core::HeldDevice& device : placement->devices) json.text(device.unit);
  }
  json.end_array();
}

void write_head(spec::JsonWriter& json, TaskId id, bool array, JobState state) {
  json.member("id", to_string(id, array))
      .member("job", to_string(id.job))
      .member("index", id.index);
  json.member("state", kStateWords[static_cast<size_t>(state)]);
}

void write_result(spec::JsonWriter& json, const core::AttemptResult* result) {
  json.key("cause");
  result ? json.text(enum_name(result->cause)) : json.null();
  json.key("exit_code");
  const bool exited = result && (result->cause == core::EndCause::exited || result->exit_code != 0);
  exited ? json.number(int64_t{result->exit_code}) : json.null();
  json.key("signal");
  result && result->signal ? json.number(int64_t{result->signal}) : json.null();
  json.member("message", result ? std::string_view(result->message) : std::string_view());
}

}  // namespace

void write_energy(spec::JsonWriter& json, const core::Usage& usage) {
  json.key("energy_joules");
  usage.energy_mj ? json.milli(*usage.energy_mj) : json.null();
}

void write_attempt(spec::JsonWriter& json, const core::State& table,
                   const journal::EndedAttempt& attempt) {
  const core::AttemptResult& result = attempt.result;
  json.begin_object()
      .member("id", to_string(attempt.attempt, attempt.array))
      .member("index", attempt.attempt.index);
  json.member("attempt", attempt.attempt.attempt).member("outcome", enum_name(attempt.outcome));
  json.member("retried", attempt.retried);
  write_place(json, table, &attempt.placement);
  write_result(json, &result);
  json.member("checkpointed", core::asks_to_resume(result)).member("placed", attempt.placed);
  json.member("started", result.usage.started).member("ended", result.usage.ended);
  const Duration wall =
      result.usage.started ? result.usage.ended - result.usage.started : Duration{};
  json.key("wall_seconds").seconds(wall).key("cpu_seconds").seconds(result.usage.cpu);
  json.member("memory_peak_bytes", result.usage.memory_peak_bytes)
      .member("read_bytes", result.usage.read_bytes);
  json.member("written_bytes", result.usage.written_bytes);
  write_energy(json, result.usage);
  json.member("stdout_bytes", result.stdout_bytes)
      .member("stderr_bytes", result.stderr_bytes)
      .end_object();
}

void write_task(spec::JsonWriter& json, const core::State& table, TaskId id, bool array,
                const core::Task& task, const std::optional<site::Progress>& progress) {
  const TaskTimes times = times_of(task.state);
  json.begin_object();
  write_head(json, id, array, state_of(task.state));
  json.key("outcome").null().member("attempt", task.attempt);
  write_place(json, table, core::placement_of(task.state));
  json.member("unreachable", times.unreachable)
      .member("placed", times.placed)
      .member("started", times.started);
  json.key("ended").null();
  write_progress(json, progress);
  write_result(json, nullptr);
  json.end_object();
}

void write_ended_task(spec::JsonWriter& json, const core::State& table, TaskId id, bool array,
                      const journal::EndedAttempt* last, std::optional<core::Outcome> unplaced) {
  json.begin_object();
  write_head(json, id, array, JobState::ended);
  json.key("outcome");
  const auto outcome = last && !unplaced ? std::optional(last->outcome) : unplaced;
  outcome ? json.text(enum_name(*outcome)) : json.null();
  json.member("attempt", last ? last->attempt.attempt : 0u);
  write_place(json, table, last ? &last->placement : nullptr);
  json.member("unreachable", false).member("placed", last ? last->placed : Time{});
  json.member("started", last ? last->result.usage.started : Time{})
      .member("ended", last ? last->result.usage.ended : Time{});
  write_progress(json, std::nullopt);
  write_result(json, last ? &last->result : nullptr);
  json.end_object();
}

void write_waiting_task(spec::JsonWriter& json, TaskId id, bool array) {
  json.begin_object();
  write_head(json, id, array, JobState::waiting);
  json.key("outcome")
      .null()
      .member("attempt", 0)
      .key("site")
      .null()
      .key("node")
      .null()
      .key("devices")
      .begin_array()
      .end_array();
  json.member("unreachable", false).key("placed").null().key("started").null().key("ended").null();
  write_progress(json, std::nullopt);
  write_result(json, nullptr);
  json.end_object();
}

}  // namespace atl::api
