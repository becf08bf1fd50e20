#include "api/context.h"
#include "api/handlers.h"
#include "api/requests.h"
#include "api/tapis.h"
#include "auth/token.h"
#include "base/text.h"

namespace atl::api {
namespace {

constexpr Duration kTokenLifetime = hours(24 * 90);

void write_user(spec::JsonWriter& json, const core::User& user) {
  json.begin_object()
      .member("name", user.name)
      .member("platform_admin", user.platform_admin)
      .member("disabled", user.disabled);
  json.key("uid");
  user.uid ? json.number(uint64_t{*user.uid}) : json.null();
  json.end_object();
}

void write_token(spec::JsonWriter& json, const core::State& table, const core::Token& token,
                 const std::string* secret) {
  json.begin_object()
      .member("id", std::to_string(token.id.value))
      .member("user", name_of(table, token.user));
  json.member("note", token.note).member("created", token.created).member("expires", token.expires);
  json.member("read_only", token.read_only).key("namespaces").begin_array();
  for (const NamespaceId ns : token.namespaces) json.text(name_of(table, ns));
  json.end_array().key("token");
  secret ? json.text(*secret) : json.null();
  json.end_object();
}

bool is_admin(const core::State& table, const core::Actor& actor) {
  return core::require_platform_admin(table, actor).has_value();
}

void then_show_user(const CallPtr& call, core::Command what, const std::string& name, int status) {
  command(call, std::move(what), {}, [call, name, status](const runtime::Accepted&) {
    // The directory was refreshed with this very commit, before the answer.
    const auto table = call->context.directory.table();
    const core::User* user = table->user_named(name);
    if (!user)
      return call->refuse({ErrorCode::not_found, "there is no user " + quote(name), "name"});
    std::string body;
    spec::JsonWriter json(body);
    write_user(json, *user);
    http::Headers headers;
    if (status == 201) headers.add("Location", "/api/v1/users/" + name);
    call->respond_json(std::move(body), status, std::move(headers));
  });
}

}  // namespace

// Names of users are no secret among users; accounts and states are shown to administrators and to
// oneself.
void list_users(const CallPtr& call) {
  const auto table = call->context.directory.table();
  if (auto ok = core::require_platform_admin(*table, call->actor); !ok)
    return call->refuse(ok.error());
  std::string body;
  spec::JsonWriter json(body);
  json.begin_object().key("users").begin_array();
  for (const auto& [id, user] : table->users) write_user(json, user);
  json.end_array().end_object();
  call->respond_json(std::move(body));
}

void show_user(const CallPtr& call) {
  const auto table = call->context.directory.table();
  const std::string name(call->request().param("user"));
  const core::User* user = table->user_named(name);
  const bool own = user && user->id == call->actor.user;
  if (!own) {
    if (auto ok = core::require_platform_admin(*table, call->actor); !ok)
      return call->refuse(ok.error());
  }
  if (!user) return call->refuse({ErrorCode::not_found, "there is no user " + quote(name), "user"});
  std::string body;
  spec::JsonWriter json(body);
  write_user(json, *user);
  call->respond_json(std::move(body));
}

void create_user(const CallPtr& call) {
  const auto wish = body_of<UserWish>(call);
  if (!wish) return;
  core::CreateUser what{*wish->name, wish->platform_admin.value_or(false), {}};
  if (wish->uid) what.uid = static_cast<uint32_t>(*wish->uid);
  then_show_user(call, what, what.name, 201);
}

void change_user(const CallPtr& call) {
  const auto wish = body_of<UserChange>(call);
  if (!wish) return;
  core::ChangeUser what{
      std::string(call->request().param("user")), wish->disabled, wish->platform_admin, {}};
  if (wish->uid) what.uid = static_cast<uint32_t>(*wish->uid);
  then_show_user(call, what, what.name, 200);
}

void list_tokens(const CallPtr& call) {
  const auto table = call->context.directory.table();
  const bool all = is_admin(*table, call->actor);
  std::string body;
  spec::JsonWriter json(body);
  json.begin_object().key("tokens").begin_array();
  for (const auto& [id, token] : table->tokens) {
    if (all || core::reaches(call->actor, token)) write_token(json, *table, token, nullptr);
  }
  json.end_array().end_object();
  call->respond_json(std::move(body));
}

void create_token(const CallPtr& call) {
  const auto wish = body_of<TokenWish>(call);
  if (!wish) return;
  const auth::NewToken made = auth::make_token();
  core::CreateToken what;
  what.user = wish->user.value_or("");
  what.hash = made.hash;
  what.note = wish->note.value_or("");
  what.lifetime = wish->expires_in.value_or(kTokenLifetime);
  what.read_only = wish->read_only.value_or(false);
  what.namespaces = wish->namespaces.value_or(what.namespaces);
  const bool jwt = wish->jwt.value_or(false);
  command(call, what, {}, [call, jwt, secret = made.secret](const runtime::Accepted& accepted) {
    const auto table = call->context.directory.table();
    const auto* created = event_of<core::TokenCreated>(accepted);
    const auto token = created ? table->tokens.find(created->id) : table->tokens.end();
    if (token == table->tokens.end())
      return call->refuse({ErrorCode::internal, "the token was made but cannot be shown", {}});
    std::string body;
    spec::JsonWriter json(body);
    const std::string shown = jwt ? auth::as_jwt(secret, name_of(*table, token->second.user),
                                                 spec::tapis::kTenant, token->second.expires)
                                  : secret;
    write_token(json, *table, token->second, &shown);
    call->respond_json(std::move(body), 201, {{"Cache-Control", "no-store"}});
  });
}

void revoke_token(const CallPtr& call) {
  const auto id = parse_int(call->request().param("id"));
  if (!id || *id <= 0 || *id > UINT32_MAX)
    return call->refuse({ErrorCode::not_found, "there is no such token", "id"});
  command(call, core::RevokeToken{TokenId{static_cast<uint32_t>(*id)}}, {},
          [call](const runtime::Accepted&) { call->respond_empty(204); });
}

void show_whoami(const CallPtr& call) {
  const auto table = call->context.directory.table();
  const auto user = table->users.find(call->actor.user);
  if (user == table->users.end())
    return call->refuse({ErrorCode::unauthorized, "nobody is known behind this request", {}});
  std::string body;
  spec::JsonWriter json(body);
  json.begin_object()
      .member("name", user->second.name)
      .member("platform_admin", user->second.platform_admin);
  json.member("read_only", call->actor.read_only).key("namespaces").begin_object();
  for (const auto& [id, ns] : table->namespaces) {
    if (!core::may_view(*table, call->actor, id)) continue;
    const auto member = ns.members.find(call->actor.user);
    json.member(ns.name, user->second.platform_admin || member == ns.members.end()
                             ? "admin"
                             : enum_name(member->second));
  }
  json.end_object().end_object();
  call->respond_json(std::move(body));
}

}  // namespace atl::api
