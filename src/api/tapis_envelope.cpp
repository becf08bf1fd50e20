// What all routes of Tapis share: the envelope of answers, identities, and what the path names.
#include <cstdio>

#include "api/handlers.h"
#include "api/tapis.h"
#include "base/text.h"
#include "spec/digest.h"

namespace atl::api {
namespace {

namespace json = boost::json;

std::string envelope(const char* status, const std::string& message, const json::value& result,
                     const std::string& version) {
  std::string body;
  spec::JsonWriter writer(body);
  writer.begin_object().member("status", status).member("message", message);
  writer.key("result").raw(json::serialize(result));
  writer.key("metadata").begin_object().end_object().member("version", version).end_object();
  return body;
}

// The number behind a UUID of ours: its first and last part. `kind` tells runs from executions.
std::optional<std::pair<uint32_t, uint64_t>> numbers_of(std::string_view uuid, const char* kind) {
  if (uuid.size() != 36 || uuid.substr(8, 16) != std::string("-") + kind + "-8000-8000-")
    return std::nullopt;
  uint64_t numbers[2] = {0, 0};
  const std::string_view parts[2] = {uuid.substr(0, 8), uuid.substr(24)};
  for (int i = 0; i < 2; ++i) {
    for (const char c : parts[i]) {
      const int digit = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
      if (digit < 0) return std::nullopt;
      numbers[i] = numbers[i] * 16 + static_cast<uint64_t>(digit);
    }
  }
  return std::pair(static_cast<uint32_t>(numbers[0]), numbers[1]);
}

std::string uuid_of(uint32_t first, const char* kind, uint64_t last) {
  char text[40];
  std::snprintf(text, sizeof text, "%08x-%s-8000-8000-%012llx", first, kind,
                static_cast<unsigned long long>(last));
  return text;
}

// What it is that the path asks for, in words.
std::string not_offered(std::string_view path) {
  for (const auto& [part, what] : {std::pair("/archives", "archives of pipelines are"),
                                   {"/identities", "identities are"},
                                   {"/ci", "pipelines of type ci are"},
                                   {"/etl", "pipelines of type etl are"},
                                   {"/locks", "locks of pipelines are"},
                                   {"/executor/", "call-backs of an executor are"},
                                   {"/workflows/secrets", "secrets of users are"},
                                   {"/secrets", "setting secrets here is"}}) {
    if (path.find(part) != std::string_view::npos) {
      const bool secrets = std::string_view(part).ends_with("secrets");
      return std::string(what) + " not offered here" +
             (secrets ? "; an administrator of the group writes `atoll secret set NAME --ns GROUP`"
                      : "");
    }
  }
  return quote(path) + " is not offered here; of Tapis there are the routes of /v3/workflows";
}

}  // namespace

void answer_tapis(const CallPtr& call, const json::value& result, const std::string& message,
                  int status) {
  call->respond_json(envelope("success", message, result, call->context.options.version), status);
}

void answer_deed(const CallPtr& call, const std::string& what) {
  answer_tapis(call, json::value(json::string_view(what)), what);
}

http::Response tapis_refusal(int status, const Error& error, const std::string& version) {
  http::Response response;
  response.status = status;
  response.content_type = "application/json";
  response.body = envelope("error", error.message, nullptr, version);
  return response;
}

std::string run_uuid(WorkflowId run) { return uuid_of(0, "0000", run.value); }
std::string execution_uuid(core::StepRef step) {
  return uuid_of(step.step, "0001", step.workflow.value);
}

std::string name_uuid(const std::string& what) {
  const std::string hex = to_hex(spec::sha256(what));
  return hex.substr(0, 8) + "-" + hex.substr(8, 4) + "-8" + hex.substr(13, 3) + "-8" +
         hex.substr(17, 3) + "-" + hex.substr(20, 12);
}

Result<WorkflowId> run_of_uuid(std::string_view uuid) {
  const auto numbers = numbers_of(uuid, "0000");
  if (numbers && numbers->first == 0 && numbers->second > 0) return WorkflowId{numbers->second};
  return fail(ErrorCode::not_found, "there is no run " + quote(uuid), "run");
}

Result<core::StepRef> execution_of_uuid(std::string_view uuid) {
  const auto numbers = numbers_of(uuid, "0001");
  if (numbers && numbers->second > 0)
    return core::StepRef{WorkflowId{numbers->second}, numbers->first};
  return fail(ErrorCode::not_found, "there is no execution " + quote(uuid), "execution");
}

Result<TapisGroup> tapis_group(const core::State& table, const CallPtr& call) {
  const std::string name(call->request().param("group"));
  const core::Namespace* ns = table.namespace_named(name);
  if (!ns || !core::may_view(table, call->actor, ns->id))
    return fail(ErrorCode::not_found, "there is no group " + quote(name), "group");
  return TapisGroup{ns->id, name};
}

Result<TapisPipeline> tapis_pipeline(const core::State& state, const CallPtr& call) {
  auto group = tapis_group(state, call);
  if (!group) return tl::unexpected(group.error());
  const std::string id(call->request().param("pipeline"));
  const core::KeptDocument* kept = state.document(group->id, kTapisPipeline, id);
  if (!kept)
    return fail(ErrorCode::not_found,
                "group " + quote(group->name) + " has no pipeline " + quote(id), "pipeline");
  return TapisPipeline{std::move(*group), id, *kept};
}

Result<json::object> tapis_body(const CallPtr& call) {
  std::string body = call->exchange->take_body();
  if (trim(body).empty()) body = "{}";
  boost::system::error_code error;
  json::value value = json::parse(body, error);
  if (error) return fail(ErrorCode::invalid, "the body is no JSON: " + error.message());
  if (!value.is_object()) return fail(ErrorCode::invalid, "the body must be an object");
  return std::move(value.as_object());
}

core::Role role_to_change(const CallPtr& call, const core::KeptDocument& document) {
  return document.owner == call->actor.user ? core::Role::member : core::Role::admin;
}

std::string text_member(const json::object& object, std::string_view name) {
  const json::value* member = object.if_contains(name);
  return member && member->is_string() ? std::string(member->as_string()) : std::string();
}

void read_tapis(const CallPtr& call, const TapisGroup& group, std::string text, TapisRead then) {
  auto names = spec::tapis::templates_of(text);
  if (!names) return call->refuse(names.error());
  using Texts = spec::tapis::PipelineTexts;
  view(
      call,
      [group = group.id, names = *names](const core::State& state) -> Result<Texts> {
        Texts texts;
        for (const std::string& name : names) {
          if (const auto* kept = state.document(group, kTapisPipeline, name))
            texts[name] = kept->text;
        }
        return texts;
      },
      [call, text = std::move(text), then = std::move(then)](const Texts& texts) {
        const auto pipeline =
            spec::tapis::read_pipeline(text, [&](const std::string& name) -> Result<std::string> {
              const auto found = texts.find(name);
              if (found != texts.end()) return found->second;
              return fail(ErrorCode::not_found, "the group has no pipeline " + quote(name));
            });
        if (!pipeline) return call->refuse(pipeline.error());
        Texts all = texts;
        all[pipeline->id] = text;
        then(*pipeline, all);
      });
}

void refuse_tapis(const CallPtr& call) {
  call->refuse(400, {ErrorCode::invalid, not_offered(call->request().path), {}});
}

void show_tapis_health(const CallPtr& call) { answer_tapis(call, "healthy", "healthy"); }

// The one site and tenant is this server itself, which clients know by its address.
void list_tapis_tenants(const CallPtr& call) { answer_tapis(call, json::array()); }

}  // namespace atl::api
