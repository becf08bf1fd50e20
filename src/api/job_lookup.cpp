#include "api/job_lookup.h"

#include "api/job_tag.h"
#include "api/progress_view.h"
#include "api/unreachable.h"
#include "core/scheduling/explain.h"

namespace atl::api {
namespace {

// Everything but the tasks, of which a large array may have many thousands.
core::Job without_tasks(const core::Job& job) {
  core::Job copy;
  copy.id = job.id;
  copy.ns = job.ns;
  copy.user = job.user;
  copy.terms = job.terms;
  copy.array = job.array;
  copy.held = job.held;
  copy.submitted = job.submitted;
  copy.payload = job.payload;
  copy.name = job.name;
  copy.tally = job.tally;
  copy.dependencies = job.dependencies;
  copy.labels = job.labels;
  copy.notify = job.notify;
  copy.size = job.size;
  return copy;
}

FoundJob copy_live(const core::State& state, const core::Job& job, const Want& want, Time now) {
  FoundJob found;
  ReasonCache reasons;
  found.live = true;
  found.row = live_row(state, job, reasons, now);
  if (!want.index) copy_placed(found.row, job, kProgressPerJob);
  found.job = without_tasks(job);
  found.terms = state.terms_of(job);
  found.tag = job_tag(state, job);
  const uint32_t index = want.index.value_or(0);
  if (const auto it = job.tasks.find(index); it != job.tasks.end() && (want.index || !job.array))
    found.task = it->second;
  found.task_waiting = job.waiting.contains(index);
  found.unplaced = unplaced_outcome(job, index);
  if (found.row.waiting > 0) {
    if (!reasons.glance) reasons.glance.emplace(state, now);
    const auto why = core::scheduling::explain(*reasons.glance, job, true);
    found.sentence = why.sentence;
    found.waits_for = why.waits_for;
    found.until = why.until;
    if (!found.row.reason) found.row.reason = core::scheduling::reason_word(why);
  }
  return found;
}

tl::unexpected<Error> no_array(JobId id) {
  return fail(ErrorCode::not_found,
              "job " + to_string(id) + " is not an array: write " + to_string(id), "id");
}

// An array's indices are known by what became of them: they wait, are placed, ended while they
// waited, or had an attempt. Blocking.
Result<void> check_index(Context& context, const FoundJob& found, const Want& want) {
  if (!want.index) return {};
  if (!found.job.array) return *want.index == 0 ? Result<void>{} : no_array(found.job.id);
  if (found.task || found.task_waiting || found.unplaced) return {};
  const auto last = context.history.last_attempt(found.job.id, *want.index);
  if (!last) return tl::unexpected(last.error());
  if (*last) return {};
  return fail(ErrorCode::not_found,
              "job " + to_string(found.job.id) + " has no task " + std::to_string(*want.index) +
                  ": `atoll show " + to_string(found.job.id) + "` names its indices",
              "id");
}

void find_ended(const CallPtr& call, JobId id, const Want& want,
                const std::function<void(FoundJob)>& then) {
  auto ended = call->context.history.job(id);
  if (!ended && ended.error().code != ErrorCode::not_found) return call->refuse(ended.error());
  const auto table = call->context.directory.table();
  const bool sees_all = !core::visible_namespaces(*table, call->actor);
  if (!ended || !(sees_all || core::may_view(*table, call->actor, ended->job.ns)))
    return call->refuse(no_such_job(id));
  FoundJob found;
  found.row = ended_row(*ended);
  found.tag = job_tag(*ended);
  found.unplaced = unplaced_outcome(ended->job, want.index.value_or(0));
  found.job = std::move(ended->job);
  found.terms = std::move(ended->terms);
  then(std::move(found));
}

// The attempt of that number, else the last one; nothing when there is none.
Result<std::optional<journal::EndedAttempt>> ended_attempt(Context& context, TaskId task,
                                                           std::optional<uint32_t> number) {
  if (!number) return context.history.last_attempt(task.job, task.index);
  const AttemptId wanted{task.job, task.index, *number};
  if (*number == 0) return std::nullopt;
  auto found = context.history.attempts(task.job, {task.job, task.index, *number - 1}, 1);
  if (!found) return tl::unexpected(found.error());
  if (found->empty() || found->front().attempt != wanted) return std::nullopt;
  return std::move(found->front());
}

}  // namespace

std::optional<core::Outcome> unplaced_outcome(const core::Job& job, uint32_t index) {
  for (const auto& [outcome, indices] : job.unplaced) {
    if (indices.contains(index)) return outcome;
  }
  return std::nullopt;
}

Error no_such_job(JobId id) {
  return {ErrorCode::not_found, "there is no job " + to_string(id), "id"};
}

void find_job(const CallPtr& call, JobId id, Want want, std::function<void(FoundJob)> then) {
  using Copy = std::optional<FoundJob>;
  view(
      call,
      [call, id, want](const core::State& state) -> Result<Copy> {
        const core::Job* job = state.job(id);
        if (!job) return Copy();
        if (!core::may_view(state, call->actor, job->ns)) return tl::unexpected(no_such_job(id));
        FoundJob found = copy_live(state, *job, want, call->context.options.now());
        if (found.sentence.empty())
          found.sentence = unreachable_sentence(state, call->context.drivers, *job, want.index);
        return Copy(std::move(found));
      },
      [call, id, want, then = std::move(then)](Copy found) {
        const auto checked = [call, want, then](FoundJob known) {
          if (auto ok = check_index(call->context, known, want); !ok)
            return call->refuse(ok.error());
          then(std::move(known));
        };
        if (found) return checked(std::move(*found));
        find_ended(call, id, want, checked);
      });
}

Result<std::vector<journal::EndedAttempt>> ended_attempts(Context& context, TaskId task,
                                                          size_t max) {
  const auto last = context.history.last_attempt(task.job, task.index);
  if (!last) return tl::unexpected(last.error());
  if (!*last) return std::vector<journal::EndedAttempt>{};
  // Attempts are numbered one by one, so the newest ones begin where the last says.
  const uint32_t number = (*last)->attempt.attempt;
  const uint32_t before = number > max ? number - static_cast<uint32_t>(max) : 0;
  auto attempts = context.history.attempts(task.job, {task.job, task.index, before}, max);
  if (!attempts) return attempts;
  std::erase_if(*attempts, [&](const journal::EndedAttempt& each) {
    return each.attempt.index != task.index;
  });
  return attempts;
}

Result<TaskId> single_task(const FoundJob& found, const Selector& selector) {
  const std::string id = to_string(selector.job);
  if (found.job.array && !selector.has_index) {
    return fail(ErrorCode::invalid,
                "job " + id + " is an array: name a task, such as " + id + "[7]", "id");
  }
  if (!found.job.array && selector.has_index && selector.index != 0) {
    return no_array(selector.job);
  }
  return TaskId{selector.job, selector.has_index ? selector.index : 0};
}

Result<Where> locate(Context& context, const FoundJob& found, TaskId task,
                     std::optional<uint32_t> attempt) {
  const auto table = context.directory.table();
  const core::Placement* placement = found.task ? core::placement_of(found.task->state) : nullptr;
  if (placement && (!attempt || *attempt == found.task->attempt)) {
    return Where{
        {task.job, task.index, found.task->attempt}, name_of(*table, placement->site), true};
  }
  const auto ended = ended_attempt(context, task, attempt);
  if (!ended) return tl::unexpected(ended.error());
  if (*ended) return Where{(*ended)->attempt, name_of(*table, (*ended)->placement.site), false};
  const std::string name = to_string(task, found.job.array);
  if (attempt)
    return fail(ErrorCode::not_found, name + " had no attempt " + std::to_string(*attempt),
                "attempt");
  return fail(ErrorCode::not_found, name + " has not started yet", "id");
}

Result<std::shared_ptr<site::SiteDriver>> driver_for(Context& context, const std::string& site) {
  if (auto driver = context.drivers.find(site)) return driver;
  return fail(ErrorCode::unavailable, "its site is not connected");
}

Result<void> may_act(const core::State& table, const core::Actor& actor, const FoundJob& found) {
  if (auto ok = core::require_writable(actor); !ok) return ok;
  const core::Role needed = found.job.user == actor.user ? core::Role::member : core::Role::admin;
  if (auto ok = core::require_role(table, actor, found.job.ns, needed); ok) return {};
  return fail(ErrorCode::forbidden,
              "job " + to_string(found.job.id) +
                  " belongs to another user; only they or an administrator of the namespace may",
              "id");
}

}  // namespace atl::api
