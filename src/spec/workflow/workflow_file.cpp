#include "spec/workflow/workflow_file.h"

#include <algorithm>
#include <set>
#include <unordered_map>

#include "base/template.h"
#include "base/text.h"
#include "spec/fields_yaml.h"
#include "spec/workflow/condition.h"
#include "spec/workflow/items.h"
#include "spec/workflow/params.h"
#include "spec/workflow/queue_items.h"

namespace atl::spec {
namespace {

using yaml::each_entry;
using yaml::Node;
using yaml::wrong;

// A file that is included cannot be read: its own error, with its own place.
struct Failed {
  Error error;
};

[[noreturn]] void refuse_at(const std::string& file, yaml::Mark mark, const std::string& message) {
  throw Failed{{ErrorCode::invalid, file + ":" + to_string(mark) + ": " + message, {}}};
}

// Where a text refers to something that is known only when all has been read.
struct Mention {
  Reference reference;
  yaml::Mark mark;
  size_t file = 0;
  std::string key;               // of the step: run, when …
  std::optional<uint32_t> step;  // none: what holds for all of them
};

// {params: year}, {env: HOME} and {output: find.count} of conditions, as references.
std::optional<Reference> operand_in(const std::string& word, const std::string& name) {
  if (word == "params" || word == "env") return Reference{0, 0, word, name};
  const size_t dot = name.find('.');
  if (word != "output" || dot == std::string::npos) return std::nullopt;
  return Reference{0, 0, "steps", name.substr(0, dot) + ".outputs" + name.substr(dot)};
}

// The step and the output of "fetch.outputs.count".
std::optional<std::pair<std::string, std::string>> output_in(const std::string& path) {
  constexpr std::string_view kOutputs = ".outputs.";
  const size_t at = path.find(kOutputs);
  if (at == std::string::npos || at == 0 || at + kOutputs.size() == path.size())
    return std::nullopt;
  return std::pair(path.substr(0, at), path.substr(at + kOutputs.size()));
}

class WorkflowReader {
 public:
  WorkflowReader(const FileTexts& files, bool all) : texts_(files), all_(all) {}

  void read(std::string_view text, const std::string& name, int depth) {
    const size_t file = files_.size();
    way_.push_back(name);
    files_.push_back(name);
    if (files_.size() > kIncludesMax || depth > 8)
      throw Failed{
          {ErrorCode::invalid, name + " is included too deeply, or one of too many files", {}}};
    auto ok = yaml::read_yaml(
        text, name, [&](const Node& root) { read_root(root, file, depth); }, kWorkflowLimits);
    if (!ok) throw Failed{ok.error()};
    way_.pop_back();
  }

  WorkflowFile finish() {
    if (file_.steps.empty())
      refuse_at(files_.front(), {1, 1}, "a workflow needs steps: {hello: {run: echo hello}}");
    for (uint32_t i = 0; i < file_.steps.size(); ++i) link(i);
    for (const Mention& mention : mentions_) settle(mention);
    refuse_cycle();
    return std::move(file_);
  }

 private:
  void read_root(const Node& root, size_t file, int depth) {
    if (root.is_null()) return;
    // Parameters first: what refers to them is looked at as it is read.
    std::optional<Node> include, params, env, defaults, templates, steps;
    const auto later = [](std::optional<Node>& section) {
      return [&section](const Node& n) {
        if (!n.is_null()) section = n;
      };
    };
    std::map<std::string, yaml::Setter> sections{{"steps", later(steps)}};
    if (all_) {
      sections.insert(
          {{"name", [&](const Node& n) { set_name(n, depth); }},
           {"include", later(include)},
           {"params", later(params)},
           {"env", later(env)},
           {"defaults", later(defaults)},
           {"templates", later(templates)},
           {"fail_fast", [&](const Node& n) { file_.fail_fast = yaml::boolean(n); }},
           {"parallel", [&](const Node& n) { file_.parallel = yaml::integer(n, 1, 1'000'000); }}});
    }
    yaml::read_map(root, sections);
    if (include) read_includes(*include, depth);
    if (params) read_params(*params);
    if (env) read_env(*env, file);
    if (defaults) read_defaults(*defaults, file);
    if (templates) read_templates(*templates, file);
    if (steps) read_steps(*steps, file);
  }

  void set_name(const Node& node, int depth) {
    if (depth > 0) return;  // that of the file which includes it
    file_.name = yaml::text_of(node);
    if (auto ok = check_word(file_.name, "name"); !ok) wrong(node, ok.error().message);
  }

