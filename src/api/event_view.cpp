#include "api/event_view.h"

#include <array>
#include <functional>

#include "api/context.h"
#include "base/overloaded.h"
#include "base/wire.h"

namespace atl::api {
namespace {

using spec::JsonWriter;

// Any described value, with the names behind the numbers. Digests say nothing to people and hashes
// of tokens are nobody's business, so they are left out. `is_array` tells of the job that an
// attempt or a task belongs to, which need not be the event's own: one in line stands behind
// another's.
class Writer {
 public:
  Writer(JsonWriter& json, const core::State& table, std::function<bool(JobId)> is_array)
      : json_(json), table_(table), is_array_(std::move(is_array)) {}

  template <Described T>
  void members(const T& object) {
    json_.begin_object();
    for_each_member(object, [&](const char* name, const auto& member, int) {
      using M = std::remove_cvref_t<decltype(member)>;
      if constexpr (!std::is_same_v<M, Digest>) {
        json_.key(name);
        value(member);
      }
    });
    json_.end_object();
  }

 private:
  template <class T>
  void value(const T& v) {
    if constexpr (std::is_same_v<T, UserId> || std::is_same_v<T, NamespaceId> ||
                  std::is_same_v<T, SiteId> || std::is_same_v<T, CohortId>)
      json_.text(name_of(table_, v));
    else if constexpr (wire::IsId<T>::value)
      json_.text(std::to_string(v.value));
    else if constexpr (std::is_same_v<T, AttemptId> || std::is_same_v<T, TaskId>)
      json_.text(to_string(v, is_array_(v.job)));
    else if constexpr (std::is_same_v<T, Time>)
      json_.time(v);
    else if constexpr (std::is_same_v<T, Duration>)
      json_.text(spec::exact_duration(v));
    else if constexpr (std::is_same_v<T, IntervalSet>)
      json_.text(format_intervals(v));
    else if constexpr (std::is_same_v<T, std::string>)
      json_.text(v);
    else if constexpr (std::is_same_v<T, bool>)
      json_.boolean(v);
    else if constexpr (std::is_enum_v<T>)
      json_.text(enum_name(v));
    else if constexpr (std::is_signed_v<T>)
      json_.number(int64_t{v});
    else if constexpr (std::is_unsigned_v<T>)
      json_.number(uint64_t{v});
    else if constexpr (Described<T>)
      members(v);
    else
      container(v);
  }

  template <class T>
  void container(const T& v) {
    if constexpr (requires { v.has_value(); }) {
      v ? value(*v) : static_cast<void>(json_.null());
    } else if constexpr (requires { typename T::mapped_type; }) {
      json_.begin_object();
      for (const auto& [key, item] : v) {
        if constexpr (std::is_enum_v<typename T::key_type>)
          json_.key(enum_name(key));
        else if constexpr (std::is_integral_v<typename T::key_type>)
          json_.key(std::to_string(key));
        else if constexpr (requires { key.value; })
          json_.key(std::to_string(key.value));
        else
          json_.key(key);
        value(item);
      }
      json_.end_object();
    } else {
      json_.begin_array();
      for (const auto& item : v) value(item);
      json_.end_array();
    }
  }

