// The routes of Tapis Workflows, with its words and its envelope; and those of secrets.
#include "api/handlers.h"
#include "api/requests.h"
#include "api/view_fields.h"
#include "api/views.h"

namespace atl::api {
namespace {

constexpr uint64_t kPipelineBytesMax = 1 << 20;  // as much as a document may have

constexpr const char* kStatus[] = {"success", "error"};
constexpr std::array kTapisAnswer{
    word("status", "Whether it was done.", kStatus),
    always(Kind::text, "message", "What there is to say about it."),
    maybe(Kind::any, "result", "What was asked for; null when it was not done."),
    always(Kind::any, "metadata", "Empty."),
    always(Kind::text, "version", "Of the server."),
};

constexpr std::array kSecret{always(Kind::text, "name", "Its name."),
                             always(Kind::text, "user", "Who has set it."),
                             maybe(Kind::time, "set", "When.")};
constexpr std::array kSecretList{always(Kind::objects, "secrets", "By name.", secret_shape)};

constexpr const char* kGroups = "/v3/workflows/groups";
constexpr const char* kGroup = "/v3/workflows/groups/{group}";
constexpr const char* kUsers = "/v3/workflows/groups/{group}/users";
constexpr const char* kUser = "/v3/workflows/groups/{group}/users/{username}";
constexpr const char* kGroupSecrets = "/v3/workflows/groups/{group}/secrets";
constexpr const char* kGroupSecret = "/v3/workflows/groups/{group}/secrets/{secret}";
constexpr const char* kPipelines = "/v3/workflows/groups/{group}/pipelines";
constexpr const char* kPipeline = "/v3/workflows/groups/{group}/pipelines/{pipeline}";
constexpr const char* kOwner =
    "/v3/workflows/groups/{group}/pipelines/{pipeline}/changeOwner/{username}";
constexpr const char* kTasks = "/v3/workflows/groups/{group}/pipelines/{pipeline}/tasks";
constexpr const char* kTask = "/v3/workflows/groups/{group}/pipelines/{pipeline}/tasks/{task}";
constexpr const char* kRun = "/v3/workflows/groups/{group}/pipelines/{pipeline}/run";
constexpr const char* kRuns = "/v3/workflows/groups/{group}/pipelines/{pipeline}/runs";
constexpr const char* kOneRun = "/v3/workflows/groups/{group}/pipelines/{pipeline}/runs/{run}";
constexpr const char* kExecutions =
    "/v3/workflows/groups/{group}/pipelines/{pipeline}/runs/{run}/executions";
constexpr const char* kExecution =
    "/v3/workflows/groups/{group}/pipelines/{pipeline}/runs/{run}/executions/{execution}";

// Path parameters by what stands in the path.
std::vector<Param> tapis_params(std::string_view path) {
  const Param known[] = {
      path_param("group", "The group: a namespace.", "\"default\""),
      path_param("username", "A user.", "\"ada\""),
      path_param("secret", "The name of a secret.", "\"weather\""),
      path_param("pipeline", "The id of a pipeline.", "\"demo\""),
      path_param("task", "The id of a task.", "\"fetch\""),
      path_param("run", "The UUID of a run.", "\"00000000-0000-8000-8000-000000000001\""),
      path_param("execution", "The UUID of an execution.",
                 "\"00000000-0001-8000-8000-000000000001\""),
      path_param("path", "What else Tapis has.", "\"workflows/identities\"")};
  std::vector<Param> params;
  for (const Param& each : known) {
    const std::string name = std::string("{") + each.field.name;
    if (path.find(name + "}") != std::string_view::npos ||
        path.find(name + "...}") != std::string_view::npos)
      params.push_back(each);
  }
  return params;
}

Endpoint tapis(const char* method, const char* path, Needs needs, const char* summary,
               void (*handle)(const CallPtr& call), int status = 200) {
  const std::string_view verb = method;
  Endpoint endpoint{.method = method,
                    .path = path,
                    .summary = summary,
                    .tag = "tapis",
                    .needs = needs,
                    .params = tapis_params(path),
                    .status = status,
                    .response = tapis_answer_shape,
                    .handle = handle,
                    .changes = verb != "GET"};
  if (verb == "POST" || verb == "PATCH") {
    endpoint.request_type = "application/json";
    endpoint.body_max = kPipelineBytesMax;
  }
  endpoint.tapis = true;
  return endpoint;
}

Endpoint not_offered(const char* method) {
  return tapis(method, "/v3/{path...}", Needs::nothing,
               "What is not offered of Tapis is refused with a reason.", refuse_tapis);
}

}  // namespace

const Shape& tapis_answer_shape() {
  static constexpr Shape shape{"TapisAnswer", "The envelope of Tapis.", kTapisAnswer};
  return shape;
}
const Shape& secret_shape() {
  static constexpr Shape shape{"Secret", "A secret, without what it says.", kSecret};
  return shape;
}
const Shape& secret_list_shape() {
  static constexpr Shape shape{"SecretList", "Secrets of a namespace.", kSecretList};
  return shape;
}

std::vector<Endpoint> tapis_endpoints() {
  return {
      tapis("GET", "/v3/sites", Needs::nothing, "Sites: none beside this server.",
            list_tapis_tenants),
      tapis("GET", "/v3/tenants", Needs::nothing, "Tenants: none beside this server.",
            list_tapis_tenants),
      tapis("GET", "/v3/workflows/healthcheck", Needs::nothing, "Whether it is there.",
            show_tapis_health),
      tapis("GET", kGroups, Needs::user, "List groups.", list_tapis_groups),
      tapis("POST", kGroups, Needs::platform_admin, "Make a group: {id, users}.",
            create_tapis_group, 201),
      tapis("GET", kGroup, Needs::viewer, "Show a group with its users.", show_tapis_group),
      tapis("DELETE", kGroup, Needs::platform_admin, "Delete a group that is empty.",
            delete_tapis_group),
      tapis("GET", kUsers, Needs::viewer, "List the users of a group.", list_tapis_users),
      tapis("POST", kUsers, Needs::admin, "Add a user: {username, is_admin}.", add_tapis_user, 201),
      tapis("GET", kUser, Needs::viewer, "Show a user of a group.", show_tapis_user),
      tapis("PATCH", kUser, Needs::admin, "Change a user: {is_admin}.", change_tapis_user),
      tapis("DELETE", kUser, Needs::admin, "Remove a user from a group.", remove_tapis_user),
      tapis("GET", kGroupSecrets, Needs::member, "List secrets, without what they say.",
            list_tapis_secrets),
      tapis("POST", kGroupSecrets, Needs::nothing,
            "Refused: secrets are set by `atoll secret set`.", refuse_tapis),
      tapis("GET", kGroupSecret, Needs::member, "Show a secret, without what it says.",
            show_tapis_secret),
      tapis("DELETE", kGroupSecret, Needs::admin, "Delete a secret.", remove_tapis_secret),
      tapis("GET", kPipelines, Needs::viewer, "List pipelines.", list_tapis_pipelines),
      tapis("POST", kPipelines, Needs::member,
            "Keep a pipeline: {id, type, tasks, env, params, execution_profile}.",
            create_tapis_pipeline, 201),
      tapis("GET", kPipeline, Needs::viewer, "Show a pipeline.", show_tapis_pipeline),
      tapis("PATCH", kPipeline, Needs::member, "Change what is said of a pipeline.",
            change_tapis_pipeline),
      tapis("DELETE", kPipeline, Needs::member, "Delete a pipeline. Its runs stay workflows.",
            delete_tapis_pipeline),
      tapis("PATCH", kOwner, Needs::member, "Give a pipeline to somebody else.",
            change_tapis_owner),
      tapis("GET", kTasks, Needs::viewer, "List the tasks of a pipeline.", list_tapis_tasks),
      tapis("POST", kTasks, Needs::member, "Add a task.", create_tapis_task, 201),
      tapis("GET", kTask, Needs::viewer, "Show a task.", show_tapis_task),
      tapis("PATCH", kTask, Needs::member, "Change a task.", change_tapis_task),
      tapis("DELETE", kTask, Needs::member, "Delete a task that no other depends on.",
            delete_tapis_task),
      tapis("POST", kRun, Needs::member, "Run a pipeline: {name, description, args}.",
            run_tapis_pipeline),
      tapis("GET", kRuns, Needs::viewer, "List runs, the newest first.", list_tapis_runs),
      tapis("GET", kOneRun, Needs::viewer, "Show a run.", show_tapis_run),
      tapis("POST", kOneRun, Needs::member, "Terminate a run.", terminate_tapis_run),
      tapis("GET", kExecutions, Needs::viewer, "List the executions of a run's tasks.",
            list_tapis_executions),
      tapis("GET", kExecution, Needs::viewer, "Show an execution.", show_tapis_execution),
      not_offered("GET"),
      not_offered("POST"),
      not_offered("PUT"),
      not_offered("PATCH"),
      not_offered("DELETE"),
  };
}

std::vector<Endpoint> secret_endpoints() {
  const Param ns = path_param("namespace", "The namespace it is in.", "\"default\"");
  const Param name = path_param("secret", "Its name.", "\"weather\"");
  return {{.path = "/api/v1/namespaces/{namespace}/secrets",
           .summary = "List secrets: names, who set them and when; never what they say.",
           .tag = "secrets",
           .needs = Needs::member,
           .params = {ns},
           .response = secret_list_shape,
           .handle = list_secrets},
          {.method = "PUT",
           .path = "/api/v1/namespaces/{namespace}/secrets/{secret}",
           .summary = "Set a secret. Nobody can read it back; tasks are given it by name.",
           .tag = "secrets",
           .needs = Needs::admin,
           .params = {ns, name},
           .request = spec::shape_of<SecretWish>,
           .response = secret_shape,
           .handle = set_secret,
           .changes = true},
          {.method = "DELETE",
           .path = "/api/v1/namespaces/{namespace}/secrets/{secret}",
           .summary = "Delete a secret. Tasks that name it fail from now on.",
           .tag = "secrets",
           .needs = Needs::admin,
           .params = {ns, name},
           .status = 204,
           .handle = delete_secret,
           .changes = true}};
}

}  // namespace atl::api