  void read_includes(const Node& node, int depth) {
    const auto one = [&](const Node& each) {
      const std::string path = yaml::text_of(each);
      const auto text = texts_.find(path);
      if (text == texts_.end()) wrong(each, quote(path) + " was not sent along with the workflow");
      refuse_round(each, path);
      if (included_.insert(path).second) read(text->second, path, depth + 1);
    };
    if (!node.is_sequence()) return one(node);
    for (const Node each : node) one(each);
  }

  void refuse_round(const Node& node, const std::string& path) const {
    const auto first = std::find(way_.begin(), way_.end(), path);
    if (first == way_.end()) return;
    std::string names = path;
    for (auto each = first + 1; each != way_.end(); ++each) names += " includes " + *each;
    wrong(node, "these files include each other: " + names + " includes " + path);
  }

  void read_params(const Node& node) {
    each_entry(node, [&](const std::string& key, const Node& at, const Node& value) {
      if (auto ok = check_word(key, "parameter"); !ok) wrong(at, ok.error().message);
      ParamSpec spec;
      if (value.is_map()) {
        read_fields(spec, value);
      } else if (!value.is_null()) {
        spec.fallback = yaml::text_of(value);
        spec.type = std::string(type_of(*spec.fallback));
      }
      if (spec.fallback) {
        if (auto ok = check_param(key, spec, *spec.fallback); !ok) wrong(at, ok.error().message);
      }
      if (!params_.insert(key).second) wrong(at, "there is a parameter " + quote(key) + " already");
      file_.params.push_back({key, std::move(spec), at.mark()});
    });
  }

  // Every reference of the texts in there stands for something; what is known later is noted, as
  // `like` says.
  void check_references(const Node& node, const Mention& like, std::vector<Mention>& later) {
    if (node.is_map()) check_operand(node, like, later);
    for (const Node each : node) check_references(each, like, later);
    if (!node.is_scalar()) return;
    for (const Reference& reference : references_in(node.text()))
      check_reference(node, reference, like, later);
  }
  void check_reference(const Node& node, const Reference& reference, const Mention& like,
                       std::vector<Mention>& later) {
    if (reference.root == "params") {
      if (!params_.count(reference.path)) refuse_param(node, reference);
      return;
    }
    Mention mention = like;
    mention.reference = reference;
    mention.mark = node.mark_at(reference.at);
    later.push_back(std::move(mention));
  }
  void check_operand(const Node& node, const Mention& like, std::vector<Mention>& later) {
    const bool items = like.key == "for_each";
    if (!items && like.key != "when" && like.key != "check") return;
    each_entry(node, [&](const std::string& word, const Node&, const Node& value) {
      if (!value.is_scalar() || (items && word != "output")) return;
      const auto reference = operand_in(word, std::string(value.text()));
      if (reference) check_reference(value, *reference, like, later);
    });
  }
  // Of a step, or of what steps have in common, field by field.
  void check_fields(const Node& node, Mention like, std::vector<Mention>& later) {
    if (!node.is_map()) return;
    each_entry(node, [&](const std::string& key, const Node&, const Node& value) {
      like.key = key;
      check_references(value, like, later);
    });
  }
  [[noreturn]] void refuse_param(const Node& node, const Reference& reference) const {
    const auto meant = did_you_mean(reference.path, {params_.begin(), params_.end()});
    throw yaml::Wrong{node.mark_at(reference.at),
                      "{params." + reference.path + "} is no parameter of this workflow" +
                          (meant ? "; did you mean {params." + *meant + "}?" : "")};
  }

  void read_env(const Node& node, size_t file) {
    check_references(node, {{}, {}, file, "env", {}}, mentions_);
    StepSpec holder;
    holder.env = file_.env;
    read_field(*find_field(shape_of<StepSpec>(), "env"), &holder, node);
    file_.env = std::move(holder.env);
  }
  void read_defaults(const Node& node, size_t file) {
    check_fields(node, {{}, {}, file, {}, {}}, mentions_);
    read_fields(file_.defaults, node);
    for (const auto& [word, said] : {std::pair("needs", file_.defaults.needs.has_value()),
                                     std::pair("outputs", file_.defaults.outputs.has_value()),
                                     std::pair("for_each", file_.defaults.for_each.has_value())}) {
      if (said) wrong(node, std::string(word) + " belongs to a step, not to all of them");
    }
  }
  void read_templates(const Node& node, size_t file) {
    each_entry(node, [&](const std::string& key, const Node& at, const Node& value) {
      if (auto ok = check_word(key, "template"); !ok) wrong(at, ok.error().message);
      check_fields(value, {{}, {}, file, {}, {}}, of_templates_[key]);
      StepSpec spec;
      if (!value.is_null()) read_fields(spec, value);
      if (spec.needs) wrong(at, "needs belongs to a step, not to a template");
      if (!templates_.emplace(key, std::move(spec)).second)
        wrong(at, "there is a template " + quote(key) + " already");
    });
  }

