#include "api/context.h"
#include "api/handlers.h"
#include "api/job_row.h"
#include "api/task_view.h"

namespace atl::api {
namespace {

constexpr size_t kCountedPerSlice = 5'000;

struct RunningTask {
  TaskId id;
  bool array = false;
  UserId user;
  NamespaceId ns;
  std::string name;
  core::Task task;
  core::Resources resources;
};

// Counted over all live jobs that the actor may see, a slice of them per turn of the loop.
struct Census {
  CallPtr call;
  bool sees_all = true;
  size_t tasks_max = 0;
  std::array<uint64_t, 4> jobs{};
  uint64_t tasks_waiting = 0;
  uint64_t tasks_active = 0;
  std::vector<RunningTask> running;
  std::vector<SiteUse> sites;
  std::function<void(Census&)> then;
};
using CensusPtr = std::shared_ptr<Census>;

void count_job(Census& census, const core::State& state, const core::Job& job) {
  if (!census.sees_all && !core::may_view(state, census.call->actor, job.ns)) return;
  ++census.jobs[static_cast<size_t>(state_of(job))];
  census.tasks_waiting += job.waiting.size();
  census.tasks_active += job.placed;
  for (const auto& [index, task] : job.tasks) {
    census.tasks_waiting += task.line.has_value();
    if (!core::placement_of(task.state) || task.line) continue;
    if (census.running.size() >= census.tasks_max) continue;
    census.running.push_back({{job.id, index},
                              job.array,
                              job.user,
                              job.ns,
                              job.name,
                              task,
                              state.terms_of(job).resources});
  }
}

void count(const CensusPtr& census, JobId after) {
  census->call->context.runtime.read([census, after](const core::State& state) {
    auto it = state.jobs.upper_bound(after);
    for (size_t looked = 0; it != state.jobs.end(); ++it) {
      if (looked++ == kCountedPerSlice) return count(census, std::prev(it)->first);
      count_job(*census, state, it->second);
    }
    for (const auto& [id, site] : state.sites) census->sites.push_back(use_of(site));
    run_on(census->call->context.quick, census->call, [census] { census->then(*census); });
  });
}

// The newest sample of each, where the site offers any.
void write_usage(spec::JsonWriter& json, Context& context, const std::string& site,
                 AttemptId attempt) {
  std::vector<Sample> samples;
  const auto source = context.options.samples.find(site);
  if (source != context.options.samples.end())
    samples = source->second->samples(attempt, 2).value_or(samples);
  json.key("cpus_used");
  if (samples.size() == 2 && samples[1].at > samples[0].at) {
    json.milli((samples[1].cpu - samples[0].cpu).us * 1000 / (samples[1].at - samples[0].at).us);
  } else {
    json.null();
  }
  json.key("memory_bytes_used");
  samples.empty() ? json.null() : json.number(samples.back().memory_bytes);
}

void write_running(spec::JsonWriter& json, Context& context, const core::State& table,
                   const RunningTask& running) {
  const core::Placement& placement = *core::placement_of(running.task.state);
  const std::string site = name_of(table, placement.site);
  json.begin_object()
      .member("id", to_string(running.id, running.array))
      .member("name", running.name);
  json.member("namespace", name_of(table, running.ns)).member("user", name_of(table, running.user));
  json.member("state", kStateWords[static_cast<size_t>(state_of(running.task.state))])
      .member("attempt", running.task.attempt);
  json.member("site", site)
      .member("node", placement.node)
      .key("cpus")
      .milli(running.resources.cpu_milli);
  json.member("memory_bytes", running.resources.memory_bytes);
  const auto* run = std::get_if<core::TaskRunning>(&running.task.state);
  json.member("started", run ? run->started : Time{});
  write_usage(json, context, site, {running.id.job, running.id.index, running.task.attempt});
  json.end_object();
}

void show_census(Census& census) {
  const auto table = census.call->context.directory.table();
  std::string body;
  spec::JsonWriter json(body);
  json.begin_object().key("jobs").begin_object();
  for (size_t i = 0; i < census.jobs.size(); ++i) json.member(kStateWords[i], census.jobs[i]);
  json.end_object()
      .key("tasks")
      .begin_object()
      .member("waiting", census.tasks_waiting)
      .member("active", census.tasks_active)
      .end_object();
  json.key("running").begin_array();
  for (const RunningTask& running : census.running)
    write_running(json, census.call->context, *table, running);
  json.end_array().end_object();
  census.call->respond_json(std::move(body));
}

void show_exposition(Census& census) {
  Context& context = census.call->context;
  const runtime::Health health = context.runtime.health();
  Gauges gauges;
  for (size_t i = 0; i < census.jobs.size(); ++i)
    gauges.jobs_by_state[kStateWords[i]] = static_cast<double>(census.jobs[i]);
  gauges.commits = static_cast<double>(health.sequence);
  gauges.events = static_cast<double>(health.events);
  gauges.turns = static_cast<double>(health.turns);
  gauges.longest_turn_seconds = static_cast<double>(health.longest_turn.us) / 1e6;
  gauges.inputs_queued = static_cast<double>(health.queued);
  gauges.streams = static_cast<double>(context.streams.load());
  gauges.read_only = health.read_only;
  gauges.sites = std::move(census.sites);
  census.call->respond({.status = 200,
                        .content_type = "text/plain; version=0.0.4; charset=utf-8",
                        .body = context.metrics.expose(gauges),
                        .headers = {}});
}

}  // namespace

void show_stats(const CallPtr& call) {
  auto census = std::make_shared<Census>();
  census->call = call;
  census->sees_all = !core::visible_namespaces(*call->context.directory.table(), call->actor);
  census->tasks_max = static_cast<size_t>(call->query_int("limit", 100).value_or(100));
  census->then = show_census;
  count(census, JobId{});
}

void show_metrics(const CallPtr& call) {
  auto census = std::make_shared<Census>();
  census->call = call;
  census->then = show_exposition;
  count(census, JobId{});
}

}  // namespace atl::api
