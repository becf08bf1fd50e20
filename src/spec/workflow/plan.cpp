#include "spec/workflow/plan.h"

#include <algorithm>
#include <charconv>

#include "base/text.h"
#include "spec/workflow/template.h"

namespace atl::spec {
namespace {

using Params = std::map<std::string, std::string>;

tl::unexpected<Error> refuse_param(const std::string& name, const std::string& why) {
  return fail(ErrorCode::invalid, "parameter " + name + " " + why, "params." + name);
}

bool is_number(const std::string& text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() && !text.empty();
}

Result<void> check_param(const WrittenParam& param, const std::string& value) {
  const std::string type = param.spec.type.value_or("text");
  const bool right = type == "integer"   ? parse_int(value).has_value()
                     : type == "number"  ? is_number(value)
                     : type == "boolean" ? value == "true" || value == "false"
                                         : true;
  if (!right)
    return refuse_param(param.name, "is " + quote(value) + "; it must be " +
                                        (type == "integer"  ? "a whole number"
                                         : type == "number" ? "a number such as 0.5"
                                                            : "true or false"));
  const auto& choices = param.spec.choices;
  if (!choices || std::find(choices->begin(), choices->end(), value) != choices->end()) return {};
  std::string all;
  for (const std::string& each : *choices) all += (all.empty() ? "" : ", ") + each;
  return refuse_param(param.name, "is " + quote(value) + "; it must be one of " + all);
}

Result<Params> params_of(const WorkflowFile& file, const Params& given) {
  std::vector<std::string> names;
  for (const WrittenParam& param : file.params) names.push_back(param.name);
  for (const auto& [name, value] : given) {
    if (std::find(names.begin(), names.end(), name) != names.end()) continue;
    const auto meant = did_you_mean(name, names);
    return fail(ErrorCode::invalid,
                "the workflow has no parameter " + quote(name) +
                    (meant ? "; did you mean " + *meant + "?" : ""),
                "params." + name);
  }
  Params params;
  for (const WrittenParam& param : file.params) {
    const auto set = given.find(param.name);
    if (set == given.end() && (param.spec.required.value_or(false) || !param.spec.fallback))
      return refuse_param(param.name, "has to be given: --set " + param.name + "=" +
                                          (param.spec.choices ? param.spec.choices->front()
                                                              : std::string("VALUE")));
    const std::string& value = set == given.end() ? *param.spec.fallback : set->second;
    if (auto ok = check_param(param, value); !ok) return tl::unexpected(ok.error());
    params[param.name] = value;
  }
  return params;
}

class Filler {
 public:
  explicit Filler(const Params& params) : params_(params) {}

  void fill(Text& text) const {
    if (text && text->find('{') != std::string::npos) text = filled(*text);
  }
  void fill(Texts& texts) const {
    if (!texts) return;
    for (std::string& each : *texts) each = filled(each);
  }
  void fill(TextMap& map) const {
    if (!map) return;
    for (auto& [key, value] : *map) value = filled(value);
  }

 private:
  std::string filled(const std::string& text) const {
    return expand(text, [&](const Reference& each) -> std::optional<std::string> {
      const auto known = params_.find(each.path);
      if (each.root != "params" || known == params_.end()) return std::nullopt;
      return known->second;
    });
  }
  const Params& params_;
};

// A script that names no interpreter is the shell's.
std::string with_interpreter(const std::string& script) {
  return script.starts_with("#!") ? script : "#!/bin/sh\nset -e\n" + script;
}

JobSpec job_of(const WorkflowFile& file, const WrittenStep& step) {
  StepSpec spec = file.defaults;
  if (step.spec.run) spec.argv.reset();
  if (step.spec.argv) spec.run.reset();
  overlay(spec, step.spec);
  JobSpec job;
  job.name = step.name;
  if (spec.run) job.script = with_interpreter(*spec.run);
  job.command = spec.argv;
  job.env = file.env;
  if (spec.env) {
    if (!job.env) job.env.emplace();
    for (const auto& [key, value] : *spec.env) (*job.env)[key] = value;
  }
  job.site = spec.site;
  if (spec.resources) {
    job.cpus = spec.resources->cpus;
    job.memory = spec.resources->memory;
    job.gpus = spec.resources->gpus;
    job.devices = spec.resources->devices;
  }
  job.tier = spec.tier;
  job.retries = spec.retries;
  job.time = spec.timeout;
  job.grace = spec.grace;
  job.directory = spec.directory;
  job.priority = spec.priority;
  job.labels = spec.labels;
  job.simulate = spec.simulate;
  return job;
}

}  // namespace

Result<WorkflowPlan> plan_workflow(const WorkflowFile& file, const Params& given) {
  auto params = params_of(file, given);
  if (!params) return tl::unexpected(params.error());
  WorkflowPlan plan{file.name, std::move(*params), {}};
  const Filler filler(plan.params);
  plan.steps.reserve(file.steps.size());
  for (const WrittenStep& step : file.steps) {
    PlannedStep& planned = plan.steps.emplace_back(PlannedStep{step.name, job_of(file, step), {}});
    filler.fill(planned.job.script);
    filler.fill(planned.job.command);
    filler.fill(planned.job.env);
    filler.fill(planned.job.directory);
    filler.fill(planned.job.labels);
    for (size_t i = 0; i < step.needs.size(); ++i) {
      const NeedSpec& need = (*step.spec.needs)[i];
      planned.needs.push_back(
          {step.needs[i], need.can_fail.value_or(false), need.can_skip.value_or(false)});
    }
  }
  return plan;
}

}  // namespace atl::spec
