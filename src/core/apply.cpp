#include <utility>

#include "base/check.h"
#include "core/application.h"
#include "core/cohorts.h"
#include "core/index.h"
#include "core/queue/lease.h"

namespace atl::core {
namespace {

template <class Id>
void raise(decltype(Id::value)& counter, Id id) {
  if (id.value > counter) counter = id.value;
}

}  // namespace

Job& Application::job(JobId id) {
  const auto it = state_.jobs.find(id);
  CHECK(it != state_.jobs.end(), "no live job " + to_string(id));
  return it->second;
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
  CHECK(it != state_.namespaces.end() && it->second.jobs == 0 && it->second.workflows == 0,
        "namespace to delete is absent or in use");
  state_.namespace_names.erase(it->second.name);
  state_.namespaces.erase(it);
  std::erase_if(state_.kept, [&](const auto& each) { return each.first.ns == e.id; });
  count_cohorts(state_);
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
  site.definition = e.definition;
  state_.sites.emplace(e.id, std::move(site));
  state_.site_names.emplace(e.name, e.id);
  count_capacity(state_);
}

void Application::operator()(const SiteRemoved& e) {
  const auto it = state_.sites.find(e.id);
  for (const auto& [name, node] : it->second.nodes)
    CHECK(node.holders.empty(), "site to remove still runs work");
  state_.site_names.erase(it->second.name);
  state_.sites.erase(it);
  count_capacity(state_);
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
  std::erase_if(site.nodes, [](const auto& entry) { return forgettable(entry.second); });
  count_capacity(state_);
}

void Application::operator()(const NodeDrained& e) {
  auto& nodes = state_.sites.at(e.site).nodes;
  const auto node = nodes.find(e.node);
  node->second.draining = e.draining;
  if (forgettable(node->second)) nodes.erase(node);
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
  job.gang = e.terms.gang > 0;
  job.of = e.of;
  const auto it = state_.jobs.emplace_hint(state_.jobs.end(), e.id, std::move(job));
  return it->second;
}

void Application::operator()(const JobSubmitted& e) {
  index_job(state_, insert_job(e, at_));
  if (e.of.workflow) begin_step(e);
  if (!e.key.empty()) effects_.push_back(RememberKey{e.user, e.key, e.id});
}

void Application::set_held(JobId id, bool held) {
  Job& target = job(id);
  target.held = held;
  index_ready(state_, target);
}

void Application::operator()(const JobChanged& e) {
  Job& target = job(e.id);
  // What a placed task holds is given back by its job's terms.
  CHECK(!has_placed(target) || e.terms.resources == state_.terms_of(target).resources,
        "resources of job " + to_string(e.id) + " change under a placed task");
  unindex_tasks(state_, target);
  const TermsId terms = intern_terms(state_, e.terms);
  ++state_.terms.at(terms).jobs;  // so that it survives the job leaving its old group
  unindex_job(state_, target);
  target.name = e.name;
  target.terms = terms;
  target.labels = e.labels;
  index_job(state_, target);
  --state_.terms.at(terms).jobs;
  index_tasks(state_, target);
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
    if (!target.yielded.empty()) {
      leave_backlog(state_, target);
      target.yielded.remove(range);
    }
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

void Application::owe_notice(const Job& job, const JobEnded& end) {
  if (job.notify == Notify{}) return;
  const NoticeId id{++state_.counters.notice};
  const Notice notice{id,          job.id, job.name,   state_.namespaces.at(job.ns).name,
                      end.outcome, at_,    job.notify, end.message};
  state_.notices.emplace(id, notice);
  effects_.push_back(SendNotice{notice});
}

void Application::operator()(const JobEnded& e) {
  const auto it = state_.jobs.find(e.id);
  CHECK(it != state_.jobs.end(), "no live job " + to_string(e.id) + " to end");
  CHECK(it->second.waiting.empty() && it->second.tasks.empty(),
        "job " + to_string(e.id) + " ends with tasks left");
  settle_dependents(e.id, e.outcome);
  owe_notice(it->second, e);
  if (it->second.of.workflow) finish_step(it->second, e.outcome);
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

Effects apply(State& state, const Event& event) {
  if (event.at > state.now) state.now = event.at;
  Application application(state, event);
  std::visit(application, event.body);
  if (const QueueId queue = queue::queue_in(event.body)) wake_feeders(state, queue);
  return application.take_effects();
}

}  // namespace atl::core
