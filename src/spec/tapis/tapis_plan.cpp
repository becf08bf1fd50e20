#include "spec/tapis/tapis_plan.h"

#include <algorithm>
#include <array>

#include "spec/tapis/values.h"
#include "spec/workflow/plain_json.h"

namespace atl::spec::tapis {
namespace {

constexpr int64_t kTaskSeconds = 3600;
constexpr Duration kBackoff = seconds(1);
constexpr Duration kBackoffMax = minutes(5);
constexpr int64_t kMebi = 1 << 20;

struct Flavor {
  std::string_view name;
  int64_t cpus;
  int64_t memory_mebi;
  int64_t gpus;
};
constexpr std::array kFlavors{
    Flavor{"c1tiny", 1, 512, 0},    Flavor{"c1xxsml", 1, 1024, 0},   Flavor{"c1xsml", 1, 2048, 0},
    Flavor{"c1sml", 1, 4096, 0},    Flavor{"c1med", 2, 8192, 0},     Flavor{"c1lrg", 4, 16384, 0},
    Flavor{"c1xlrg", 8, 32768, 0},  Flavor{"c1xxlrg", 16, 65536, 0}, Flavor{"g1nvdsml", 1, 4096, 1},
    Flavor{"g1nvdmed", 1, 8192, 2}, Flavor{"g1nvdlrg", 1, 6144, 4}};

void set_resources(const Task& task, JobSpec& job) {
  const auto flavor = std::ranges::find(kFlavors, task.profile.flavor, &Flavor::name);
  if (flavor != kFlavors.end()) {
    job.cpus = Cpus{flavor->cpus * 1000};
    job.memory = Bytes{flavor->memory_mebi * kMebi};
    if (flavor->gpus > 0) job.gpus = std::to_string(flavor->gpus);
  }
  if (task.type != "tapis_job") return;
  job.cpus = Cpus{task.job.cores * 1000};
  job.memory = Bytes{task.job.memory_mb * kMebi};
  if (task.job.nodes > 1) job.gang = task.job.nodes;
  if (!task.job.site.empty()) job.site = task.job.site;
}

void set_limits(const Pipeline& pipeline, const Task& task, JobSpec& job) {
  const int64_t usual = task.type == "tapis_job" ? task.job.minutes * 60 : kTaskSeconds;
  job.time = seconds(task.profile.max_exec_time.value_or(usual));
  const auto retries =
      task.profile.max_retries ? task.profile.max_retries : pipeline.profile.max_retries;
  if (retries.value_or(0) == 0) return;
  job.retries = RetriesSpec{.max = *retries,
                            .backoff = kBackoff,
                            .backoff_max = kBackoffMax,
                            .exit_codes = {},
                            .on_timeout = {}};
}

std::string schema_of(const Task& task) {
  json::object all;
  for (const auto& [key, input] : task.input)
    all[key] = {{"type", to_string(input.type)}, {"required", input.required}};
  return json::serialize(all);
}

class TapisPlanner {
 public:
  TapisPlanner(const Pipeline& pipeline, const RunOptions& options)
      : pipeline_(pipeline), options_(options) {}

  WorkflowPlan plan() {
    settle_args();
    WorkflowPlan made;
    made.name = pipeline_.id;
    made.fail_fast = true;
    for (const auto& [key, value] : args_) {
      if (value.kind == Source::Kind::literal) made.params[key] = text_of_json(value.json);
    }
    for (uint32_t i = 0; i < pipeline_.order.size(); ++i)
      numbers_[pipeline_.tasks[pipeline_.order[i]].id] = i;
    for (const uint32_t at : pipeline_.order) {
      made.steps.push_back(step_of(pipeline_.tasks[at], "tasks[" + std::to_string(at) + "]"));
    }
    return made;
  }

 private:
  // The values of arguments, those that the engine adds among them.
  void settle_args() {
    for (const auto& [key, param] : pipeline_.params) {
      if (param.source.kind != Source::Kind::none) args_[key] = param.source;
    }
    for (const auto& [key, arg] : options_.args) {
      const auto param = pipeline_.params.find(key);
      if (param != pipeline_.params.end() && arg.source.kind == Source::Kind::literal)
        check_type(At(json::parse(arg.source.json), "args." + key + ".value"), param->second.type);
      if (arg.source.kind != Source::Kind::none) args_[key] = arg.source;
    }
    add_arg("tapis_tenant_id", options_.tenant);
    add_arg("tapis_pipeline_owner", options_.owner);
    add_arg("tapis_workflows_group_id", options_.group);
    std::string missing;
    for (const auto& [key, param] : pipeline_.params) {
      if (param.required && !args_.contains(key))
        missing += (missing.empty() ? "'" : ", '") + key + "'";
    }
    if (!missing.empty())
      missing_ =
          "Workflow submission validation error: Missing values for the following arguments - [" +
          missing + "]";
  }
  void add_arg(const char* name, const std::string& value) {
    Source source;
    source.kind = Source::Kind::literal;
    source.json = json::serialize(json::value(value));
    args_[name] = source;
  }

