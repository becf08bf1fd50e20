#include <iterator>
#include <utility>

#include "base/check.h"
#include "base/overloaded.h"
#include "core/core.h"
#include "core/index.h"
#include "core/limits.h"

namespace atl::core {
namespace {

// One event being applied: its time and author, the state, and the effects so far.
class Application {
 public:
  Application(State& state, const Event& event) : state_(state), at_(event.at), by_(event.by) {}

  void operator()(const UserCreated& e);
  void operator()(const UserChanged& e);
  void operator()(const NamespaceCreated& e);
  void operator()(const NamespaceDeleted& e);
  void operator()(const QuotaSet& e) { state_.namespaces.at(e.id).quota = e.quota; }
  void operator()(const MemberSet& e) { state_.namespaces.at(e.id).members[e.user] = e.role; }
  void operator()(const MemberRemoved& e) { state_.namespaces.at(e.id).members.erase(e.user); }
  void operator()(const TokenCreated& e);
  void operator()(const TokenRevoked& e);
  void operator()(const SiteAdded& e);
  void operator()(const SiteRemoved& e);
  void operator()(const SiteReported& e);
  void operator()(const SiteDrained& e) { state_.sites.at(e.id).draining = e.draining; }
  void operator()(const JobSubmitted& e);
  void operator()(const JobHeld& e) { set_held(e.id, true); }
  void operator()(const JobReleased& e) { set_held(e.id, false); }
  void operator()(const JobChanged& e);
  void operator()(const DependenciesSettled& e);
  void operator()(const WaitingEnded& e);
  void operator()(const TaskPlaced& e);
  void operator()(const TaskStarted& e);
  void operator()(const TaskStopping& e);
  void operator()(const TaskUnreachable& e);
  void operator()(const TaskEnded& e);
  void operator()(const TaskRetried& e);
  void operator()(const BackoffEnded& e);
  void operator()(const JobEnded& e);
  void operator()(const JobReopened& e);
  void operator()(const NoticeSettled& e) { state_.notices.erase(e.id); }
  void operator()(const TaskRecalled& e);

  Effects take_effects() { return std::move(effects_); }

 private:
  Job& job(JobId id);
  Task& task(Job& job, AttemptId attempt);
  void set_held(JobId id, bool held);
  Job& insert_job(const JobSubmitted& e, Time submitted);
  void archive(const Job& job, AttemptId attempt, const Task& task, Outcome outcome, bool retried,
               const AttemptResult& result);
  void end_placement(Job& job, AttemptId attempt, Task& task, const AttemptResult& result);
  void hand_over(AttemptId leader);
  void settle_dependents(JobId id, Outcome outcome);
  void owe_notice(const Job& job, Outcome outcome);

  State& state_;
  const Time at_;
  const UserId by_;
  Effects effects_;
};

Job& Application::job(JobId id) {
  const auto it = state_.jobs.find(id);
  CHECK(it != state_.jobs.end(), "no live job " + to_string(id));
  return it->second;
}

Task& Application::task(Job& job, AttemptId attempt) {
  const auto it = job.tasks.find(attempt.index);
  CHECK(it != job.tasks.end(), "no task for attempt " + to_string(attempt));
  CHECK(it->second.attempt == attempt.attempt,
        "attempt " + to_string(attempt) + " is not the current one");
  return it->second;
}

// A task in line is taken out of its indexes while it changes; one that is not has none that
// depend on how far it is.
class Reindexed {
 public:
  Reindexed(State& state, Job& job, uint32_t index, Task& task)
      : state_(state), job_(job), index_(index), task_(task) {
    if (task_.line) unindex_task(state_, job_, index_, task_);
  }
  ~Reindexed() {
    if (task_.line) index_task(state_, job_, index_, task_);
  }
  Reindexed(const Reindexed&) = delete;
  Reindexed& operator=(const Reindexed&) = delete;

