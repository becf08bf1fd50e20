// The routes of the Cloudmesh compute coordinator under /cloudmesh, with its words and shapes.
#include "api/handlers.h"
#include "api/view_fields.h"
#include "api/views.h"

namespace atl::api {
namespace {

using spec::Kind;

constexpr uint64_t kUploadMax = 64u << 20;

constexpr const char* kOutputs[] = {"html", "graph", "json", "table", "csv", "status"};
constexpr const char* kListOutputs[] = {"json", "csv"};
constexpr const char* kRunTypes[] = {"topo", "parallel"};
constexpr const char* kRedirects[] = {"graph"};

const Param kName = path_param("workflow", "The name of a workflow that is kept.", "\"flood\"");
const Param kJob = path_param("job", "The name of a job in it.", "\"fetch\"");

Param namespace_param() {
  return query_param(Kind::text,
                     {.name = "namespace",
                      .sentence = "Where it is kept; your default namespace when left out.",
                      .example = "\"default\""});
}

Param text_param(const char* name, const char* sentence, const char* example) {
  return query_param(Kind::text, {.name = name, .sentence = sentence, .example = example});
}

Endpoint route(const char* method, const char* path, const char* summary,
               void (*handle)(const CallPtr& call)) {
  const bool changes = std::string_view(method) != "GET";
  return {.method = method,
          .path = path,
          .summary = summary,
          .tag = "cloudmesh",
          .needs = changes ? Needs::member : Needs::viewer,
          .params = {kName, namespace_param()},
          .response_type = "application/json",
          .handle = handle,
          .changes = changes};
}

Param run_directory_param() {
  return text_param("run_directory", "Where the nodes of a new one run: that of its scripts.",
                    "\"/home/ada/flood\"");
}

Endpoint upload(const char* path) {
  Endpoint endpoint = route(
      "POST", path,
      "Keep a workflow by name: exactly one of yaml (a file or text), archive (.tgz, .tar.gz, "
      ".xz, .tar) and directory (below the server's own directory for it).",
      upload_definition);
  endpoint.params = {
      namespace_param(),
      text_param("workflow_name", "Its name; that of the file when left out.", "\"flood\""),
      text_param("directory", "A path on the server's machine; for platform administrators.",
                 "\"flood\""),
      run_directory_param()};
  endpoint.request_type = "multipart/form-data";
  endpoint.body_max = kUploadMax;
  return endpoint;
}

Endpoint set_job() {
  Endpoint endpoint = route("POST", "/cloudmesh/workflow/{workflow}/job/{job}",
                            "Add a job, or change some of its attributes.", set_definition_job);
  endpoint.params.push_back(kJob);
  for (const auto& [name, sentence, example] :
       {std::tuple("user", "Its user.", "\"ada\""),
        {"host", "Its host.", "\"hpc\""},
        {"kind", "local, wsl, ssh, slurm or lsf.", "\"local\""},
        {"status", "Its status.", "\"ready\""},
        {"script", "What it runs.", "\"fetch.sh\""},
        {"exec", "The command that it runs.", "\"echo hello\""},
        {"progress", "From 0 to 100.", "\"0\""},
        {"label", "Its label.", "\"{name}\""},
        {"parent", "What it comes after; several as a,b[1-2].", "\"start\""}})
    endpoint.params.push_back(text_param(name, sentence, example));
  endpoint.params.push_back(query_param(
      Kind::text,
      {.name = "attribute", .sentence = "Any other: venv=~/env.", .example = "\"venv=~/env\""},
      true));
  endpoint.params.push_back(run_directory_param());
  return endpoint;
}

Endpoint run() {
  Endpoint endpoint =
      route("GET", "/cloudmesh/workflow/run/{workflow}",
            "Run it. Nodes run side by side wherever their order allows it.", run_definition);
  endpoint.needs = Needs::member;
  endpoint.changes = true;
  const auto choice = [](const char* name, const char* sentence, const char* example, auto& words) {
    return query_param(Kind::text,
                       {.name = name, .sentence = sentence, .example = example, .choices = words});
  };
  endpoint.params.push_back(
      choice("run_type", "Taken and without effect.", "\"parallel\"", kRunTypes));
  endpoint.params.push_back(
      choice("redirect", "Answer with the way to its graph.", "\"graph\"", kRedirects));
  endpoint.params.push_back(query_param(
      Kind::text,
      {.name = "show", .sentence = "Taken and without effect.", .example = "\"False\""}));
  endpoint.params.push_back(
      text_param("job", "Only these, whatever they come after: a,b[1-3].", "\"fetch\""));
  return endpoint;
}

Endpoint counter(const char* path, const char* summary, void (*handle)(const CallPtr& call)) {
  Endpoint endpoint = route("GET", path, summary, handle);
  endpoint.response_type = "text/event-stream";
  return endpoint;
}

// Of cc's portal. Those without a workflow in their path are for whoever is known.
Endpoint page(const char* path, const char* summary, void (*handle)(const CallPtr& call)) {
  Endpoint endpoint = route("GET", path, summary, handle);
  endpoint.response_type = "text/html";
  if (std::string_view(path).find('{') == std::string_view::npos) {
    endpoint.params = {namespace_param()};
    if (handle != portal_home) endpoint.needs = Needs::user;
  }
  return endpoint;
}

std::vector<Endpoint> portal() {
  return {
      page("/cloudmesh", "The workflows that are kept, as a page.", portal_home),
      page("/cloudmesh/home", "The same.", portal_home),
      page("/cloudmesh/about", "What this is, as a page.", portal_about),
      page("/cloudmesh/contact", "Whom to ask, as a page.", portal_contact),
      page("/cloudmesh/manpage", "The commands, as a page.", portal_manual),
      page("/cloudmesh/preferences", "Who you are, as a page.", portal_preferences),
      page("/cloudmesh/add", "A form to keep a workflow with.", portal_add),
      page("/cloudmesh/generate-example", "The form with an example in it.", portal_example),
      page("/cloudmesh/edit/{workflow}", "The form with its file in it.", portal_edit),
      page("/cloudmesh/delete/{workflow}", "A page with a button that deletes it.", portal_delete),
      page("/cloudmesh/reset/{workflow}", "A page with a button that runs it anew.", portal_reset),
      page("/cloudmesh/workflow-graph/{workflow}", "Its graph, as a page.", portal_graph),
      page("/cloudmesh/serve-datatable/{workflow}", "Its nodes, as a page.", portal_table),
      page("/cloudmesh/watcher/{workflow}", "Its counters on a page, as they change.",
           portal_watcher),
      page("/cloudmesh/workflow-running/{workflow}", "Counters, graph and nodes, as a page.",
           portal_running)};
}

}  // namespace

std::vector<Endpoint> cloudmesh_endpoints() {
  Endpoint list =
      route("GET", "/cloudmesh/workflows", "The names of all that are kept.", list_definitions);
  list.params = {namespace_param(), query_param(Kind::text, {.name = "output",
                                                             .sentence = "The form of the answer.",
                                                             .example = "\"csv\"",
                                                             .choices = kListOutputs})};
  list.response_type = nullptr;
  list.response = definition_list_shape;
  list.also_types = {"text/csv"};
  Endpoint show =
      route("GET", "/cloudmesh/workflow/{workflow}",
            "Its nodes and dependencies, with the state of its last run.", show_definition);
  show.params.push_back(query_param(Kind::text, {.name = "output",
                                                 .sentence = "The form of the answer.",
                                                 .example = "\"table\"",
                                                 .choices = kOutputs}));
  show.also_types = {"text/html", "text/csv", "text/plain", "image/svg+xml"};
  Endpoint link = route("POST", "/cloudmesh/workflow/{workflow}",
                        "Add dependencies: each job after the one before it.", link_definition);
  link.params.push_back(text_param("dependencies", "a,b[1-3],c", "\"start,fetch,end\""));
  link.params.push_back(run_directory_param());
  Endpoint remove = route("DELETE", "/cloudmesh/workflow/{workflow}",
                          "Delete it, or one job of it. What has run stays.", delete_definition);
  remove.params.push_back(text_param("job", "Only this job.", "\"fetch\""));
  Endpoint job =
      route("GET", "/cloudmesh/workflow/{workflow}/job/{job}",
            "The attributes of a job, with the state of the last run.", show_definition_job);
  job.params.push_back(kJob);
  Endpoint remove_job = route("DELETE", "/cloudmesh/workflow/{workflow}/job/{job}",
                              "Delete a job with its dependencies.", delete_definition_job);
  remove_job.params.push_back(kJob);
  std::vector<Endpoint> all{
      list,
      upload("/cloudmesh/workflow"),
      upload("/cloudmesh/workflow/upload"),
      show,
      link,
      remove,
      run(),
      job,
      set_job(),
      remove_job,
      counter("/cloudmesh/done-count/{workflow}", "How many are done, as it changes.", count_done),
      counter("/cloudmesh/ready-count/{workflow}", "How many are ready, as it changes.",
              count_ready),
      counter("/cloudmesh/failed-count/{workflow}", "How many have failed, as it changes.",
              count_failed),
      counter("/cloudmesh/submitted-count/{workflow}",
              "How many have been submitted, as it changes.", count_submitted),
      counter("/cloudmesh/running-count/{workflow}", "How many are running, as it changes.",
              count_running)};
  for (Endpoint& each : portal()) all.push_back(std::move(each));
  return all;
}

}  // namespace atl::api
