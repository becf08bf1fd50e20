// Secrets of a namespace: set by its administrators, used by its members by name. No answer ever
// holds a value.
#include "api/context.h"
#include "api/handlers.h"
#include "api/requests.h"
#include "api/tapis.h"
#include "auth/vault.h"
#include "base/text.h"

namespace atl::api {
namespace {

namespace json = boost::json;

struct KeptSecret {
  std::string name;
  std::string owner;
  Time written;
};

// Those of a namespace that the actor is a member of.
Result<std::vector<KeptSecret>> secrets_in(const core::State& state, const CallPtr& call,
                                           const std::string& ns) {
  const core::Namespace* space = state.namespace_named(ns);
  if (!space || !core::may_view(state, call->actor, space->id))
    return tl::unexpected(core::no_such_namespace(ns));
  if (auto ok = core::require_role(state, call->actor, space->id, core::Role::member); !ok)
    return tl::unexpected(ok.error());
  std::vector<KeptSecret> found;
  for (auto at = state.kept.lower_bound({space->id, auth::kSecretKind, ""});
       at != state.kept.end() && at->first.ns == space->id && at->first.kind == auth::kSecretKind;
       ++at)
    found.push_back({at->first.name, name_of(state, at->second.owner), at->second.written});
  return found;
}

void write_secret(spec::JsonWriter& writer, const KeptSecret& secret) {
  writer.begin_object().member("name", secret.name).member("user", secret.owner);
  writer.member("set", secret.written).end_object();
}

std::string namespace_in_path(const CallPtr& call) {
  return std::string(call->request().param("namespace"));
}

json::object tapis_secret(const std::string& group, const KeptSecret& secret) {
  const std::string uuid = name_uuid("secret/" + group + "/" + secret.name);
  return {{"id", secret.name},
          {"group_id", group},
          {"uuid", uuid},
          {"secret",
           {{"id", secret.name},
            {"owner", secret.owner},
            {"tenant_id", spec::tapis::kTenant},
            {"uuid", uuid}}}};
}

void with_group_secrets(const CallPtr& call,
                        std::function<void(const std::vector<KeptSecret>&)> then) {
  const std::string group(call->request().param("group"));
  view(
      call, [call, group](const core::State& state) { return secrets_in(state, call, group); },
      [then = std::move(then)](const std::vector<KeptSecret>& found) { then(found); });
}

void drop_secret(const CallPtr& call, const std::string& ns, const std::string& name,
                 std::function<void()> done) {
  core::DropDocument what{ns, auth::kSecretKind, name, core::Role::admin};
  command(call, what, {}, [done = std::move(done)](const runtime::Accepted&) { done(); });
}

}  // namespace

void list_secrets(const CallPtr& call) {
  view(
      call,
      [call](const core::State& state) { return secrets_in(state, call, namespace_in_path(call)); },
      [call](const std::vector<KeptSecret>& found) {
        std::string body;
        spec::JsonWriter writer(body);
        writer.begin_object().key("secrets").begin_array();
        for (const KeptSecret& each : found) write_secret(writer, each);
        writer.end_array().end_object();
        call->respond_json(std::move(body));
      });
}

void set_secret(const CallPtr& call) {
  const auto table = call->context.directory.table();
  const std::string ns = namespace_in_path(call);
  const core::Namespace* space = table->namespace_named(ns);
  if (!space || !core::may_view(*table, call->actor, space->id))
    return call->refuse(core::no_such_namespace(ns));
  if (auto ok = core::require_role(*table, call->actor, space->id, core::Role::admin); !ok)
    return call->refuse(ok.error());
  const auto wish = body_of<SecretWish>(call);
  if (!wish) return;
  const std::string name(call->request().param("secret"));
  if (auto ok = check_identifier(name, "secret"); !ok) return call->refuse(ok.error());
  if (!call->context.options.vault)
    return call->refuse({ErrorCode::conflict, "this server keeps no secrets", {}});
  auto sealed = call->context.options.vault->seal(*wish->value);
  if (!sealed) return call->refuse(sealed.error());
  core::KeepDocument what;
  what.ns = ns;
  what.kind = auth::kSecretKind;
  what.name = name;
  what.text = std::move(*sealed);
  what.role = core::Role::admin;
  what.owner = name_of(*table, call->actor.user);  // who has set it last
  command(call, what, {}, [call, name, owner = *what.owner](const runtime::Accepted& accepted) {
    std::string body;
    spec::JsonWriter writer(body);
    const Time at = accepted.events.empty() ? Time{} : accepted.events.front().at;
    write_secret(writer, {name, owner, at});
    call->respond_json(std::move(body));
  });
}

void delete_secret(const CallPtr& call) {
  drop_secret(call, namespace_in_path(call), std::string(call->request().param("secret")),
              [call] { call->respond_empty(204); });
}

void list_tapis_secrets(const CallPtr& call) {
  with_group_secrets(call, [call](const std::vector<KeptSecret>& found) {
    json::array all;
    for (const KeptSecret& each : found)
      all.push_back(tapis_secret(std::string(call->request().param("group")), each));
    answer_tapis(call, all);
  });
}

void show_tapis_secret(const CallPtr& call) {
  with_group_secrets(call, [call](const std::vector<KeptSecret>& found) {
    const std::string name(call->request().param("secret"));
    for (const KeptSecret& each : found) {
      if (each.name == name)
        return answer_tapis(call, tapis_secret(std::string(call->request().param("group")), each));
    }
    call->refuse({ErrorCode::not_found, "the group has no secret " + quote(name), "secret"});
  });
}

void remove_tapis_secret(const CallPtr& call) {
  const std::string name(call->request().param("secret"));
  drop_secret(call, std::string(call->request().param("group")), name,
              [call, name] { answer_deed(call, "deleted secret " + name); });
}

}  // namespace atl::api