 private:
  State& state_;
  Job& job_;
  const uint32_t index_;
  Task& task_;
};

template <class Id>
void raise(decltype(Id::value)& counter, Id id) {
  if (id.value > counter) counter = id.value;
}

void Application::operator()(const UserCreated& e) {
  raise(state_.counters.user, e.id);
  const User user{e.id, e.name, false, e.platform_admin, e.uid};
  state_.users.emplace(e.id, user);
  index_user(state_, user);
}

void Application::operator()(const UserChanged& e) {
  User& user = state_.users.at(e.id);
  if (user.uid) state_.user_uids.erase(*user.uid);
  user.disabled = e.disabled;
  user.platform_admin = e.platform_admin;
  user.uid = e.uid;
  index_user(state_, user);
}

void Application::operator()(const NamespaceCreated& e) {
  raise(state_.counters.ns, e.id);
  Namespace ns;
  ns.id = e.id;
  ns.name = e.name;
  state_.namespaces.emplace(e.id, std::move(ns));
  state_.namespace_names.emplace(e.name, e.id);
}

void Application::operator()(const NamespaceDeleted& e) {
  const auto it = state_.namespaces.find(e.id);
  CHECK(it != state_.namespaces.end() && it->second.jobs == 0,
        "namespace to delete is absent or in use");
  state_.namespace_names.erase(it->second.name);
  state_.namespaces.erase(it);
}

void Application::operator()(const TokenCreated& e) {
  raise(state_.counters.token, e.id);
  state_.tokens.emplace(
      e.id, Token{e.id, e.user, e.hash, e.note, at_, e.expires, e.read_only, e.namespaces});
  state_.token_hashes.emplace(e.hash, e.id);
}

void Application::operator()(const TokenRevoked& e) {
  const auto it = state_.tokens.find(e.id);
  if (it == state_.tokens.end()) return;
  state_.token_hashes.erase(it->second.hash);
  state_.tokens.erase(it);
}

void Application::operator()(const SiteAdded& e) {
  raise(state_.counters.site, e.id);
  Site site;
  site.id = e.id;
  site.name = e.name;
  site.kind = e.kind;
  state_.sites.emplace(e.id, std::move(site));
  state_.site_names.emplace(e.name, e.id);
}

void Application::operator()(const SiteRemoved& e) {
  const auto it = state_.sites.find(e.id);
  for (const auto& [name, node] : it->second.nodes)
    CHECK(node.tasks == 0, "site to remove still runs work");
  state_.site_names.erase(it->second.name);
  state_.sites.erase(it);
}

void Application::operator()(const SiteReported& e) {
  Site& site = state_.sites.at(e.id);
  site.reported = true;
  site.abilities = e.report.abilities;
  for (auto& [name, node] : site.nodes) node.gone = true;
  for (const NodeCapacity& capacity : e.report.nodes) {
    Node& node = site.nodes[capacity.name];
    node.capacity = capacity;
    node.gone = false;
  }
  std::erase_if(site.nodes,
                [](const auto& entry) { return entry.second.gone && entry.second.tasks == 0; });
}

Job& Application::insert_job(const JobSubmitted& e, Time submitted) {
  raise(state_.counters.job, e.id);
  Job job;
  job.id = e.id;
  job.ns = e.ns;
  job.user = e.user;
  job.terms = intern_terms(state_, e.terms);
  job.array = e.array;
  job.held = e.held;
  job.submitted = submitted;
  job.payload = e.payload;
  job.name = e.name;
  job.waiting = e.indices;
  job.size = e.indices.size();
  job.dependencies = e.dependencies;
  job.labels = e.labels;
  job.notify = e.notify;
  const auto it = state_.jobs.emplace_hint(state_.jobs.end(), e.id, std::move(job));
  return it->second;
}

void Application::operator()(const JobSubmitted& e) {
  index_job(state_, insert_job(e, at_));
  if (!e.key.empty()) effects_.push_back(RememberKey{e.user, e.key, e.id});
}

void Application::set_held(JobId id, bool held) {
  Job& target = job(id);
  target.held = held;
  index_ready(state_, target);
}

void Application::operator()(const JobChanged& e) {
  Job& target = job(e.id);
  for (const auto& [index, task] : target.tasks) {
    CHECK(!placement_of(task.state),
          "terms of job " + to_string(e.id) + " change under a placed task");
  }
  const TermsId terms = intern_terms(state_, e.terms);
  ++state_.terms.at(terms).jobs;  // so that it survives the job leaving its old group
  unindex_job(state_, target);
  target.name = e.name;
  target.terms = terms;
  target.labels = e.labels;
  index_job(state_, target);
  --state_.terms.at(terms).jobs;
}

void Application::operator()(const DependenciesSettled& e) {
  Job& target = job(e.id);
  target.dependencies.clear();
  state_.unsettled.erase(e.id);
  index_ready(state_, target);
}

void Application::operator()(const WaitingEnded& e) {
  Job& target = job(e.id);
  for (const Interval& range : e.indices.ranges()) {
    target.waiting.remove(range);
    target.unplaced[e.outcome].add(range);
    target.tries.erase(target.tries.lower_bound(range.first), target.tries.upper_bound(range.last));
    auto it = target.tasks.lower_bound(range.first);
    while (it != target.tasks.end() && it->first <= range.last) {
      CHECK(!placement_of(it->second.state), "a placed task cannot end as waiting");
      unindex_task(state_, target, it->first, it->second);
      it = target.tasks.erase(it);
    }
  }
  target.tally[static_cast<size_t>(e.outcome)] += static_cast<uint32_t>(e.indices.size());
  index_ready(state_, target);
}

void Application::operator()(const TaskPlaced& e) {
  Job& target = job(e.attempt.job);
  CHECK(target.waiting.contains(e.attempt.index),
        "placed index of " + to_string(e.attempt) + " is not waiting");
  target.waiting.remove(e.attempt.index);
  Task placed{e.attempt.attempt, TaskStarting{e.placement, at_}, {}};
  if (e.behind) placed.line = InLine{*e.behind};
  index_task(state_, target, e.attempt.index, placed);
  target.tasks.emplace(e.attempt.index, placed);
  const auto tries = target.tries.find(e.attempt.index);
  const bool resumed = tries != target.tries.end() && tries->second.checkpointed;
  effects_.push_back(StartAttempt{e.attempt, e.placement, at_, false, target.array, resumed,
                                  e.behind, target.user, target.ns, target.name,
                                  state_.terms_of(target), target.payload});
  index_ready(state_, target);
}

void Application::operator()(const TaskStarted& e) {
  Job& target = job(e.attempt.job);
  Task& started = task(target, e.attempt);
  if (auto* stop = std::get_if<TaskStop>(&started.state)) {
    stop->started = e.started;
    return;
  }
  const Reindexed line(state_, target, e.attempt.index, started);
  const auto& starting = std::get<TaskStarting>(started.state);
  started.state = TaskRunning{starting.placement, starting.placed, e.started};
}

void Application::operator()(const TaskRecalled& e) {
  Job& target = job(e.attempt.job);
  Task& recalled = task(target, e.attempt);
  CHECK(recalled.line, "only one in line is asked back: " + to_string(e.attempt));
  const Reindexed line(state_, target, e.attempt.index, recalled);
  recalled.line->recalled = true;
  state_.terms.at(target.terms).brisk = false;
  effects_.push_back(StopAttempt{e.attempt, placement_of(recalled.state)->site, {}, true});
}

void Application::operator()(const TaskStopping& e) {
  Job& owner = job(e.attempt.job);
  Task& target = task(owner, e.attempt);
  const Reindexed line(state_, owner, e.attempt.index, target);
  TaskStop stop = match(
      target.state, [](const TaskBackoff&) { return TaskStop{}; },
      [](const TaskStarting& s) { return TaskStop{.placement = s.placement, .placed = s.placed}; },
      [](const TaskRunning& s) {
        return TaskStop{.placement = s.placement,
                        .placed = s.placed,
                        .started = s.started,
                        .unreachable = s.unreachable};
      },
      [](const TaskStop& s) { return s; });
  CHECK(stop.placement.site, "only a placed task is stopped: " + to_string(e.attempt));
  stop.since = at_;
  stop.reason = e.reason;
  stop.grace = e.grace;
  effects_.push_back(StopAttempt{e.attempt, stop.placement.site, e.grace, false});
  target.state = std::move(stop);
}

void Application::operator()(const TaskUnreachable& e) {
  Task& target = task(job(e.attempt.job), e.attempt);
  if (auto* running = std::get_if<TaskRunning>(&target.state)) running->unreachable = e.unreachable;
  if (auto* stop = std::get_if<TaskStop>(&target.state)) stop->unreachable = e.unreachable;
}

void Application::archive(const Job& job, AttemptId attempt, const Task& task, Outcome outcome,
                          bool retried, const AttemptResult& result) {
  const Placement& placement = *placement_of(task.state);
  const Time placed = match(
      task.state, [](const TaskBackoff&) { return Time{}; },
      [](const auto& s) { return s.placed; });
  effects_.push_back(
      ArchiveAttempt{attempt, job.array, retried, outcome, placement, placed, result});
  effects_.push_back(ForgetAttempt{attempt, placement.site});
}

// Its room goes to the one behind it, before it is given up: a node that is gone lives as long as
// it holds somebody.
void Application::hand_over(AttemptId leader) {
  const auto follower = state_.followers.find(leader);
  if (follower == state_.followers.end()) return;
  const TaskId next = follower->second;
  Job& target = job(next.job);
  Task& promoted = target.tasks.find(next.index)->second;
  unindex_task(state_, target, next.index, promoted);
  promoted.line.reset();
  index_task(state_, target, next.index, promoted);
}

void Application::end_placement(Job& job, AttemptId attempt, Task& task,
                                const AttemptResult& result) {
  hand_over(attempt);
  unindex_task(state_, job, attempt.index, task);
  task.line.reset();
  if (result.cause == EndCause::recalled) return;
  state_.terms.at(job.terms).brisk =
      result.cause == EndCause::exited && result.usage.ended - result.usage.started < kBriskMax;
}

void Application::operator()(const TaskEnded& e) {
  Job& target = job(e.attempt.job);
  Task& ended = task(target, e.attempt);
  archive(target, e.attempt, ended, e.outcome, false, e.result);
  end_placement(target, e.attempt, ended, e.result);
  target.tasks.erase(e.attempt.index);
  target.tries.erase(e.attempt.index);
  ++target.tally[static_cast<size_t>(e.outcome)];
}

void Application::operator()(const TaskRetried& e) {
  Job& target = job(e.attempt.job);
  Task& ended = task(target, e.attempt);
  const Outcome outcome = e.reason == RetryReason::lost ? Outcome::lost : Outcome::failed;
  archive(target, e.attempt, ended, outcome, true, e.result);
  end_placement(target, e.attempt, ended, e.result);
  Tries& tries = target.tries[e.attempt.index];
  tries.attempts = e.attempt.attempt;
  tries.failures += e.reason == RetryReason::failed;
  tries.losses += e.reason == RetryReason::lost;
  tries.checkpointed |= e.reason == RetryReason::checkpointed;
  if (e.not_before > at_) {
    ended.state = TaskBackoff{e.not_before, e.reason};
    index_task(state_, target, e.attempt.index, ended);
  } else {
    target.tasks.erase(e.attempt.index);
    target.waiting.add(e.attempt.index);
  }
  index_ready(state_, target);
}

void Application::operator()(const BackoffEnded& e) {
  Job& target = job(e.task.job);
  const auto it = target.tasks.find(e.task.index);
  CHECK(it != target.tasks.end() && !placement_of(it->second.state),
        "no back-off for " + to_string(e.task, true));
  unindex_task(state_, target, e.task.index, it->second);
  target.tasks.erase(it);
  target.waiting.add(e.task.index);
  index_ready(state_, target);
}

void Application::settle_dependents(JobId id, Outcome outcome) {
  const auto waiting = state_.dependents.find(id);
  if (waiting == state_.dependents.end()) return;
  for (const JobId dependent : waiting->second) {
    Job& target = job(dependent);
    for (Dependency& dependency : target.dependencies) {
      if (dependency.job == id) dependency.outcome = outcome;
    }
    index_unsettled(state_, target);
  }
  state_.dependents.erase(waiting);
}

void Application::owe_notice(const Job& job, Outcome outcome) {
  if (job.notify == Notify{}) return;
  const NoticeId id{++state_.counters.notice};
  const Notice notice{id,      job.id, job.name,  state_.namespaces.at(job.ns).name,
                      outcome, at_,    job.notify};
  state_.notices.emplace(id, notice);
  effects_.push_back(SendNotice{notice});
}

void Application::operator()(const JobEnded& e) {
  const auto it = state_.jobs.find(e.id);
  CHECK(it != state_.jobs.end(), "no live job " + to_string(e.id) + " to end");
  CHECK(it->second.waiting.empty() && it->second.tasks.empty(),
        "job " + to_string(e.id) + " ends with tasks left");
  settle_dependents(e.id, e.outcome);
  owe_notice(it->second, e.outcome);
  Terms terms = state_.terms_of(it->second);
  unindex_job(state_, it->second);
  effects_.push_back(
      ArchiveJob{std::move(it->second), std::move(terms), e.outcome, e.message, at_});
  state_.jobs.erase(it);
}

void Application::operator()(const JobReopened& e) {
  Job& job = insert_job(e.job, e.submitted);
  size_t i = 0;
  for (const Interval& range : job.waiting.ranges()) {
    for (uint64_t index = range.first; index <= range.last && i < e.attempts.size(); ++index, ++i) {
      if (e.attempts[i] > 0) job.tries[static_cast<uint32_t>(index)].attempts = e.attempts[i];
    }
  }
  for (size_t outcome = 0; outcome < e.tally.size() && outcome < job.tally.size(); ++outcome) {
    job.tally[outcome] = static_cast<uint32_t>(e.tally[outcome]);
    job.size += e.tally[outcome];
  }
  job.unplaced = e.unplaced;
  index_job(state_, job);
  effects_.push_back(UnarchiveJob{job.id});
}

void repeat(const State& state, const Job& job, uint32_t index, const Task& task,
            Effects& effects) {
  const AttemptId attempt{job.id, index, task.attempt};
  const auto tries = job.tries.find(index);
  const bool resumed = tries != job.tries.end() && tries->second.checkpointed;
  if (const auto* starting = std::get_if<TaskStarting>(&task.state)) {
    const auto behind = task.line ? std::optional(task.line->behind) : std::nullopt;
    effects.push_back(StartAttempt{attempt, starting->placement, starting->placed, true, job.array,
                                   resumed, behind, job.user, job.ns, job.name, state.terms_of(job),
                                   job.payload});
    if (task.line && task.line->recalled)
      effects.push_back(StopAttempt{attempt, starting->placement.site, {}, true});
  } else if (const auto* stop = std::get_if<TaskStop>(&task.state)) {
    effects.push_back(StopAttempt{attempt, stop->placement.site, stop->grace, false});
  }
}

}  // namespace

Effects apply(State& state, const Event& event) {
  if (event.at > state.now) state.now = event.at;
  Application application(state, event);
  std::visit(application, event.body);
  return application.take_effects();
}

Effects pending_effects(const State& state) {
  Effects effects, followers;
  for (const auto& [id, job] : state.jobs) {
    for (const auto& [index, task] : job.tasks) {
      repeat(state, job, index, task, task.line ? followers : effects);
    }
  }
  // After those they are behind, whom the site then knows.
  std::move(followers.begin(), followers.end(), std::back_inserter(effects));
  for (const auto& [id, notice] : state.notices) effects.push_back(SendNotice{notice});
  return effects;
}

}  // namespace atl::core
