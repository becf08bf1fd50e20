#include "api/context.h"
#include "api/handlers.h"
#include "api/quota_view.h"
#include "api/requests.h"
#include "base/text.h"
#include "core/notes.h"
#include "spec/platform_json.h"

namespace atl::api {
namespace {

constexpr size_t kNamespacesMax = 10'000;  // in one answer

struct Shown {
  std::vector<core::Namespace> list;
  std::vector<std::string> warnings;
};

void write_namespace(spec::JsonWriter& json, const core::State& table, const core::Namespace& ns,
                     const std::vector<std::string>& warnings = {}) {
  json.begin_object().member("name", ns.name).key("members").begin_object();
  for (const auto& [user, role] : ns.members) json.member(name_of(table, user), enum_name(role));
  json.end_object().key("cohort");
  ns.stake.cohort ? json.text(name_of(table, ns.stake.cohort)) : json.null();
  json.key("weight").milli(ns.stake.weight_milli).key("quota");
  write_quota(json, ns.quota);
  json.key("borrow");
  write_quota(json, ns.stake.borrow);
  json.key("in_use").begin_object();
  write_use(json, ns.in_use);
  json.member("queued", ns.jobs).end_object().key("borrowed");
  write_borrowed(json, ns.stake.cohort ? ns.quota : core::Quota{}, ns.in_use);
  if (!warnings.empty()) json.member("warnings", warnings);
  json.end_object();
}

std::string name_in_path(const CallPtr& call) {
  return std::string(call->request().param("namespace"));
}

// What should be known of what it was just given.
std::vector<std::string> notes_on_namespace(const core::State& state, const core::Namespace& ns,
                                            const core::Command& what) {
  if (const auto* set = std::get_if<core::SetQuota>(&what))
    return core::unknown_devices(state, set->quota);
  const auto* set = std::get_if<core::SetStake>(&what);
  if (!set || (!set->borrow && !set->cohort)) return {};
  auto notes = core::unknown_devices(state, set->borrow.value_or(core::Quota{}));
  core::note_idle_borrowing("namespace " + ns.name, bool(ns.stake.cohort), ns.stake.borrow, notes);
  return notes;
}

// Shows the namespace as it is once the command is durable.
void then_show_namespace(const CallPtr& call, const core::Command& what, const std::string& name,
                         int status) {
  command(call, what, {}, [call, what, name, status](const runtime::Accepted&) {
    view(
        call,
        [name, what](const core::State& state) -> Result<Shown> {
          const core::Namespace* ns = state.namespace_named(name);
          if (!ns) return tl::unexpected(core::no_such_namespace(name));
          return Shown{{*ns}, notes_on_namespace(state, *ns, what)};
        },
        [call, name, status](const Shown& shown) {
          std::string body;
          spec::JsonWriter json(body);
          write_namespace(json, *call->context.directory.table(), shown.list.front(),
                          shown.warnings);
          http::Headers headers;
          if (status == 201) headers.add("Location", "/api/v1/namespaces/" + name);
          call->respond_json(std::move(body), status, std::move(headers));
        });
  });
}

}  // namespace

void list_namespaces(const CallPtr& call) {
  view(
      call,
      [call](const core::State& state) -> Result<Shown> {
        Shown shown;
        for (const auto& [id, ns] : state.namespaces) {
          if (shown.list.size() < kNamespacesMax && core::may_view(state, call->actor, id))
            shown.list.push_back(ns);
        }
        return shown;
      },
      [call](const Shown& shown) {
        const auto table = call->context.directory.table();
        std::string body;
        spec::JsonWriter json(body);
        json.begin_object().key("namespaces").begin_array();
        for (const core::Namespace& ns : shown.list) write_namespace(json, *table, ns);
        json.end_array().end_object();
        call->respond_json(std::move(body));
      });
}

void show_namespace(const CallPtr& call) {
  view(
      call,
      [call, name = name_in_path(call)](const core::State& state) -> Result<core::Namespace> {
        const core::Namespace* ns = state.namespace_named(name);
        if (!ns || !core::may_view(state, call->actor, ns->id))
          return tl::unexpected(core::no_such_namespace(name));
        return *ns;
      },
      [call](const core::Namespace& ns) {
        std::string body;
        spec::JsonWriter json(body);
        write_namespace(json, *call->context.directory.table(), ns);
        call->respond_json(std::move(body));
      });
}

void create_namespace(const CallPtr& call) {
  const auto wish = body_of<NamespaceWish>(call);
  if (!wish) return;
  then_show_namespace(call, core::CreateNamespace{*wish->name, wish->admin.value_or("")},
                      *wish->name, 201);
}

void delete_namespace(const CallPtr& call) {
  command(call, core::DeleteNamespace{name_in_path(call)}, {},
          [call](const runtime::Accepted&) { call->respond_empty(204); });
}

void set_quota(const CallPtr& call) {
  const auto wish = body_of<spec::QuotaWish>(call);
  if (!wish) return;
  then_show_namespace(call, core::SetQuota{name_in_path(call), spec::to_quota(*wish)},
                      name_in_path(call), 200);
}

void change_namespace(const CallPtr& call) {
  const auto wish = body_of<spec::NamespaceChange>(call);
  if (!wish) return;
  core::SetStake set{name_in_path(call), wish->cohort, spec::to_weight(wish->weight), {}};
  if (wish->borrow) set.borrow = spec::to_quota(*wish->borrow);
  then_show_namespace(call, set, name_in_path(call), 200);
}

void set_member(const CallPtr& call) {
  const auto wish = body_of<MemberWish>(call);
  if (!wish) return;
  core::SetMember what{name_in_path(call), std::string(call->request().param("user")),
                       core::Role::member};
  if (!enum_from_name(*wish->role, what.role))
    return call->refuse({ErrorCode::invalid, "role is not known", "role"});
  then_show_namespace(call, what, what.ns, 200);
}

void remove_member(const CallPtr& call) {
  core::RemoveMember what{name_in_path(call), std::string(call->request().param("user"))};
  command(call, what, {}, [call](const runtime::Accepted&) { call->respond_empty(204); });
}

}  // namespace atl::api