  // What a source comes to before any task has run.
  Source known(const Source& source) const {
    if (source.kind == Source::Kind::env) {
      const auto found = pipeline_.env.find(source.name);
      return found == pipeline_.env.end() ? Source{} : found->second.source;
    }
    if (source.kind != Source::Kind::args) return source;
    const auto found = args_.find(source.name);
    return found == args_.end() ? Source{} : found->second;
  }

  PlannedStep step_of(const Task& task, const std::string& path) {
    PlannedStep step;
    step.name = task.id;
    step.prepared = true;
    step.recipe = std::make_unique<Recipe>();
    Recipe& recipe = *step.recipe;
    recipe.typed = true;
    if (!missing_.empty()) recipe.refuse = missing_;
    step.job.name = task.id;
    step.job.script = task_script(task);
    step.job.env = task.job.env;
    (*step.job.env)["_OWE_TASK_ID"] = task.id;
    (*step.job.env)["_OWE_PIPELINE_ID"] = pipeline_.id;
    (*step.job.env)["_OWE_INPUT_SCHEMA"] = schema_of(task);
    set_resources(task, step.job);
    set_limits(pipeline_, task, step.job);
    for (const auto& [key, input] : task.input) bind(key, input, step);
    for (const auto& [key, type] : task.output) {
      if (!recipe.outputs) recipe.outputs.emplace();
      recipe.outputs->push_back({key, {}, to_string(type), true});
    }
    if (!task.conditions.empty())
      recipe.when = Json{plain_json(settled(json::parse(task.conditions), path))};
    for (const Dependency& each : task.depends_on)
      step.needs.push_back({numbers_.at(each.id), each.can_fail, each.can_skip});
    return step;
  }

  void bind(const std::string& key, const Variable& input, PlannedStep& step) {
    const Source source = known(input.source);
    Recipe& recipe = *step.recipe;
    switch (source.kind) {
      case Source::Kind::literal:
        (*step.job.env)[input_variable(key)] = text_of_json(source.json);
        return;
      case Source::Kind::secret:
        if (!step.job.secrets) step.job.secrets.emplace();
        (*step.job.secrets)[input_variable(key)] = source.name;
        return;
      case Source::Kind::task_output:
        if (!recipe.bind) recipe.bind.emplace();
        recipe.bind->push_back({input_variable(key), source.task, source.output, input.required});
        if (!recipe.steps) recipe.steps.emplace();
        (*recipe.steps)[source.task] = numbers_.at(source.task);
        return;
      default:
        if (input.required && !recipe.refuse)
          recipe.refuse = "input " + key + " of task " + step.name + " has no value";
    }
  }

  // Conditions with the values of arguments and variables; what is not there is null.
  json::value settled(const json::value& condition, const std::string& path) {
    if (condition.is_array()) {
      json::array list;
      for (const json::value& each : condition.as_array()) list.push_back(settled(each, path));
      return list;
    }
    if (!condition.is_object()) return condition;
    const json::object& object = condition.as_object();
    const bool named = object.size() == 1 && object.begin()->value().is_string();
    if (named && (object.contains("args") || object.contains("env"))) {
      Source source;
      source.kind = object.contains("args") ? Source::Kind::args : Source::Kind::env;
      source.name = std::string(object.begin()->value().as_string());
      const Source value = known(source);
      if (value.kind == Source::Kind::secret)
        wrong(path + ".conditions",
              "a condition cannot look at a secret, and " + quote(source.name) + " is one");
      return value.kind == Source::Kind::literal ? json::parse(value.json) : json::value(nullptr);
    }
    json::object made;
    for (const auto& entry : object) made[entry.key()] = settled(entry.value(), path);
    return made;
  }

  const Pipeline& pipeline_;
  const RunOptions& options_;
  std::map<std::string, Source> args_;
  std::map<std::string, uint32_t> numbers_;
  std::string missing_;
};

}  // namespace

std::string input_variable(const std::string& key) { return "ATOLL_TASK_INPUT_" + key; }

Result<WorkflowPlan> plan_pipeline(const Pipeline& pipeline, const RunOptions& options) {
  try {
    return TapisPlanner(pipeline, options).plan();
  } catch (const Error& error) {
    return tl::unexpected(error);
  }
}

}  // namespace atl::spec::tapis
