#include "api/handlers.h"
#include "api/job_lookup.h"
#include "api/progress_view.h"
#include "api/task_view.h"
#include "base/text.h"

namespace atl::api {
namespace {

constexpr size_t kTasksPerSlice = 5'000;

struct LiveTasks {
  bool found = false;
  bool array = false;
  IntervalSet waiting;
  std::vector<std::pair<uint32_t, core::Task>> tasks;
  bool more = false;
};

// Live tasks behind `after`, in order of their index.
Result<LiveTasks> copy_tasks(const core::State& state, const core::Actor& actor, JobId id,
                             int64_t after, size_t max) {
  LiveTasks live;
  const core::Job* job = state.job(id);
  if (!job) return live;
  if (!core::may_view(state, actor, job->ns)) return tl::unexpected(no_such_job(id));
  live.found = true;
  live.array = job->array;
  live.waiting = job->waiting;
  for (const auto& [index, task] : job->tasks) {
    if (int64_t{index} <= after) continue;
    if (live.tasks.size() == max) {
      live.more = true;
      break;
    }
    live.tasks.emplace_back(index, task);
  }
  return live;
}

// "INDEX" of the last task shown; below zero at the start.
Result<int64_t> cursor_of(const CallPtr& call) { return call->query_int("cursor", -1); }

size_t limit_of(const CallPtr& call) {
  return static_cast<size_t>(call->query_int("limit", 100).value_or(100));
}

void finish_page(const CallPtr& call, spec::JsonWriter& json, std::string& body,
                 const std::string& next) {
  json.end_array().key("next");
  http::Headers headers;
  if (next.empty()) {
    json.null();
  } else {
    json.text(next);
    const std::string limit = std::to_string(limit_of(call));
    headers.add("Link", "<" + call->request().path + "?limit=" + limit + "&cursor=" + next +
                            ">; rel=\"next\"");
  }
  json.end_object();
  call->respond_json(std::move(body), 200, std::move(headers));
}

// Ended tasks first come from history in order of index; a task with several attempts is shown with
// its last.
struct EndedTasks {
  std::map<uint32_t, journal::EndedAttempt> last;
  bool more = false;
};

Result<EndedTasks> ended_tasks(Context& context, JobId id, int64_t after, size_t max) {
  EndedTasks ended;
  AttemptId from{id, 0, 0};
  if (after >= 0) from = {id, static_cast<uint32_t>(after), UINT32_MAX};
  auto attempts = context.history.attempts(id, from, kTasksPerSlice);
  if (!attempts) return tl::unexpected(attempts.error());
  for (journal::EndedAttempt& attempt : *attempts) {
    if (int64_t{attempt.attempt.index} <= after) continue;
    if (ended.last.size() == max && !ended.last.count(attempt.attempt.index)) {
      ended.more = true;
      break;
    }
    ended.last.insert_or_assign(attempt.attempt.index, std::move(attempt));
  }
  return ended;
}

// A live task and how far it is.
struct LiveTask {
  const core::Task* task = nullptr;
  std::optional<site::Progress> progress;
};

std::map<uint32_t, LiveTask> with_progress(Context& context, const core::State& table, JobId id,
                                           const LiveTasks& live) {
  std::map<uint32_t, LiveTask> tasks;
  std::vector<PlacedAttempt> placed;
  for (const auto& [index, task] : live.tasks) {
    tasks[index].task = &task;
    if (const auto one = placed_attempt({id, index}, task)) placed.push_back(*one);
  }
  auto told = ask_progress(context, table, placed);
  for (size_t i = 0; i < placed.size(); ++i)
    tasks[placed[i].attempt.index].progress = std::move(told[i]);
  return tasks;
}

void show_tasks(const CallPtr& call, JobId id, const LiveTasks& live, int64_t after) {
  const size_t limit = limit_of(call);
  auto ended = ended_tasks(call->context, id, after, limit);
  if (!ended) return call->refuse(ended.error());
  const auto table = call->context.directory.table();
  const bool array =
      live.found ? live.array : !ended->last.empty() && ended->last.begin()->second.array;
  const auto running = with_progress(call->context, *table, id, live);
  std::string body;
  spec::JsonWriter json(body);
  json.begin_object().member("waiting", format_intervals(live.waiting)).key("tasks").begin_array();
  size_t shown = 0;
  uint32_t last = 0;
  auto a = running.begin();
  auto b = ended->last.begin();
  for (; shown < limit && (a != running.end() || b != ended->last.end()); ++shown) {
    // A live task with earlier attempts is in both lists; it is not over.
    const bool take_live = a != running.end() && (b == ended->last.end() || a->first <= b->first);
    last = take_live ? a->first : b->first;
    if (take_live) {
      if (b != ended->last.end() && b->first == a->first) ++b;
      write_task(json, *table, {id, a->first}, array, *a->second.task, a->second.progress);
      ++a;
    } else {
      const bool again = live.waiting.contains(b->first);
      again ? write_waiting_task(json, {id, b->first}, array)
            : write_ended_task(json, *table, {id, b->first}, array, &b->second);
      ++b;
    }
  }
  const bool more = a != running.end() || b != ended->last.end() || live.more || ended->more;
  finish_page(call, json, body, more ? std::to_string(last) : "");
}

// "INDEX.ATTEMPT" of the last attempt shown.
Result<AttemptId> attempt_cursor(const CallPtr& call, JobId id) {
  const auto text = call->request().query_param("cursor");
  if (!text) return AttemptId{id, 0, 0};
  const auto parts = split(*text, '.');
  const auto index = parse_int(parts[0]);
  const auto attempt = parts.size() == 2 ? parse_int(parts[1]) : std::nullopt;
  const bool good = index && attempt && *index >= 0 && *index <= UINT32_MAX && *attempt >= 0 &&
                    *attempt <= UINT32_MAX;
  if (!good) return fail(ErrorCode::invalid, "cursor must be one that a page gave you", "cursor");
  return AttemptId{id, static_cast<uint32_t>(*index), static_cast<uint32_t>(*attempt)};
}

}  // namespace

void list_tasks(const CallPtr& call) {
  const auto selector = call->selector();
  if (!selector) return call->refuse(selector.error());
  const auto after = cursor_of(call);
  if (!after) return call->refuse(after.error());
  // The job is looked up first, so that an ended one of another group stays unseen.
  find_job(call, selector->job, {}, [call, id = selector->job, after = *after](const FoundJob&) {
    view(
        call,
        [call, id, after](const core::State& state) {
          return copy_tasks(state, call->actor, id, after, limit_of(call));
        },
        [call, id, after](const LiveTasks& live) { show_tasks(call, id, live, after); });
  });
}

void list_attempts(const CallPtr& call) {
  const auto selector = call->selector();
  if (!selector) return call->refuse(selector.error());
  const auto after = attempt_cursor(call, selector->job);
  if (!after) return call->refuse(after.error());
  find_job(call, selector->job, {}, [call, selector = *selector, after = *after](const FoundJob&) {
    const size_t limit = limit_of(call);
    const AttemptId from = selector.has_index && after.index < selector.index
                               ? AttemptId{selector.job, selector.index, 0}
                               : after;
    auto attempts = call->context.history.attempts(selector.job, from, limit + 1);
    if (!attempts) return call->refuse(attempts.error());
    if (selector.has_index) {
      std::erase_if(*attempts,
                    [&](const auto& each) { return each.attempt.index != selector.index; });
    }
    const bool more = attempts->size() > limit;
    if (more) attempts->resize(limit);
    const auto table = call->context.directory.table();
    std::string body;
    spec::JsonWriter json(body);
    json.begin_object().key("attempts").begin_array();
    for (const journal::EndedAttempt& attempt : *attempts) write_attempt(json, *table, attempt);
    const AttemptId last = attempts->empty() ? AttemptId{} : attempts->back().attempt;
    finish_page(call, json, body,
                more ? std::to_string(last.index) + "." + std::to_string(last.attempt) : "");
  });
}

}  // namespace atl::api
