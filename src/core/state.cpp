#include "core/state.h"

#include <algorithm>
#include <bit>

#include "base/check.h"
#include "base/overloaded.h"
#include "core/cohorts.h"
#include "core/index.h"
#include "core/queue/index.h"
#include "core/schedule/index.h"

namespace atl::core {

std::string device_name(const std::string& kind, const std::string& model) {
  return model.empty() ? kind : kind + ":" + model;
}

bool forgettable(const Node& node) { return node.gone && !node.draining && node.holders.empty(); }

int64_t used_milli(const Node& node, const Device& device) {
  const auto it = node.units_used.find(device.unit);
  if (it == node.units_used.end()) return 0;
  const int64_t slots = device.slots == 0 ? 0 : std::popcount(it->second.slots);
  return it->second.share_milli + (slots ? slots * kWholeDevice / device.slots : 0);
}

std::vector<std::string> models_of(const DeviceRequest& request) {
  std::vector<std::string> models{request.model};
  models.insert(models.end(), request.also.begin(), request.also.end());
  return models;
}

const Placement* placement_of(const TaskState& state) {
  return match(
      state, [](const TaskBackoff&) -> const Placement* { return nullptr; },
      [](const auto& placed) -> const Placement* { return &placed.placement; });
}

bool in_line(const Task& task) {
  return task.line && !task.line->recalled && std::holds_alternative<TaskStarting>(task.state);
}

bool has_placed(const Job& job) {
  return std::any_of(job.tasks.begin(), job.tasks.end(),
                     [](const auto& entry) { return placement_of(entry.second.state) != nullptr; });
}

bool refuted(const Dependency& dependency) {
  if (!dependency.outcome || dependency.kind == DependencyKind::after_end) return false;
  const bool succeeded = *dependency.outcome == Outcome::succeeded;
  return succeeded != (dependency.kind == DependencyKind::after_success);
}

bool dependencies_decided(const Job& job) {
  bool all_known = !job.dependencies.empty();
  for (const Dependency& dependency : job.dependencies) {
    if (refuted(dependency)) return true;
    all_known &= dependency.outcome.has_value();
  }
  return all_known;
}

const Job* State::job(JobId id) const {
  const auto it = jobs.find(id);
  return it == jobs.end() ? nullptr : &it->second;
}

const Workflow* State::workflow(WorkflowId id) const {
  const auto it = workflows.find(id);
  return it == workflows.end() ? nullptr : &it->second;
}

const Terms& State::terms_of(const Job& job) const {
  const auto it = terms.find(job.terms);
  CHECK(it != terms.end(), "job " + to_string(job.id) + " has no terms");
  return it->second.terms;
}

const User* State::user_named(const std::string& name) const {
  const auto it = user_names.find(name);
  return it == user_names.end() ? nullptr : &users.at(it->second);
}

const Namespace* State::namespace_named(const std::string& name) const {
  const auto it = namespace_names.find(name);
  return it == namespace_names.end() ? nullptr : &namespaces.at(it->second);
}

const Site* State::site_named(const std::string& name) const {
  const auto it = site_names.find(name);
  return it == site_names.end() ? nullptr : &sites.at(it->second);
}

const Cohort* State::cohort_named(const std::string& name) const {
  const auto it = cohort_names.find(name);
  return it == cohort_names.end() ? nullptr : &cohorts.at(it->second);
}

const WorkQueue* State::queue_named(NamespaceId ns, const std::string& name) const {
  const auto it = queue_names.find({ns, name});
  return it == queue_names.end() ? nullptr : &queues.at(it->second);
}

const KeptDocument* State::document(NamespaceId ns, const std::string& kind,
                                    const std::string& name) const {
  const auto it = kept.find({ns, kind, name});
  return it == kept.end() ? nullptr : &it->second;
}

const Schedule* State::schedule_named(NamespaceId ns, const std::string& name) const {
  const auto it = schedule_names.find({ns, name});
  return it == schedule_names.end() ? nullptr : &schedules.at(it->second);
}

bool only_by_name(const State& state, const Site& site) {
  const auto pretends = [](const Site& each) { return each.kind == "simulated"; };
  return pretends(site) && !std::all_of(state.sites.begin(), state.sites.end(),
                                        [&](const auto& entry) { return pretends(entry.second); });
}

void rebuild_derived(State& state) {
  for (const auto& [id, user] : state.users) index_user(state, user);
  for (const auto& [id, token] : state.tokens) state.token_hashes[token.hash] = id;
  for (const auto& [id, ns] : state.namespaces) state.namespace_names[ns.name] = id;
  for (const auto& [id, site] : state.sites) state.site_names[site.name] = id;
  for (const auto& [id, cohort] : state.cohorts) state.cohort_names[cohort.name] = id;
  for (auto& [id, entry] : state.terms) {
    state.terms_ids[entry.terms] = id;
    index_terms(state, entry);
  }
  count_capacity(state);
  for (auto& [id, job] : state.jobs) {
    index_job(state, job);
    index_tasks(state, job);
  }
  count_cohorts(state);
  for (auto& [id, queue] : state.queues) index_queue(state, queue);
  for (auto& [id, each] : state.workflows) {
    workflow::index(each);
    count_workflow(state, each, +1);
  }
  for (auto& [id, schedule] : state.schedules) {
    state.schedule_names[{schedule.ns, schedule.name}] = id;
    index_schedule(state, schedule);
  }
}

}  // namespace atl::core
