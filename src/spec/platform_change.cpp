#include "spec/platform_change.h"

#include <algorithm>

namespace atl::spec {
namespace {

using Fields = std::vector<std::pair<std::string, std::string>>;
using Things = std::map<std::string, Fields>;  // by name

std::string shown_fields(const Fields& fields) {
  std::string out;
  for (const auto& [key, value] : fields) out += (out.empty() ? "" : ", ") + key + ": " + value;
  return "{" + out + "}";
}

std::string value_of(const Fields& fields, const std::string& key) {
  for (const auto& [name, value] : fields) {
    if (name == key) return value;
  }
  return {};
}

void compare(const std::string& kind, const Things& from, const Things& to,
             std::vector<Change>& changes) {
  for (const auto& [name, fields] : to) {
    const auto old = from.find(name);
    if (old == from.end()) {
      changes.push_back({'+', kind, name, "", "", shown_fields(fields)});
      continue;
    }
    Fields keys = fields;
    keys.insert(keys.end(), old->second.begin(), old->second.end());
    std::vector<std::string> seen;
    for (const auto& [key, unused] : keys) {
      if (std::find(seen.begin(), seen.end(), key) != seen.end()) continue;
      seen.push_back(key);
      const std::string before = value_of(old->second, key);
      const std::string after = value_of(fields, key);
      if (before != after) changes.push_back({'~', kind, name, key, before, after});
    }
  }
  for (const auto& [name, fields] : from) {
    if (!to.count(name)) changes.push_back({'-', kind, name, "", shown_fields(fields), ""});
  }
}

template <class Entry>
Things things_of(const std::vector<Entry>& entries) {
  Things things;
  for (const Entry& entry : entries) things[entry.name] = written_fields(entry);
  return things;
}

Things policy_of(const PlatformFile& file) {
  return {{"", written_fields(file.policy.value_or(core::Policy{}))}};
}

std::string cohort_name(const core::State& state, CohortId id) {
  return id ? state.cohorts.at(id).name : std::string();
}

// What a platform file speaks of, without anything that is counted.
core::State named_parts(const core::State& state) {
  core::State parts;
  parts.policy = state.policy;
  parts.users = state.users;
  parts.namespace_names = state.namespace_names;
  parts.cohort_names = state.cohort_names;
  for (const auto& [id, ns] : state.namespaces) {
    core::Namespace& copy = parts.namespaces[id];
    copy.name = ns.name;
    copy.members = ns.members;
    copy.quota = ns.quota;
    copy.stake = ns.stake;
  }
  for (const auto& [id, cohort] : state.cohorts) {
    core::Cohort& copy = parts.cohorts[id];
    copy.name = cohort.name;
    copy.quota = cohort.quota;
    copy.stake = cohort.stake;
  }
  return parts;
}

// The events of ApplyPlatform on such parts. Applying them for real counts all use anew after each,
// which for a thousand namespaces would hold the core's thread for a second.
struct Fold {
  core::State& parts;

  void operator()(const core::PolicySet& e) { parts.policy = e.policy; }
  void operator()(const core::NamespaceCreated& e) {
    parts.namespaces[e.id].name = e.name;
    parts.namespace_names[e.name] = e.id;
  }
  void operator()(const core::NamespaceDeleted& e) {
    parts.namespace_names.erase(parts.namespaces.at(e.id).name);
    parts.namespaces.erase(e.id);
  }
  void operator()(const core::QuotaSet& e) { parts.namespaces.at(e.id).quota = e.quota; }
  void operator()(const core::StakeSet& e) { parts.namespaces.at(e.id).stake = e.stake; }
  void operator()(const core::MemberSet& e) { parts.namespaces.at(e.id).members[e.user] = e.role; }
  void operator()(const core::MemberRemoved& e) { parts.namespaces.at(e.id).members.erase(e.user); }
  void operator()(const core::CohortSet& e) {
    core::Cohort& cohort = parts.cohorts[e.id];
    cohort.name = e.name;
    cohort.quota = e.quota;
    cohort.stake = e.stake;
    parts.cohort_names[e.name] = e.id;
  }
  void operator()(const core::CohortDeleted& e) {
    parts.cohort_names.erase(parts.cohorts.at(e.id).name);
    parts.cohorts.erase(e.id);
  }
  template <class Other>
  void operator()(const Other&) {}
};

}  // namespace

PlatformFile in_force(const core::State& state) {
  PlatformFile file;
  file.policy = state.policy;
  for (const auto& [name, id] : state.cohort_names) {
    const core::Cohort& cohort = state.cohorts.at(id);
    file.cohorts.push_back({name, cohort_name(state, cohort.stake.cohort),
                            cohort.stake.weight_milli, cohort.quota, cohort.stake.borrow});
  }
  for (const auto& [name, id] : state.namespace_names) {
    const core::Namespace& ns = state.namespaces.at(id);
    NamespaceEntry entry{
        name, cohort_name(state, ns.stake.cohort), ns.stake.weight_milli, ns.quota, ns.stake.borrow,
        {}};
    entry.members.emplace();
    for (const auto& [user, role] : ns.members) (*entry.members)[state.users.at(user).name] = role;
    file.namespaces.push_back(std::move(entry));
  }
  return file;
}

core::ApplyPlatform to_command(const PlatformFile& file, bool prune) {
  core::ApplyPlatform command;
  command.policy = file.policy;
  command.prune = prune;
  for (const CohortEntry& each : file.cohorts)
    command.cohorts.push_back({each.name, each.parent, each.weight_milli, each.quota, each.borrow});
  for (const NamespaceEntry& each : file.namespaces)
    command.namespaces.push_back(
        {each.name, each.cohort, each.weight_milli, each.quota, each.borrow, each.members});
  return command;
}

std::vector<Change> difference(const PlatformFile& from, const PlatformFile& to) {
  std::vector<Change> changes;
  compare("policy", policy_of(from), policy_of(to), changes);
  compare("cohort", things_of(from.cohorts), things_of(to.cohorts), changes);
  compare("namespace", things_of(from.namespaces), things_of(to.namespaces), changes);
  return changes;
}

Result<std::vector<Change>> preview(const core::State& state, const core::Actor& actor,
                                    const core::ApplyPlatform& command) {
  const auto events = core::decide(state, {state.now, core::Request{actor, command}});
  if (!events) return tl::unexpected(events.error());
  core::State after = named_parts(state);
  for (const core::Event& event : *events) std::visit(Fold{after}, event.body);
  return difference(in_force(state), in_force(after));
}

}  // namespace atl::spec
