#include "spec/tapis/pipeline.h"

#include <algorithm>
#include <set>

#include "base/template.h"
#include "spec/fields_json.h"
#include "spec/tapis/tasks.h"
#include "spec/tapis/values.h"
#include "spec/timing/timing.h"
#include "spec/workflow/condition.h"
#include "spec/workflow/plain_json.h"

namespace atl::spec::tapis {
namespace {

constexpr size_t kTasksMax = 10'000;
constexpr size_t kIdMax = 63;

std::vector<std::string> ids_of(const Pipeline& pipeline) {
  std::vector<std::string> ids;
  for (const Task& task : pipeline.tasks) ids.push_back(task.id);
  return ids;
}

// What depends on what, once all tasks are known.
class Graph {
 public:
  explicit Graph(Pipeline& pipeline) : pipeline_(pipeline) {
    for (uint32_t i = 0; i < pipeline.tasks.size(); ++i) {
      const std::string& id = pipeline.tasks[i].id;
      if (!numbers_.emplace(id, i).second)
        wrong("tasks[" + std::to_string(i) + "].id", "there are two tasks " + quote(id));
    }
  }

  void link() {
    for (uint32_t i = 0; i < pipeline_.tasks.size(); ++i) {
      size_t at = 0;
      for (const Dependency& each : pipeline_.tasks[i].depends_on) {
        const std::string path =
            "tasks[" + std::to_string(i) + "].depends_on[" + std::to_string(at++) + "].id";
        if (!numbers_.contains(each.id)) {
          const auto meant = did_you_mean(each.id, ids_of(pipeline_));
          wrong(path, "there is no task " + quote(each.id) +
                          (meant ? "; did you mean " + *meant + "?" : ""));
        }
      }
    }
    states_.assign(pipeline_.tasks.size(), State::unseen);
    for (uint32_t i = 0; i < pipeline_.tasks.size(); ++i) visit(i);
  }

  void check_references() {
    for (uint32_t i = 0; i < pipeline_.tasks.size(); ++i) {
      const Task& task = pipeline_.tasks[i];
      const std::string path = "tasks[" + std::to_string(i) + "]";
      for (const auto& [key, input] : task.input)
        check_source(i, input.source, path + ".input." + key + ".value_from");
      for (const Reference& each : references_of(task.conditions))
        check_source(i, source_of(each), path + ".conditions", true);
    }
  }

 private:
  enum class State : uint8_t { unseen, open, done };
  struct Frame {
    uint32_t task;
    size_t next = 0;
  };

  // Depth first, without recursion: a chain may be as long as there are tasks.
  void visit(uint32_t first) {
    if (states_[first] != State::unseen) return;
    std::vector<Frame> path{{first}};
    states_[first] = State::open;
    while (!path.empty()) {
      Frame& top = path.back();
      const Task& task = pipeline_.tasks[top.task];
      if (top.next == task.depends_on.size()) {
        states_[top.task] = State::done;
        pipeline_.order.push_back(top.task);
        path.pop_back();
        continue;
      }
      const uint32_t other = numbers_.at(task.depends_on[top.next++].id);
      if (states_[other] == State::open) refuse_cycle(path, other);
      if (states_[other] == State::unseen) {
        states_[other] = State::open;
        path.push_back({other});
      }
    }
  }

  [[noreturn]] void refuse_cycle(const std::vector<Frame>& path, uint32_t closing) const {
    std::string names;
    bool within = false;
    for (const Frame& each : path) {
      within = within || each.task == closing;
      if (within) names += pipeline_.tasks[each.task].id + " -> ";
    }
    wrong("tasks[" + std::to_string(closing) + "].depends_on",
          "tasks depend on each other in a circle: " + names + pipeline_.tasks[closing].id);
  }

  static Source source_of(const Reference& reference) {
    Source source;
    source.name = reference.path;
    source.kind = reference.root == "env" ? Source::Kind::env : Source::Kind::args;
    if (reference.root != "steps") return source;
    const size_t dot = reference.path.find(".outputs.");
    source.kind = Source::Kind::task_output;
    source.task = reference.path.substr(0, dot);
    source.output = reference.path.substr(dot + 9);
    return source;
  }

  bool depends(uint32_t task, uint32_t on) const {
    std::set<uint32_t> seen{task};
    std::vector<uint32_t> todo{task};
    while (!todo.empty()) {
      const uint32_t at = todo.back();
      todo.pop_back();
      if (at == on) return true;
      for (const Dependency& each : pipeline_.tasks[at].depends_on) {
        const uint32_t next = numbers_.at(each.id);
        if (seen.insert(next).second) todo.push_back(next);
      }
    }
    return false;
  }

