// Groups of Tapis: namespaces with their members. An administrator of a group is one of the
// namespace; other users are members of it.
#include "api/handlers.h"
#include "api/tapis.h"
#include "base/text.h"

namespace atl::api {
namespace {

namespace json = boost::json;

json::object group_user(const core::State& table, const core::Namespace& ns, UserId user,
                        core::Role role) {
  const std::string name = name_of(table, user);
  return {{"group", ns.name},
          {"username", name},
          {"is_admin", role == core::Role::admin},
          {"uuid", name_uuid("user/" + ns.name + "/" + name)}};
}

json::object group_view(const core::State& table, const core::Namespace& ns, bool whole) {
  std::string owner;
  json::array users;
  for (const auto& [user, role] : ns.members) {
    if (owner.empty() && role == core::Role::admin) owner = name_of(table, user);
    if (whole) users.push_back(group_user(table, ns, user, role));
  }
  json::object made{{"id", ns.name},
                    {"owner", owner},
                    {"tenant_id", spec::tapis::kTenant},
                    {"uuid", name_uuid("group/" + ns.name)}};
  if (whole) made["users"] = std::move(users);
  return made;
}

// The group of the path as it is now, or the call is refused.
const core::Namespace* shown_group(const CallPtr& call, const core::State& table) {
  const auto group = tapis_group(table, call);
  if (group) return &table.namespaces.at(group->id);
  call->refuse(group.error());
  return nullptr;
}

std::string user_in_path(const CallPtr& call) {
  return std::string(call->request().param("username"));
}

Result<core::Role> role_in(const json::object& body) {
  const json::value* admin = body.if_contains("is_admin");
  if (!admin || admin->is_null()) return core::Role::member;
  if (!admin->is_bool())
    return fail(ErrorCode::invalid, "is_admin must be true or false", "is_admin");
  return admin->as_bool() ? core::Role::admin : core::Role::member;
}

void set_user(const CallPtr& call, const std::string& name, core::Role role, int status) {
  const std::string group(call->request().param("group"));
  command(call, core::SetMember{group, name, role}, {},
          [call, name, role, group, status](const runtime::Accepted&) {
            answer_tapis(call,
                         json::object{{"group", group},
                                      {"username", name},
                                      {"is_admin", role == core::Role::admin},
                                      {"uuid", name_uuid("user/" + group + "/" + name)}},
                         "success", status);
          });
}

struct NewGroup {
  std::string id;
  std::vector<std::pair<std::string, core::Role>> users;
};

// All of it is looked at before anything is made.
Result<NewGroup> new_group(const CallPtr& call, const core::State& table) {
  const auto body = tapis_body(call);
  if (!body) return tl::unexpected(body.error());
  NewGroup made;
  made.id = text_member(*body, "id");
  if (auto ok = check_identifier(made.id, "id"); !ok) return tl::unexpected(ok.error());
  const json::value* users = body->if_contains("users");
  if (!users || users->is_null()) return made;
  if (!users->is_array()) return fail(ErrorCode::invalid, "users must be a list", "users");
  for (const json::value& each : users->as_array()) {
    const std::string path = "users[" + std::to_string(made.users.size()) + "]";
    if (!each.is_object()) return fail(ErrorCode::invalid, path + " must be an object", path);
    const std::string name = text_member(each.as_object(), "username");
    if (!table.user_named(name))
      return fail(ErrorCode::invalid, path + ".username: there is no user " + quote(name),
                  path + ".username");
    const auto role = role_in(each.as_object());
    if (!role) return tl::unexpected(role.error());
    made.users.emplace_back(name, *role);
  }
  return made;
}

// One member after the other; a group without some of them can be completed later.
void add_users(const CallPtr& call, std::shared_ptr<NewGroup> group, size_t at) {
  if (at == group->users.size()) {
    return answer_tapis(call, json::object{{"url", "/v3/workflows/groups/" + group->id}}, "created",
                        201);
  }
  const auto& [name, role] = group->users[at];
  command(call, core::SetMember{group->id, name, role}, {},
          [call, group, at](const runtime::Accepted&) { add_users(call, group, at + 1); });
}

}  // namespace

void list_tapis_groups(const CallPtr& call) {
  const auto table = call->context.directory.table();
  json::array all;
  for (const auto& [id, ns] : table->namespaces) {
    if (core::may_view(*table, call->actor, id)) all.push_back(group_view(*table, ns, false));
  }
  answer_tapis(call, all);
}

void show_tapis_group(const CallPtr& call) {
  const auto table = call->context.directory.table();
  if (const core::Namespace* ns = shown_group(call, *table))
    answer_tapis(call, group_view(*table, *ns, true));
}

void create_tapis_group(const CallPtr& call) {
  const auto table = call->context.directory.table();
  auto made = new_group(call, *table);
  if (!made) return call->refuse(made.error());
  auto group = std::make_shared<NewGroup>(std::move(*made));
  command(call, core::CreateNamespace{group->id, name_of(*table, call->actor.user)}, {},
          [call, group](const runtime::Accepted&) { add_users(call, group, 0); });
}

void delete_tapis_group(const CallPtr& call) {
  const std::string name(call->request().param("group"));
  command(call, core::DeleteNamespace{name}, {},
          [call, name](const runtime::Accepted&) { answer_deed(call, "deleted group " + name); });
}

void list_tapis_users(const CallPtr& call) {
  const auto table = call->context.directory.table();
  const core::Namespace* ns = shown_group(call, *table);
  if (!ns) return;
  json::array all;
  for (const auto& [user, role] : ns->members) all.push_back(group_user(*table, *ns, user, role));
  answer_tapis(call, all);
}

void show_tapis_user(const CallPtr& call) {
  const auto table = call->context.directory.table();
  const core::Namespace* ns = shown_group(call, *table);
  if (!ns) return;
  const core::User* user = table->user_named(user_in_path(call));
  const auto member = user ? ns->members.find(user->id) : ns->members.end();
  if (member == ns->members.end())
    return call->refuse({ErrorCode::not_found,
                         "group " + quote(ns->name) + " has no user " + quote(user_in_path(call)),
                         "username"});
  answer_tapis(call, group_user(*table, *ns, user->id, member->second));
}

void add_tapis_user(const CallPtr& call) {
  const auto body = tapis_body(call);
  if (!body) return call->refuse(body.error());
  const auto role = role_in(*body);
  if (!role) return call->refuse(role.error());
  set_user(call, text_member(*body, "username"), *role, 201);
}

void change_tapis_user(const CallPtr& call) {
  const auto body = tapis_body(call);
  if (!body) return call->refuse(body.error());
  const auto role = role_in(*body);
  if (!role) return call->refuse(role.error());
  set_user(call, user_in_path(call), *role, 200);
}

void remove_tapis_user(const CallPtr& call) {
  const std::string name = user_in_path(call);
  command(call, core::RemoveMember{std::string(call->request().param("group")), name}, {},
          [call, name](const runtime::Accepted&) { answer_deed(call, "removed user " + name); });
}

}  // namespace atl::api
