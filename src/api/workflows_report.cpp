// A workflow drawn, reported and packed for publication. All of it is worked out on the pool for
// slow things: it reads logs and waits for the program that lays out graphs.
#include <boost/json.hpp>

#include "api/handlers.h"
#include "api/job_lookup.h"
#include "api/workflows.h"
#include "base/wire.h"
#include "report/crate.h"
#include "report/graph.h"
#include "report/report.h"

namespace atl::api {
namespace {

constexpr size_t kStepsReported = 20'000;
constexpr size_t kStepsInFull = 300;  // with their logs and what they ran
constexpr int64_t kLogEnd = 4 << 10;

using Make = std::function<void(const CallPtr& call, report::WorkflowRun run)>;

report::StepState shown_state(const ShownStep& step) {
  using core::StepState;
  switch (step.state) {
    case StepState::waiting:
      return report::StepState::waiting;
    case StepState::ready:
      return report::StepState::ready;
    case StepState::preparing:
      return report::StepState::queued;
    case StepState::running:
      return (step.live && step.live->active > 0) || step.fed ? report::StepState::running
                                                              : report::StepState::queued;
    case StepState::finished:
    case StepState::collecting:
      return report::StepState::running;
    case StepState::succeeded:
      return report::StepState::succeeded;
    case StepState::failed:
      return report::StepState::failed;
    case StepState::cancelled:
      return report::StepState::cancelled;
    case StepState::skipped:
      return report::StepState::skipped;
    case StepState::blocked:
      return report::StepState::blocked;
  }
  return report::StepState::waiting;
}

std::vector<report::StepOutput> outputs_of(const std::string& text) {
  std::vector<report::StepOutput> outputs;
  boost::system::error_code error;
  const boost::json::value all = boost::json::parse(text.empty() ? "{}" : text, error);
  if (error || !all.is_object()) return outputs;
  for (const auto& entry : all.as_object()) {
    report::StepOutput& output = outputs.emplace_back();
    output.name = std::string(entry.key());
    const boost::json::object* file = entry.value().if_object();
    if (!file) {
      const auto* plain = entry.value().if_string();
      output.value = plain ? std::string(*plain) : boost::json::serialize(entry.value());
      continue;
    }
    if (const auto* path = file->if_contains("file")) output.path = std::string(path->as_string());
    if (const auto* size = file->if_contains("size")) output.size = size->to_number<int64_t>();
    if (const auto* sum = file->if_contains("sha256"))
      output.sha256 = std::string(sum->as_string());
  }
  return outputs;
}

report::StepRun step_run(const ShownStep& step) {
  report::StepRun run;
  run.name = step.kept.step.name;
  run.state = shown_state(step);
  run.reason = step.kept.message;
  run.needs = step.kept.step.needs;
  if (step.kept.job) run.job = to_string(step.kept.job);
  run.tasks = step.tasks;
  const auto count = [&](core::Outcome outcome) {
    return uint64_t{step.outcomes[static_cast<size_t>(outcome)]};
  };
  run.tasks_succeeded = count(core::Outcome::succeeded);
  run.tasks_failed =
      count(core::Outcome::failed) + count(core::Outcome::timed_out) + count(core::Outcome::lost);
  run.tasks_cancelled = count(core::Outcome::cancelled) + count(core::Outcome::skipped);
  if (step.fed) {
    run.tasks = step.fed->done + step.fed->dead + step.fed->left;
    run.tasks_succeeded = step.fed->done;
    run.tasks_failed = step.fed->dead;
  }
  if (step.live && step.live->progress && step.live->progress->percent_milli)
    run.progress = static_cast<int>(*step.live->progress->percent_milli / 1000);
  run.attempts = step.attempts;
  if (core::ended(step.state)) run.exit_code = step.exit_code;
  run.site = step.site;
  run.node = step.node;
  run.ready = run.submitted = step.queued;
  run.started = step.started;
  run.ended = step.ended;
  const core::Resources& asked = step.kind.terms.resources;
  run.cpu_milli = asked.cpu_milli;
  run.memory_bytes = asked.memory_bytes;
  for (const core::DeviceRequest& each : asked.devices) {
    if (each.kind == "gpu") run.gpus += each.count;
  }
  if (step.attempts > 0) {
    run.cpu_seconds = static_cast<double>(step.used.cpu.us) / 1e6;
    run.memory_peak = step.used.memory_peak_bytes;
    run.bytes_read = step.used.read_bytes;
    run.bytes_written = step.used.written_bytes;
    if (step.used.energy_mj) run.energy_joules = static_cast<double>(*step.used.energy_mj) / 1000;
  }
  run.outputs = outputs_of(step.kept.outputs);
  return run;
}

std::string log_end(site::SiteDriver& driver, AttemptId attempt, site::LogStream stream) {
  const auto first = driver.logs(attempt, stream, 0, 1);
  if (!first || first->size == 0) return {};
  const auto end =
      driver.logs(attempt, stream, std::max<int64_t>(0, first->size - kLogEnd), kLogEnd);
  return end ? end->bytes : std::string();
}

// What its job ran, and how its output ends.
void add_details(Context& context, const ShownStep& step, report::StepRun& run) {
  const JobId job = step.kept.job;
  if (!job) return;
  if (const auto bytes = context.history.payload(job)) {
    if (const auto payload = wire::decode<core::Payload>(*bytes)) {
      run.command = payload->script;
      for (const std::string& word : payload->argv)
        run.command += (run.command.empty() ? "" : " ") + word;
    }
  }
  LogEnds ends = log_ends(context, job);
  run.log_end_out = std::move(ends.out);
  run.log_end_err = std::move(ends.err);
}

void add_request(const journal::KeptWorkflow& kept, const std::string& files,
                 report::WorkflowRun& run) {
  boost::system::error_code error;
  const boost::json::value document = boost::json::parse(kept.document, error);
  std::string main;
  if (!error && document.is_object()) {
    if (const auto* each = document.as_object().if_contains("main"); each && each->is_string())
      main = std::string(each->as_string());
    const auto* params = document.as_object().if_contains("params");
    if (params && params->is_object()) {
      for (const auto& entry : params->as_object()) {
        if (entry.value().is_string())
          run.params.push_back({std::string(entry.key()), std::string(entry.value().as_string())});
      }
    }
  }
  const boost::json::value sent = boost::json::parse(files, error);
  if (error || !sent.is_object()) return;
  for (const auto& entry : sent.as_object()) {
    if (!entry.value().is_string()) continue;
    report::WorkflowFile file{std::string(entry.key()), std::string(entry.value().as_string())};
    const auto at = file.path == main ? run.files.begin() : run.files.end();
    run.files.insert(at, std::move(file));
  }
}

report::WorkflowRun run_of(const CallPtr& call, const ShownWorkflow& shown) {
  const auto table = call->context.directory.table();
  const journal::KeptWorkflow& kept = shown.kept;
  report::WorkflowRun run;
  run.id = to_string(kept.id);
  run.name = kept.name;
  run.namespace_name = name_of(*table, kept.ns);
  run.user = name_of(*table, kept.user);
  run.state = state_word(shown);
  if (!shown.live && kept.outcome) run.outcome = enum_name(*kept.outcome);
  run.message = kept.message;
  run.as_of = call->context.options.now();
  run.submitted = run.started = kept.submitted;
  if (!shown.live) run.ended = kept.ended;
  run.version = kept.version;
  if (const auto versions = call->context.history.versions(kept.ns, kept.name)) {
    for (const journal::FileVersion& each : *versions) {
      if (each.version == kept.version) run.version_sha256 = to_hex(each.digest);
    }
  }
  const auto files = call->context.history.workflow_files(kept.id);
  add_request(kept, files ? *files : "{}", run);
  run.server_version = call->context.options.version;
  return run;
}

// Gathers all there is of the workflow and hands it over, on the pool for slow things.
void with_run(const CallPtr& call, bool in_full, Make make) {
  const auto id = workflow_id(call);
  if (!id) return call->refuse(id.error());
  find_workflow(call, *id, [call, in_full, make = std::move(make)](ShownWorkflow shown) {
    auto run = std::make_shared<report::WorkflowRun>(run_of(call, shown));
    find_steps(call, std::move(shown), 0, kStepsReported,
               [call, in_full, run, make](std::vector<ShownStep> steps) {
                 auto kept = std::make_shared<std::vector<ShownStep>>(std::move(steps));
                 run_on(call->context.slow, call, [call, in_full, run, kept, make] {
                   for (size_t i = 0; i < kept->size(); ++i) {
                     report::StepRun& step = run->steps.emplace_back(step_run((*kept)[i]));
                     if (in_full && i < kStepsInFull) add_details(call->context, (*kept)[i], step);
                   }
                   make(call, std::move(*run));
                 });
               });
  });
}

void respond_as(const CallPtr& call, const char* type, std::string body, const std::string& file) {
  http::Response response;
  response.headers.set("Content-Type", type);
  if (!file.empty())
    response.headers.set("Content-Disposition", "attachment; filename=\"" + file + "\"");
  response.body = std::move(body);
  call->respond(std::move(response));
}

}  // namespace

LogEnds log_ends(Context& context, JobId job) {
  const auto last = context.history.last_attempt(job, 0);
  if (!last || !*last) return {};
  const auto table = context.directory.table();
  const auto driver = driver_for(context, name_of(*table, (*last)->placement.site));
  if (!driver) return {};
  return {log_end(**driver, (*last)->attempt, site::LogStream::out),
          log_end(**driver, (*last)->attempt, site::LogStream::err)};
}

void show_workflow_graph(const CallPtr& call) {
  const auto formats = call->query_all("format");
  const std::string format = formats.empty() ? "svg" : formats.front();
  const auto width = call->query_int("width", 80);
  if (!width) return call->refuse(width.error());
  report::TextOptions options;
  options.width = static_cast<int>(*width);
  options.ascii = call->query_all("ascii") == std::vector<std::string>{"true"};
  options.color = call->query_all("color") == std::vector<std::string>{"true"};
  with_run(call, false, [format, options](const CallPtr& asked, const report::WorkflowRun& run) {
    if (format == "dot") return respond_as(asked, "text/vnd.graphviz", report::to_dot(run), "");
    if (format == "text")
      return respond_as(asked, "text/plain; charset=utf-8", report::to_text(run, options), "");
    respond_as(asked, "image/svg+xml", report::to_svg(run), "");
  });
}

void show_workflow_report(const CallPtr& call) {
  with_run(call, true, [](const CallPtr& asked, const report::WorkflowRun& run) {
    respond_as(asked, "text/html; charset=utf-8", report::to_html(run), "");
  });
}

void show_workflow_crate(const CallPtr& call) {
  with_run(call, true, [](const CallPtr& asked, const report::WorkflowRun& run) {
    auto crate = report::to_crate(run);
    if (!crate) return asked->refuse(crate.error());
    respond_as(asked, "application/zip", std::move(*crate), "workflow-" + run.id + ".crate.zip");
  });
}

}  // namespace atl::api
