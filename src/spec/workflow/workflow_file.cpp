#include "spec/workflow/workflow_file.h"

#include <algorithm>
#include <set>
#include <unordered_map>

#include "base/text.h"
#include "spec/fields_yaml.h"
#include "spec/workflow/template.h"

namespace atl::spec {
namespace {

using yaml::each_entry;
using yaml::Node;
using yaml::wrong;

std::string_view type_of(const std::string& value) {
  if (value == "true" || value == "false") return "boolean";
  if (parse_int(value)) return "integer";
  return "text";
}

class WorkflowReader {
 public:
  WorkflowFile read(const Node& root) {
    if (root.is_null()) wrong(root, "a workflow needs steps: {hello: {run: echo hello}}");
    // Parameters first: what refers to them is looked at as it is read.
    std::optional<Node> params, env, defaults, steps;
    const auto later = [](std::optional<Node>& section) {
      return [&section](const Node& n) {
        if (!n.is_null()) section = n;
      };
    };
    yaml::read_map(root, {{"name", [&](const Node& n) { file_.name = yaml::text_of(n); }},
                          {"params", later(params)},
                          {"env", later(env)},
                          {"defaults", later(defaults)},
                          {"steps", later(steps)}});
    if (params) read_params(*params);
    if (env) read_env(*env);
    if (defaults) read_defaults(*defaults);
    if (steps) read_steps(*steps);
    if (file_.steps.empty()) wrong(root, "a workflow needs steps: {hello: {run: echo hello}}");
    for (WrittenStep& step : file_.steps) link(step);
    refuse_cycle();
    return std::move(file_);
  }

 private:
  void read_params(const Node& node) {
    each_entry(node, [&](const std::string& key, const Node& at, const Node& value) {
      if (auto ok = check_identifier(key, "parameter"); !ok) wrong(at, ok.error().message);
      ParamSpec spec;
      if (value.is_map()) {
        read_fields(spec, value);
      } else if (!value.is_null()) {
        spec.fallback = yaml::text_of(value);
        spec.type = std::string(type_of(*spec.fallback));
      }
      params_.insert(key);
      file_.params.push_back({key, std::move(spec), at.mark()});
    });
  }
  // Every reference of the texts in there stands for something.
  void check_references(const Node& node) {
    for (const Node each : node) check_references(each);
    if (!node.is_scalar()) return;
    for (const Reference& reference : references_in(node.text())) {
      if (reference.root != "params") continue;
      if (!params_.count(reference.path)) refuse_reference(node, reference);
    }
  }
  [[noreturn]] void refuse_reference(const Node& node, const Reference& reference) const {
    const auto meant = did_you_mean(reference.path, {params_.begin(), params_.end()});
    throw yaml::Wrong{node.mark_at(reference.at),
                      "{params." + reference.path + "} is no parameter of this workflow" +
                          (meant ? "; did you mean {params." + *meant + "}?" : "")};
  }

  void read_env(const Node& node) {
    check_references(node);
    StepSpec holder;
    read_field(*find_field(shape_of<StepSpec>(), "env"), &holder, node);
    file_.env = std::move(holder.env);
  }
  void read_defaults(const Node& node) {
    check_references(node);
    read_fields(file_.defaults, node);
    if (file_.defaults.needs) wrong(node, "needs belongs to a step, not to all of them");
  }
  void read_steps(const Node& node) {
    each_entry(node, [&](const std::string& key, const Node& at, const Node& value) {
      if (auto ok = check_identifier(key, "step"); !ok) wrong(at, ok.error().message);
      if (file_.steps.size() >= kStepsMax)
        wrong(at, "more than " + std::to_string(kStepsMax) + " steps; for_each makes more");
      WrittenStep step{key, {}, at.mark(), {}};
      check_references(value);
      if (!value.is_null()) read_fields(step.spec, value);
      const bool runs = step.spec.run || file_.defaults.run;
      const bool calls = step.spec.argv || file_.defaults.argv;
      if (!runs && !calls) wrong(at, "step " + quote(key) + " does nothing: give it run or argv");
      if (step.spec.run && step.spec.argv)
        wrong(at, "step " + quote(key) + " has both run and argv; keep one of them");
      places_.emplace(key, static_cast<uint32_t>(file_.steps.size()));
      file_.steps.push_back(std::move(step));
    });
  }

  // Finds what the step needs by its names.
  void link(WrittenStep& step) {
    if (!step.spec.needs) return;
    for (const NeedSpec& need : *step.spec.needs) {
      const auto place = places_.find(*need.step);
      if (place == places_.end()) refuse_need(step, *need.step);
      if (std::find(step.needs.begin(), step.needs.end(), place->second) != step.needs.end())
        throw yaml::Wrong{step.mark, "step " + quote(step.name) + " needs " + quote(*need.step) +
                                         " twice; keep one of them"};
      step.needs.push_back(place->second);
    }
  }
  [[noreturn]] void refuse_need(const WrittenStep& step, const std::string& name) const {
    std::vector<std::string> known;
    for (const WrittenStep& each : file_.steps) {
      if (known.size() < 1000) known.push_back(each.name);
    }
    const auto meant = did_you_mean(name, known);
    throw yaml::Wrong{step.mark, "step " + quote(step.name) + " needs " + quote(name) +
                                     ", which is no step" +
                                     (meant ? "; did you mean " + *meant + "?" : "")};
  }

  void refuse_cycle() const {
    if (in_order(file_).size() == file_.steps.size()) return;
    std::vector<bool> done(file_.steps.size());
    for (const uint32_t step : in_order(file_)) done[step] = true;
    // Of those that are left each needs another one that is left: going back comes round.
    auto at = static_cast<uint32_t>(std::find(done.begin(), done.end(), false) - done.begin());
    std::vector<uint32_t> way;
    while (std::find(way.begin(), way.end(), at) == way.end()) {
      way.push_back(at);
      const auto& needs = file_.steps[at].needs;
      at = *std::find_if(needs.begin(), needs.end(), [&](uint32_t need) { return !done[need]; });
    }
    constexpr size_t kTold = 12;
    std::string names = file_.steps[at].name;
    const auto first = std::find(way.begin(), way.end(), at);
    size_t told = 0;
    for (auto step = first; step != way.end(); ++step) {
      const bool last = step + 1 == way.end();
      if (++told > kTold && !last) continue;
      if (told > kTold + 1) names += " needs … ";
      names += " needs " + file_.steps[last ? at : *(step + 1)].name;
    }
    throw yaml::Wrong{file_.steps[at].mark, "these steps wait for each other: " + names};
  }

  WorkflowFile file_;
  std::set<std::string> params_;
  std::unordered_map<std::string, uint32_t> places_;
};

}  // namespace

std::vector<uint32_t> in_order(const WorkflowFile& file) {
  const auto count = static_cast<uint32_t>(file.steps.size());
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

Result<WorkflowFile> parse_workflow(std::string_view text, const std::string& file_name) {
  WorkflowFile file;
  auto ok = yaml::read_yaml(text, file_name,
                            [&](const Node& root) { file = WorkflowReader().read(root); },
                            {.bytes = kWorkflowBytesMax, .bounds = {.depth = 32, .values = 20'000'000}});
  if (!ok) return tl::unexpected(ok.error());
  return file;
}

}  // namespace atl::spec
