#include "api/job_row.h"

#include "api/context.h"
#include "api/progress_view.h"
#include "core/scheduling/explain.h"
#include "spec/job_spec.h"

namespace atl::api {
namespace {

const char* waiting_reason(const core::State& state, const core::Job& job, ReasonCache& reasons,
                           Time now) {
  // One that limits itself, or is not ready, has reasons of its own.
  const bool shared = job.ready() && state.terms_of(job).parallel_max == 0;
  const auto ask = [&] {
    if (!reasons.glance) reasons.glance.emplace(state, now);
    return core::scheduling::reason_word(core::scheduling::explain(*reasons.glance, job, true));
  };
  if (!shared) return ask();
  const auto [at, fresh] = reasons.known.try_emplace({job.ns, job.terms}, nullptr);
  if (fresh) at->second = ask();
  return at->second;
}

void copy_single_task(JobRow& row, const core::TaskState& task) {
  if (const core::Placement* placement = core::placement_of(task)) {
    row.site = placement->site;
    row.node = placement->node;
  }
  if (const auto* running = std::get_if<core::TaskRunning>(&task)) {
    row.started = running->started;
    row.unreachable = running->unreachable;
  }
  if (const auto* stop = std::get_if<core::TaskStop>(&task)) {
    row.started = stop->started;
    row.unreachable = stop->unreachable;
  }
}

JobRow common_row(const core::Job& job, const core::Terms& terms) {
  JobRow row;
  row.id = job.id;
  row.ns = job.ns;
  row.user = job.user;
  row.name = job.name;
  row.array = job.array;
  row.held = job.held;
  row.priority = terms.priority;
  row.tier = terms.tier;
  row.wall = terms.wall;
  row.grace = terms.grace;
  row.gang = terms.gang;
  row.parallel_max = job.array ? terms.parallel_max : 0;
  row.resources = terms.resources;
  row.submitted = job.submitted;
  row.size = job.size;
  row.active = job.placed;
  row.tally = job.tally;
  row.labels = job.labels;
  return row;
}

// All of it, so that the very same can be asked for again.
void write_request(spec::JsonWriter& json, const core::DeviceRequest& request) {
  json.begin_object().member("kind", request.kind).key("models").begin_array();
  const bool any = request.model.empty() && request.also.empty();
  for (const std::string& model : core::models_of(request)) {
    if (!any) json.text(model.empty() ? "any" : model);
  }
  json.end_array().member("count", request.count).key("share").milli(request.share_milli);
  json.key("memory_bytes");
  request.memory_bytes > 0 ? json.number(request.memory_bytes) : json.null();
  json.key("slice");
  request.profile.empty() ? json.null() : json.text(request.profile);
  json.end_object();
}

// What it asks for beside cores, memory and devices.
void write_terms(spec::JsonWriter& json, const JobRow& row) {
  json.member("tier", enum_name(row.tier)).key("time_seconds");
  row.wall.us > 0 ? json.seconds(row.wall) : json.null();
  json.key("grace_seconds").seconds(row.grace).key("gang");
  row.gang > 0 ? json.number(uint64_t{row.gang}) : json.null();
  json.key("parallel_max");
  row.parallel_max > 0 ? json.number(uint64_t{row.parallel_max}) : json.null();
}

}  // namespace

JobState state_of(const core::TaskState& task) {
  if (std::holds_alternative<core::TaskRunning>(task)) return JobState::running;
  if (std::holds_alternative<core::TaskStarting>(task)) return JobState::starting;
  if (std::holds_alternative<core::TaskStop>(task)) return JobState::stopping;
  return JobState::waiting;
}

JobState state_of(const core::Job& job) {
  if (job.placed == 0) return JobState::waiting;
  JobState best = JobState::stopping;
  for (const auto& [index, task] : job.tasks) {
    const JobState state = state_of(task.state);
    if (state == JobState::running) return state;
    if (state == JobState::starting) best = state;
  }
  return best;
}

uint64_t waiting_tasks(const core::Job& job) {
  uint64_t over = 0;
  for (const uint64_t count : job.tally) over += count;
  return job.size - over - job.placed;
}

JobRow live_row(const core::State& state, const core::Job& job, ReasonCache& reasons, Time now) {
  JobRow row = common_row(job, state.terms_of(job));
  row.state = state_of(job);
  row.waiting = waiting_tasks(job);
  if (row.state == JobState::waiting) row.reason = waiting_reason(state, job, reasons, now);
  if (!job.array && !job.tasks.empty()) copy_single_task(row, job.tasks.begin()->second.state);
  return row;
}

JobRow ended_row(const journal::EndedJob& ended) {
  JobRow row = common_row(ended.job, ended.terms);
  row.state = JobState::ended;
  row.active = 0;
  row.outcome = ended.outcome;
  row.message = ended.message;
  row.ended = ended.ended;
  return row;
}

void write_row(spec::JsonWriter& json, const core::State& table, const JobRow& row) {
  char id[24];
  std::snprintf(id, sizeof id, "%llu", static_cast<unsigned long long>(row.id.value));
  json.member("id", id).member("name", row.name);
  const auto ns = table.namespaces.find(row.ns);
  json.member("namespace", ns == table.namespaces.end() ? std::string_view()
                                                        : std::string_view(ns->second.name));
  const auto user = table.users.find(row.user);
  json.member("user",
              user == table.users.end() ? std::string_view() : std::string_view(user->second.name));
  json.member("state", kStateWords[static_cast<size_t>(row.state)]).key("outcome");
  row.outcome ? json.text(kOutcomeWords[static_cast<size_t>(*row.outcome)]) : json.null();
  json.key("reason");
  row.reason ? json.text(row.reason) : json.null();
  json.member("held", row.held)
      .member("priority", int64_t{row.priority})
      .key("cpus")
      .milli(row.resources.cpu_milli);
  json.member("memory_bytes", row.resources.memory_bytes).key("devices").begin_array();
  for (const core::DeviceRequest& request : row.resources.devices)
    json.text(spec::device_text(request));
  json.end_array().key("device_requests").begin_array();
  for (const core::DeviceRequest& request : row.resources.devices) write_request(json, request);
  json.end_array();
  write_terms(json, row);
  json.key("site");
  row.site ? json.text(name_of(table, row.site)) : json.null();
  json.key("node");
  row.node.empty() ? json.null() : json.text(row.node);
  json.member("unreachable", row.unreachable)
      .member("submitted", row.submitted)
      .member("started", row.started);
  json.member("ended", row.ended).member("array", row.array).key("tasks");
  if (row.array) {
    json.begin_object()
        .member("total", row.size)
        .member("waiting", row.waiting)
        .member("active", row.active);
    for (size_t i = 0; i < row.tally.size(); ++i) json.member(kOutcomeWords[i], row.tally[i]);
    json.end_object();
  } else {
    json.null();
  }
  write_progress(json, row.progress);
  json.key("labels").begin_object();
  for (const core::Label& label : row.labels) json.member(label.key, label.value);
  json.end_object().member("message", row.message);
}

}  // namespace atl::api
