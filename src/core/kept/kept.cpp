#include "core/kept/kept.h"

#include <iterator>

#include "base/check.h"
#include "base/text.h"
#include "core/application.h"
#include "core/decide.h"
#include "core/limits.h"

namespace atl::core {
namespace {

size_t documents_of(const State& state, NamespaceId ns) {
  const auto first = state.kept.lower_bound({ns, "", ""});
  const auto last = state.kept.lower_bound({NamespaceId{ns.value + 1}, "", ""});
  return static_cast<size_t>(std::distance(first, last));
}

Error no_such_document(const std::string& kind, const std::string& name) {
  return {ErrorCode::not_found, "there is no " + kind + " " + quote(name), "name"};
}

Result<void> check_version(const KeepDocument& command, const KeptDocument* known) {
  if (command.create_only && known)
    return fail(ErrorCode::conflict,
                "there is a " + command.kind + " " + quote(command.name) + " already", "name");
  if (!command.expected || *command.expected == (known ? known->version : 0)) return {};
  return fail(ErrorCode::conflict,
              command.kind + " " + quote(command.name) + " was changed by somebody else",
              "version");
}

}  // namespace

Result<void> decide_command(const State& state, const Actor& actor, const KeepDocument& command,
                            Draft& draft) {
  const auto ns = namespace_for(state, actor, command.ns, command.role);
  if (!ns) return tl::unexpected(ns.error());
  if (command.name.empty()) return fail(ErrorCode::invalid, "it needs a name", "name");
  if (auto ok = check_name(command.name, "name", kNameBytesMax); !ok) return ok;
  if (command.text.size() > kDocumentBytesMax)
    return fail(ErrorCode::invalid, "it may have at most 1 MiB", "text");
  const KeptDocument* known = state.document((*ns)->id, command.kind, command.name);
  if (auto ok = check_version(command, known); !ok) return ok;
  if (!known && documents_of(state, (*ns)->id) >= kDocumentsMax)
    return fail(ErrorCode::exhausted,
                "namespace " + command.ns + " has 10000 documents; delete some first");
  UserId owner = known ? known->owner : actor.user;
  if (command.owner) {
    const User* named = state.user_named(*command.owner);
    if (!named)
      return fail(ErrorCode::not_found, "there is no user " + quote(*command.owner), "owner");
    owner = named->id;
  }
  draft.add(DocumentKept{{(*ns)->id, command.kind, command.name}, command.text, owner});
  return {};
}

Result<void> decide_command(const State& state, const Actor& actor, const DropDocument& command,
                            Draft& draft) {
  const auto ns = namespace_for(state, actor, command.ns, command.role);
  if (!ns) return tl::unexpected(ns.error());
  if (!state.document((*ns)->id, command.kind, command.name))
    return tl::unexpected(no_such_document(command.kind, command.name));
  draft.add(DocumentDropped{{(*ns)->id, command.kind, command.name}});
  return {};
}

void Application::operator()(const DocumentKept& e) {
  KeptDocument& document = state_.kept[e.key];
  document = {e.text, e.owner, at_, document.version + 1};
}

void Application::operator()(const DocumentDropped& e) {
  CHECK(state_.kept.erase(e.key) == 1, "no " + e.key.kind + " " + e.key.name + " to drop");
}

}  // namespace atl::core
