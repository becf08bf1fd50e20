// Workflows: listed, shown, paused, cancelled, retried.
#include "api/workflows.h"

#include <numeric>

#include "api/handlers.h"
#include "api/progress_view.h"
#include "api/task_view.h"
#include "base/text.h"

namespace atl::api {
namespace {

void write_counts(spec::JsonWriter& json, const core::StepTally& tally) {
  const auto count = [&](core::StepState state) {
    return uint64_t{tally[static_cast<size_t>(state)]};
  };
  using core::StepState;
  json.key("steps").begin_object();
  json.member("total", std::accumulate(tally.begin(), tally.end(), uint64_t{0}));
  json.member("waiting", count(StepState::waiting) + count(StepState::ready));
  json.member("active", count(StepState::preparing) + count(StepState::running) +
                            count(StepState::finished) + count(StepState::collecting));
  json.member("succeeded", count(StepState::succeeded)).member("failed", count(StepState::failed));
  json.member("cancelled", count(StepState::cancelled));
  json.member("skipped", count(StepState::skipped) + count(StepState::blocked)).end_object();
}

void write_needs(spec::JsonWriter& json, const ShownStep& step,
                 const std::function<std::string(uint32_t)>& name_of_step) {
  json.key("needs").begin_array();
  for (const core::Need& need : step.kept.step.needs) {
    json.begin_object().member("step", name_of_step(need.step)).member("number", need.step);
    json.member("can_fail", need.can_fail).member("can_skip", need.can_skip).end_object();
  }
  json.end_array();
}

void write_use(spec::JsonWriter& json, const ShownStep& step) {
  const core::Resources& asked = step.kind.terms.resources;
  json.key("cpus").milli(asked.cpu_milli).member("memory_bytes", asked.memory_bytes);
  json.key("gpus");
  int64_t gpus = 0;
  for (const core::DeviceRequest& each : asked.devices) {
    if (each.kind == "gpu") gpus += int64_t{each.count} * each.share_milli;
  }
  json.milli(gpus);
  json.key("cpu_seconds").seconds(step.used.cpu);
  json.member("memory_peak_bytes", step.used.memory_peak_bytes);
  json.member("read_bytes", step.used.read_bytes);
  json.member("written_bytes", step.used.written_bytes);
  write_energy(json, step.used);
}

void write_tasks(spec::JsonWriter& json, const ShownStep& step) {
  const auto count = [&](core::Outcome outcome) {
    return uint64_t{step.outcomes[static_cast<size_t>(outcome)]};
  };
  if (step.fed) {
    const FedView& fed = *step.fed;
    json.key("tasks").begin_object().member("total", fed.done + fed.dead + fed.left);
    json.member("waiting", fed.left - std::min(fed.left, fed.working));
    json.member("active", fed.working).member("succeeded", fed.done).member("failed", fed.dead);
    json.member("cancelled", uint64_t{0}).end_object();
    return;
  }
  uint64_t over = 0;
  for (const uint32_t each : step.outcomes) over += each;
  const uint64_t active = step.live ? step.live->active : 0;
  json.key("tasks").begin_object().member("total", step.tasks);
  json.member("waiting", step.tasks - std::min(step.tasks, over + active)).member("active", active);
  json.member("succeeded", count(core::Outcome::succeeded));
  json.member("failed", count(core::Outcome::failed) + count(core::Outcome::timed_out) +
                            count(core::Outcome::lost));
  json.member("cancelled", count(core::Outcome::cancelled) + count(core::Outcome::skipped));
  json.end_object();
}

const char* reason_of(const ShownStep& step) {
  if (step.state == core::StepState::blocked) return "upstream_failed";
  if (step.state == core::StepState::skipped)
    return step.kept.message.starts_with("needs ") ? "upstream_skipped" : "condition";
  return step.kept.reused.workflow ? "reused" : nullptr;
}

struct ListWish {
  journal::WorkflowFilter filter;
  WorkflowId before;
  size_t limit = 100;
};

Result<ListWish> list_wish(const CallPtr& call) {
  ListWish wish;
  const auto table = call->context.directory.table();
  const http::Request& request = call->request();
  if (const auto visible = core::visible_namespaces(*table, call->actor)) {
    wish.filter.visible = *visible;
    if (visible->empty()) wish.filter.visible.push_back({});  // none
  }
  if (const auto ns = request.query_param("namespace")) {
    const core::Namespace* named = table->namespace_named(*ns);
    if (!named || !core::may_view(*table, call->actor, named->id))
      return tl::unexpected(core::no_such_namespace(std::string(*ns)));
    wish.filter.ns = named->id;
  }
  if (const auto user = request.query_param("user")) {
    const core::User* named = table->user_named(*user);
    wish.filter.user = *user == "me" ? call->actor.user : named ? named->id : UserId{};
  }
  if (const auto name = request.query_param("name")) wish.filter.name = *name;
  const auto before = call->query_int("before", 0);
  const auto limit = call->query_int("limit", 100);
  if (!before) return tl::unexpected(before.error());
  if (!limit) return tl::unexpected(limit.error());
  wish.before = {static_cast<uint64_t>(*before)};
  wish.limit = static_cast<size_t>(*limit);
  return wish;
}

void respond_list(const CallPtr& call, const std::vector<ShownWorkflow>& shown, bool more) {
  const auto table = call->context.directory.table();
  std::string body;
  spec::JsonWriter json(body);
  json.begin_object().key("workflows").begin_array();
  for (const ShownWorkflow& each : shown) {
    json.begin_object();
    write_workflow(json, *table, each);
    json.end_object();
  }
  json.end_array().key("next");
  more ? json.text(to_string(shown.back().kept.id)) : json.null();
  json.end_object();
  call->respond_json(std::move(body));
}

void answer_changed(const CallPtr& call, WorkflowId id, bool changed) {
  std::string body;
  spec::JsonWriter json(body);
  json.begin_object().member("id", to_string(id)).member("changed", changed).end_object();
  call->respond_json(std::move(body));
}

void act(const CallPtr& call, const std::function<core::Command(WorkflowId)>& make) {
  const auto id = workflow_id(call);
  if (!id) return call->refuse(id.error());
  command(call, make(*id), {}, [call, id = *id](const runtime::Accepted& accepted) {
    answer_changed(call, id, !accepted.events.empty());
  });
}

}  // namespace

void write_workflow(spec::JsonWriter& json, const core::State& table, const ShownWorkflow& shown) {
  const journal::KeptWorkflow& kept = shown.kept;
  json.member("id", to_string(kept.id)).member("name", kept.name);
  json.member("namespace", name_of(table, kept.ns)).member("user", name_of(table, kept.user));
  json.member("version", kept.version).member("state", state_word(shown)).key("outcome");
  const bool over = !shown.live && kept.outcome;
  over ? json.text(enum_name(*kept.outcome)) : json.null();
  json.member("message", kept.message).member("submitted", kept.submitted);
  json.member("ended", shown.live ? Time{} : kept.ended);
  json.member("origin", kept.origin).member("held", shown.held);
  write_counts(json, shown.tally);
}

void write_step(spec::JsonWriter& json, const ShownStep& step,
                const std::function<std::string(uint32_t)>& name_of_step) {
  const journal::KeptStep& kept = step.kept;
  json.begin_object().member("number", kept.number).member("name", kept.step.name);
  json.member("state", state_word(step.state)).key("outcome");
  const char* outcome = outcome_word(step.state);
  outcome ? json.text(outcome) : json.null();
  json.key("reason");
  reason_of(step) ? json.text(reason_of(step)) : json.null();
  json.member("message", kept.message).key("job");
  kept.job ? json.text(to_string(kept.job)) : json.null();
  json.member("queued", step.queued).member("started", step.started).member("ended", step.ended);
  write_needs(json, step, name_of_step);
  write_tasks(json, step);
  write_fed(json, step.fed);
  write_progress(json, step.live ? step.live->progress : std::nullopt);
  write_use(json, step);
  json.key("exit_code");
  step.exit_code&& core::ended(step.state) ? json.number(int64_t{*step.exit_code}) : json.null();
  json.key("site");
  step.site.empty() ? json.null() : json.text(step.site);
  json.key("node");
  step.node.empty() ? json.null() : json.text(step.node);
  json.member("attempts", step.attempts)
      .key("outputs")
      .raw(kept.outputs.empty() ? "{}" : kept.outputs);
  json.key("reused");
  if (kept.reused.workflow)
    json.begin_object()
        .member("workflow", to_string(kept.reused.workflow))
        .member("number", kept.reused.step)
        .end_object();
  else
    json.null();
  json.end_object();
}

// One that ended between the look at its row and the look at the state.
void reread_ended(const CallPtr& call, ShownWorkflow& shown) {
  if (shown.live || shown.kept.ended) return;
  auto kept = call->context.history.workflow(shown.kept.id);
  if (!kept) return;
  shown.kept = std::move(*kept);
  shown.tally = shown.kept.tally;
}

void list_workflows(const CallPtr& call) {
  auto wish = list_wish(call);
  if (!wish) return call->refuse(wish.error());
  auto kept = call->context.history.workflows(wish->filter, wish->before, wish->limit + 1);
  if (!kept) return call->refuse(kept.error());
  const bool more = kept->size() > wish->limit;
  if (more) kept->pop_back();
  auto shown = std::make_shared<std::vector<ShownWorkflow>>();
  for (journal::KeptWorkflow& each : *kept) {
    ShownWorkflow& one = shown->emplace_back();
    one.tally = each.tally;
    one.kept = std::move(each);
  }
  call->context.runtime.read([call, shown, more](const core::State& state) {
    for (ShownWorkflow& each : *shown) look_at_workflow(state, each);
    run_on(call->context.quick, call, [call, shown, more] {
      for (ShownWorkflow& each : *shown) reread_ended(call, each);
      respond_list(call, *shown, more);
    });
  });
}

void show_workflow(const CallPtr& call) {
  const auto id = workflow_id(call);
  if (!id) return call->refuse(id.error());
  find_workflow(call, *id, [call](const ShownWorkflow& shown) {
    const auto files = call->context.history.workflow_files(shown.kept.id);
    std::string body;
    spec::JsonWriter json(body);
    json.begin_object();
    write_workflow(json, *call->context.directory.table(), shown);
    json.member("fail_fast", shown.kept.fail_fast);
    json.key("request").raw(shown.kept.document.empty() ? "{}" : shown.kept.document);
    json.key("files").raw(files ? *files : "{}").end_object();
    call->respond_json(std::move(body));
  });
}

namespace {

// `next`: where another page begins, if there may be one.
void respond_steps(const CallPtr& call, WorkflowId workflow, const std::vector<ShownStep>& steps,
                   std::optional<uint32_t> next) {
  std::map<uint32_t, std::string> names;
  for (const ShownStep& step : steps) names[step.kept.number] = step.kept.step.name;
  const auto name = [&](uint32_t number) {
    const auto [at, fresh] = names.try_emplace(number);
    if (!fresh) return at->second;
    const auto row = call->context.history.steps(workflow, number, 1);
    if (row && !row->empty()) at->second = row->front().step.name;
    return at->second;
  };
  std::string body;
  spec::JsonWriter json(body);
  json.begin_object().key("steps").begin_array();
  for (const ShownStep& step : steps) write_step(json, step, name);
  json.end_array().key("next");
  next ? json.number(uint64_t{*next}) : json.null();
  json.end_object();
  call->respond_json(std::move(body));
}

}  // namespace

void list_steps(const CallPtr& call) {
  const auto id = workflow_id(call);
  if (!id) return call->refuse(id.error());
  const auto after = call->query_int("after", -1);
  const auto limit = call->query_int("limit", 100);
  if (!after) return call->refuse(after.error());
  if (!limit) return call->refuse(limit.error());
  const auto first = static_cast<uint32_t>(*after + 1);
  const auto max = static_cast<size_t>(*limit);
  const bool active = call->query_all("active") == std::vector<std::string>{"true"};
  find_workflow(call, *id, [call, first, max, active, id = *id](ShownWorkflow shown) {
    if (active)
      return find_active_steps(call, std::move(shown), max,
                               [call, id](const std::vector<ShownStep>& steps) {
                                 respond_steps(call, id, steps, std::nullopt);
                               });
    find_steps(call, std::move(shown), first, max,
               [call, id, max](const std::vector<ShownStep>& steps) {
                 const bool more = steps.size() == max;
                 respond_steps(call, id, steps,
                               more ? std::optional(steps.back().kept.number) : std::nullopt);
               });
  });
}

void list_versions(const CallPtr& call) {
  const auto id = workflow_id(call);
  if (!id) return call->refuse(id.error());
  find_workflow(call, *id, [call](const ShownWorkflow& shown) {
    const auto versions = call->context.history.versions(shown.kept.ns, shown.kept.name);
    if (!versions) return call->refuse(versions.error());
    std::string body;
    spec::JsonWriter json(body);
    json.begin_object().key("versions").begin_array();
    for (const journal::FileVersion& each : *versions) {
      json.begin_object().member("version", each.version).member("sha256", to_hex(each.digest));
      json.member("first_run", each.at).end_object();
    }
    json.end_array().end_object();
    call->respond_json(std::move(body));
  });
}

void pause_workflow(const CallPtr& call) {
  act(call, [](WorkflowId id) { return core::PauseWorkflow{id, true}; });
}
void resume_workflow(const CallPtr& call) {
  act(call, [](WorkflowId id) { return core::PauseWorkflow{id, false}; });
}
void cancel_workflow(const CallPtr& call) {
  act(call, [](WorkflowId id) { return core::CancelWorkflow{id}; });
}
void retry_workflow(const CallPtr& call) {
  auto wish = body_of<StepsRetryWish>(call);
  if (!wish) return;
  act(call, [&](WorkflowId id) {
    return core::RetryWorkflow{id, wish->steps.value_or(std::vector<std::string>{}), {}};
  });
}

}  // namespace atl::api
