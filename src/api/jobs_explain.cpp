// Why does it wait, and when does it start; and the same of what is not submitted yet.
#include "api/handlers.h"
#include "api/job_lookup.h"
#include "api/jobs_submit.h"
#include "api/outlook.h"

namespace atl::api {
namespace {

using core::scheduling::Explanation;

// On the core's thread, or wherever there is time.
std::string explain_briefly(const core::State& state, const core::Job& job, Time now) {
  Explanation why;
  if (waiting_tasks(job) > 0) why = core::scheduling::explain(state, job, true, now);
  return explanation_body(state, job.id, state_of(job), why, nullptr);
}

std::string explain_fully(const core::State& state, JobId id, Time now) {
  const core::Job& job = state.jobs.at(id);
  if (waiting_tasks(job) == 0) return explanation_body(state, id, state_of(job), {}, nullptr);
  const Outlooks found = look_ahead(state, now, {id});
  const auto starts = found.starts.find(id);
  return explanation_body(state, id, state_of(job), found.why.at(id),
                          starts == found.starts.end() ? nullptr : &starts->second);
}

// Without a copy of the server there is no forecast, but there is an answer.
void answer_briefly(const CallPtr& call, JobId id) {
  view(
      call,
      [call, id](const core::State& state) -> Result<std::string> {
        const core::Job* job = state.job(id);
        if (!job) return tl::unexpected(no_such_job(id));
        return explain_briefly(state, *job, call->context.options.now());
      },
      [call](std::string body) { call->respond_json(std::move(body)); });
}

void explain_ended(const CallPtr& call, JobId id) {
  find_job(call, id, {}, [call](const FoundJob& found) {
    const auto table = call->context.directory.table();
    call->respond_json(explanation_body(*table, found.job.id, found.row.state, {}, nullptr));
  });
}

// The state that a copy sees is its own.
core::State& own(const core::State& state) { return const_cast<core::State&>(state); }

void explain_live(const CallPtr& call, JobId id) {
  call->context.runtime.read([call, id](const core::State& state) {
    const core::Job* job = state.job(id);
    if (!job) return explain_ended(call, id);
    if (!core::may_view(state, call->actor, job->ns)) return call->refuse(no_such_job(id));
    const Time now = call->context.options.now();
    auto copy = call->context.aside.begin([&] { return explain_fully(state, id, now); });
    if (!copy && copy.error().code == ErrorCode::exhausted) return call->refuse(503, copy.error());
    if (!copy) return call->respond_json(explain_briefly(state, *job, now));
    run_on(call->context.slow, call, [call, id, copy = *copy] {
      auto body = copy->answer();
      if (!body) return answer_briefly(call, id);
      call->respond_json(std::move(*body));
    });
  });
}

}  // namespace

void explain_job(const CallPtr& call) {
  const auto selector = call->selector();
  if (!selector) return call->refuse(selector.error());
  const JobId id = selector->job;
  if (!selector->has_index) return explain_live(call, id);
  find_job(call, id, {.index = selector->index},
           [call, id](const FoundJob&) { explain_live(call, id); });
}

namespace {

constexpr uint32_t kTicksMax = 4;  // of a dry run: more would be another's turn

// A refusal on its way back from a copy.
std::string refusal_text(const Error& error) {
  return "!" + std::to_string(static_cast<int>(error.code)) + "\n" + error.field + "\n" +
         error.message;
}
Error refusal_of(const std::string& text) {
  const size_t first = text.find('\n'), second = text.find('\n', first + 1);
  return {static_cast<ErrorCode>(std::stoi(text.substr(1, first - 1))), text.substr(second + 1),
          text.substr(first + 1, second - first - 1)};
}

// Lets everything be placed that has room now, as the next turn of the loop would.
void place_now(core::State& state, Time now) {
  for (uint32_t i = 0; i < kTicksMax; ++i) {
    const auto events = core::decide(state, {now, core::Tick{}});
    if (!events || events->empty()) return;
    for (const core::Event& event : *events) core::apply(state, event);
  }
}

struct Tried {
  JobId id;
  std::string site, node;  // of the first task that starts now
  uint64_t tasks = 1, now = 0;
};

Tried tried_job(const core::State& state, const core::Job& job) {
  Tried one{.id = job.id, .tasks = job.size};
  for (const auto& [index, task] : job.tasks) {
    const core::Placement* placement = core::placement_of(task.state);
    if (!placement) continue;
    if (one.now++ > 0) continue;
    one.site = name_of(state, placement->site);
    one.node = placement->node;
  }
  return one;
}

void write_tried(spec::JsonWriter& json, const Tried& one, const Outlooks& found, Time now) {
  const auto text = [&](const char* name, std::string_view value) {
    json.key(name);
    value.empty() ? json.null() : json.text(value);
  };
  const auto start = found.starts.find(one.id);
  const auto why = found.why.find(one.id);
  static const Explanation kNothing;
  const Explanation& reasons = why == found.why.end() ? kNothing : why->second;
  json.begin_object().key("starts");
  if (one.now > 0)
    json.text("now");
  else if (start != found.starts.end() && start->second.expected)
    json.time(start->second.expected);
  else
    json.null();
  text("site", one.site);
  text("node", one.node);
  json.member("tasks", one.tasks).member("tasks_now", one.now);
  text("reason", why == found.why.end() ? "" : core::scheduling::reason_word(reasons));
  text("sentence", reasons.sentence);
  json.member("starts_by", reasons.starts_by);
  write_outlook(json, reasons, start == found.starts.end() ? nullptr : &start->second, now);
  json.end_object();
}

// Submits to a state of its own and says what became of it.
std::string try_out(core::State& state, const core::Request& request,
                    const std::vector<std::string>& warnings, Time now) {
  const auto events = core::decide(state, {now, request});
  if (!events) return refusal_text(events.error());
  std::vector<JobId> ids;
  for (const core::Event& event : *events) {
    core::apply(state, event);
    if (const auto* made = std::get_if<core::JobSubmitted>(&event.body)) ids.push_back(made->id);
  }
  place_now(state, now);
  std::vector<Tried> all;
  std::set<JobId> waiting;
  for (const JobId id : ids) {
    const core::Job* job = state.job(id);
    all.push_back(job ? tried_job(state, *job) : Tried{.id = id});
    if (job && all.back().now == 0) waiting.insert(id);
  }
  const Outlooks found = waiting.empty() ? Outlooks{} : look_ahead(state, now, waiting);
  std::string body;
  spec::JsonWriter json(body);
  json.begin_object().key("jobs").begin_array();
  for (const Tried& one : all) write_tried(json, one, found, now);
  json.end_array().key("warnings").begin_array();
  for (const std::string& warning : warnings) json.text(warning);
  json.end_array().end_object();
  return body;
}

}  // namespace

void try_submission(const CallPtr& call, core::SubmitJobs command,
                    std::vector<std::string> warnings) {
  for (core::SubmitJob& job : command.jobs) job.key.clear();
  auto request = std::make_shared<core::Request>(core::Request{call->actor, std::move(command)});
  call->context.runtime.read([call, request, warnings](const core::State& state) {
    if (auto known = call->context.runtime.complete(*request); !known)
      return call->refuse(known.error());
    const Time now = std::max(state.now, call->context.options.now());
    auto copy =
        call->context.aside.begin([&] { return try_out(own(state), *request, warnings, now); });
    if (!copy) return call->refuse(503, copy.error());
    run_on(call->context.slow, call, [call, copy = *copy] {
      auto body = copy->answer();
      if (!body) return call->refuse(503, body.error());
      if (body->starts_with("!")) return call->refuse(refusal_of(*body));
      call->respond_json(std::move(*body));
    });
  });
}

}  // namespace atl::api
