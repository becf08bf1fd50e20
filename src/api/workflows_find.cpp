// What there is to show of workflows: how far they are from the state, the rest from history.
#include <numeric>

#include "api/handlers.h"
#include "api/progress_view.h"
#include "api/workflows.h"
#include "base/text.h"

namespace atl::api {
namespace {

constexpr size_t kAttemptsAdded = 10'000;  // of one step; what is beyond is not in the sums

JobRow row_of(const core::Job& job) {
  JobRow row;
  row.id = job.id;
  row.state = state_of(job);
  row.array = job.array;
  row.submitted = job.submitted;
  row.tally = job.tally;
  row.size = job.size;
  row.active = job.placed;
  copy_placed(row, job, kProgressPerJob);
  return row;
}

// Of a live step, on the core's thread.
void look_at(const core::State& state, const core::Workflow& of, ShownStep& shown) {
  const core::Step& step = of.steps[shown.kept.number];
  shown.state = step.state;
  shown.kept.job = step.job;
  if (step.fed) {
    // What its last job says is not true of the others.
    const bool begun =
        step.state == core::StepState::running || step.state == core::StepState::collecting;
    if (begun) shown.fed = look_at_feed(state, of.feeds.at(shown.kept.number));
    return;
  }
  const core::Job* job = state.job(step.job);
  if (!job) return;
  shown.live = row_of(*job);
  if (job->tasks.empty()) return;
  const core::TaskState& first = job->tasks.begin()->second.state;
  if (const auto* running = std::get_if<core::TaskRunning>(&first))
    shown.started = running->started;
  if (const auto* placement = core::placement_of(first)) {
    shown.site = name_of(state, placement->site);
    shown.node = placement->node;
  }
}

void add_attempt(const core::State& table, const journal::EndedAttempt& attempt, ShownStep& step) {
  ++step.attempts;
  core::add_up(step.used, attempt.result.usage);
  if (step.used.started && (!step.started || step.used.started < step.started))
    step.started = step.used.started;
  step.site = name_of(table, attempt.placement.site);
  step.node = attempt.placement.node;
  if (!attempt.array) step.exit_code = attempt.result.exit_code;
}

// Of a step that goes through a queue: the sums are kept with it, and its last job says where.
Result<void> look_back_fed(Context& context, const core::State& table, ShownStep& step) {
  if (!step.fed) step.fed = fed_before(step.kept);
  const core::FeedUse& use = step.fed->use;
  step.queued = use.queued;
  step.started = use.usage.started;
  step.used = use.usage;
  step.attempts = static_cast<uint32_t>(use.attempts);
  if (!step.kept.job) return {};
  const auto last = context.history.last_attempt(step.kept.job, 0);
  if (!last) return tl::unexpected(last.error());
  if (!*last) return {};
  step.site = name_of(table, (*last)->placement.site);
  step.node = (*last)->placement.node;
  return {};
}

// Of a step that has or had a job, from history.
Result<void> look_back(Context& context, const core::State& table, ShownStep& step) {
  if (!step.kept.step.feed.queue.empty()) return look_back_fed(context, table, step);
  const JobId id = step.kept.job;
  if (!id) return {};
  if (step.live) {
    step.queued = step.live->submitted;
    step.tasks = step.live->size;
    step.outcomes = step.live->tally;
  } else if (const auto job = context.history.job(id)) {
    step.queued = job->job.submitted;
    step.ended = job->ended;
    step.tasks = job->job.size;
    step.outcomes = job->job.tally;
    // The job knows more of it than that it did not succeed.
    const bool its_own = step.kept.message.starts_with("its job ended as");
    if (its_own && !job->message.empty()) step.kept.message = job->message;
  }
  const auto attempts = context.history.attempts(id, {}, kAttemptsAdded);
  if (!attempts) return tl::unexpected(attempts.error());
  for (const journal::EndedAttempt& attempt : *attempts) add_attempt(table, attempt, step);
  return {};
}

struct Search {
  CallPtr call;
  WorkflowId id;
  std::vector<ShownStep> steps;
  std::function<void(std::vector<ShownStep>)> then;
};

// What history keeps of them, read after the state: of a step that has ended there all is here.
Result<void> add_rows(Search& search, uint32_t first, size_t max) {
  auto rows = search.call->context.history.steps(search.id, first, max);
  if (!rows) return tl::unexpected(rows.error());
  search.steps.resize(rows->size());
  for (size_t i = 0; i < rows->size(); ++i) {
    ShownStep& step = search.steps[i];
    journal::KeptStep& row = (*rows)[i];
    if (row.state || core::ended(step.state))
      step.state = row.state.value_or(core::StepState::waiting);
    step.tasks = row.step.indices.size();
    // The row has it when the step has ended.
    if (!row.state && core::under_way(step.state)) row.job = step.kept.job;
    step.kept = std::move(row);
  }
  return {};
}

void finish(const std::shared_ptr<Search>& search) {
  const auto table = search->call->context.directory.table();
  const auto kinds = search->call->context.history.step_kinds(search->id);
  if (!kinds) return search->call->refuse(kinds.error());
  for (ShownStep& step : search->steps) {
    if (step.kept.step.kind < kinds->size()) step.kind = (*kinds)[step.kept.step.kind];
    if (auto ok = look_back(search->call->context, *table, step); !ok)
      return search->call->refuse(ok.error());
    if (step.live) add_progress(search->call->context, *table, {&*step.live, 1});
    if (step.kept.ended) step.ended = step.kept.ended;
  }
  search->then(std::move(search->steps));
}

}  // namespace

Result<WorkflowId> workflow_id(const CallPtr& call) {
  const auto number = parse_int(call->request().param("workflow"));
  if (number && *number > 0) return WorkflowId{static_cast<uint64_t>(*number)};
  return fail(ErrorCode::not_found,
              quote(call->request().param("workflow")) + " is no workflow: write its number",
              "workflow");
}

const char* state_word(const ShownWorkflow& shown) {
  if (!shown.live) return "ended";
  if (shown.cancelled) return "stopping";
  if (shown.paused) return "paused";
  const auto count = [&](core::StepState state) { return shown.tally[static_cast<size_t>(state)]; };
  const auto total =
      static_cast<uint64_t>(std::accumulate(shown.tally.begin(), shown.tally.end(), uint64_t{0}));
  const uint64_t unbegun = count(core::StepState::waiting) + count(core::StepState::ready);
  return unbegun == total ? "waiting" : "running";
}

const char* state_word(core::StepState state) {
  if (core::ended(state)) return "ended";
  return state == core::StepState::finished ? "collecting" : enum_name(state);
}

const char* outcome_word(core::StepState state) {
  if (!core::ended(state)) return nullptr;
  return state == core::StepState::blocked ? "skipped" : enum_name(state);
}

void look_at_workflow(const core::State& state, ShownWorkflow& shown) {
  const core::Workflow* live = state.workflow(shown.kept.id);
  if (!live) return;
  shown.live = true;
  shown.tally = live->tally;
  shown.paused = live->paused;
  shown.held = core::workflow::held(*live);
  shown.cancelled = live->cancelled;
}

void find_workflow(const CallPtr& call, WorkflowId id, std::function<void(ShownWorkflow)> then) {
  const auto look = [call, id](const core::State& state) -> Result<ShownWorkflow> {
    ShownWorkflow shown;
    shown.kept.id = id;
    look_at_workflow(state, shown);
    return shown;
  };
  view(call, look, [call, id, then = std::move(then)](ShownWorkflow shown) {
    auto kept = call->context.history.workflow(id);
    const auto table = call->context.directory.table();
    if (!kept || !core::may_view(*table, call->actor, kept->ns))
      return call->refuse(
          {ErrorCode::not_found, "there is no workflow " + to_string(id), "workflow"});
    shown.kept = std::move(*kept);
    if (!shown.live) shown.tally = shown.kept.tally;
    then(std::move(shown));
  });
}

void find_steps(const CallPtr& call, ShownWorkflow of, uint32_t first, size_t max,
                std::function<void(std::vector<ShownStep>)> then) {
  auto search = std::make_shared<Search>(Search{call, of.kept.id, {}, std::move(then)});
  const auto look_up = [search, first, max] {
    if (auto ok = add_rows(*search, first, max); !ok) return search->call->refuse(ok.error());
    finish(search);
  };
  if (!of.live) return look_up();
  call->context.runtime.read([search, first, max, look_up](const core::State& state) {
    const core::Workflow* live = state.workflow(search->id);
    for (uint32_t i = first; live && i < live->steps.size() && search->steps.size() < max; ++i) {
      search->steps.emplace_back().kept.number = i;
      look_at(state, *live, search->steps.back());
    }
    run_on(search->call->context.quick, search->call, look_up);
  });
}

void find_active_steps(const CallPtr& call, ShownWorkflow of, size_t max,
                       std::function<void(std::vector<ShownStep>)> then) {
  auto search = std::make_shared<Search>(Search{call, of.kept.id, {}, std::move(then)});
  call->context.runtime.read([search, max](const core::State& state) {
    const core::Workflow* live = state.workflow(search->id);
    for (uint32_t i = 0; live && i < live->steps.size() && search->steps.size() < max; ++i) {
      if (!core::under_way(live->steps[i].state)) continue;
      search->steps.emplace_back().kept.number = i;
      look_at(state, *live, search->steps.back());
    }
    run_on(search->call->context.quick, search->call, [search] {
      for (ShownStep& step : search->steps) {
        auto row = search->call->context.history.steps(search->id, step.kept.number, 1);
        if (!row) return search->call->refuse(row.error());
        const JobId job = step.kept.job;
        if (!row->empty()) step.kept = std::move(row->front());
        step.kept.job = job;
      }
      finish(search);
    });
  });
}

}  // namespace atl::api
