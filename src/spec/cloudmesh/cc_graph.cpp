// What can be said of a workflow without its file: names, order, cycles, looks.
#include <algorithm>

#include "base/text.h"
#include "spec/cloudmesh/cc_file.h"

namespace atl::spec::cc {

Result<void> check_cc_name(std::string_view name) {
  const auto good = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '.' || c == '-';
  };
  const bool sane = !name.empty() && name.size() <= kCcNameMax && name.front() != '.' &&
                    name.front() != '-' && std::all_of(name.begin(), name.end(), good) &&
                    name.find("..") == std::string_view::npos;
  if (sane) return {};
  std::string instead;
  for (const char c : name.substr(0, kCcNameMax)) {
    const char kept = good(c) ? c : '-';
    const bool again = !instead.empty() && kept == instead.back() && (kept == '.' || kept == '-');
    if (!again && !(instead.empty() && (kept == '.' || kept == '-'))) instead += kept;
  }
  while (!instead.empty() && instead.back() == '-') instead.pop_back();
  return fail(ErrorCode::invalid,
              "the node " + quote(name) +
                  " becomes a directory and an address: its name must be 1 to 63 of A-Z a-z 0-9 . "
                  "_ - and begin with a letter or digit" +
                  (instead.empty() ? "" : "; write " + instead),
              "name");
}

std::vector<uint32_t> in_order(const CcWorkflow& workflow) {
  const size_t count = workflow.nodes.size();
  std::vector<std::vector<uint32_t>> followers(count);
  std::vector<size_t> left(count);
  for (uint32_t i = 0; i < count; ++i) {
    left[i] = workflow.nodes[i].parents.size();
    for (const uint32_t parent : workflow.nodes[i].parents) followers[parent].push_back(i);
  }
  std::vector<uint32_t> order;
  for (uint32_t i = 0; i < count; ++i) {
    if (left[i] == 0) order.push_back(i);
  }
  for (size_t at = 0; at < order.size(); ++at) {
    for (const uint32_t follower : followers[order[at]]) {
      if (--left[follower] == 0) order.push_back(follower);
    }
  }
  return order;
}

std::vector<uint32_t> find_cycle(const CcWorkflow& workflow, const std::vector<uint32_t>& order) {
  std::vector<bool> done(workflow.nodes.size());
  for (const uint32_t node : order) done[node] = true;
  // Of those that are left each waits for another one that is left: going back comes round.
  const auto back = [&](uint32_t from) {
    const auto& parents = workflow.nodes[from].parents;
    return *std::find_if(parents.begin(), parents.end(), [&](uint32_t p) { return !done[p]; });
  };
  auto at = static_cast<uint32_t>(std::find(done.begin(), done.end(), false) - done.begin());
  for (size_t i = 0; i < done.size(); ++i) at = back(at);
  std::vector<uint32_t> cycle{at};
  for (uint32_t next = back(at); next != at; next = back(next)) cycle.push_back(next);
  // It begins where the file does.
  std::rotate(cycle.begin(), std::min_element(cycle.begin(), cycle.end()), cycle.end());
  return cycle;
}

std::string told(const CcWorkflow& workflow, const std::vector<uint32_t>& cycle) {
  constexpr size_t kTold = 12;
  std::string names;
  for (size_t i = 0; i < std::min(cycle.size(), kTold); ++i)
    names += workflow.nodes[cycle[i]].name + " after ";
  if (cycle.size() > kTold) names += "… after ";
  return names + workflow.nodes[cycle.front()].name;
}

void fill_in(CcNode& node) {
  const bool end = node.name == "start" || node.name == "end";
  if (node.label.empty()) node.label = node.name;
  if (node.label_format.empty()) node.label_format = node.label;
  if (node.format.empty()) node.format = node.label;
  if (node.script.empty() && node.exec.empty()) node.script = node.name + ".sh";
  if (node.shape.empty()) node.shape = end ? "diamond" : "box";
}

CcColors default_colors() {
  return {{"ready", "white"},
          {"undefined", "#DBFF33"},
          {"done", "#CCFFCC"},
          {"failed", "#FFCCCC"},
          {"running", "#CCE5FF"}};
}

std::string_view drawn_style(const CcNode& node) {
  return node.style.empty() ? std::string_view("filled") : std::string_view(node.style);
}

}  // namespace atl::spec::cc
