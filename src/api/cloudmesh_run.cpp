// GET /cloudmesh/workflow/run/{workflow}: a workflow that is kept by name runs.
#include "api/cloudmesh.h"
#include "api/handlers.h"
#include "base/text.h"

namespace atl::api {
namespace {

WorkflowWish wish_of(const CallPtr& call, const KeptWorkflowFile& kept) {
  WorkflowWish wish;
  const std::string main = kept.name + ".yaml";
  wish.files = std::map<std::string, std::string>{{main, kept.definition.yaml}};
  wish.main = main;
  wish.name = kept.name;
  wish.ns = kept.of.ns;
  wish.directory = kept.definition.directory;
  wish.only = call->request().query_param("job").value_or("");
  return wish;
}

void answer_running(const CallPtr& call, const TakenWorkflow& taken) {
  std::string body;
  spec::JsonWriter json(body);
  json.begin_object().member("message", "The workflow " + taken.name + " is running");
  json.member("workflow", taken.name).member("id", to_string(taken.id));
  json.member("steps", taken.steps).member("warnings", taken.warnings).end_object();
  http::Headers headers;
  const bool redirected = call->request().query_param("redirect") == "graph";
  if (redirected) headers.add("Location", "/cloudmesh/workflow/" + taken.name + "?output=graph");
  call->respond_json(std::move(body), redirected ? 303 : 200, std::move(headers));
}

}  // namespace

void run_definition(const CallPtr& call) {
  // cc starts work with GET; whoever only looks at what an address would give must not.
  if (call->request().method != "GET")
    return call->refuse(405, {ErrorCode::invalid, "a run is started with GET", {}});
  run_on(call->context.slow, call, [call] {
    const auto kept = load_definition(call, core::Role::member);
    if (!kept) return call->refuse(kept.error());
    take_workflow(call, wish_of(call, *kept),
                  [call](const TakenWorkflow& taken) { answer_running(call, taken); });
  });
}

}  // namespace atl::api