  void check_source(uint32_t task, const Source& source, const std::string& path,
                    bool compared = false) const {
    if (source.kind == Source::Kind::env) {
      const auto found = pipeline_.env.find(source.name);
      if (found == pipeline_.env.end() && !compared)
        wrong(path + ".env", "the pipeline's env has no " + quote(source.name));
      if (compared && found != pipeline_.env.end() &&
          found->second.source.kind == Source::Kind::secret)
        wrong(path, "a condition cannot look at a secret, and env." + source.name + " is one");
    }
    if (source.kind != Source::Kind::task_output) return;
    const auto other = numbers_.find(source.task);
    if (other == numbers_.end() || other->second == task || !depends(task, other->second))
      wrong(path + ".task_output", "task " + quote(pipeline_.tasks[task].id) +
                                       " does not depend on a task " + quote(source.task));
    if (!pipeline_.tasks[other->second].output.contains(source.output))
      wrong(path + ".task_output",
            "task " + quote(source.task) + " declares no output " + quote(source.output));
  }

  Pipeline& pipeline_;
  std::map<std::string, uint32_t> numbers_;
  std::vector<State> states_;
};

std::string read_cron(const At& at) {
  std::string text = at.text();
  if (const auto timing = parse_cron(text, "UTC"); !timing) at.wrong(timing.error().message);
  return text;
}

void read_top(const At& at, Pipeline& pipeline) {
  at.check_keys({"id", "type", "uses", "tasks", "execution_profile", "cron", "archive_ids", "env",
                 "params", "enabled", "description", "uuid", "owner", "group", "current_run",
                 "last_run"});
  pipeline.id = at.need("id").text();
  if (auto ok = check_id(pipeline.id, "id"); !ok) throw ok.error();
  if (const auto type = at.find("type")) {
    if (type->choice({"workflow", "ci", "etl"}) != "workflow")
      type->wrong("only pipelines of type workflow are offered");
  }
  if (const auto uses = at.find("uses"))
    uses->wrong("whole pipelines from templates are not offered; use tasks of another pipeline");
  if (const auto archives = at.find("archive_ids")) {
    archives->each_item(
        [](const At& item) { item.wrong("archives are not offered; leave archive_ids out"); });
  }
  pipeline.description = at.text_or("description");
  pipeline.enabled = at.flag_or("enabled", true);
  if (const auto cron = at.find("cron")) pipeline.cron = read_cron(*cron);
  pipeline.profile.duplicates = "terminate";
  if (const auto profile = at.find("execution_profile"))
    pipeline.profile = read_profile(*profile, true);
  if (const auto env = at.find("env"))
    pipeline.env = read_variables(*env, Sources::literal_or_secret);
  if (const auto params = at.find("params"))
    pipeline.params = read_variables(*params, Sources::literal_or_secret);
}

void read_tasks(const At& at, const Templates& templates, Pipeline& pipeline) {
  const auto tasks = at.find("tasks");
  if (!tasks) return;
  tasks->each_item([&](const At& item) {
    if (pipeline.tasks.size() == kTasksMax) tasks->wrong("has more than 10000 tasks");
    std::ignore = item.object();
    const json::value whole = with_template(item, templates);
    pipeline.tasks.push_back(read_task(At(whole, item.path())));
  });
}

}  // namespace

Result<void> check_id(std::string_view id, const std::string& path) {
  const auto alnum = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  };
  bool fine = !id.empty() && id.size() <= kIdMax && alnum(id.front());
  for (const char c : id) fine = fine && (alnum(c) || c == '-' || c == '_');
  if (fine) return {};
  return fail(ErrorCode::invalid,
              path + ": " + quote(id) +
                  " is no id: it takes letters, digits, - and _, at most 63 of them, and begins "
                  "with a letter or digit",
              path);
}

std::string text_of_json(const std::string& text) {
  boost::system::error_code error;
  const json::value value = json::parse(text, error);
  return error ? text : plain_text(value);
}

Result<std::vector<std::string>> templates_of(std::string_view text) {
  auto tree = parse_tree(text);
  if (!tree) return tl::unexpected(tree.error());
  std::set<std::string> names;
  const json::value* tasks = tree->is_object() ? tree->as_object().if_contains("tasks") : nullptr;
  if (!tasks || !tasks->is_array()) return std::vector<std::string>{};
  for (const json::value& each : tasks->as_array()) {
    boost::system::error_code missing;
    const json::value* name = each.find_pointer("/uses/name", missing);
    if (!name || !name->is_string()) continue;
    const std::string_view whole = name->as_string();
    names.emplace(whole.substr(0, whole.find('/')));
  }
  return std::vector<std::string>(names.begin(), names.end());
}

Result<Pipeline> read_pipeline(std::string_view text, const Templates& templates) {
  auto tree = parse_tree(text);
  if (!tree) return tl::unexpected(tree.error());
  try {
    const At at(*tree, "");
    Pipeline pipeline;
    read_top(at, pipeline);
    read_tasks(at, templates, pipeline);
    Graph graph(pipeline);
    graph.link();
    graph.check_references();
    return pipeline;
  } catch (const Error& error) {
    return tl::unexpected(error);
  }
}

Result<Variables> read_args(std::string_view text) {
  auto tree = parse_tree(text);
  if (!tree) return tl::unexpected(tree.error());
  try {
    return read_variables(At(*tree, "args"), Sources::literal_or_secret);
  } catch (const Error& error) {
    return tl::unexpected(error);
  }
}

}  // namespace atl::spec::tapis