  JsonWriter& json_;
  const core::State& table_;
  const std::function<bool(JobId)> is_array_;
};

// The workflow that an event is about, if it is about one.
WorkflowId workflow_of(const core::EventBody& body) {
  return std::visit(overloaded{[](const core::WorkflowSubmitted& e) { return e.id; },
                               [](const core::StepsAdded& e) { return e.id; },
                               [](const core::WorkflowSealed& e) { return e.id; },
                               [](const core::WorkflowPaused& e) { return e.id; },
                               [](const core::WorkflowCancelled& e) { return e.id; },
                               [](const core::StepPreparing& e) { return e.step.workflow; },
                               [](const core::StepCollecting& e) { return e.step.workflow; },
                               [](const core::StepFeeding& e) { return e.step.workflow; },
                               [](const core::FeedStopped& e) { return e.step.workflow; },
                               [](const core::FedJobCollecting& e) { return e.step.workflow; },
                               [](const core::FedJobEnded& e) { return e.step.workflow; },
                               [](const core::StepsEnded& e) { return e.id; },
                               [](const core::StepsReopened& e) { return e.id; },
                               [](const core::WorkflowEnded& e) { return e.id; },
                               [](const core::WorkflowReopened& e) { return e.workflow.id; },
                               [](const auto&) { return WorkflowId{}; }},
                    body);
}

// What is large is not shown one by one: the steps that are added, all of one that is reopened,
// what a document says; nor what schedules run and are sent.
bool write_short(JsonWriter& json, const core::EventBody& body) {
  if (const auto* added = std::get_if<core::StepsAdded>(&body)) {
    json.begin_object().member("id", to_string(added->id)).member("first", added->first);
    json.member("count", uint64_t{added->steps.size()}).end_object();
    return true;
  }
  if (const auto* reopened = std::get_if<core::WorkflowReopened>(&body)) {
    json.begin_object().member("id", to_string(reopened->workflow.id)).end_object();
    return true;
  }
  if (const auto* kept = std::get_if<core::DocumentKept>(&body)) {
    json.begin_object().member("kind", kept->key.kind).member("name", kept->key.name);
    json.member("bytes", uint64_t{kept->text.size()}).end_object();
    return true;
  }
  if (const auto* set = std::get_if<core::ScheduleSet>(&body)) {
    json.begin_object().member("id", std::to_string(set->id.value)).member("name", set->name);
    json.member("revision", set->revision).member("trigger", enum_name(set->terms.trigger));
    json.member("paused", set->paused).end_object();
    return true;
  }
  if (const auto* fired = std::get_if<core::ScheduleFired>(&body)) {
    json.begin_object().member("id", std::to_string(fired->id.value));
    json.member("number", fired->number).member("cause", enum_name(fired->cause));
    json.member("planned", fired->planned).member("late", fired->late).end_object();
    return true;
  }
  return false;
}

// Whose business an event is when it is no job's.
struct Concern {
  NamespaceId ns;
  UserId user;
  bool everybody = false;
};

Concern concern_of(const core::EventBody& body) {
  return std::visit(
      overloaded{[](const core::NamespaceCreated& e) { return Concern{e.id, {}, false}; },
                 [](const core::NamespaceDeleted& e) { return Concern{e.id, {}, false}; },
                 [](const core::QuotaSet& e) { return Concern{e.id, {}, false}; },
                 [](const core::StakeSet& e) { return Concern{e.id, {}, false}; },
                 [](const core::CohortSet&) { return Concern{{}, {}, true}; },
                 [](const core::CohortDeleted&) { return Concern{{}, {}, true}; },
                 [](const core::PolicySet&) { return Concern{{}, {}, true}; },
                 [](const core::MemberSet& e) { return Concern{e.id, e.user, false}; },
                 [](const core::MemberRemoved& e) { return Concern{e.id, e.user, false}; },
                 [](const core::UserCreated& e) { return Concern{{}, e.id, false}; },
                 [](const core::UserChanged& e) { return Concern{{}, e.id, false}; },
                 [](const core::TokenCreated& e) { return Concern{{}, e.user, false}; },
                 [](const core::SiteAdded&) { return Concern{{}, {}, true}; },
                 [](const core::SiteRemoved&) { return Concern{{}, {}, true}; },
                 [](const core::SiteReported&) { return Concern{{}, {}, true}; },
                 [](const core::SiteDrained&) { return Concern{{}, {}, true}; },
                 [](const core::QueueSet& e) { return Concern{e.ns, {}, false}; },
                 [](const core::ScheduleSet& e) { return Concern{e.ns, {}, false}; },
                 [](const core::ScheduleDeleted& e) { return Concern{e.ns, {}, false}; },
                 [](const core::SchedulePaused& e) { return Concern{e.ns, {}, false}; },
                 [](const core::ScheduleFired& e) { return Concern{e.ns, {}, false}; },
                 [](const core::ScheduleSkipped& e) { return Concern{e.ns, {}, false}; },
                 [](const core::ScheduleOpened& e) { return Concern{e.ns, {}, false}; },
                 [](const core::DocumentKept& e) { return Concern{e.key.ns, e.owner, false}; },
                 [](const core::DocumentDropped& e) { return Concern{e.key.ns, {}, false}; },
                 [](const auto&) { return Concern{}; }},
      body);
}

class Sieve {
 public:
  Sieve(const core::State& table, journal::History& history, const EventFilter& filter,
        const SeenCommit& seen)
      : table_(table),
        history_(history),
        filter_(filter),
        jobs_(seen.jobs),
        sees_all_(!core::visible_namespaces(table, filter.actor)) {}

