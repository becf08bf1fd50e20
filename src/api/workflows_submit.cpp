// Workflows come in: the files are read off the core's thread, and their steps are handed to it a
// batch at a time, so that one with many of them keeps nobody waiting.
#include <algorithm>

#include "api/cloudmesh.h"
#include "api/handlers.h"
#include "api/workflows.h"
#include "base/text.h"
#include "core/limits.h"
#include "spec/workflow/program.h"

namespace atl::api {
namespace {

constexpr size_t kRunsLookedAt = 20;  // before: for what steps left that are not run again

// A workflow on its way in.
struct Arrival {
  CallPtr call;
  spec::WorkflowPlan plan;
  spec::StepMaker maker;
  core::SubmitWorkflow command;  // without steps
  journal::Blob files;
  std::vector<std::string> warnings;
  std::function<void(const TakenWorkflow&)> taken;
  WorkflowId id;
  size_t sent = 0;
  bool keep = false;
};
using ArrivalPtr = std::shared_ptr<Arrival>;

std::vector<journal::Blob> blobs_of(spec::StepsBatch& batch) {
  std::vector<journal::Blob> blobs;
  blobs.reserve(batch.blobs.size());
  for (auto& [digest, bytes] : batch.blobs) blobs.push_back({digest, std::move(bytes)});
  return blobs;
}

Result<spec::StepsBatch> next_batch(Arrival& arrival) {
  spec::StepsBatch batch;
  const size_t end =
      std::min(arrival.plan.steps.size(), arrival.sent + size_t{core::kStepsBatchMax});
  for (; arrival.sent < end; ++arrival.sent) {
    spec::PlannedStep& step = arrival.plan.steps[arrival.sent];
    if (auto ok = arrival.maker.add(step, batch); !ok) return tl::unexpected(ok.error());
    step.job = {};  // its bytes are in the batch now
  }
  return batch;
}

void answer_submitted(const ArrivalPtr& arrival) {
  arrival->taken(
      {arrival->id, arrival->command.name, arrival->plan.steps.size(), arrival->warnings});
}

void send_rest(const ArrivalPtr& arrival);

void send_more(const ArrivalPtr& arrival) {
  run_on(arrival->call->context.slow, arrival->call, [arrival] { send_rest(arrival); });
}

// One that cannot be completed is taken back.
void give_up(const ArrivalPtr& arrival, const Error& error) {
  runtime::Submission cancel{{arrival->call->actor, core::CancelWorkflow{arrival->id}}, {}, {}};
  arrival->call->context.runtime.post(std::move(cancel), nullptr);
  arrival->call->refuse(error);
}

void send_rest(const ArrivalPtr& arrival) {
  auto batch = next_batch(*arrival);
  if (!batch) return give_up(arrival, batch.error());
  core::AddSteps add;
  add.id = arrival->id;
  add.kinds = std::move(batch->kinds);
  add.steps = std::move(batch->steps);
  add.numbered = true;
  add.keep = arrival->keep;
  add.seal = arrival->sent == arrival->plan.steps.size();
  const bool last = add.seal;
  runtime::Submission submission{{arrival->call->actor, std::move(add)}, blobs_of(*batch), {}};
  arrival->call->context.runtime.post(std::move(submission),
                                      [arrival, last](Result<runtime::Accepted> accepted) {
                                        if (!accepted) return give_up(arrival, accepted.error());
                                        last ? answer_submitted(arrival) : send_more(arrival);
                                      });
}

void send_first(const ArrivalPtr& arrival) {
  auto batch = next_batch(*arrival);
  if (!batch) return arrival->call->refuse(batch.error());
  core::SubmitWorkflow first = arrival->command;
  first.kinds = std::move(batch->kinds);
  first.steps = std::move(batch->steps);
  first.sealed = arrival->sent == arrival->plan.steps.size();
  const bool whole = first.sealed;
  std::vector<journal::Blob> blobs = blobs_of(*batch);
  blobs.push_back(arrival->files);
  command(arrival->call, std::move(first), std::move(blobs),
          [arrival, whole](const runtime::Accepted& accepted) {
            arrival->id = event_of<core::WorkflowSubmitted>(accepted)->id;
            whole ? answer_submitted(arrival) : send_more(arrival);
          });
}

// What is shown of a workflow besides its steps: its parameters, and what it was asked for with.
std::string document_of(const WorkflowWish& wish, const spec::WorkflowPlan& plan,
                        const std::string& main, const char* format) {
  std::string text;
  spec::JsonWriter json(text);
  json.begin_object().member("format", format).member("main", main);
  json.member("directory", wish.directory.value_or(""));
  json.key("params").begin_object();
  for (const auto& [name, value] : plan.params) json.member(name, value);
  json.end_object();
  json.member("only", wish.only.value_or("")).member("from", wish.from.value_or(""));
  json.end_object();
  return text;
}

// The last success of each step in earlier runs of that name, which the actor may see.
Result<std::map<std::string, core::StepRef>> earlier_successes(const CallPtr& call,
                                                               const std::string& ns,
                                                               const std::string& name) {
  constexpr size_t kPage = 10'000;
  std::map<std::string, core::StepRef> found;
  const auto table = call->context.directory.table();
  const core::Namespace* space = table->namespace_named(ns);
  if (!space || !core::may_view(*table, call->actor, space->id)) return found;
  const auto runs = call->context.history.workflows(
      {.ns = space->id, .visible = {}, .user = {}, .name = name, .origin = {}}, {},
      10 * kRunsLookedAt);
  if (!runs) return tl::unexpected(runs.error());
  size_t looked = 0;
  for (const journal::KeptWorkflow& run : *runs) {
    if (run.name != name || ++looked > kRunsLookedAt) continue;
    for (uint32_t first = 0;; first += kPage) {
      const auto page = call->context.history.steps(run.id, first, kPage);
      if (!page) return tl::unexpected(page.error());
      for (const journal::KeptStep& step : *page) {
        if (step.state == core::StepState::succeeded)
          found.try_emplace(step.step.name, core::StepRef{run.id, step.number});
      }
      if (page->size() < kPage) break;
    }
  }
  return found;
}

// One of our own files.
Result<void> plan_steps(const WorkflowWish& wish, const std::string& main, Arrival& arrival) {
  auto file = spec::parse_workflow(wish.files->at(main), main, *wish.files);
  if (!file) return fail(file.error().code, file.error().message, "files");
  arrival.command.name = spec::workflow_name(wish.name, file->name, main);
  spec::PlanOptions options;
  options.params = wish.set.value_or(options.params);
  options.directory = wish.directory.value_or("");
  options.only = wish.only.value_or("");
  options.from = wish.from.value_or("");
  options.check = wish.check.value_or(false);
  if (!options.only.empty() || !options.from.empty() || options.check) {
    auto earlier = earlier_successes(arrival.call, arrival.command.ns, arrival.command.name);
    if (!earlier) return tl::unexpected(earlier.error());
    options.earlier = std::move(*earlier);
  }
  // A name of its own, so that what was left by the steps themselves stays the last of theirs.
  if (options.check) arrival.command.name += ".check";
  options.files = *wish.files;
  auto planned = spec::plan_workflow(*file, options);
  if (!planned) return tl::unexpected(planned.error());
  arrival.plan = std::move(*planned);
  return {};
}

Result<void> plan_nodes(const WorkflowWish& wish, const std::string& main, Arrival& arrival) {
  arrival.command.name = spec::workflow_name(wish.name, {}, main);
  auto planned = plan_cloudmesh(arrival.call, wish, main);
  if (!planned) return tl::unexpected(planned.error());
  arrival.plan = std::move(planned->plan);
  arrival.warnings = std::move(planned->warnings);
  return {};
}

Result<ArrivalPtr> plan(const CallPtr& call, const WorkflowWish& wish) {
  const auto main = spec::main_file(wish.files, wish.main);
  if (!main) return tl::unexpected(main.error());
  if (!wish.only.value_or("").empty() && !wish.from.value_or("").empty())
    return fail(ErrorCode::invalid, "only and from exclude each other", "only");
  auto arrival = std::make_shared<Arrival>();
  arrival->call = call;
  arrival->command.ns = wish.ns.value_or(core::kDefaultNamespace);
  const bool cloudmesh = spec::cc::looks_like_cc(wish.files->at(*main));
  const auto planned =
      cloudmesh ? plan_nodes(wish, *main, *arrival) : plan_steps(wish, *main, *arrival);
  if (!planned) return tl::unexpected(planned.error());
  if (auto ok = check_word(arrival->command.name, "name"); !ok) return tl::unexpected(ok.error());
  std::string files = spec::files_document(*wish.files);
  arrival->files = {spec::sha256(files), std::move(files)};
  arrival->command.files = arrival->files.digest;
  arrival->command.document =
      document_of(wish, arrival->plan, *main, cloudmesh ? kCloudmeshFormat : "atoll");
  arrival->command.fail_fast = arrival->plan.fail_fast;
  arrival->command.parallel_max = arrival->plan.parallel_max;
  arrival->command.paused = wish.paused.value_or(false);
  arrival->command.keep = arrival->keep = wish.keep.value_or(false);
  return arrival;
}

void write_planned(spec::JsonWriter& json, const Arrival& arrival) {
  constexpr size_t kShown = 1'000;
  json.member("steps", uint64_t{arrival.plan.steps.size()}).key("plan").begin_array();
  for (size_t i = 0; i < std::min(kShown, arrival.plan.steps.size()); ++i) {
    const spec::PlannedStep& step = arrival.plan.steps[i];
    json.begin_object().member("name", step.name);
    std::vector<std::string> needs;
    for (const spec::PlannedNeed& need : step.needs)
      needs.push_back(arrival.plan.steps[need.step].name);
    json.member("needs", needs).key("tasks");
    const bool later = (step.prepared && step.recipe->for_each) || !step.feed.queue.empty();
    later ? json.null() : json.number(uint64_t{step.items ? step.items->count() : 1});
    json.member("kept", step.recipe && step.recipe->reuse.has_value()).end_object();
  }
  json.end_array();
}

void answer_taken(const CallPtr& call, const TakenWorkflow& taken) {
  std::string body;
  spec::JsonWriter json(body);
  const std::string id = to_string(taken.id);
  json.begin_object().member("id", id).member("name", taken.name).member("steps", taken.steps);
  json.member("warnings", taken.warnings).end_object();
  http::Headers headers;
  headers.add("Location", "/api/v1/workflows/" + id);
  call->respond_json(std::move(body), 201, std::move(headers));
}

// Whether all of it would be taken, a batch at a time: of those behind the first one what their
// steps ask for, of which there is one that stands for all.
void try_batches(const ArrivalPtr& arrival, std::string body) {
  const bool begins = arrival->sent == 0;
  auto batch = next_batch(*arrival);
  if (!batch) return arrival->call->refuse(batch.error());
  core::SubmitWorkflow trial = arrival->command;
  trial.kinds = std::move(batch->kinds);
  trial.steps = std::move(batch->steps);
  if (!begins) {
    trial.steps.resize(trial.kinds.empty() ? 0 : 1);
    for (core::NewStep& step : trial.steps) step = {.name = step.name, .prepared = true};
  }
  arrival->call->context.runtime.read([arrival, trial = std::move(trial),
                                       body = std::move(body)](const core::State& state) mutable {
    const auto& call = arrival->call;
    if (!trial.steps.empty()) {
      const auto events = core::decide(state, {state.now, core::Request{call->actor, trial}});
      if (!events) return call->refuse(events.error());
    }
    if (arrival->sent == arrival->plan.steps.size()) return call->respond_json(std::move(body));
    run_on(call->context.slow, call,
           [arrival, body = std::move(body)]() mutable { try_batches(arrival, std::move(body)); });
  });
}

// Says what would be submitted, or why it would be refused.
void try_out(const ArrivalPtr& arrival) {
  std::string body;
  spec::JsonWriter json(body);
  json.begin_object().member("name", arrival->command.name).key("params").begin_object();
  for (const auto& [name, value] : arrival->plan.params) json.member(name, value);
  write_planned(json.end_object(), *arrival);
  json.member("warnings", arrival->warnings).end_object();
  try_batches(arrival, std::move(body));
}

}  // namespace

void take_workflow(const CallPtr& call, WorkflowWish wish,
                   std::function<void(const TakenWorkflow&)> taken) {
  auto arrival = plan(call, wish);
  if (!arrival) return call->refuse(arrival.error());
  (*arrival)->taken = std::move(taken);
  send_first(*arrival);
}

void take_plan(const CallPtr& call, PlannedWorkflow planned,
               std::function<void(const TakenWorkflow&)> taken) {
  auto arrival = std::make_shared<Arrival>();
  arrival->call = call;
  arrival->plan = std::move(planned.plan);
  arrival->command = std::move(planned.command);
  arrival->command.fail_fast = arrival->plan.fail_fast;
  arrival->files = {spec::sha256(planned.files), std::move(planned.files)};
  arrival->command.files = arrival->files.digest;
  arrival->keep = arrival->command.keep;
  arrival->taken = std::move(taken);
  send_first(arrival);
}

void submit_workflow(const CallPtr& call) {
  const bool dry = call->query_all("dry_run") == std::vector<std::string>{"true"};
  auto wish = body_of<WorkflowWish>(call);
  if (!wish) return;
  auto kept = std::make_shared<WorkflowWish>(std::move(*wish));
  run_on(call->context.slow, call, [call, kept, dry] {
    if (!dry)
      return take_workflow(call, std::move(*kept),
                           [call](const TakenWorkflow& taken) { answer_taken(call, taken); });
    auto arrival = plan(call, *kept);
    if (!arrival) return call->refuse(arrival.error());
    try_out(*arrival);
  });
}

void add_steps(const CallPtr& call) {
  const auto id = workflow_id(call);
  if (!id) return call->refuse(id.error());
  auto wish = body_of<StepsWish>(call);
  if (!wish) return;
  auto kept = std::make_shared<StepsWish>(std::move(*wish));
  run_on(call->context.slow, call, [call, id = *id, kept] {
    const std::string text = "{\"steps\":" + (kept->steps ? kept->steps->text : "{}") + "}";
    const auto file = spec::parse_steps(text, "steps");
    if (!file) return call->refuse({file.error().code, file.error().message, "steps"});
    spec::PlanOptions options;
    options.directory = kept->directory.value_or("");
    auto planned = spec::plan_workflow(*file, options);
    if (!planned) return call->refuse(planned.error());
    spec::StepMaker maker;
    spec::StepsBatch batch;
    core::AddSteps add;
    add.id = id;
    for (spec::PlannedStep& step : planned->steps) {
      // The core finds what they need by name, among all that there are then.
      for (const spec::PlannedNeed& need : step.needs)
        step.needs_by_name.emplace_back(planned->steps[need.step].name,
                                        core::Need{0, need.can_fail, need.can_skip});
      step.needs.clear();
      if (auto ok = maker.add(step, batch); !ok) return call->refuse(ok.error());
    }
    add.kinds = std::move(batch.kinds);
    add.steps = std::move(batch.steps);
    add.needs = std::move(batch.needs_by_name);
    const uint64_t count = add.steps.size();
    command(call, std::move(add), blobs_of(batch), [call, id, count](const runtime::Accepted&) {
      std::string body;
      spec::JsonWriter json(body);
      json.begin_object().member("id", to_string(id)).member("added", count).end_object();
      call->respond_json(std::move(body), 201);
    });
  });
}

}  // namespace atl::api
