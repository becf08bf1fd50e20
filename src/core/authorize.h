// Who may do what. Roles belong to namespaces; platform administrators may do everything; a token
// narrows its user.
#pragma once

#include "core/input.h"
#include "core/state.h"

namespace atl::core {

// The user behind the request, when it may act at all (exists, not disabled).
[[nodiscard]] Result<const User*> known_actor(const State& state, const Actor& actor);

// For one that is not there and one that the actor may not see alike, so that names of other groups
// do not leak.
Error no_such_namespace(const std::string& name);

// Refuses unless the actor has at least `role` in the namespace. Someone who may not even see it is
// told that there is no such namespace: callers pass one that the actor has named, or whose job the
// actor may see.
[[nodiscard]] Result<void> require_role(const State& state, const Actor& actor, NamespaceId ns,
                                        Role role);

// The namespace of that name, if the actor has at least `role` there.
[[nodiscard]] Result<const Namespace*> namespace_for(const State& state, const Actor& actor,
                                                     const std::string& name, Role role);

[[nodiscard]] Result<void> require_platform_admin(const State& state, const Actor& actor);

// Refuses a read-only token; every command asks.
[[nodiscard]] Result<void> require_writable(const Actor& actor);

// Whether the actor may see the namespace.
bool may_view(const State& state, const Actor& actor, NamespaceId ns);

// Whether the token is the actor's own; a narrowed one reaches only those that open no more.
bool reaches(const Actor& actor, const Token& token);

// The namespaces the actor may see; nullopt means all of them.
std::optional<std::vector<NamespaceId>> visible_namespaces(const State& state, const Actor& actor);

// A live job the actor may act on: its submitter as member, or an administrator of its namespace.
[[nodiscard]] Result<const Job*> actionable_job(const State& state, const Actor& actor, JobId id);

}  // namespace atl::core
