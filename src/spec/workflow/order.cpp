// The order of steps, and what a file names beside itself.
#include <algorithm>
#include <numeric>

#include "spec/fields_yaml.h"
#include "spec/workflow/items.h"
#include "spec/workflow/workflow_file.h"

namespace atl::spec {

using yaml::each_entry;
using yaml::Node;

std::vector<uint32_t> in_order(const WorkflowFile& file) {
  const auto count = static_cast<uint32_t>(file.steps.size());
  bool as_written = true;
  for (uint32_t i = 0; i < count && as_written; ++i)
    as_written = std::ranges::all_of(file.steps[i].needs, [i](uint32_t need) { return need < i; });
  if (as_written) {
    std::vector<uint32_t> all(count);
    std::iota(all.begin(), all.end(), 0);
    return all;
  }
  std::vector<uint32_t> left(count), begin(count + 1);
  for (const WrittenStep& step : file.steps) {
    for (const uint32_t need : step.needs) ++begin[need + 1];
  }
  for (uint32_t i = 0; i < count; ++i) begin[i + 1] += begin[i];
  std::vector<uint32_t> followers(begin[count]), next = begin;
  for (uint32_t i = 0; i < count; ++i) {
    left[i] = static_cast<uint32_t>(file.steps[i].needs.size());
    for (const uint32_t need : file.steps[i].needs) followers[next[need]++] = i;
  }
  std::vector<uint32_t> order;
  order.reserve(count);
  for (uint32_t i = 0; i < count; ++i) {
    if (left[i] == 0) order.push_back(i);
  }
  for (size_t at = 0; at < order.size(); ++at) {
    for (uint32_t f = begin[order[at]]; f < begin[order[at] + 1]; ++f) {
      if (--left[followers[f]] == 0) order.push_back(followers[f]);
    }
  }
  return order;
}

Result<std::vector<NamedFile>> files_named_in(std::string_view text, const std::string& file_name) {
  std::vector<NamedFile> paths;
  const auto look_at_steps = [&](const Node& steps) {
    if (!steps.is_map()) return;
    each_entry(steps, [&](const std::string&, const Node&, const Node& step) {
      if (!step.is_map()) return;
      each_entry(step, [&](const std::string& key, const Node&, const Node& value) {
        if (key != "for_each" || !value.is_map()) return;
        for (std::string& path : files_of(json_of(value)))
          paths.push_back({std::move(path), value.mark()});
      });
    });
  };
  auto ok = yaml::read_yaml(
      text, file_name,
      [&](const Node& root) {
        if (!root.is_map()) return;
        each_entry(root, [&](const std::string& key, const Node&, const Node& value) {
          if (key == "steps" || key == "templates") look_at_steps(value);
          if (key != "include") return;
          if (value.is_scalar()) paths.push_back({std::string(value.text()), value.mark()});
          if (!value.is_sequence()) return;
          for (const Node each : value) {
            if (each.is_scalar()) paths.push_back({std::string(each.text()), each.mark()});
          }
        });
      },
      kWorkflowLimits);
  if (!ok) return tl::unexpected(ok.error());
  return paths;
}

Result<std::string> steps_json(std::string_view text, const std::string& file_name) {
  if (const auto file = parse_steps(text, file_name); !file) return tl::unexpected(file.error());
  std::string json;
  auto ok = yaml::read_yaml(
      text, file_name,
      [&](const Node& root) {
        yaml::read_map(root, {{"steps", [&](const Node& steps) { json = json_of(steps); }}});
      },
      kWorkflowLimits);
  if (!ok) return tl::unexpected(ok.error());
  return json;
}

}  // namespace atl::spec
