#include "spec/workflow/plan.h"

#include <algorithm>
#include <set>
#include <unordered_map>

#include "base/template.h"
#include "base/text.h"
#include "spec/workflow/condition.h"
#include "spec/workflow/params.h"
#include "spec/workflow/queue_items.h"

namespace atl::spec {
namespace {

// Puts in what is known now; what others leave is put in when it is there.
class Filler {
 public:
  Filler(const Params& params, const TextMap& env) : params_(params), env_(env) {}

  void fill(Text& text) const {
    if (text) text = filled(*text);
  }
  void fill(Texts& texts) const {
    if (!texts) return;
    for (std::string& each : *texts) each = filled(each);
  }
  void fill(TextMap& map) const {
    if (!map) return;
    for (auto& [key, value] : *map) value = filled(value);
  }
  std::string filled(const std::string& text) const {
    if (text.find('{') == std::string::npos) return text;
    return expand(text, [&](const Reference& each) { return known_value(each, params_, env_); });
  }

 private:
  const Params& params_;
  const TextMap& env_;
};

// A script that names no interpreter is the shell's.
std::string with_interpreter(const std::string& script) {
  return script.starts_with("#!") ? script : "#!/bin/sh\nset -e\n" + script;
}

StepSpec whole_of(const WorkflowFile& file, const WrittenStep& step) {
  StepSpec spec = file.defaults;
  if (step.spec.run) spec.argv.reset();
  if (step.spec.argv) spec.run.reset();
  overlay(spec, step.spec);
  return spec;
}

void set_env(const WorkflowFile& file, const StepSpec& spec, const std::string& name,
             JobSpec& job) {
  std::map<std::string, std::string> env = file.env.value_or(std::map<std::string, std::string>{});
  for (const auto& [key, value] : spec.env.value_or(std::map<std::string, std::string>{}))
    env[key] = value;
  for (const auto& [key, value] : spec.inputs.value_or(std::map<std::string, std::string>{}))
    env.emplace("ATOLL_INPUT_" + variable_part(key), value);
  for (const auto& [key, path] : spec.volumes.value_or(std::map<std::string, std::string>{})) {
    env.emplace("ATOLL_VOLUME_" + variable_part(key), path);
    if (!job.writable) job.writable.emplace();
    job.writable->push_back(path);
  }
  env.emplace("ATOLL_STEP", name);
  job.env = std::move(env);
}

JobSpec job_of(const WorkflowFile& file, const StepSpec& spec, const std::string& name) {
  JobSpec job;
  job.name = name;
  if (spec.run) job.script = with_interpreter(*spec.run);
  job.command = spec.argv;
  set_env(file, spec, name, job);
  job.secrets = spec.secrets;
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

bool refers_to_steps(std::string_view text) {
  if (text.find("{steps.") == std::string_view::npos) return false;
  for (const Reference& each : references_in(text)) {
    if (each.root == "steps") return true;
  }
  return false;
}

bool refers_to_steps(const std::vector<std::string>& texts) {
  return std::any_of(texts.begin(), texts.end(),
                     [](const std::string& each) { return refers_to_steps(each); });
}

bool refers_to_steps(const JobSpec& job) {
  const auto in_texts = [](const Texts& texts) { return texts && refers_to_steps(*texts); };
  const auto in_map = [](const TextMap& map) {
    return map && std::any_of(map->begin(), map->end(),
                              [](const auto& each) { return refers_to_steps(each.second); });
  };
  return refers_to_steps(job.script.value_or("")) || in_texts(job.command) || in_map(job.env) ||
         refers_to_steps(job.directory.value_or("")) || in_texts(job.writable);
}

bool names_steps(const std::optional<Json>& json) {
  if (!json) return false;
  const auto references = references_of(json->text);
  return json->text.find("\"output\"") != std::string::npos ||
         std::any_of(references.begin(), references.end(),
                     [](const Reference& each) { return each.root == "steps"; });
}

class Planner {
 public:
  Planner(const WorkflowFile& file, const PlanOptions& options, WorkflowPlan& plan)
      : file_(file), options_(options), plan_(plan) {}

  Result<void> run() {
    if (auto ok = choose(); !ok) return ok;
    for (const uint32_t number : in_order(file_)) {
      if (!wanted_.empty() && !wanted_[number]) continue;
      if (options_.check && !whole_of(file_, file_.steps[number]).check) continue;
      places_[number] = static_cast<uint32_t>(plan_.steps.size());
      if (auto ok = add(file_.steps[number]); !ok) return ok;
    }
    if (plan_.steps.empty())
      return fail(ErrorCode::invalid, "no step of the workflow has a check", "check");
    return {};
  }

 private:
  // Which steps are in the plan, and which of them are taken over from the run before.
  Result<void> choose() {
    const std::string& name = options_.only.empty() ? options_.from : options_.only;
    if (name.empty()) return {};
    const char* field = options_.only.empty() ? "from" : "only";
    const auto found = std::find_if(file_.steps.begin(), file_.steps.end(),
                                    [&](const WrittenStep& each) { return each.name == name; });
    if (found == file_.steps.end())
      return fail(ErrorCode::not_found, "the workflow has no step " + quote(name), field);
    std::vector<bool> again(file_.steps.size());
    again[static_cast<size_t>(found - file_.steps.begin())] = true;
    if (options_.only.empty()) add_followers(again);
    wanted_ = again;
    kept_.assign(file_.steps.size(), false);
    for (size_t i = 0; i < file_.steps.size(); ++i) {
      for (const uint32_t need : again[i] ? file_.steps[i].needs : std::vector<uint32_t>{}) {
        if (again[need]) continue;
        if (!options_.earlier.contains(file_.steps[need].name))
          return fail(
              ErrorCode::conflict,
              "step " + file_.steps[i].name + " needs " + file_.steps[need].name +
                  ", which has not succeeded in an earlier run: run the whole workflow first",
              field);
        wanted_[need] = kept_[need] = true;
      }
    }
    return {};
  }
  void add_followers(std::vector<bool>& again) const {
    for (const uint32_t step : in_order(file_)) {
      const auto& needs = file_.steps[step].needs;
      if (std::any_of(needs.begin(), needs.end(), [&](uint32_t need) { return again[need]; }))
        again[step] = true;
    }
  }

  Result<void> add(const WrittenStep& written) {
    PlannedStep& planned = plan_.steps.emplace_back();
    planned.name = written.name;
    const auto number = static_cast<size_t>(&written - file_.steps.data());
    if (!kept_.empty() && kept_[number]) return keep(written, planned);
    if (!options_.check) add_needs(written, planned);
    const StepSpec spec = whole_of(file_, written);
    planned.job = job_of(file_, spec, written.name);
    if (!planned.job.directory && !options_.directory.empty())
      planned.job.directory = options_.directory;
    const TextMap written_env = planned.job.env;
    Filler(plan_.params, written_env).fill(planned.job.env);
    const TextMap env = planned.job.env;
    const Filler filler(plan_.params, env);
    for (Text* text : {&planned.job.script, &planned.job.directory, &planned.job.site})
      filler.fill(*text);
    filler.fill(planned.job.command);
    filler.fill(planned.job.writable);
    filler.fill(planned.job.labels);
    if (auto ok = set_recipe(written, spec, filler, planned); !ok) return ok;
    if (options_.check) return set_check(written, planned);
    return set_items(spec, env, planned);
  }

  // Only its check runs, on what its last success has left.
  Result<void> set_check(const WrittenStep& written, PlannedStep& planned) const {
    const auto last = options_.earlier.find(written.name);
    if (last == options_.earlier.end())
      return fail(ErrorCode::conflict,
                  "step " + written.name + " has not succeeded yet: run the workflow first",
                  "check");
    planned.prepared = true;
    planned.recipe->when.reset();
    planned.recipe->cache.reset();
    planned.recipe->reuse = ReuseSpec{static_cast<int64_t>(last->second.workflow.value),
                                      static_cast<int64_t>(last->second.step)};
    planned.recipe->recheck = true;
    return {};
  }

  Result<void> keep(const WrittenStep& written, PlannedStep& planned) {
    planned.job.name = written.name;
    planned.job.command = std::vector<std::string>{"true"};
    planned.prepared = true;
    planned.recipe = std::make_unique<Recipe>();
    const core::StepRef from = options_.earlier.at(written.name);
    planned.recipe->reuse =
        ReuseSpec{static_cast<int64_t>(from.workflow.value), static_cast<int64_t>(from.step)};
    return {};
  }

  void add_needs(const WrittenStep& written, PlannedStep& planned) const {
    size_t known = 0;
    for (const NeedSpec& need : written.spec.needs.value_or(std::vector<NeedSpec>{})) {
      const bool can_fail = need.can_fail.value_or(false), can_skip = need.can_skip.value_or(false);
      const bool here =
          known < written.needs.size() && file_.steps[written.needs[known]].name == *need.step;
      if (!here) {
        planned.needs_by_name.emplace_back(*need.step, core::Need{0, can_fail, can_skip});
        continue;
      }
      const auto place = places_.find(written.needs[known++]);
      if (place != places_.end()) planned.needs.push_back({place->second, can_fail, can_skip});
    }
  }

  Result<void> set_recipe(const WrittenStep& written, const StepSpec& spec, const Filler& filler,
                          PlannedStep& planned) const {
    const auto feed = feed_of(spec.for_each);
    const bool cached = spec.cache.value_or(false) && !(feed && *feed);  // of `defaults`
    Checks checks;
    if (spec.check) {
      auto read = checks_of(spec.check->text);
      if (!read) return tl::unexpected(read.error());
      checks = std::move(*read);
      for (std::string& each : checks.commands) each = filler.filled(each);
    }
    planned.prepared = spec.when || cached || refers_to_steps(planned.job) ||
                       refers_to_steps(checks.commands) || names_steps(spec.for_each);
    if (!planned.prepared && !spec.check && written.outputs.empty()) return {};
    planned.recipe = std::make_unique<Recipe>();
    Recipe& recipe = *planned.recipe;
    recipe.params = plan_.params;
    recipe.when = spec.when;
    recipe.inputs = spec.inputs;
    filler.fill(recipe.inputs);
    if (!written.outputs.empty()) recipe.outputs = written.outputs;
    if (recipe.outputs) {
      for (OutputSpec& output : *recipe.outputs) filler.fill(output.file);
      if (auto ok = check_outputs(*recipe.outputs); !ok)
        return fail(ok.error().code, "step " + quote(planned.name) + ": " + ok.error().message,
                    "steps." + planned.name + ".outputs");
    }
    if (cached) recipe.cache = true;
    if (!checks.commands.empty()) recipe.check = std::move(checks.commands);
    if (!checks.conditions.empty()) recipe.asserts = Json{checks.conditions};
    recipe.steps.emplace();
    for (const PlannedNeed& need : planned.needs)
      (*recipe.steps)[plan_.steps[need.step].name] = need.step;
    if (!planned.prepared && !options_.check) wrap(recipe, planned.job);  // else when all is known
    return {};
  }

  Result<void> set_items(const StepSpec& spec, const TextMap& env, PlannedStep& planned) const {
    if (spec.parallel) planned.parallel = static_cast<uint32_t>(*spec.parallel);
    if (!spec.for_each) return {};
    const auto feed = feed_of(spec.for_each);
    if (!feed) return tl::unexpected(feed.error());
    if (*feed) {
      planned.feed = **feed;
      planned.feed.queue = Filler(plan_.params, env).filled(planned.feed.queue);
      return {};
    }
    if (planned.prepared) {
      planned.recipe->for_each = spec.for_each;
      for (const std::string& path : files_of(spec.for_each->text)) {
        if (!planned.recipe->files) planned.recipe->files.emplace();
        const auto text = options_.files.find(path);
        if (text != options_.files.end()) (*planned.recipe->files)[path] = text->second;
      }
      return {};
    }
    const auto lookup = [&](const Reference& reference) -> Result<std::string> {
      const auto value = known_value(reference, plan_.params, env);
      if (value) return *value;
      return fail(ErrorCode::invalid,
                  "{" + reference.root + "." + reference.path + "} is not known");
    };
    const auto file = [&](const std::string& path) -> Result<std::string> {
      const auto text = options_.files.find(path);
      if (text != options_.files.end()) return text->second;
      return fail(ErrorCode::invalid, quote(path) + " was not sent along with the workflow");
    };
    auto items = items_of(spec.for_each->text, lookup, file);
    if (!items)
      return fail(items.error().code, "step " + quote(planned.name) + ": " + items.error().message,
                  "steps." + planned.name + ".for_each");
    if (items->count() == 0)
      return fail(ErrorCode::invalid, "step " + quote(planned.name) + " has nothing to go through",
                  "steps." + planned.name + ".for_each");
    planned.items = std::move(*items);
    return {};
  }

  const WorkflowFile& file_;
  const PlanOptions& options_;
  WorkflowPlan& plan_;
  std::vector<bool> wanted_;  // empty: all
  std::vector<bool> kept_;
  std::unordered_map<uint32_t, uint32_t> places_;  // in the plan, of those of the file
};

}  // namespace

std::optional<std::string> known_value(const Reference& reference, const Params& params,
                                       const TextMap& env) {
  const Params* from = reference.root == "params" ? &params
                       : reference.root == "env"  ? (env ? &*env : nullptr)
                                                  : nullptr;
  if (!from) return std::nullopt;
  const auto known = from->find(reference.path);
  return known == from->end() ? std::nullopt : std::optional(known->second);
}

Result<WorkflowPlan> plan_workflow(const WorkflowFile& file, const PlanOptions& options) {
  auto params = params_of(file, options.params);
  if (!params) return tl::unexpected(params.error());
  WorkflowPlan plan;
  plan.name = file.name;
  plan.params = std::move(*params);
  plan.fail_fast = file.fail_fast;
  plan.parallel_max = static_cast<uint32_t>(file.parallel.value_or(0));
  plan.steps.reserve(file.steps.size());
  if (auto ok = Planner(file, options, plan).run(); !ok) return tl::unexpected(ok.error());
  return plan;
}

}  // namespace atl::spec
