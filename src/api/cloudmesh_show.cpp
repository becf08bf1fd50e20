// cc's routes that only look: its workflows, and how the last run of one is getting on.
#include <unistd.h>

#include <ctime>

#include "api/cloudmesh.h"
#include "api/handlers.h"
#include "base/text.h"
#include "report/graph.h"
#include "report/html.h"
#include "spec/cloudmesh/cc_write.h"

namespace atl::api {
namespace {

using spec::cc::CcNode;
using spec::cc::CcWorkflow;

constexpr size_t kStepsPerLook = 1'000;
constexpr size_t kRunsPerPage = 200;
constexpr size_t kNamesLookedAt = 10'000;  // whose names contain the one that is looked for

// A workflow with the steps of its last run, which come a page at a time.
struct Looking {
  CallPtr call;
  CcWorkflow workflow;
  ShownWorkflow run;
  std::vector<ShownStep> steps;
  std::function<void(const CcWorkflow&)> then;
};
using LookingPtr = std::shared_ptr<Looking>;

Duration zone_of(Time at) {
  const auto since = static_cast<time_t>(at.us / 1'000'000);
  tm local{};
  localtime_r(&since, &local);
  return seconds(local.tm_gmtoff);
}

spec::cc::CcJobRun job_run(const ShownStep& step) {
  spec::cc::CcJobRun job;
  job.status = status_of_step(step.state, bool(step.started));
  job.progress = job.status == "done" ? 100 : 0;
  if (step.live && step.live->progress) {
    const site::Progress& told = *step.live->progress;
    if (told.percent_milli) job.progress = static_cast<int>(*told.percent_milli / 1000);
    if (told.pid) job.pid = std::to_string(*told.pid);
  }
  job.started = step.started;
  job.ended = step.ended;
  job.modified = step.ended ? step.ended : step.started ? step.started : step.queued;
  return job;
}

report::StepState drawn_state(const std::string& status) {
  if (status == "done" || status == "completed") return report::StepState::succeeded;
  if (status == "failed") return report::StepState::failed;
  if (status == "running") return report::StepState::running;
  if (status == "submitted") return report::StepState::queued;
  return status == "undefined" ? report::StepState::blocked : report::StepState::waiting;
}

// What {os.VAR} can tell: the server's own environment is not for everybody.
std::map<std::string, std::string> label_environment(const Looking& looking) {
  char host[256] = {};
  gethostname(host, sizeof host - 1);
  const auto table = looking.call->context.directory.table();
  const std::string user = name_of(*table, looking.run.kept.user);
  return {{"USER", user}, {"LOGNAME", user}, {"HOSTNAME", host}};
}

void finish_look(const LookingPtr& looking) {
  spec::cc::CcRun run;
  run.now = looking->call->context.options.now();
  run.zone = zone_of;
  run.os = label_environment(*looking);
  if (looking->run.kept.id) {
    run.created = looking->run.kept.submitted;
    run.ended = looking->run.live ? Time{} : looking->run.kept.ended;
  }
  for (const ShownStep& step : looking->steps) {
    const auto& job = run.jobs[step.kept.step.name] = job_run(step);
    if (job.started && (!run.started || job.started < run.started)) run.started = job.started;
  }
  looking->then(spec::cc::with_run(looking->workflow, run, true));
}

void look_on(const LookingPtr& looking) {
  const auto first = static_cast<uint32_t>(looking->steps.size());
  find_steps(looking->call, looking->run, first, kStepsPerLook,
             [looking](std::vector<ShownStep> steps) {
               const bool more = steps.size() == kStepsPerLook;
               for (ShownStep& step : steps) looking->steps.push_back(std::move(step));
               more ? look_on(looking) : finish_look(looking);
             });
}

std::string html_table(const std::string& name, const CcWorkflow& workflow) {
  const std::string title = report::escaped(name);
  return "<!DOCTYPE html>\n<html><head><meta charset=\"utf-8\"><title>" + title +
         "</title></head><body>\n<h1>" + title + "</h1>\n" + jobs_html(workflow) +
         "</body></html>\n";
}

void respond_text(const CallPtr& call, const char* type, std::string text) {
  call->respond({.status = 200,
                 .content_type = type,
                 .body = std::move(text),
                 .headers = {{"X-Content-Type-Options", "nosniff"},
                             {"Content-Security-Policy", "default-src 'none'"}}});
}

void respond_workflow(const CallPtr& call, const std::string& name, const std::string& output,
                      const CcWorkflow& workflow) {
  if (output == "json") return call->respond_json(spec::cc::workflow_json(workflow));
  if (output == "status") return call->respond_json(spec::cc::status_json(workflow));
  if (output == "csv") return respond_text(call, "text/csv", spec::cc::jobs_csv(workflow));
  if (output == "table")
    return respond_text(call, "text/plain; charset=utf-8", spec::cc::jobs_table(workflow));
  if (output == "html")
    return respond_text(call, "text/html; charset=utf-8", html_table(name, workflow));
  std::string body;
  spec::JsonWriter json(body);
  json.begin_object().key(name).raw(spec::cc::workflow_json(workflow)).end_object();
  call->respond_json(std::move(body));
}

const CcNode* node_named(const CcWorkflow& workflow, std::string_view name) {
  for (const CcNode& node : workflow.nodes) {
    if (node.name == name) return &node;
  }
  return nullptr;
}

}  // namespace

report::WorkflowRun drawn_run(const CcWorkflow& workflow) {
  report::WorkflowRun run;
  run.name = workflow.name;
  for (const CcNode& node : workflow.nodes) {
    report::StepRun& step = run.steps.emplace_back();
    step.name = node.name;
    step.state = drawn_state(node.status);
    step.label = node.label;
    if (!node.shape.empty()) step.shape = node.shape;
    for (const auto& [status, color] : workflow.colors) {
      if (status == node.status) step.color = color;
    }
    for (const uint32_t parent : node.parents) step.needs.push_back({parent, false, false});
  }
  return run;
}

void with_last_run(const CallPtr& call, KeptWorkflowFile kept,
                   std::function<void(const CcWorkflow&)> then) {
  const auto run = newest_run(call->context.history, kept.of.id, kept.name);
  if (!run) return call->refuse(run.error());
  auto looking = std::make_shared<Looking>(
      Looking{call, std::move(kept.file.workflow), {}, {}, std::move(then)});
  if (!*run) return finish_look(looking);
  find_workflow(call, (*run)->id, [looking](ShownWorkflow shown) {
    looking->run = std::move(shown);
    look_on(looking);
  });
}

std::string jobs_html(const CcWorkflow& workflow) {
  std::string out = "<table border=\"1\">\n<tr>";
  for (const char* title :
       {"number", "host", "status", "name", "progress", "script", "user", "parent", "kind"})
    out += std::string("<th>") + title + "</th>";
  out += "</tr>\n";
  for (const CcNode& node : workflow.nodes) {
    std::string parents;
    for (const uint32_t parent : node.parents)
      parents += (parents.empty() ? "" : " ") + workflow.nodes[parent].name;
    out += "<tr>";
    for (const std::string& cell :
         {std::to_string(node.number), node.host, node.status, node.name,
          std::to_string(node.progress), node.script, node.user, parents, node.kind})
      out += "<td>" + report::escaped(cell) + "</td>";
    out += "</tr>\n";
  }
  return out + "</table>\n";
}

std::string status_of_step(core::StepState state, bool started) {
  if (state == core::StepState::running && !started) return "submitted";
  return std::string(spec::cc::cc_status(enum_name(state)));
}

Result<std::optional<journal::KeptWorkflow>> newest_run(journal::History& history, NamespaceId ns,
                                                        const std::string& name) {
  static const std::string kMark = std::string("\"format\":\"") + kCloudmeshFormat + "\"";
  WorkflowId before;
  for (size_t looked = 0; looked < kNamesLookedAt; looked += kRunsPerPage) {
    auto page = history.workflows({.ns = ns, .visible = {}, .user = {}, .name = name}, before,
                                  kRunsPerPage);
    if (!page) return tl::unexpected(page.error());
    for (journal::KeptWorkflow& run : *page) {
      if (run.name == name && run.document.find(kMark) != std::string::npos)
        return std::optional(std::move(run));
    }
    if (page->size() < kRunsPerPage) break;
    before = page->back().id;
  }
  return std::optional<journal::KeptWorkflow>();
}

void list_definitions(const CallPtr& call) {
  run_on(call->context.slow, call, [call] {
    const auto of = definitions_of(call, core::Role::viewer);
    if (!of) return call->refuse(of.error());
    const auto names = call->context.cloudmesh.list(*of);
    if (!names) return call->refuse(names.error());
    if (call->request().query_param("output") == "csv") {
      std::string lines;
      for (const std::string& name : *names) lines += (lines.empty() ? "" : ",") + name;
      return respond_text(call, "text/csv", lines + "\n");
    }
    std::string body;
    spec::JsonWriter json(body);
    json.begin_object().member("workflows", *names).end_object();
    call->respond_json(std::move(body));
  });
}

void show_definition(const CallPtr& call) {
  const std::string output = call->request().query_param("output").value_or("");
  run_on(call->context.slow, call, [call, output] {
    auto kept = load_definition(call, core::Role::viewer);
    if (!kept) return call->refuse(kept.error());
    const std::string name = kept->name;
    with_last_run(call, std::move(*kept), [call, name, output](const CcWorkflow& workflow) {
      if (output != "graph") return respond_workflow(call, name, output, workflow);
      run_on(call->context.slow, call, [call, run = drawn_run(workflow)] {
        respond_text(call, "image/svg+xml", report::to_svg(run));
      });
    });
  });
}

void show_definition_job(const CallPtr& call) {
  run_on(call->context.slow, call, [call] {
    auto kept = load_definition(call, core::Role::viewer);
    if (!kept) return call->refuse(kept.error());
    with_last_run(call, std::move(*kept), [call](const CcWorkflow& workflow) {
      const std::string_view job = call->request().param("job");
      const CcNode* node = node_named(workflow, job);
      if (!node)
        return call->refuse(
            {ErrorCode::not_found, "Job '" + std::string(job) + "' not found", "job"});
      call->respond_json(spec::cc::job_json(workflow, *node));
    });
  });
}

}  // namespace atl::api