  bool passes(const core::Event& event) {
    const JobId job = job_of(event.body);
    if (filter_.job && job != filter_.job) return false;
    if (job) return passes(about(job).ns);
    if (const WorkflowId workflow = workflow_of(event.body)) return passes(space_of(workflow));
    const Concern concern = concern_of(event.body);
    if (filter_.ns && concern.ns != filter_.ns) return false;
    if (sees_all_ || concern.everybody) return true;
    if (concern.user && concern.user == filter_.actor.user) return true;
    return concern.ns && core::may_view(table_, filter_.actor, concern.ns);
  }

  EventJob about(JobId job) {
    const auto [at, fresh] = jobs_.try_emplace(job);
    if (!fresh) return at->second;
    if (const auto ended = history_.job(job)) at->second = {ended->job.ns, ended->job.array};
    return at->second;
  }

  NamespaceId space_of(WorkflowId workflow) {
    const auto [at, fresh] = workflows_.try_emplace(workflow);
    if (!fresh) return at->second;
    if (const auto kept = history_.workflow(workflow)) at->second = kept->ns;
    return at->second;
  }

 private:
  bool passes(NamespaceId ns) const {
    if (filter_.ns && ns != filter_.ns) return false;
    return sees_all_ || (ns && core::may_view(table_, filter_.actor, ns));
  }

  const core::State& table_;
  journal::History& history_;
  const EventFilter& filter_;
  std::map<JobId, EventJob> jobs_;
  std::map<WorkflowId, NamespaceId> workflows_;
  const bool sees_all_;
};

}  // namespace

SeenCommit see(const core::State& state, journal::Committed commit) {
  SeenCommit seen{std::move(commit), {}};
  const auto remember = [&](JobId id) {
    if (const core::Job* job = id && !seen.jobs.count(id) ? state.job(id) : nullptr)
      seen.jobs[id] = {job->ns, job->array};
  };
  for (const core::Event& event : seen.commit.events) {
    const auto* placed = std::get_if<core::TaskPlaced>(&event.body);
    if (placed && placed->behind) remember(placed->behind->job);
    const JobId id = job_of(event.body);
    if (!id || seen.jobs.count(id)) continue;
    if (const auto* submitted = std::get_if<core::JobSubmitted>(&event.body))
      seen.jobs[id] = {submitted->ns, submitted->array};
    else
      remember(id);
  }
  return seen;
}

std::vector<ShownEvent> show_commit(const core::State& table, journal::History& history,
                                    const EventFilter& filter, const SeenCommit& seen) {
  std::vector<ShownEvent> shown;
  Sieve sieve(table, history, filter, seen);
  for (const core::Event& event : seen.commit.events) {
    if (!sieve.passes(event)) continue;
    ShownEvent& made = shown.emplace_back();
    made.type = core::event_name(event.body);
    JsonWriter json(made.json);
    const JobId job = job_of(event.body);
    json.begin_object().member("sequence", seen.commit.sequence).member("at", event.at).key("by");
    event.by ? json.text(name_of(table, event.by)) : json.null();
    json.member("type", made.type).key("namespace");
    const WorkflowId workflow = workflow_of(event.body);
    const NamespaceId ns = job        ? sieve.about(job).ns
                           : workflow ? sieve.space_of(workflow)
                                      : concern_of(event.body).ns;
    ns ? json.text(name_of(table, ns)) : json.null();
    json.key("job");
    job ? json.text(to_string(job)) : json.null();
    json.key("data");
    Writer writer(json, table, [&](JobId whose) { return sieve.about(whose).array; });
    if (!write_short(json, event.body))
      std::visit([&](const auto& body) { writer.members(body); }, event.body);
    json.end_object();
  }
  return shown;
}

}  // namespace atl::api
