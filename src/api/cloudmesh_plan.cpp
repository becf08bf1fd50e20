// Files of cc's become steps.
#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <set>

#include "api/cloudmesh.h"
#include "base/text.h"
#include "spec/cloudmesh/cc_plan.h"
#include "spec/cloudmesh/names.h"

namespace atl::api {
namespace {

using spec::cc::CcNode;
using spec::cc::CcWorkflow;

// Of the account that the nodes run under.
std::string home_of(const core::State& table, UserId user) {
  const auto known = table.users.find(user);
  const uid_t uid = known != table.users.end() && known->second.uid ? *known->second.uid : getuid();
  passwd entry{};
  passwd* found = nullptr;
  std::vector<char> buffer(16 << 10);
  if (getpwuid_r(uid, &entry, buffer.data(), buffer.size(), &found) != 0 || !found) return {};
  return found->pw_dir;
}

Result<std::set<uint32_t>> nodes_named(const CcWorkflow& workflow, const std::string& names,
                                       const char* field) {
  const auto expanded = spec::cc::expand_names(names);
  if (!expanded) return fail(ErrorCode::invalid, expanded.error().message, field);
  std::set<uint32_t> chosen;
  for (const std::string& name : *expanded) {
    const auto at = std::find_if(workflow.nodes.begin(), workflow.nodes.end(),
                                 [&](const CcNode& node) { return node.name == name; });
    if (at == workflow.nodes.end())
      return fail(ErrorCode::invalid, "there is no node " + quote(name), field);
    chosen.insert(static_cast<uint32_t>(at - workflow.nodes.begin()));
  }
  return chosen;
}

void add_descendants(const CcWorkflow& workflow, std::set<uint32_t>& chosen) {
  for (const uint32_t at : spec::cc::in_order(workflow)) {
    const auto& parents = workflow.nodes[at].parents;
    if (std::any_of(parents.begin(), parents.end(),
                    [&](uint32_t parent) { return chosen.contains(parent); }))
      chosen.insert(at);
  }
}

// Leaves those alone, which then wait for each other only.
void keep_only(CcWorkflow& workflow, const std::set<uint32_t>& chosen) {
  std::map<uint32_t, uint32_t> moved;
  for (const uint32_t at : chosen) moved.emplace(at, static_cast<uint32_t>(moved.size()));
  std::vector<CcNode> nodes;
  for (const uint32_t at : chosen) {
    CcNode& node = nodes.emplace_back(std::move(workflow.nodes[at]));
    std::erase_if(node.parents, [&](uint32_t parent) { return !chosen.contains(parent); });
    for (uint32_t& parent : node.parents) parent = moved.at(parent);
  }
  workflow.nodes = std::move(nodes);
}

Result<void> choose_nodes(const WorkflowWish& wish, CcWorkflow& workflow) {
  const bool only = !wish.only.value_or("").empty();
  if (!only && wish.from.value_or("").empty()) return {};
  auto chosen = nodes_named(workflow, only ? *wish.only : *wish.from, only ? "only" : "from");
  if (!chosen) return tl::unexpected(chosen.error());
  if (!only) add_descendants(workflow, *chosen);
  keep_only(workflow, *chosen);
  return {};
}

}  // namespace

Result<CloudmeshPlan> plan_cloudmesh(const CallPtr& call, const WorkflowWish& wish,
                                     const std::string& main) {
  if (wish.set && !wish.set->empty())
    return fail(ErrorCode::invalid,
                main + " is a Cloudmesh file, which has no parameters: leave out " +
                    wish.set->begin()->first,
                "set");
  auto file = spec::cc::parse_cc(wish.files->at(main), main);
  if (!file) return fail(file.error().code, file.error().message, "files");
  if (auto ok = choose_nodes(wish, file->workflow); !ok) return tl::unexpected(ok.error());
  const auto table = call->context.directory.table();
  spec::cc::CcPlanOptions options;
  options.directory = wish.directory.value_or("");
  options.home = home_of(*table, call->actor.user);
  for (const auto& [id, site] : table->sites) options.sites.insert(site.name);
  options.scripts = *wish.files;
  auto planned = spec::cc::plan_cc(*file, options);
  if (!planned) return tl::unexpected(planned.error());
  planned->plan.fail_fast = planned->fail_fast;
  return CloudmeshPlan{std::move(planned->plan), std::move(file->warnings)};
}

}  // namespace atl::api
