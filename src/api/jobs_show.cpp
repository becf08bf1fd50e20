#include "api/handlers.h"
#include "api/job_lookup.h"
#include "api/progress_view.h"
#include "api/task_view.h"
#include "base/wire.h"
#include "spec/job_spec.h"

namespace atl::api {
namespace {

constexpr size_t kAttemptsShown = 100;

void write_why(spec::JsonWriter& json, const FoundJob& found) {
  json.key("sentence");
  found.sentence.empty() ? json.null() : json.text(found.sentence);
  json.key("waits_for").begin_array();
  for (const JobId id : found.waits_for) json.text(to_string(id));
  json.end_array();
  json.member("until", found.until);
}

// The environment may hold secrets: only who may act on the job sees its values.
void hide_env(spec::JobSpec& spec) {
  if (!spec.env) return;
  for (auto& [name, value] : *spec.env) value = "***";
}

void write_spec(spec::JsonWriter& json, const CallPtr& call, const core::State& table,
                const FoundJob& found) {
  core::Payload payload;
  const auto bytes = call->context.history.payload(found.job.id);
  if (bytes) {
    auto decoded = wire::decode<core::Payload>(*bytes);
    if (decoded) payload = std::move(*decoded);
  }
  spec::JobSpec spec =
      spec::describe_job(found.job, found.terms, payload, name_of(table, found.job.ns));
  core::Actor writable = call->actor;
  writable.read_only = false;
  if (!may_act(table, writable, found)) hide_env(spec);
  json.key("spec").raw(spec::to_json(spec));
}

// The exit code of an ended job that is no array, which is what `atoll run` returns.
void write_attempts(spec::JsonWriter& json, const core::State& table, const FoundJob& found,
                    const std::vector<journal::EndedAttempt>& attempts) {
  const bool any = !found.job.array && !attempts.empty();
  const core::AttemptResult* last = any && !found.live ? &attempts.back().result : nullptr;
  const bool exited = last && (last->cause == core::EndCause::exited || last->exit_code != 0);
  json.key("exit_code");
  exited ? json.number(int64_t{last->exit_code}) : json.null();
  json.key("signal");
  last && last->signal ? json.number(int64_t{last->signal}) : json.null();
  json.member("attempt", found.task ? found.task->attempt
                         : any      ? attempts.back().attempt.attempt
                                    : 0u);
  json.key("attempts").begin_array();
  if (!found.job.array) {
    for (const journal::EndedAttempt& attempt : attempts) write_attempt(json, table, attempt);
  }
  json.end_array();
}

void show_whole(const CallPtr& call, FoundJob found) {
  const auto table = call->context.directory.table();
  std::vector<journal::EndedAttempt> attempts;
  if (!found.job.array) {
    auto ended = ended_attempts(call->context, {found.job.id, 0}, kAttemptsShown);
    if (!ended) return call->refuse(ended.error());
    attempts = std::move(*ended);
    if (!found.live && !attempts.empty()) {
      found.row.started = attempts.back().result.usage.started;
      found.row.site = attempts.back().placement.site;
      found.row.node = attempts.back().placement.node;
    }
  }
  add_progress(call->context, *table, {&found.row, 1});
  std::string body;
  spec::JsonWriter json(body);
  json.begin_object();
  write_row(json, *table, found.row);
  write_why(json, found);
  write_attempts(json, *table, found, attempts);
  write_spec(json, call, *table, found);
  json.end_object();
  call->respond_json(std::move(body), 200, {{"ETag", found.tag}});
}

void show_task(const CallPtr& call, const FoundJob& found, TaskId task) {
  const auto table = call->context.directory.table();
  std::string body;
  spec::JsonWriter json(body);
  if (found.task) {
    const auto placed = placed_attempt(task, *found.task);
    const auto told = placed ? ask_progress(call->context, *table, {&*placed, 1}).at(0)
                             : std::optional<site::Progress>();
    write_task(json, *table, task, found.job.array, *found.task, told);
  } else if (found.task_waiting) {
    write_waiting_task(json, task, found.job.array);
  } else {
    const auto last = call->context.history.last_attempt(task.job, task.index);
    if (!last) return call->refuse(last.error());
    write_ended_task(json, *table, task, found.job.array, *last ? &**last : nullptr,
                     found.unplaced);
  }
  call->respond_json(std::move(body), 200, {{"ETag", found.tag}});
}

}  // namespace

void show_job(const CallPtr& call) {
  const auto selector = call->selector();
  if (!selector) return call->refuse(selector.error());
  Want want;
  if (selector->has_index) want.index = selector->index;
  find_job(call, selector->job, want, [call, selector = *selector](FoundJob found) {
    if (!selector.has_index) return show_whole(call, std::move(found));
    const auto task = single_task(found, selector);
    if (!task) return call->refuse(task.error());
    show_task(call, found, *task);
  });
}

}  // namespace atl::api
