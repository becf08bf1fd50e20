#include "spec/cloudmesh/cc_edit.h"

#include <algorithm>
#include <map>
#include <optional>

#include "base/text.h"
#include "spec/cloudmesh/cc_text.h"
#include "spec/cloudmesh/names.h"

namespace atl::spec::cc {
namespace {

const std::map<std::string_view, std::string CcNode::*>& text_members() {
  static const std::map<std::string_view, std::string CcNode::*> kMembers = {
      {"user", &CcNode::user},        {"host", &CcNode::host},
      {"label", &CcNode::label},      {"label_format", &CcNode::label_format},
      {"format", &CcNode::format},    {"kind", &CcNode::kind},
      {"status", &CcNode::status},    {"script", &CcNode::script},
      {"exec", &CcNode::exec},        {"pid", &CcNode::pid},
      {"venv", &CcNode::venv},        {"shape", &CcNode::shape},
      {"style", &CcNode::style},      {"created", &CcNode::created},
      {"modified", &CcNode::modified}};
  return kMembers;
}

tl::unexpected<Error> refuse_attribute(const std::string& key, const std::string& why) {
  return fail(ErrorCode::invalid, key + " " + why, key);
}

Result<int64_t> number_of(const std::string& key, const std::string& value, int64_t most) {
  const auto number = parse_int(value);
  if (number && *number >= 0 && *number <= most) return *number;
  return refuse_attribute(
      key, "is " + quote(value) + "; it must be a whole number from 0 to " + std::to_string(most));
}

std::optional<uint32_t> find(const CcWorkflow& workflow, const std::string& name) {
  for (uint32_t i = 0; i < workflow.nodes.size(); ++i) {
    if (workflow.nodes[i].name == name) return i;
  }
  return std::nullopt;
}

Result<uint32_t> find_or_add(CcWorkflow& workflow, const std::string& name, bool marker) {
  if (const auto known = find(workflow, name)) return *known;
  if (auto ok = check_cc_name(name); !ok) return tl::unexpected(ok.error());
  if (workflow.nodes.size() >= kCcNodesMax)
    return fail(ErrorCode::too_large, "more than " + std::to_string(kCcNodesMax) + " nodes");
  CcNode node;
  node.name = name;
  node.marker = marker;
  node.style = "filled,rounded";
  for (const CcNode& each : workflow.nodes) node.number = std::max(node.number, each.number + 1);
  workflow.nodes.push_back(std::move(node));
  return static_cast<uint32_t>(workflow.nodes.size() - 1);
}

Result<void> set_attribute(CcNode& node, const std::string& key, const std::string& value) {
  const auto control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; };
  const bool text = key == "label" || key == "label_format" || key == "format" || key == "exec";
  if (!valid_utf8(value) || value.find('\0') != std::string::npos ||
      (!text && std::any_of(value.begin(), value.end(), control)))
    return refuse_attribute(key, "has a control character in it");
  if (key == "name" && value != node.name)
    return refuse_attribute(key, "cannot be changed; add a job of that name");
  if (key == "name") return {};
  if (key == "progress" || key == "number") {
    auto number = number_of(key, value, key == "progress" ? 100 : 1'000'000'000);
    if (!number) return tl::unexpected(number.error());
    if (key == "progress") node.progress = static_cast<int>(*number);
    if (key == "number") node.number = static_cast<uint32_t>(*number);
  } else if (const auto member = text_members().find(key); member != text_members().end()) {
    node.*member->second = value;
  } else {
    if (key.empty() || key.size() > kCcKeyMax || !valid_utf8(key))
      return refuse_attribute(key.substr(0, kCcKeyMax), "is no name for an attribute");
    const auto same = [&](const CcAttribute& each) { return each.name == key; };
    auto at = std::find_if(node.extra.begin(), node.extra.end(), same);
    if (at == node.extra.end()) at = node.extra.insert(at, CcAttribute{key, "", ""});
    at->text = value;
    at->json = value.empty() ? "\"\"" : json_scalar(value);
  }
  return {};
}

// What follows from attributes that were given, for those that were not.
void follow(CcNode& node, const CcAttributes& attributes) {
  const auto given = [&](std::string_view key) {
    return std::any_of(attributes.begin(), attributes.end(),
                       [&](const auto& each) { return each.first == key; });
  };
  if (given("label") && !given("label_format")) node.label_format = node.label;
  if (given("label") && !given("format")) node.format = node.label;
  if (given("exec") && !given("script") && node.script == node.name + ".sh") node.script.clear();
  if (node.kind.empty()) node.kind = "local";
  if (node.status.empty()) node.status = "ready";
  fill_in(node);
}

Result<void> link(CcWorkflow& workflow, std::string_view chain) {
  const auto names = expand_parts(chain);
  if (!names)
    return fail(ErrorCode::invalid, quote(chain) + ", column " +
                                        std::to_string(names.error().at + 1) + ": " +
                                        names.error().message);
  std::optional<uint32_t> before;
  for (const Name& name : *names) {
    auto at = find_or_add(workflow, name.text, true);
    if (!at) return tl::unexpected(at.error());
    fill_in(workflow.nodes[*at]);
    auto& parents = workflow.nodes[*at].parents;
    if (before && std::find(parents.begin(), parents.end(), *before) == parents.end())
      parents.push_back(*before);
    before = *at;
  }
  return {};
}

// Takes the changed one over when it has an order.
Result<void> accept(CcWorkflow& workflow, CcWorkflow changed) {
  const std::vector<uint32_t> order = in_order(changed);
  if (order.size() != changed.nodes.size())
    return fail(ErrorCode::invalid, "these nodes would wait for each other: " +
                                        told(changed, find_cycle(changed, order)));
  workflow = std::move(changed);
  return {};
}

}  // namespace

Result<void> set_job(CcWorkflow& workflow, const std::string& name,
                     const CcAttributes& attributes) {
  CcWorkflow changed = workflow;
  const auto at = find_or_add(changed, name, false);
  if (!at) return tl::unexpected(at.error());
  changed.nodes[*at].marker = false;
  for (const auto& [key, value] : attributes) {
    if (key == "parent") continue;
    if (auto ok = set_attribute(changed.nodes[*at], key, value); !ok) return ok;
  }
  follow(changed.nodes[*at], attributes);
  for (const auto& [key, value] : attributes) {
    if (key != "parent" || value.empty()) continue;
    auto parents = expand_names(value);
    if (!parents) return refuse_attribute(key, "is " + parents.error().message);
    for (const std::string& parent : *parents) {
      if (auto ok = link(changed, parent + "," + name); !ok) return ok;
    }
  }
  return accept(workflow, std::move(changed));
}

Result<void> add_dependencies(CcWorkflow& workflow, std::string_view chain) {
  CcWorkflow changed = workflow;
  if (auto ok = link(changed, chain); !ok) return ok;
  return accept(workflow, std::move(changed));
}

Result<void> remove_job(CcWorkflow& workflow, const std::string& name) {
  const auto at = find(workflow, name);
  if (!at) return fail(ErrorCode::not_found, "there is no job " + quote(name));
  workflow.nodes.erase(workflow.nodes.begin() + *at);
  for (CcNode& node : workflow.nodes) {
    std::erase(node.parents, *at);
    for (uint32_t& parent : node.parents) parent -= parent > *at ? 1 : 0;
  }
  return {};
}

Result<std::pair<std::string, std::string>> parse_attribute(std::string_view text) {
  const size_t equals = text.find('=');
  if (equals == std::string_view::npos || equals == 0)
    return fail(ErrorCode::invalid, quote(text) + " is no attribute; write script=a.sh");
  return std::pair(std::string(text.substr(0, equals)), std::string(text.substr(equals + 1)));
}

}  // namespace atl::spec::cc