  void read_steps(const Node& node, size_t file) {
    each_entry(node, [&](const std::string& key, const Node& at, const Node& value) {
      if (auto ok = check_word(key, "step"); !ok) wrong(at, ok.error().message);
      if (file_.steps.size() >= kStepsMax)
        wrong(at, "more than " + std::to_string(kStepsMax) + " steps; for_each makes more");
      WrittenStep step{key, {}, at.mark(), {}, {}, file};
      const auto number = static_cast<uint32_t>(file_.steps.size());
      check_fields(value, {{}, {}, file, {}, number}, mentions_);
      if (!value.is_null()) read_fields(step.spec, value);
      if (step.spec.uses) {
        use_template(step, at);
        mention_template(*step.spec.uses, value, number);
      }
      check_step(step, at);
      if (!places_.emplace(key, number).second)
        wrong(at, "there is a step " + quote(key) + " already");
      file_.steps.push_back(std::move(step));
    });
  }

  void use_template(WrittenStep& step, const Node& at) {
    const auto found = templates_.find(*step.spec.uses);
    if (found == templates_.end()) {
      std::vector<std::string> known;
      for (const auto& [name, spec] : templates_) known.push_back(name);
      const auto meant = did_you_mean(*step.spec.uses, known);
      wrong(at, "step " + quote(step.name) + " uses " + quote(*step.spec.uses) +
                    ", which is no template" + (meant ? "; did you mean " + *meant + "?" : ""));
    }
    StepSpec whole = found->second;
    if (step.spec.run) whole.argv.reset();
    if (step.spec.argv) whole.run.reset();
    overlay(whole, step.spec);
    step.spec = std::move(whole);
  }

  // What the template refers to in fields that the step leaves to it.
  void mention_template(const std::string& name, const Node& step, uint32_t number) {
    std::set<std::string> own;
    each_entry(step, [&](const std::string& key, const Node&, const Node&) { own.insert(key); });
    if (own.count("run")) own.insert("argv");
    if (own.count("argv")) own.insert("run");
    for (Mention mention : of_templates_[name]) {
      if (own.count(mention.key)) continue;
      mention.step = number;
      mentions_.push_back(std::move(mention));
    }
  }

  void check_step(WrittenStep& step, const Node& at) {
    const StepSpec& spec = step.spec;
    const bool runs = spec.run || (file_.defaults.run && !spec.argv);
    const bool calls = spec.argv || (file_.defaults.argv && !spec.run);
    if (!runs && !calls && !spec.simulate && !file_.defaults.simulate)
      wrong(at, "step " + quote(step.name) + " does nothing: give it run or argv");
    if (spec.run && spec.argv)
      wrong(at, "step " + quote(step.name) + " has both run and argv; keep one of them");
    const auto must = [&](const Result<void>& ok) {
      if (!ok) wrong(at, "step " + quote(step.name) + ": " + ok.error().message);
    };
    if (spec.when) must(check_condition(spec.when->text));
    if (spec.for_each) must(check_for_each(spec.for_each->text));
    if (spec.check) {
      const auto checks = checks_of(spec.check->text);
      if (!checks) must(tl::unexpected(checks.error()));
    }
    if (spec.outputs) {
      auto outputs = outputs_of(spec.outputs->text);
      if (!outputs) must(tl::unexpected(outputs.error()));
      step.outputs = std::move(*outputs);
    }
    must(check_fed_step(step));
  }

