// Why does it wait, and when does it start; and the same of what is not submitted yet.
#include "api/aside_message.h"
#include "api/handlers.h"
#include "api/job_lookup.h"
#include "api/jobs_submit.h"
#include "api/outlook.h"
#include "api/unreachable.h"

namespace atl::api {
namespace {

using core::scheduling::Explanation;

// What is asked about: a job, or one task of it.
struct Question {
  JobId job;
  std::optional<uint32_t> index;

  std::string name() const { return index ? to_string(TaskId{job, *index}, true) : to_string(job); }
};

// Of the task, if one is asked about; nothing: it has ended.
std::optional<JobState> state_in(const core::Job& job, const Question& asked) {
  if (!asked.index) return state_of(job);
  const auto task = job.tasks.find(*asked.index);
  if (task != job.tasks.end())
    return task->second.line ? JobState::waiting : state_of(task->second.state);
  if (job.waiting.contains(*asked.index)) return JobState::waiting;
  return std::nullopt;
}

bool waits(const core::Job& job, const Question& asked) {
  return asked.index ? state_in(job, asked) == JobState::waiting : waiting_tasks(job) > 0;
}

// On the core's thread, or wherever there is time.
std::string explain_briefly(const core::State& state, const core::Job& job, const Question& asked,
                            Time now) {
  Explanation why;
  core::scheduling::Glance glance(state, now);
  if (waits(job, asked)) why = core::scheduling::explain(glance, job, true, asked.index);
  return explanation_body(state, asked.name(), state_in(job, asked).value_or(JobState::ended), why,
                          nullptr);
}

std::string explain_fully(core::State& own, const Question& asked, Time now) {
  const core::Job& job = own.jobs.at(asked.job);
  if (!waits(job, asked)) return explain_briefly(own, job, asked, now);
  LookOptions options;
  if (asked.index) options.tasks[asked.job] = *asked.index;
  const Outlooks found = look_ahead(own, now, {asked.job}, options);
  const auto starts = found.starts.find(asked.job);
  return explanation_body(own, asked.name(), *state_in(job, asked), found.why.at(asked.job),
                          starts == found.starts.end() ? nullptr : &starts->second);
}

// Without a copy of the server there is no forecast, but there is an answer.
void answer_briefly(const CallPtr& call, const Question& asked) {
  view(
      call,
      [call, asked](const core::State& state) -> Result<std::string> {
        const core::Job* job = state.job(asked.job);
        if (!job) return tl::unexpected(no_such_job(asked.job));
        return explain_briefly(state, *job, asked, call->context.options.now());
      },
      [call](std::string body) { call->respond_json(std::move(body)); });
}

void explain_ended(const CallPtr& call, const Question& asked) {
  find_job(call, asked.job, {}, [call, asked](const FoundJob& found) {
    const auto table = call->context.directory.table();
    call->respond_json(explanation_body(*table, asked.name(), found.row.state, {}, nullptr));
  });
}

void explain_live(const CallPtr& call, const Question& asked) {
  call->context.runtime.read([call, asked](const core::State& state) {
    const core::Job* job = state.job(asked.job);
    if (!job) return explain_ended(call, asked);
    if (!core::may_view(state, call->actor, job->ns)) return call->refuse(no_such_job(asked.job));
    const Time now = call->context.options.now();
    if (!waits(*job, asked)) {
      Explanation why;
      why.sentence = unreachable_sentence(state, call->context.drivers, *job, asked.index);
      if (!why.sentence.empty())
        return call->respond_json(explanation_body(state, asked.name(),
                                                   state_in(*job, asked).value_or(JobState::ended),
                                                   why, nullptr, "unreachable"));
    }
    auto copy = call->context.runtime.begin_aside(
        call->context.aside, [&](core::State& own) { return explain_fully(own, asked, now); });
    if (!copy && copy.error().code == ErrorCode::exhausted) return call->refuse(503, copy.error());
    if (!copy) return call->respond_json(explain_briefly(state, *job, asked, now));
    run_on(call->context.slow, call, [call, asked, copy = *copy] {
      auto body = copy->answer();
      if (!body) return answer_briefly(call, asked);
      call->respond_json(std::move(*body));
    });
  });
}

}  // namespace

void explain_job(const CallPtr& call) {
  const auto selector = call->selector();
  if (!selector) return call->refuse(selector.error());
  const JobId id = selector->job;
  if (!selector->has_index) return explain_live(call, {id, {}});
  find_job(call, id, {.index = selector->index},
           [call, asked = Question{id, selector->index}](const FoundJob&) {
             explain_live(call, asked);
           });
}

namespace {

constexpr uint32_t kTicksMax = 4;  // of a dry run: more would be another's turn

// Lets everything be placed that has room now, as the next turn of the loop would. What ends
// without a place is told with why.
std::map<JobId, std::string> place_now(core::State& state, Time now) {
  std::map<JobId, std::string> skipped;
  for (uint32_t i = 0; i < kTicksMax; ++i) {
    const auto events = core::decide(state, {now, core::Tick{}});
    if (!events || events->empty()) break;
    for (const core::Event& event : *events) {
      core::apply(state, event);
      if (const auto* ended = std::get_if<core::WaitingEnded>(&event.body))
        skipped[ended->id] = ended->message;
    }
  }
  return skipped;
}

struct Tried {
  JobId id;
  std::vector<std::tuple<std::string, std::string, uint64_t>> places;  // site, node, tasks there
  uint64_t tasks = 1, now = 0;
  bool gang = false, held = false;
  std::string skipped = {};  // why it would never start

