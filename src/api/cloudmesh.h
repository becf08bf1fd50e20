// Workflows of the Cloudmesh compute coordinator (cc) in the API: its files among our own routes,
// and its own routes under /cloudmesh. For the sources of this room only.
#pragma once

#include "api/workflows.h"
#include "report/workflow_run.h"
#include "spec/cloudmesh/cc_file.h"
#include "spec/cloudmesh/cc_status.h"

namespace atl::api {

// What the document of a run says of a file of cc's.
inline constexpr const char* kCloudmeshFormat = "cloudmesh";

struct CloudmeshPlan {
  spec::WorkflowPlan plan;
  std::vector<std::string> warnings;
};
// A file of cc's as steps. `only` and `from` may name several nodes: a,b[1-3]. The error says file,
// line and column. May look up an account, which blocks.
[[nodiscard]] Result<CloudmeshPlan> plan_cloudmesh(const CallPtr& call, const WorkflowWish& wish,
                                                   const std::string& main);

// The namespace of ?namespace=, else `default`, else the first one that the actor is in; refused
// when the actor has less than the role in it.
[[nodiscard]] Result<DefinitionsOf> definitions_of(const CallPtr& call, core::Role role);

// A definition as it is kept, read. The error is a 404 in cc's words when there is none.
struct KeptWorkflowFile {
  DefinitionsOf of;
  std::string name;
  Definition definition;
  spec::cc::CcFile file;
};
[[nodiscard]] Result<KeptWorkflowFile> load_definition(const CallPtr& call, core::Role role);

// The last run of that name that was made from a file of cc's.
[[nodiscard]] Result<std::optional<journal::KeptWorkflow>> newest_run(journal::History& history,
                                                                      NamespaceId ns,
                                                                      const std::string& name);

// The workflow with the state of its last run, if there was one, and with its labels rendered.
// cloudmesh_show.cpp
void with_last_run(const CallPtr& call, KeptWorkflowFile kept,
                   std::function<void(const spec::cc::CcWorkflow&)> then);
// For drawing, with the labels, shapes and colours that the file gives.
report::WorkflowRun drawn_run(const spec::cc::CcWorkflow& workflow);
// A table of its nodes.
std::string jobs_html(const spec::cc::CcWorkflow& workflow);

// Refuses while a run is under way in files that would go with the definition.
[[nodiscard]] Result<void> may_replace(const CallPtr& call, const DefinitionsOf& of,
                                       const std::string& name);

// cc's word for a step; one whose job waits for room has been submitted.
std::string status_of_step(core::StepState state, bool started);

// {"message": "…"}, which is how cc answers what is no data.
void answer_message(const CallPtr& call, const std::string& message, int status = 200);

}  // namespace atl::api
