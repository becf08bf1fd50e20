// Workflows that are kept by name: found, changed job by job, and deleted.
#include <algorithm>

#include "api/cloudmesh.h"
#include "api/handlers.h"
#include "base/text.h"
#include "spec/cloudmesh/cc_edit.h"
#include "spec/cloudmesh/cc_write.h"
#include "spec/cloudmesh/names.h"

namespace atl::api {
namespace {

using spec::cc::CcWorkflow;

constexpr const char* kJobAttributes[] = {"user", "host",     "kind",  "status", "script",
                                          "exec", "progress", "label", "parent"};

std::string workflow_param(const CallPtr& call) {
  return std::string(call->request().param("workflow"));
}

Result<CcWorkflow> read_definition(const std::string& yaml, const std::string& name) {
  if (yaml.empty()) {
    CcWorkflow fresh;
    fresh.name = name;
    fresh.colors = spec::cc::default_colors();
    return fresh;
  }
  auto file = spec::cc::parse_cc(yaml, name + ".yaml");
  if (!file) return tl::unexpected(file.error());
  return std::move(file->workflow);
}

using Edit = std::function<Result<void>(CcWorkflow& workflow)>;

// The workflow as it is afterwards, or the call is refused and nothing is returned.
std::optional<CcWorkflow> edit_definition(const CallPtr& call, bool create, const Edit& edit) {
  const auto of = definitions_of(call, core::Role::member);
  if (!of) return call->refuse(of.error()), std::nullopt;
  const std::string name = workflow_param(call);
  std::optional<Definition> fresh;
  if (create) fresh = Definition{{}, call->request().query_param("run_directory").value_or("")};
  if (fresh && call->context.cloudmesh.is_tree(fresh->directory)) fresh->directory.clear();
  std::optional<CcWorkflow> after;
  const auto changed = call->context.cloudmesh.change(
      *of, name, fresh, [&](const std::string& yaml) -> Result<std::string> {
        auto workflow = read_definition(yaml, name);
        if (!workflow) return tl::unexpected(workflow.error());
        if (auto ok = edit(*workflow); !ok) return tl::unexpected(ok.error());
        after = std::move(*workflow);
        return spec::cc::save_cc(*after);
      });
  if (!changed) return call->refuse(changed.error()), std::nullopt;
  return after;
}

Result<spec::cc::CcAttributes> attributes_of(const CallPtr& call) {
  spec::cc::CcAttributes attributes;
  for (const char* key : kJobAttributes) {
    if (const auto value = call->request().query_param(key)) attributes.emplace_back(key, *value);
  }
  for (const std::string& text : call->query_all("attribute")) {
    auto attribute = spec::cc::parse_attribute(text);
    if (!attribute) return fail(ErrorCode::invalid, attribute.error().message, "attribute");
    attributes.push_back(std::move(*attribute));
  }
  return attributes;
}

// One that is not there is a 404 of cc's words. A workflow has at least one job: without any it
// could not be read again.
Result<void> remove_named(CcWorkflow& workflow, const std::string& job) {
  if (workflow.nodes.size() == 1 && workflow.nodes.front().name == job)
    return fail(ErrorCode::conflict, "it has no job besides " + job + "; delete the workflow",
                "job");
  auto removed = spec::cc::remove_job(workflow, job);
  if (!removed && removed.error().code == ErrorCode::not_found)
    return fail(ErrorCode::not_found, "Job '" + job + "' not found", "job");
  return removed;
}

void remove_job_of(const CallPtr& call, const std::string& job) {
  run_on(call->context.slow, call, [call, job] {
    const auto after = edit_definition(
        call, false, [&](CcWorkflow& workflow) { return remove_named(workflow, job); });
    if (after)
      answer_message(call,
                     "The job " + job + " was deleted in the workflow " + workflow_param(call));
  });
}

}  // namespace

void answer_message(const CallPtr& call, const std::string& message, int status) {
  std::string body;
  spec::JsonWriter json(body);
  json.begin_object().member("message", message).end_object();
  call->respond_json(std::move(body), status);
}

Result<DefinitionsOf> definitions_of(const CallPtr& call, core::Role role) {
  const auto table = call->context.directory.table();
  const auto asked = call->request().query_param("namespace");
  const core::Namespace* found = table->namespace_named(asked.value_or(core::kDefaultNamespace));
  if (!asked && (!found || !core::may_view(*table, call->actor, found->id))) {
    const auto visible = core::visible_namespaces(*table, call->actor);
    const auto first = visible && !visible->empty() ? table->namespaces.find(visible->front())
                                                    : table->namespaces.end();
    if (first != table->namespaces.end()) found = &first->second;
  }
  if (!found || !core::may_view(*table, call->actor, found->id))
    return tl::unexpected(core::no_such_namespace(asked.value_or(core::kDefaultNamespace)));
  if (auto ok = core::require_role(*table, call->actor, found->id, role); !ok)
    return tl::unexpected(ok.error());
  return DefinitionsOf{found->name, found->id};
}

Result<KeptWorkflowFile> load_definition(const CallPtr& call, core::Role role) {
  auto of = definitions_of(call, role);
  if (!of) return tl::unexpected(of.error());
  KeptWorkflowFile kept{std::move(*of), workflow_param(call), {}, {}};
  auto definition = call->context.cloudmesh.load(kept.of, kept.name);
  if (!definition) return tl::unexpected(definition.error());
  kept.definition = std::move(*definition);
  auto file = spec::cc::parse_cc(kept.definition.yaml, kept.name + ".yaml");
  if (!file) return tl::unexpected(file.error());
  kept.file = std::move(*file);
  return kept;
}

void set_definition_job(const CallPtr& call) {
  run_on(call->context.slow, call, [call] {
    const auto attributes = attributes_of(call);
    if (!attributes) return call->refuse(attributes.error());
    const std::string job(call->request().param("job"));
    const auto after = edit_definition(call, true, [&](CcWorkflow& workflow) {
      return spec::cc::set_job(workflow, job, *attributes);
    });
    if (after) call->respond_json(spec::cc::jobs_json(*after));
  });
}

void link_definition(const CallPtr& call) {
  run_on(call->context.slow, call, [call] {
    const auto chain = call->request().query_param("dependencies");
    if (!chain || chain->empty())
      return call->refuse(
          {ErrorCode::invalid, "dependencies is missing: a,b[1-3],c", "dependencies"});
    const auto after = edit_definition(call, true, [&](CcWorkflow& workflow) {
      return spec::cc::add_dependencies(workflow, *chain);
    });
    if (after) call->respond_json(spec::cc::workflow_json(*after));
  });
}

void delete_definition_job(const CallPtr& call) {
  remove_job_of(call, std::string(call->request().param("job")));
}

void delete_definition(const CallPtr& call) {
  if (const auto job = call->request().query_param("job")) return remove_job_of(call, *job);
  run_on(call->context.slow, call, [call] {
    const auto of = definitions_of(call, core::Role::member);
    if (!of) return call->refuse(of.error());
    const std::string name = workflow_param(call);
    if (auto ok = may_replace(call, *of, name); !ok) return call->refuse(ok.error());
    if (auto ok = call->context.cloudmesh.remove(*of, name); !ok) return call->refuse(ok.error());
    answer_message(call, "The workflow " + name + " was deleted");
  });
}

}  // namespace atl::api
