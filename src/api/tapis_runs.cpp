// Runs of pipelines: started, listed, ended, and the executions of their tasks.
#include <algorithm>

#include "api/handlers.h"
#include "api/tapis.h"
#include "base/text.h"
#include "spec/tapis/tapis_plan.h"

namespace atl::api {
namespace {

namespace json = boost::json;

constexpr size_t kRunsShown = 1'000;         // the newest of a pipeline
constexpr size_t kExecutionsShown = 10'000;  // as many as a pipeline has tasks
constexpr size_t kLogsShown = 300;           // executions of one answer that come with their output

const char* status_word(const ShownWorkflow& run) {
  if (!run.live) {
    if (run.kept.outcome == core::Outcome::succeeded) return "completed";
    return run.kept.outcome == core::Outcome::cancelled ? "terminated" : "failed";
  }
  if (run.cancelled) return "terminating";
  if (run.held) return "deferred";
  if (run.paused) return "suspended";
  return std::string_view(state_word(run)) == "waiting" ? "submitted" : "active";
}

const char* status_word(const ShownStep& step) {
  using core::StepState;
  switch (step.state) {
    case StepState::waiting:
    case StepState::ready:
      return "pending";
    case StepState::preparing:
      return "staging";
    case StepState::running:
      if (step.live && step.live->active > 0) return "active";
      return step.attempts > 0 ? "backoff" : "pending";
    case StepState::finished:
    case StepState::collecting:
      return "active";
    case StepState::succeeded:
      return "completed";
    case StepState::failed:
      return "failed";
    case StepState::cancelled:
      return "terminated";
    case StepState::skipped:
    case StepState::blocked:
      return "skipped";
  }
  return "pending";
}

json::value time_value(Time at) {
  std::string text;
  spec::JsonWriter(text).time(at);
  return json::parse(text);
}

json::object document_of(const journal::KeptWorkflow& run) {
  boost::system::error_code error;
  json::value value = json::parse(run.document, error);
  return !error && value.is_object() ? value.as_object() : json::object();
}

json::object run_view(const ShownWorkflow& run, const std::string& pipeline_uuid,
                      const std::string& logs) {
  const json::object document = document_of(run.kept);
  return {{"name", text_member(document, "name")},
          {"description", text_member(document, "description")},
          {"uuid", run_uuid(run.kept.id)},
          {"pipeline", pipeline_uuid},
          {"status", status_word(run)},
          {"started_at", time_value(run.kept.submitted)},
          {"last_modified",
           time_value(run.live || !run.kept.ended ? run.kept.submitted : run.kept.ended)},
          {"logs", logs}};
}

std::string pipeline_uuid(const TapisPipeline& pipeline) {
  return name_uuid("pipeline/" + pipeline.group.name + "/" + pipeline.id);
}

// Finds pipeline and run of the path; a run of another pipeline is none of this one.
void with_run(const CallPtr& call,
              std::function<void(const TapisPipeline& of, const ShownWorkflow& run)> then) {
  view(
      call, [call](const core::State& state) { return tapis_pipeline(state, call); },
      [call, then = std::move(then)](const TapisPipeline& of) {
        const auto id = run_of_uuid(call->request().param("run"));
        if (!id) return call->refuse(id.error());
        const auto kept = call->context.history.workflow(*id);
        if (!kept || kept->ns != of.group.id || kept->origin != spec::tapis::run_origin(of.id))
          return call->refuse(
              {ErrorCode::not_found,
               "pipeline " + quote(of.id) + " has no run " + quote(call->request().param("run")),
               "run"});
        find_workflow(call, *id, [of, then](const ShownWorkflow& run) { then(of, run); });
      });
}

// A line for each task that has something to say, and for the whole.
std::string logs_of(const ShownWorkflow& run, const std::vector<ShownStep>& steps) {
  std::string text;
  for (const ShownStep& step : steps) {
    if (!core::ended(step.state) || step.kept.message.empty()) continue;
    text += step.kept.step.name + " " + status_word(step) + ": " + step.kept.message + "\n";
  }
  if (!run.live && !run.kept.message.empty()) text += run.kept.message + "\n";
  return text;
}

json::object execution_view(const CallPtr& call, const ShownWorkflow& run, const ShownStep& step,
                            bool with_logs) {
  LogEnds ends;
  if (with_logs && step.kept.job) ends = log_ends(call->context, step.kept.job);
  const Time changed = step.ended ? step.ended : step.started ? step.started : step.queued;
  const auto shown = [](const std::string& bytes) {
    std::string text;
    spec::append_json_text(text, bytes);  // whatever a program wrote, it is text here
    return json::parse(text);
  };
  return {{"uuid", execution_uuid({run.kept.id, step.kept.number})},
          {"pipeline_run", run_uuid(run.kept.id)},
          {"task_id", step.kept.step.name},
          {"status", status_word(step)},
          {"started_at", time_value(step.started)},
          {"last_modified", time_value(changed)},
          {"last_message", shown(step.kept.message)},
          {"stdout", shown(ends.out)},
          {"stderr", shown(ends.err)}};
}

struct NewRun {
  TapisPipeline pipeline;
  std::string name;
  std::string description;
  spec::tapis::Variables args;
};

std::string run_document(const NewRun& run, const spec::WorkflowPlan& plan) {
  std::string text;
  spec::JsonWriter writer(text);
  writer.begin_object().member("format", "tapis").member("main", run.pipeline.id + ".json");
  writer.member("name", run.name).member("description", run.description);
  writer.key("params").begin_object();
  for (const auto& [name, value] : plan.params) writer.member(name, value);
  writer.end_object().end_object();
  return text;
}

void submit_run(const CallPtr& call, const NewRun& run, const spec::tapis::Pipeline& pipeline) {
  if (!pipeline.enabled)
    return call->refuse(
        {ErrorCode::conflict, "pipeline " + quote(pipeline.id) + " is not enabled", "enabled"});
  const auto table = call->context.directory.table();
  const TapisGroup& group = run.pipeline.group;
  auto plan = spec::tapis::plan_pipeline(pipeline, {run.args, group.name, spec::tapis::kTenant,
                                                    name_of(*table, run.pipeline.document.owner)});
  if (!plan) return call->refuse(plan.error());
  if (plan->steps.empty())
    return call->refuse(
        {ErrorCode::invalid, "pipeline " + quote(pipeline.id) + " has no tasks", "tasks"});
  PlannedWorkflow planned;
  planned.command = spec::tapis::run_terms(pipeline);
  planned.command.ns = group.name;
  planned.command.document = run_document(run, *plan);
  planned.files =
      json::serialize(json::object{{pipeline.id + ".json", run.pipeline.document.text}});
  planned.plan = std::move(*plan);
  take_plan(call, std::move(planned), [call, run](const TakenWorkflow& taken) {
    find_workflow(call, taken.id, [call, run](const ShownWorkflow& shown) {
      answer_tapis(call, run_view(shown, pipeline_uuid(run.pipeline), ""), "run submitted");
    });
  });
}

Result<NewRun> new_run(const CallPtr& call) {
  const auto body = tapis_body(call);
  if (!body) return tl::unexpected(body.error());
  NewRun run;
  run.name = text_member(*body, "name");
  run.description = text_member(*body, "description");
  if (const json::value* directives = body->if_contains("directives")) {
    const bool none =
        directives->is_null() || (directives->is_array() && directives->as_array().empty());
    if (!none)
      return fail(ErrorCode::invalid, "directives: are not offered; leave them out", "directives");
  }
  const json::value* args = body->if_contains("args");
  if (!args || args->is_null()) return run;
  auto read = spec::tapis::read_args(json::serialize(*args));
  if (!read) return tl::unexpected(read.error());
  run.args = std::move(*read);
  return run;
}

}  // namespace

void run_tapis_pipeline(const CallPtr& call) {
  auto read = new_run(call);
  if (!read) return call->refuse(read.error());
  auto run = std::make_shared<NewRun>(std::move(*read));
  view(
      call, [call](const core::State& state) { return tapis_pipeline(state, call); },
      [call, run](const TapisPipeline& found) {
        run->pipeline = found;
        read_tapis(
            call, found.group, found.document.text,
            [call, run](const auto& pipeline, const auto&) { submit_run(call, *run, pipeline); });
      });
}

void list_tapis_runs(const CallPtr& call) {
  struct Listed {
    TapisPipeline of;
    std::vector<ShownWorkflow> runs;
  };
  view(
      call, [call](const core::State& state) { return tapis_pipeline(state, call); },
      [call](const TapisPipeline& of) {
        journal::WorkflowFilter filter;
        filter.ns = of.group.id;
        filter.origin = spec::tapis::run_origin(of.id);
        auto kept = call->context.history.workflows(filter, {}, kRunsShown);
        if (!kept) return call->refuse(kept.error());
        auto listed = std::make_shared<Listed>(Listed{of, {}});
        for (journal::KeptWorkflow& each : *kept)
          listed->runs.emplace_back().kept = std::move(each);
        call->context.runtime.read([call, listed](const core::State& state) {
          for (ShownWorkflow& each : listed->runs) look_at_workflow(state, each);
          run_on(call->context.quick, call, [call, listed] {
            json::array all;
            for (ShownWorkflow& each : listed->runs) {
              reread_ended(call, each);
              all.push_back(run_view(each, pipeline_uuid(listed->of), each.kept.message));
            }
            answer_tapis(call, all);
          });
        });
      });
}

void show_tapis_run(const CallPtr& call) {
  with_run(call, [call](const TapisPipeline& of, const ShownWorkflow& run) {
    find_steps(call, run, 0, kExecutionsShown,
               [call, of, run](const std::vector<ShownStep>& steps) {
                 answer_tapis(call, run_view(run, pipeline_uuid(of), logs_of(run, steps)));
               });
  });
}

void terminate_tapis_run(const CallPtr& call) {
  with_run(call, [call](const TapisPipeline& of, const ShownWorkflow& run) {
    const std::string uuid = run_uuid(run.kept.id);
    if (!run.live) {
      const auto table = call->context.directory.table();
      if (auto ok = core::require_role(*table, call->actor, of.group.id, core::Role::member); !ok)
        return call->refuse(ok.error());
      return call->refuse(
          {ErrorCode::conflict, "run " + uuid + " has ended already: " + status_word(run), "run"});
    }
    command(call, core::CancelWorkflow{run.kept.id}, {}, [call, uuid](const runtime::Accepted&) {
      answer_deed(call, "run " + uuid + " is being terminated");
    });
  });
}

void list_tapis_executions(const CallPtr& call) {
  with_run(call, [call](const TapisPipeline&, const ShownWorkflow& run) {
    find_steps(call, run, 0, kExecutionsShown, [call, run](std::vector<ShownStep> steps) {
      auto kept = std::make_shared<std::vector<ShownStep>>(std::move(steps));
      run_on(call->context.slow, call, [call, run, kept] {
        json::array all;
        for (const ShownStep& step : *kept)
          all.push_back(execution_view(call, run, step, all.size() < kLogsShown));
        answer_tapis(call, all);
      });
    });
  });
}

void show_tapis_execution(const CallPtr& call) {
  with_run(call, [call](const TapisPipeline&, const ShownWorkflow& run) {
    const auto named = execution_of_uuid(call->request().param("execution"));
    if (!named || named->workflow != run.kept.id)
      return call->refuse({ErrorCode::not_found,
                           "run " + run_uuid(run.kept.id) + " has no execution " +
                               quote(call->request().param("execution")),
                           "execution"});
    find_steps(call, run, named->step, 1, [call, run](std::vector<ShownStep> steps) {
      if (steps.empty())
        return call->refuse({ErrorCode::not_found, "there is no such execution", "execution"});
      auto step = std::make_shared<ShownStep>(std::move(steps.front()));
      run_on(call->context.slow, call,
             [call, run, step] { answer_tapis(call, execution_view(call, run, *step, true)); });
    });
  });
}

}  // namespace atl::api