  bool waits() const { return now < tasks; }
};

Tried tried_job(const core::State& state, const core::Job& job) {
  Tried one{.id = job.id, .tasks = job.size, .gang = job.gang, .held = job.held};
  std::map<std::pair<std::string, std::string>, uint64_t> places;
  for (const auto& [index, task] : job.tasks) {
    const core::Placement* placement = core::placement_of(task.state);
    if (!placement) continue;
    ++one.now;
    ++places[{name_of(state, placement->site), placement->node}];
  }
  for (const auto& [where, tasks] : places)
    one.places.emplace_back(where.first, where.second, tasks);
  return one;
}

void write_places(spec::JsonWriter& json, const Tried& one) {
  json.key("places").begin_array();
  for (const auto& [site, node, tasks] : one.places)
    json.begin_object()
        .member("site", site)
        .member("node", node)
        .member("tasks", tasks)
        .end_object();
  json.end_array();
}

// When those tasks of an array start that do not start now.
void write_rest(spec::JsonWriter& json, const Tried& one, const ExpectedStart* start) {
  json.key("rest");
  if (one.gang || one.tasks == 1 || !start) {
    json.null();
    return;
  }
  json.begin_object()
      .member("tasks", one.tasks - one.now)
      .member("first", start->expected)
      .member("last", start->last)
      .member("rough", start->rough)
      .end_object();
}

void write_tried(spec::JsonWriter& json, const Tried& one, const Outlooks& found, Time now) {
  const auto text = [&](const char* name, std::string_view value) {
    json.key(name);
    value.empty() ? json.null() : json.text(value);
  };
  const auto found_start = found.starts.find(one.id);
  const ExpectedStart* start = found_start == found.starts.end() ? nullptr : &found_start->second;
  const auto why = found.why.find(one.id);
  static const Explanation kNothing;
  const Explanation& reasons = why == found.why.end() ? kNothing : why->second;
  json.begin_object().key("starts");
  if (one.now > 0)
    json.text("now");
  else if (start && start->expected)
    json.time(start->expected);
  else
    json.null();
  text("site", one.places.empty() ? "" : std::get<0>(one.places.front()));
  text("node", one.places.empty() ? "" : std::get<1>(one.places.front()));
  json.member("tasks", one.tasks).member("tasks_now", one.now);
  write_places(json, one);
  write_rest(json, one, start);
  text("reason", !one.skipped.empty()     ? "skipped"
                 : why == found.why.end() ? ""
                                          : core::scheduling::reason_word(reasons));
  // There is no job yet that could be released.
  text("sentence", !one.skipped.empty() ? one.skipped
                   : one.held           ? "held: it waits until somebody releases it"
                                        : reasons.sentence);
  json.member("starts_by", reasons.starts_by);
  write_outlook(json, reasons, start, now);
  json.end_object();
}

// Submits to a state of its own and says what became of it.
Result<std::string> try_out(core::State& own, const core::Request& request,
                            std::vector<std::string> warnings, Time now) {
  const auto events = core::decide(own, {now, request});
  if (!events) return tl::unexpected(events.error());
  std::vector<Tried> all;
  for (const core::Event& event : *events) {
    core::apply(own, event);
    if (const auto* made = std::get_if<core::JobSubmitted>(&event.body))
      all.push_back({.id = made->id, .tasks = made->indices.size()});
  }
  const auto skipped = place_now(own, now);
  std::set<JobId> waiting;
  LookOptions options;
  for (Tried& one : all) {
    const core::Job* job = own.job(one.id);
    if (job)
      one = tried_job(own, *job);
    else if (const auto why = skipped.find(one.id); why != skipped.end())
      one.skipped = "it would never start, but be " + why->second;
    if (!job || !one.waits()) continue;
    waiting.insert(one.id);
    options.to_the_last |= job->array && !job->gang;
  }
  const Outlooks found = waiting.empty() ? Outlooks{} : look_ahead(own, now, waiting, options);
  if (waiting.size() > kExplainedMax)
    warnings.push_back("only the first " + std::to_string(kExplainedMax) + " of " +
                       std::to_string(waiting.size()) + " jobs that would wait are explained");
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
    auto copy = call->context.runtime.begin_aside(call->context.aside, [&](core::State& own) {
      return answer_message(try_out(own, *request, warnings, now));
    });
    if (!copy) return call->refuse(503, copy.error());
    run_on(call->context.slow, call, [call, copy = *copy] {
      const auto said = copy->answer();
      if (!said) return call->refuse(503, said.error());
      auto body = answer_of(*said);
      if (!body) return call->refuse(body.error());
      call->respond_json(std::move(*body));
    });
  });
}

}  // namespace atl::api
