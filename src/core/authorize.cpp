#include "core/authorize.h"

#include <algorithm>

#include "base/text.h"

namespace atl::core {
namespace {

bool narrowed_away(const Actor& actor, NamespaceId ns) {
  return !actor.namespaces.empty() &&
         std::find(actor.namespaces.begin(), actor.namespaces.end(), ns) == actor.namespaces.end();
}

std::optional<Role> role_in(const State& state, const Actor& actor, NamespaceId ns) {
  const auto user = state.users.find(actor.user);
  const auto space = state.namespaces.find(ns);
  if (user == state.users.end() || user->second.disabled || space == state.namespaces.end())
    return std::nullopt;
  if (narrowed_away(actor, ns)) return std::nullopt;
  if (user->second.platform_admin) return Role::admin;
  const auto member = space->second.members.find(actor.user);
  return member == space->second.members.end() ? std::nullopt : std::optional(member->second);
}

}  // namespace

Result<const User*> known_actor(const State& state, const Actor& actor) {
  const auto it = state.users.find(actor.user);
  if (it == state.users.end())
    return fail(ErrorCode::unauthorized, "nobody is known behind this request");
  if (it->second.disabled)
    return fail(ErrorCode::forbidden, "user " + it->second.name + " is disabled");
  return &it->second;
}

Error no_such_namespace(const std::string& name) {
  return {ErrorCode::not_found,
          "there is no namespace " + quote(name) + ", or you are not a member of it", "namespace"};
}

Result<void> require_role(const State& state, const Actor& actor, NamespaceId ns, Role role) {
  const auto has = role_in(state, actor, ns);
  if (!has) {
    const auto space = state.namespaces.find(ns);
    return tl::unexpected(
        no_such_namespace(space == state.namespaces.end() ? std::string() : space->second.name));
  }
  if (*has >= role) return {};
  return fail(ErrorCode::forbidden,
              std::string("this needs the role ") + enum_name(role) + " in namespace " +
                  state.namespaces.at(ns).name + "; yours is " + enum_name(*has),
              "namespace");
}

Result<const Namespace*> namespace_for(const State& state, const Actor& actor,
                                       const std::string& name, Role role) {
  const Namespace* ns = state.namespace_named(name);
  if (!ns) return tl::unexpected(no_such_namespace(name));
  if (auto allowed = require_role(state, actor, ns->id, role); !allowed)
    return tl::unexpected(allowed.error());
  return ns;
}

Result<void> require_platform_admin(const State& state, const Actor& actor) {
  const auto user = known_actor(state, actor);
  if (!user) return tl::unexpected(user.error());
  if ((*user)->platform_admin && actor.namespaces.empty()) return {};
  return fail(ErrorCode::forbidden, "only a platform administrator may do this");
}

Result<void> require_writable(const Actor& actor) {
  if (!actor.read_only) return {};
  return fail(ErrorCode::forbidden, "this token may only read");
}

bool may_view(const State& state, const Actor& actor, NamespaceId ns) {
  return role_in(state, actor, ns).has_value();
}

bool reaches(const Actor& actor, const Token& token) {
  if (token.user != actor.user) return false;
  if (actor.namespaces.empty()) return true;
  const auto within = [&](NamespaceId ns) {
    return std::find(actor.namespaces.begin(), actor.namespaces.end(), ns) !=
           actor.namespaces.end();
  };
  return !token.namespaces.empty() &&
         std::all_of(token.namespaces.begin(), token.namespaces.end(), within);
}

std::optional<std::vector<NamespaceId>> visible_namespaces(const State& state, const Actor& actor) {
  const auto user = known_actor(state, actor);
  if (user && (*user)->platform_admin && actor.namespaces.empty()) return std::nullopt;
  std::vector<NamespaceId> visible;
  for (const auto& [id, ns] : state.namespaces) {
    if (may_view(state, actor, id)) visible.push_back(id);
  }
  return visible;
}

Result<const Job*> actionable_job(const State& state, const Actor& actor, JobId id) {
  const Job* job = state.job(id);
  if (!job || !may_view(state, actor, job->ns)) {
    return fail(ErrorCode::not_found, "no job " + to_string(id) + " is waiting or running", "id");
  }
  const Role needed = job->user == actor.user ? Role::member : Role::admin;
  if (auto allowed = require_role(state, actor, job->ns, needed); !allowed) {
    return fail(ErrorCode::forbidden,
                "job " + to_string(id) +
                    " belongs to another user; only they or an administrator of the namespace may",
                "id");
  }
  return job;
}

}  // namespace atl::core