  // Finds what the step needs by its names.
  void link(uint32_t number) {
    WrittenStep& step = file_.steps[number];
    if (!step.spec.needs) return;
    for (const NeedSpec& need : *step.spec.needs) {
      const auto place = places_.find(*need.step);
      if (place == places_.end()) {
        if (!all_) continue;  // of the workflow that it is added to
        refuse_need(step, *need.step);
      }
      if (std::find(step.needs.begin(), step.needs.end(), place->second) != step.needs.end())
        refuse_step(step, "needs " + quote(*need.step) + " twice; keep one of them");
      step.needs.push_back(place->second);
    }
  }
  [[noreturn]] void refuse_step(const WrittenStep& step, const std::string& what) const {
    refuse_at(files_[step.file], step.mark, "step " + quote(step.name) + " " + what);
  }
  [[noreturn]] void refuse_need(const WrittenStep& step, const std::string& name) const {
    const auto meant = nearest_step(name);
    refuse_step(step, "needs " + quote(name) + ", which is no step" +
                          (meant ? "; did you mean " + *meant + "?" : ""));
  }
  std::optional<std::string> nearest_step(const std::string& name) const {
    std::vector<std::string> known;
    for (const WrittenStep& each : file_.steps) {
      if (known.size() < 1000) known.push_back(each.name);
    }
    return did_you_mean(name, known);
  }

  // A reference to what another step leaves makes it one that is needed.
  void settle(const Mention& mention) {
    const std::string shown = "{" + mention.reference.root +
                              (mention.reference.path.empty() ? "" : ".") + mention.reference.path +
                              "}";
    const auto refuse = [&](const std::string& why) {
      refuse_at(files_[mention.file], mention.mark, shown + " " + why);
    };
    const auto has = [&](const TextMap& env) { return env && env->count(mention.reference.path); };
    if (!mention.step) {
      if (mention.reference.root != "env") refuse("belongs to a step, not to all of them");
      if (!has(file_.env) && !has(file_.defaults.env))
        refuse("is no variable of this workflow's env");
      return;
    }
    WrittenStep& step = file_.steps[*mention.step];
    if (mention.reference.root == "item") {
      if (!step.spec.for_each) refuse("means something only in a step with for_each");
    } else if (mention.reference.root == "env") {
      if (!has(file_.env) && !has(file_.defaults.env) && !has(step.spec.env))
        refuse("is no variable of this workflow's env");
    } else if (mention.reference.root == "outputs") {
      if (!leaves(step, mention.reference.path)) refuse("is no output of this step");
    } else if (mention.reference.root == "steps") {
      const auto found = output_in(mention.reference.path);
      if (!found) refuse("is written {steps.STEP.outputs.NAME}");
      const auto place = places_.find(found->first);
      if (place == places_.end() && !all_) return need_by_name(step, found->first);
      if (place == places_.end()) {
        const auto meant = nearest_step(found->first);
        refuse("names no step" + (meant ? "; did you mean " + *meant + "?" : std::string()));
      }
      if (!leaves(file_.steps[place->second], found->second))
        refuse("names no output of " + found->first);
      if (std::find(step.needs.begin(), step.needs.end(), place->second) != step.needs.end())
        return;
      if (!step.spec.needs) step.spec.needs.emplace();
      step.spec.needs->push_back({found->first, {}, {}});
      step.needs.push_back(place->second);
    }
  }
  // A step of the workflow that this one is added to.
  static void need_by_name(WrittenStep& step, const std::string& name) {
    if (!step.spec.needs) step.spec.needs.emplace();
    for (const NeedSpec& need : *step.spec.needs) {
      if (need.step == name) return;
    }
    step.spec.needs->push_back({name, {}, {}});
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
    refuse_at(files_[file_.steps[at].file], file_.steps[at].mark,
              "these steps wait for each other: " + names);
  }

  const FileTexts& texts_;
  const bool all_;  // a whole workflow; else steps of one that runs already
  std::vector<std::string> files_;
  std::vector<std::string> way_;  // from the first file to the one that is read
  std::set<std::string> included_;
  WorkflowFile file_;
  std::set<std::string> params_;
  std::map<std::string, StepSpec> templates_;
  std::map<std::string, std::vector<Mention>> of_templates_;
  std::unordered_map<std::string, uint32_t> places_;
  std::vector<Mention> mentions_;
};

Result<WorkflowFile> read_all(std::string_view text, const std::string& name,
                              const FileTexts& files, bool all) {
  try {
    WorkflowReader reader(files, all);
    reader.read(text, name, 0);
    return reader.finish();
  } catch (const Failed& failed) {
    return tl::unexpected(failed.error);
  }
}

}  // namespace

Result<WorkflowFile> parse_workflow(std::string_view text, const std::string& file_name,
                                    const FileTexts& files) {
  return read_all(text, file_name, files, true);
}

Result<WorkflowFile> parse_steps(std::string_view text, const std::string& file_name) {
  return read_all(text, file_name, {}, false);
}

}  // namespace atl::spec
