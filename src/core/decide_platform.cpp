#include <algorithm>

#include "base/text.h"
#include "core/decide.h"
#include "core/limits.h"
#include "core/queue/index.h"
#include "core/schedule/index.h"
#include "core/site_choice.h"

namespace atl::core {
namespace {

Result<const User*> named_user(const State& state, const std::string& name) {
  if (const User* user = state.user_named(name)) return user;
  return fail(ErrorCode::not_found, "there is no user " + quote(name), "user");
}

size_t admins_of(const Namespace& ns) {
  return static_cast<size_t>(std::count_if(ns.members.begin(), ns.members.end(),
                                           [](const auto& m) { return m.second == Role::admin; }));
}

bool last_platform_admin(const State& state, UserId user) {
  for (const auto& [id, other] : state.users) {
    if (id != user && other.platform_admin && !other.disabled) return false;
  }
  return true;
}

}  // namespace

Error no_such_site(const State& state, const std::string& name, const std::string& field) {
  std::string there;
  for (const auto& [id, site] : state.sites) there += (there.empty() ? "" : ", ") + site.name;
  return {ErrorCode::not_found,
          "there is no site " + quote(name) + (there.empty() ? "" : "; the sites are " + there),
          field};
}

Result<void> decide_command(const State& state, const Actor& actor, const CreateUser& command,
                            Draft& draft) {
  if (!state.users.empty()) {
    if (auto ok = require_platform_admin(state, actor); !ok) return ok;
  }
  if (auto ok = check_identifier(command.name, "name"); !ok) return ok;
  if (state.user_named(command.name))
    return fail(ErrorCode::conflict, "user " + quote(command.name) + " exists", "name");
  if (command.uid && state.user_uids.count(*command.uid)) {
    return fail(ErrorCode::conflict,
                "account " + std::to_string(*command.uid) + " belongs to another user", "uid");
  }
  draft.add(UserCreated{UserId{state.counters.user + 1}, command.name, command.platform_admin,
                        command.uid});
  return {};
}

Result<void> decide_command(const State& state, const Actor& actor, const ChangeUser& command,
                            Draft& draft) {
  if (auto ok = require_platform_admin(state, actor); !ok) return ok;
  const auto found = named_user(state, command.name);
  if (!found) return tl::unexpected(found.error());
  const User& user = **found;
  UserChanged changed{user.id, command.disabled.value_or(user.disabled),
                      command.platform_admin.value_or(user.platform_admin),
                      command.uid ? command.uid : user.uid};
  if ((changed.disabled || !changed.platform_admin) && user.platform_admin &&
      last_platform_admin(state, user.id)) {
    return fail(ErrorCode::conflict, user.name + " is the last platform administrator", "user");
  }
  if (command.uid && user.uid != command.uid && state.user_uids.count(*command.uid)) {
    return fail(ErrorCode::conflict,
                "account " + std::to_string(*command.uid) + " belongs to another user", "uid");
  }
  draft.add(changed);
  return {};
}

Result<void> decide_command(const State& state, const Actor& actor, const CreateNamespace& command,
                            Draft& draft) {
  if (auto ok = require_platform_admin(state, actor); !ok) return ok;
  if (auto ok = check_identifier(command.name, "name"); !ok) return ok;
  if (state.namespace_named(command.name)) {
    return fail(ErrorCode::conflict, "namespace " + quote(command.name) + " exists", "name");
  }
  UserId admin = actor.user;
  if (!command.admin.empty()) {
    const auto user = named_user(state, command.admin);
    if (!user) return tl::unexpected(user.error());
    admin = (*user)->id;
  }
  const NamespaceId id{state.counters.ns + 1};
  draft.add(NamespaceCreated{id, command.name});
  draft.add(MemberSet{id, admin, Role::admin});
  return {};
}

Result<void> decide_command(const State& state, const Actor& actor, const DeleteNamespace& command,
                            Draft& draft) {
  if (auto ok = require_platform_admin(state, actor); !ok) return ok;
  const Namespace* ns = state.namespace_named(command.name);
  if (!ns)
    return fail(ErrorCode::not_found, "there is no namespace " + quote(command.name), "name");
  if (ns->name == kDefaultNamespace) {
    return fail(ErrorCode::conflict,
                "namespace " + ns->name + " is where jobs go that name none; it stays", "name");
  }
  if (ns->jobs > 0 || ns->workflows > 0) {
    const std::string what = ns->jobs > 0 ? std::to_string(ns->jobs) + " jobs"
                                          : std::to_string(ns->workflows) + " workflows";
    return fail(ErrorCode::conflict, "namespace " + ns->name + " still has " + what, "name");
  }
  for (const auto& [id, reservation] : state.reservations) {
    const auto& whose = reservation.namespaces;
    if (std::find(whose.begin(), whose.end(), ns->id) != whose.end())
      return fail(
          ErrorCode::conflict,
          "reservation " + reservation.name + " is for namespace " + ns->name + "; cancel it first",
          "name");
  }
  if (const WorkQueue* queue = first_queue_of(state, ns->id)) {
    return fail(ErrorCode::conflict,
                "namespace " + ns->name + " still has the queue " + queue->name +
                    "; delete its queues first",
                "name");
  }
  if (const Schedule* schedule = first_schedule_of(state, ns->id)) {
    return fail(ErrorCode::conflict,
                "namespace " + ns->name + " still has the schedule " + schedule->name +
                    "; delete its schedules first",
                "name");
  }
  draft.add(NamespaceDeleted{ns->id});
  return {};
}

Result<void> decide_command(const State& state, const Actor& actor, const SetQuota& command,
                            Draft& draft) {
  if (auto ok = require_platform_admin(state, actor); !ok) return ok;
  const Namespace* ns = state.namespace_named(command.ns);
  if (!ns)
    return fail(ErrorCode::not_found, "there is no namespace " + quote(command.ns), "namespace");
  if (auto ok = check_quota(command.quota); !ok) return ok;
  return draft_within_cohorts(state, QuotaSet{ns->id, command.quota}, draft);
}

Result<void> decide_command(const State& state, const Actor& actor, const SetMember& command,
                            Draft& draft) {
  const auto ns = namespace_for(state, actor, command.ns, Role::admin);
  if (!ns) return tl::unexpected(ns.error());
  const auto user = named_user(state, command.user);
  if (!user) return tl::unexpected(user.error());
  const auto member = (*ns)->members.find((*user)->id);
  const bool demoted = member != (*ns)->members.end() && member->second == Role::admin &&
                       command.role != Role::admin;
  if (demoted && admins_of(**ns) == 1) {
    return fail(ErrorCode::conflict, (*user)->name + " is the last administrator of " + (*ns)->name,
                "user");
  }
  draft.add(MemberSet{(*ns)->id, (*user)->id, command.role});
  return {};
}

Result<void> decide_command(const State& state, const Actor& actor, const RemoveMember& command,
                            Draft& draft) {
  const auto ns = namespace_for(state, actor, command.ns, Role::admin);
  if (!ns) return tl::unexpected(ns.error());
  const auto user = named_user(state, command.user);
  if (!user) return tl::unexpected(user.error());
  const auto member = (*ns)->members.find((*user)->id);
  if (member == (*ns)->members.end())
    return fail(ErrorCode::not_found, (*user)->name + " is not a member", "user");
  if (member->second == Role::admin && admins_of(**ns) == 1) {
    return fail(ErrorCode::conflict, (*user)->name + " is the last administrator of " + (*ns)->name,
                "user");
  }
  draft.add(MemberRemoved{(*ns)->id, (*user)->id});
  return {};
}

Result<void> decide_command(const State& state, const Actor& actor, const CreateToken& command,
                            Draft& draft) {
  UserId owner = actor.user;
  if (!command.user.empty()) {
    const auto user = named_user(state, command.user);
    if (!user) return tl::unexpected(user.error());
    owner = (*user)->id;
  }
  if (owner != actor.user) {
    if (auto ok = require_platform_admin(state, actor); !ok) return ok;
  }
  if (auto ok = check_name(command.note, "note", kNameBytesMax); !ok) return ok;
  TokenCreated token{TokenId{state.counters.token + 1},
                     owner,
                     command.hash,
                     command.note,
                     {},
                     command.read_only,
                     {}};
  if (command.lifetime.us < 0)
    return fail(ErrorCode::invalid, "a lifetime cannot be negative", "expires_in");
  if (command.lifetime.us > 0) token.expires = draft.now() + command.lifetime;
  // Nor does it live longer than the one that made it.
  if (actor.expires && (!token.expires || token.expires > actor.expires))
    token.expires = actor.expires;
  for (const std::string& name : command.namespaces) {
    const Namespace* ns = state.namespace_named(name);
    if (!ns || !may_view(state, Actor{owner, false, {}, {}}, ns->id)) {
      return fail(
          ErrorCode::not_found,
          "there is no namespace " + quote(name) + ", or the token's user is not a member of it",
          "namespaces");
    }
    token.namespaces.push_back(ns->id);
  }
  // A token never opens more than the one that made it.
  if (token.namespaces.empty()) token.namespaces = actor.namespaces;
  for (const NamespaceId ns : token.namespaces) {
    if (!may_view(state, actor, ns))
      return fail(ErrorCode::forbidden, "this token does not reach that namespace", "namespaces");
  }
  draft.add(std::move(token));
  return {};
}

Result<void> decide_command(const State& state, const Actor& actor, const RevokeToken& command,
                            Draft& draft) {
  const auto it = state.tokens.find(command.id);
  const bool own = it != state.tokens.end() && reaches(actor, it->second);
  if (!own && !require_platform_admin(state, actor))
    return fail(ErrorCode::not_found, "you have no such token", "id");
  if (it == state.tokens.end()) return fail(ErrorCode::not_found, "there is no such token", "id");
  draft.add(TokenRevoked{command.id});
  return {};
}

Result<void> decide_command(const State& state, const Actor& actor, const AddSite& command,
                            Draft& draft) {
  if (auto ok = require_platform_admin(state, actor); !ok) return ok;
  if (auto ok = check_identifier(command.name, "name"); !ok) return ok;
  if (state.site_named(command.name))
    return fail(ErrorCode::conflict, "site " + quote(command.name) + " exists", "name");
  if (command.name == kAnySite)
    return fail(ErrorCode::invalid,
                "no site may be called any: work that says so means all of them", "name");
  if (command.definition.size() > kSiteDefinitionBytesMax)
    return fail(ErrorCode::too_large, "the settings of a site may have at most 256 KiB", "site");
  draft.add(
      SiteAdded{SiteId{state.counters.site + 1}, command.name, command.kind, command.definition});
  return {};
}

Result<void> decide_command(const State& state, const Actor& actor, const RemoveSite& command,
                            Draft& draft) {
  if (auto ok = require_platform_admin(state, actor); !ok) return ok;
  const Site* site = state.site_named(command.name);
  if (!site) return tl::unexpected(no_such_site(state, command.name, "name"));
  for (const auto& [name, node] : site->nodes) {
    if (!node.holders.empty())
      return fail(ErrorCode::conflict,
                  "site " + site->name + " still runs work: `atoll site drain " + site->name +
                      "` lets it end and starts no more, and then it can be removed",
                  "name");
  }
  draft.add(SiteRemoved{site->id});
  return {};
}

Result<void> decide_command(const State& state, const Actor& actor, const DrainSite& command,
                            Draft& draft) {
  if (auto ok = require_platform_admin(state, actor); !ok) return ok;
  const Site* site = state.site_named(command.name);
  if (!site) return tl::unexpected(no_such_site(state, command.name, "name"));
  if (site->draining == command.draining) return {};
  draft.add(SiteDrained{site->id, command.draining});
  for (const auto& [until, task] : state.recalls) {
    const Placement* placement = placement_of(state.job(task.job)->tasks.at(task.index).state);
    if (command.draining && placement->site == site->id) recall(state, task, draft);
  }
  return {};
}

Result<void> decide_command(const State& state, const Actor& actor, const DrainNode& command,
                            Draft& draft) {
  if (auto ok = require_platform_admin(state, actor); !ok) return ok;
  const Site* site = state.site_named(command.site);
  if (!site) return tl::unexpected(no_such_site(state, command.site, "site"));
  const auto node = site->nodes.find(command.node);
  if (node == site->nodes.end())
    return fail(ErrorCode::not_found, "site " + site->name + " has no node " + quote(command.node),
                "node");
  if (node->second.draining == command.draining) return {};
  draft.add(NodeDrained{site->id, command.node, command.draining});
  for (const auto& [until, task] : state.recalls) {
    const Placement* placement = placement_of(state.job(task.job)->tasks.at(task.index).state);
    if (command.draining && placement->site == site->id && placement->node == command.node)
      recall(state, task, draft);
  }
  return {};
}

Result<void> decide_command(const State& state, const Actor& actor, const RecordDeed& command,
                            Draft& draft) {
  if (std::holds_alternative<BackupAsked>(command.deed)) {
    if (auto ok = require_platform_admin(state, actor); !ok) return ok;
  } else if (auto ok = require_role(state, actor, command.ns, Role::member); !ok) {
    return ok;
  }
  std::visit([&](const auto& deed) { draft.add(deed); }, command.deed);
  return {};
}

}  // namespace atl::core
