// The routes of Tapis Workflows under /v3: a group is a namespace, a pipeline is a document that is
// kept in it, and a run of one is a workflow. For the sources of this room only.
#pragma once

#include <boost/json.hpp>

#include "api/workflows.h"
#include "spec/tapis/tapis_run.h"

namespace atl::api {

inline constexpr const char* kTapisPipeline = "tapis-pipeline";  // the kind of document

// {status, message, result, metadata, version}
void answer_tapis(const CallPtr& call, const boost::json::value& result,
                  const std::string& message = "success", int status = 200);
// The same for what has no result beside that it was done.
void answer_deed(const CallPtr& call, const std::string& what);
http::Response tapis_refusal(int status, const Error& error, const std::string& version);

// Runs and executions have numbers here; a client of Tapis sees them as UUIDs.
std::string run_uuid(WorkflowId run);
std::string execution_uuid(core::StepRef step);
// By what it is known elsewhere; always the same.
std::string name_uuid(const std::string& what);
[[nodiscard]] Result<WorkflowId> run_of_uuid(std::string_view uuid);
[[nodiscard]] Result<core::StepRef> execution_of_uuid(std::string_view uuid);

// {group} of the path, if the actor may see it.
struct TapisGroup {
  NamespaceId id;
  std::string name;
};
[[nodiscard]] Result<TapisGroup> tapis_group(const core::State& table, const CallPtr& call);

// {pipeline} of the path as it is kept.
struct TapisPipeline {
  TapisGroup group;
  std::string id;
  core::KeptDocument document;
};
[[nodiscard]] Result<TapisPipeline> tapis_pipeline(const core::State& state, const CallPtr& call);

// The body as an object. The error names what is wrong with it.
[[nodiscard]] Result<boost::json::object> tapis_body(const CallPtr& call);

// Calls `then` with the pipeline read, and what it uses of others put in, with the texts of all of
// them; or refuses the call.
using TapisRead = std::function<void(const spec::tapis::Pipeline& pipeline,
                                     const spec::tapis::PipelineTexts& texts)>;
void read_tapis(const CallPtr& call, const TapisGroup& group, std::string text, TapisRead then);

// tapis_cron.cpp: makes, changes or drops the schedule that runs the pipeline.
void follow_tapis_cron(const CallPtr& call, const TapisGroup& group,
                       const spec::tapis::Pipeline& pipeline,
                       const spec::tapis::PipelineTexts& texts, std::function<void()> done);
void drop_tapis_cron(const CallPtr& call, const TapisGroup& group, const std::string& pipeline,
                     std::function<void()> done);

// The role that changes the pipeline: its owner needs less than others.
core::Role role_to_change(const CallPtr& call, const core::KeptDocument& document);

// The text of a member of an object, empty when it is none.
std::string text_member(const boost::json::object& object, std::string_view name);

}  // namespace atl::api
