#include <array>

#include "api/handlers.h"
#include "api/views.h"
#include "api/workflows.h"
#include "spec/workflow/schema.h"

namespace atl::api {
namespace {

using spec::field;
using spec::Kind;

constexpr std::array kWishFields{
    field<&WorkflowWish::files>({.name = "files",
                                 .sentence = "The workflow and what it includes, by path.",
                                 .example = "{\"flow.yaml\": \"steps: {hello: {run: echo hi}}\"}",
                                 .low = 1,
                                 .high = 1000,
                                 .required = true}),
    field<&WorkflowWish::main>(
        {.name = "main",
         .sentence = "Which of them is the workflow; the first when left out.",
         .example = "\"flow.yaml\"",
         .high = 4096}),
    field<&WorkflowWish::set>({.name = "set",
                               .sentence = "Parameters.",
                               .example = "{\"year\": \"2017\"}",
                               .high = 1000}),
    field<&WorkflowWish::ns>({.name = "namespace",
                              .sentence = "Where it belongs.",
                              .example = "\"default\"",
                              .fallback = "\"default\"",
                              .high = 63}),
    field<&WorkflowWish::name>({.name = "name",
                                .sentence = "Instead of the one in the file.",
                                .example = "\"flood\"",
                                .high = 63}),
    field<&WorkflowWish::directory>({.name = "directory",
                                     .sentence = "Where steps run that name no other.",
                                     .example = "\"/home/ada/flood\"",
                                     .high = 4096}),
    field<&WorkflowWish::only>({.name = "only",
                                .sentence = "Run this step alone, on what the steps that it needs "
                                            "have left in earlier runs.",
                                .example = "\"train\"",
                                .high = 63}),
    field<&WorkflowWish::from>({.name = "from",
                                .sentence = "Run this step and what comes after it, likewise.",
                                .example = "\"label\"",
                                .high = 63}),
    field<&WorkflowWish::check>({.name = "check",
                                 .sentence = "Run the checks alone, against what the steps have "
                                             "left in earlier runs.",
                                 .example = "true",
                                 .fallback = "false"}),
    field<&WorkflowWish::paused>({.name = "paused",
                                  .sentence = "Start nothing until it is resumed.",
                                  .example = "true",
                                  .fallback = "false"}),
    field<&WorkflowWish::keep>({.name = "keep",
                                .sentence = "Wait for capacity to come instead of being refused.",
                                .example = "true",
                                .fallback = "false"})};
constexpr std::array kStepsFields{
    field<&StepsWish::steps>(
        {.name = "steps",
         .sentence = "Steps by name, as in a workflow's file.",
         .example = "{\"plot\": {\"run\": \"./plot\", \"needs\": [\"train\"]}}",
         .required = true,
         .schema = R"("type":"object")"}),
    field<&StepsWish::directory>({.name = "directory",
                                  .sentence = "Where steps run that name no other.",
                                  .example = "\"/home/ada/flood\"",
                                  .high = 4096})};
constexpr std::array kRetryFields{field<&StepsRetryWish::steps>(
    {.name = "steps",
     .sentence = "Only these and what needs them; all that did not succeed when left out.",
     .example = "[\"train\"]",
     .high = 10'000})};

const Param kWorkflow = path_param("workflow", "The number of a workflow.", "\"3\"");

Endpoint action(const char* path, const char* summary, void (*handle)(const CallPtr& call)) {
  return {.method = "POST",
          .path = path,
          .summary = summary,
          .tag = "workflows",
          .needs = Needs::member,
          .params = {kWorkflow},
          .response = done_shape,
          .handle = handle,
          .changes = true};
}

Endpoint look(const char* path, const char* summary, const spec::Shape& (*response)(),
              void (*handle)(const CallPtr& call)) {
  return {.path = path,
          .summary = summary,
          .tag = "workflows",
          .needs = Needs::viewer,
          .params = {kWorkflow},
          .response = response,
          .handle = handle};
}

constexpr const char* kGraphFormats[] = {"svg", "dot", "text"};

Endpoint made(const char* path, const char* summary, const char* type,
              void (*handle)(const CallPtr& call)) {
  Endpoint endpoint = look(path, summary, nullptr, handle);
  endpoint.response_type = type;
  return endpoint;
}

}  // namespace

void show_workflow_schema(const CallPtr& call) {
  http::Response response;
  response.headers.set("Content-Type", "application/schema+json");
  response.body = spec::workflow_schema();
  call->respond(std::move(response));
}

std::vector<Endpoint> workflow_endpoints() {
  Endpoint submit{
      .method = "POST",
      .path = "/api/v1/workflows",
      .summary =
          "Submit a workflow: its files as they are written. All of it is read "
          "and checked before anything starts.",
      .tag = "workflows",
      .needs = Needs::member,
      .params = {query_param(Kind::boolean, {.name = "dry_run",
                                             .sentence = "Submit nothing: say what would be.",
                                             .example = "true",
                                             .fallback = "false"})},
      .request = spec::shape_of<WorkflowWish>,
      .status = 201,
      .response = submitted_workflow_shape,
      .tried = tried_workflow_shape,
      .example = R"({"id":"3","name":"flood","steps":4,"warnings":[]})",
      .handle = submit_workflow,
      .changes = true,
      .body_max = 128u << 20};
  Endpoint list{
      .path = "/api/v1/workflows",
      .summary = "List workflows, live and ended together, newest first.",
      .tag = "workflows",
      .params = {query_param(Kind::text, {.name = "namespace",
                                          .sentence = "Only those of this namespace.",
                                          .example = "\"default\""}),
                 query_param(Kind::text, {.name = "user",
                                          .sentence = "Only those of this user; me for your own.",
                                          .example = "\"me\""}),
                 query_param(Kind::text, {.name = "name",
                                          .sentence = "Only those whose name contains this.",
                                          .example = "\"flood\""}),
                 query_param(Kind::integer, {.name = "before",
                                             .sentence = "Only those with a smaller number.",
                                             .example = "12",
                                             .low = 0}),
                 query_param(Kind::integer, {.name = "limit",
                                             .sentence = "How many at most.",
                                             .example = "100",
                                             .fallback = "100",
                                             .low = 1,
                                             .high = 1000})},
      .response = workflow_list_shape,
      .handle = list_workflows};
  Endpoint steps =
      look("/api/v1/workflows/{workflow}/steps",
           "The steps of a workflow, with times, use and outputs.", step_list_shape, list_steps);
  steps.params.push_back(query_param(Kind::integer, {.name = "after",
                                                     .sentence = "Only those behind this number.",
                                                     .example = "99",
                                                     .low = -1,
                                                     .high = 2'000'000}));
  steps.params.push_back(query_param(Kind::integer, {.name = "limit",
                                                     .sentence = "How many at most.",
                                                     .example = "100",
                                                     .fallback = "100",
                                                     .low = 1,
                                                     .high = 1000}));
  steps.params.push_back(query_param(Kind::boolean, {.name = "active",
                                                     .sentence = "Only those that are under way.",
                                                     .example = "true",
                                                     .fallback = "false"}));
  Endpoint outputs = look("/api/v1/workflows/{workflow}/steps/{step}/outputs",
                          "Of a step that goes through a queue, what each of its jobs left.",
                          fed_output_list_shape, list_fed_outputs);
  outputs.params.push_back(path_param("step", "The step's number.", "0"));
  outputs.params.push_back(query_param(
      Kind::integer,
      {.name = "after", .sentence = "Only jobs behind this number.", .example = "99", .low = 0}));
  outputs.params.push_back(query_param(Kind::integer, {.name = "limit",
                                                       .sentence = "How many at most.",
                                                       .example = "100",
                                                       .fallback = "100",
                                                       .low = 1,
                                                       .high = 1000}));
  Endpoint graph =
      made("/api/v1/workflows/{workflow}/graph", "The steps and what they need, drawn.",
           "image/svg+xml", show_workflow_graph);
  graph.params.push_back(query_param(Kind::text, {.name = "format",
                                                  .sentence = "How it is drawn.",
                                                  .example = "\"svg\"",
                                                  .fallback = "\"svg\"",
                                                  .choices = kGraphFormats}));
  graph.params.push_back(query_param(Kind::integer, {.name = "width",
                                                     .sentence = "Of text: columns; 0 for any.",
                                                     .example = "100",
                                                     .fallback = "80",
                                                     .low = 0,
                                                     .high = 1000}));
  graph.params.push_back(query_param(Kind::boolean, {.name = "ascii",
                                                     .sentence = "Of text: plain letters only.",
                                                     .example = "true",
                                                     .fallback = "false"}));
  graph.params.push_back(query_param(Kind::boolean, {.name = "color",
                                                     .sentence = "Of text: with colours.",
                                                     .example = "true",
                                                     .fallback = "false"}));
  graph.also_types = {"text/vnd.graphviz", "text/plain"};
  Endpoint add{.method = "POST",
               .path = "/api/v1/workflows/{workflow}/steps",
               .summary = "Add steps to a workflow that is under way.",
               .tag = "workflows",
               .needs = Needs::member,
               .params = {kWorkflow},
               .request = spec::shape_of<StepsWish>,
               .status = 201,
               .response = added_steps_shape,
               .handle = add_steps,
               .changes = true,
               .body_max = 128u << 20};
  Endpoint retry =
      action("/api/v1/workflows/{workflow}/retry",
             "Run again what did not succeed, and what that kept from running.", retry_workflow);
  retry.request = spec::shape_of<StepsRetryWish>;
  return {
      submit,
      list,
      look("/api/v1/workflows/{workflow}", "A workflow with its files and parameters.",
           workflow_shape, show_workflow),
      steps,
      add,
      graph,
      made("/api/v1/workflows/{workflow}/report", "One self-contained page about it.", "text/html",
           show_workflow_report),
      made("/api/v1/workflows/{workflow}/crate",
           "A Workflow Run RO-Crate of one that has ended, as a zip.", "application/zip",
           show_workflow_crate),
      look("/api/v1/workflows/{workflow}/versions",
           "All versions of files that ran under its name.", version_list_shape, list_versions),
      action("/api/v1/workflows/{workflow}/pause", "Start no more steps of it.", pause_workflow),
      action("/api/v1/workflows/{workflow}/resume", "Go on starting steps.", resume_workflow),
      action("/api/v1/workflows/{workflow}/cancel", "End it: what runs is stopped.",
             cancel_workflow),
      retry,
      outputs,
      {.path = "/schemas/workflow.json",
       .summary = "The JSON schema of a workflow's file, for editors.",
       .tag = "workflows",
       .needs = Needs::nothing,
       .response_type = "application/schema+json",
       .handle = show_workflow_schema}};
}

}  // namespace atl::api

namespace atl::spec {

template <>
const Shape& shape_of<api::WorkflowWish>() {
  static constexpr Shape shape{"WorkflowSubmission", "A workflow to be run.", api::kWishFields};
  return shape;
}
template <>
const Shape& shape_of<api::StepsWish>() {
  static constexpr Shape shape{"StepsSubmission", "Steps to be added.", api::kStepsFields};
  return shape;
}
template <>
const Shape& shape_of<api::StepsRetryWish>() {
  static constexpr Shape shape{"RetrySubmission", "What shall run again.", api::kRetryFields};
  return shape;
}

}  // namespace atl::spec
