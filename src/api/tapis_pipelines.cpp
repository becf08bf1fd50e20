// Pipelines of Tapis and their tasks: kept as they were sent, checked before they are.
#include <algorithm>

#include "api/handlers.h"
#include "api/tapis.h"
#include "base/text.h"

namespace atl::api {
namespace {

namespace json = boost::json;

std::string pipeline_url(const TapisGroup& group, const std::string& id) {
  return "/v3/workflows/groups/" + group.name + "/pipelines/" + id;
}

json::object parsed(const std::string& text) { return json::parse(text).as_object(); }

// As it is shown: what was sent, and what is known of it beside.
Result<json::object> pipeline_view(const CallPtr& call, const TapisGroup& group,
                                   const std::string& id, const core::KeptDocument& kept) {
  json::object made = parsed(kept.text);
  const auto table = call->context.directory.table();
  made.emplace("type", "workflow");
  made.emplace("enabled", true);
  made.emplace("description", nullptr);
  for (const char* map : {"env", "params", "execution_profile"}) made.emplace(map, json::object());
  json::object& profile = made["execution_profile"].as_object();
  profile.emplace("duplicate_submission_policy", "terminate");
  profile.emplace("max_exec_time", 10800);
  made.emplace("tasks", json::array());
  made["owner"] = name_of(*table, kept.owner);
  made["group"] = name_uuid("group/" + group.name);
  made["uuid"] = name_uuid("pipeline/" + group.name + "/" + id);
  journal::WorkflowFilter filter;
  filter.ns = group.id;
  filter.origin = spec::tapis::run_origin(id);
  const auto runs = call->context.history.workflows(filter, {}, 1);
  if (!runs) return tl::unexpected(runs.error());
  const json::value newest =
      runs->empty() ? json::value(nullptr) : json::value(run_uuid(runs->front().id));
  made["last_run"] = newest;
  made["current_run"] = !runs->empty() && !runs->front().outcome ? newest : json::value(nullptr);
  return made;
}

void with_pipeline(const CallPtr& call, std::function<void(const TapisPipeline&)> then) {
  view(
      call, [call](const core::State& state) { return tapis_pipeline(state, call); },
      [then = std::move(then)](const TapisPipeline& found) { then(found); });
}

// Writes a pipeline once it is found to be one; `done` answers.
void keep(const CallPtr& call, const TapisGroup& group, core::KeepDocument what,
          std::function<void()> done) {
  what.ns = group.name;
  what.kind = kTapisPipeline;
  auto kept = std::make_shared<core::KeepDocument>(std::move(what));
  read_tapis(
      call, group, kept->text, [call, group, kept, done](const auto& pipeline, const auto& texts) {
        if (pipeline.id != kept->name)
          return call->refuse({ErrorCode::invalid,
                               "id: is " + quote(pipeline.id) + ", and the pipeline is " +
                                   quote(kept->name) + "; ids do not change",
                               "id"});
        command(call, *kept, {}, [call, group, pipeline, texts, done](const runtime::Accepted&) {
          follow_tapis_cron(call, group, pipeline, texts, done);
        });
      });
}

// The next version of one that is there, unless somebody else was faster.
void keep_changed(const CallPtr& call, const TapisPipeline& found, const json::object& changed,
                  std::function<void()> done) {
  core::KeepDocument what;
  what.name = found.id;
  what.text = json::serialize(changed);
  what.role = role_to_change(call, found.document);
  what.expected = found.document.version;
  keep(call, found.group, std::move(what), std::move(done));
}

json::array& tasks_of(json::object& pipeline) {
  json::value& tasks = pipeline["tasks"];
  if (!tasks.is_array()) tasks = json::array();
  return tasks.as_array();
}

json::array::iterator find_task(json::array& tasks, std::string_view id) {
  return std::find_if(tasks.begin(), tasks.end(), [&](const json::value& each) {
    return text_member(each.as_object(), "id") == id;
  });
}

void refuse_task(const CallPtr& call, const TapisPipeline& found, std::string_view id) {
  call->refuse(
      {ErrorCode::not_found, "pipeline " + quote(found.id) + " has no task " + quote(id), "task"});
}

std::string task_in_path(const CallPtr& call) { return std::string(call->request().param("task")); }

constexpr size_t kBytesPerLook = 1 << 20;  // so that no look holds the core's thread for long
constexpr size_t kBytesListed = 64 << 20;

struct Listed {
  TapisGroup group;
  std::vector<std::pair<std::string, core::KeptDocument>> documents;
  size_t bytes = 0;
  bool whole = false;
};
using ListedPtr = std::shared_ptr<Listed>;

// The next ones behind those that are listed.
Result<ListedPtr> look_further(const core::State& state, const CallPtr& call,
                               const ListedPtr& listed) {
  auto group = tapis_group(state, call);
  if (!group) return tl::unexpected(group.error());
  listed->group = std::move(*group);
  const NamespaceId ns = listed->group.id;
  const std::string last = listed->documents.empty() ? "" : listed->documents.back().first;
  const size_t enough = listed->bytes + kBytesPerLook;
  auto at = state.kept.upper_bound({ns, kTapisPipeline, last});
  const auto of_group = [&] {
    return at != state.kept.end() && at->first.ns == ns && at->first.kind == kTapisPipeline;
  };
  for (; of_group() && listed->bytes < enough; ++at) {
    listed->documents.emplace_back(at->first.name, at->second);
    listed->bytes += at->second.text.size();
  }
  listed->whole = !of_group();
  return listed;
}

void answer_list(const CallPtr& call, const Listed& listed) {
  json::array all;
  for (const auto& [id, document] : listed.documents) {
    auto one = pipeline_view(call, listed.group, id, document);
    if (!one) return call->refuse(one.error());
    all.push_back(std::move(*one));
  }
  answer_tapis(call, all);
}

void list_from(const CallPtr& call, const ListedPtr& listed) {
  view(
      call, [call, listed](const core::State& state) { return look_further(state, call, listed); },
      [call](const ListedPtr& found) {
        if (found->bytes > kBytesListed)
          return call->refuse({ErrorCode::too_large,
                               "the pipelines of the group are over 64 MiB together; ask for them "
                               "one by one",
                               {}});
        found->whole ? answer_list(call, *found) : list_from(call, found);
      });
}

}  // namespace

void create_tapis_pipeline(const CallPtr& call) {
  const auto table = call->context.directory.table();
  const auto group = tapis_group(*table, call);
  if (!group) return call->refuse(group.error());
  if (auto ok = core::require_role(*table, call->actor, group->id, core::Role::member); !ok)
    return call->refuse(ok.error());
  const auto body = tapis_body(call);
  if (!body) return call->refuse(body.error());
  core::KeepDocument what;
  what.name = text_member(*body, "id");
  what.text = json::serialize(*body);
  what.create_only = true;
  keep(call, *group, what, [call, group = *group, id = what.name] {
    answer_tapis(call, json::object{{"url", pipeline_url(group, id)}}, "created", 201);
  });
}

void list_tapis_pipelines(const CallPtr& call) { list_from(call, std::make_shared<Listed>()); }

void show_tapis_pipeline(const CallPtr& call) {
  with_pipeline(call, [call](const TapisPipeline& found) {
    const auto one = pipeline_view(call, found.group, found.id, found.document);
    one ? answer_tapis(call, *one) : call->refuse(one.error());
  });
}

void change_tapis_pipeline(const CallPtr& call) {
  const auto body = tapis_body(call);
  if (!body) return call->refuse(body.error());
  with_pipeline(call, [call, change = *body](const TapisPipeline& found) {
    json::object changed = parsed(found.document.text);
    for (const auto& entry : change) changed[entry.key()] = entry.value();
    keep_changed(call, found, changed, [call, found] {
      answer_tapis(call, json::object{{"url", pipeline_url(found.group, found.id)}}, "updated");
    });
  });
}

void delete_tapis_pipeline(const CallPtr& call) {
  with_pipeline(call, [call](const TapisPipeline& found) {
    core::DropDocument what{found.group.name, kTapisPipeline, found.id,
                            role_to_change(call, found.document)};
    command(call, what, {}, [call, found](const runtime::Accepted&) {
      drop_tapis_cron(call, found.group, found.id,
                      [call, id = found.id] { answer_deed(call, "deleted pipeline " + id); });
    });
  });
}

void change_tapis_owner(const CallPtr& call) {
  with_pipeline(call, [call](const TapisPipeline& found) {
    const std::string name(call->request().param("username"));
    const auto table = call->context.directory.table();
    const core::User* user = table->user_named(name);
    const auto& members = table->namespaces.at(found.group.id).members;
    if (!user || !members.contains(user->id))
      return call->refuse({ErrorCode::invalid,
                           "group " + quote(found.group.name) + " has no user " + quote(name),
                           "username"});
    core::KeepDocument what;
    what.ns = found.group.name;
    what.kind = kTapisPipeline;
    what.name = found.id;
    what.text = found.document.text;
    what.role = role_to_change(call, found.document);
    what.expected = found.document.version;
    what.owner = name;
    command(call, what, {}, [call, name](const runtime::Accepted&) {
      answer_deed(call, "the owner is " + name + " now");
    });
  });
}

void list_tapis_tasks(const CallPtr& call) {
  with_pipeline(call, [call](const TapisPipeline& found) {
    json::object pipeline = parsed(found.document.text);
    answer_tapis(call, tasks_of(pipeline));
  });
}

void show_tapis_task(const CallPtr& call) {
  with_pipeline(call, [call](const TapisPipeline& found) {
    json::object pipeline = parsed(found.document.text);
    json::array& tasks = tasks_of(pipeline);
    const auto task = find_task(tasks, task_in_path(call));
    if (task == tasks.end()) return refuse_task(call, found, task_in_path(call));
    answer_tapis(call, *task);
  });
}

void create_tapis_task(const CallPtr& call) {
  const auto body = tapis_body(call);
  if (!body) return call->refuse(body.error());
  with_pipeline(call, [call, task = *body](const TapisPipeline& found) {
    json::object pipeline = parsed(found.document.text);
    tasks_of(pipeline).push_back(task);
    const std::string url =
        pipeline_url(found.group, found.id) + "/tasks/" + text_member(task, "id");
    keep_changed(call, found, pipeline,
                 [call, url] { answer_tapis(call, json::object{{"url", url}}, "created", 201); });
  });
}

void change_tapis_task(const CallPtr& call) {
  const auto body = tapis_body(call);
  if (!body) return call->refuse(body.error());
  with_pipeline(call, [call, change = *body](const TapisPipeline& found) {
    json::object pipeline = parsed(found.document.text);
    json::array& tasks = tasks_of(pipeline);
    const auto task = find_task(tasks, task_in_path(call));
    if (task == tasks.end()) return refuse_task(call, found, task_in_path(call));
    for (const auto& entry : change) task->as_object()[entry.key()] = entry.value();
    keep_changed(call, found, pipeline, [call, shown = *task] { answer_tapis(call, shown); });
  });
}

void delete_tapis_task(const CallPtr& call) {
  with_pipeline(call, [call](const TapisPipeline& found) {
    json::object pipeline = parsed(found.document.text);
    json::array& tasks = tasks_of(pipeline);
    const std::string id = task_in_path(call);
    const auto task = find_task(tasks, id);
    if (task == tasks.end()) return refuse_task(call, found, id);
    tasks.erase(task);
    keep_changed(call, found, pipeline, [call, id] { answer_deed(call, "deleted task " + id); });
  });
}

}  // namespace atl::api
