// The whole platform as one document: what is in force, and what shall be.
#include "api/context.h"
#include "api/handlers.h"
#include "spec/platform_change.h"
#include "spec/platform_json.h"

namespace atl::api {
namespace {

const char* word_of(char sign) { return sign == '+' ? "add" : sign == '-' ? "remove" : "change"; }

void respond_changes(const CallPtr& call, const std::vector<spec::Change>& changes, bool applied) {
  std::string body;
  spec::JsonWriter json(body);
  json.begin_object().member("applied", applied).key("changes").begin_array();
  for (const spec::Change& each : changes) {
    json.begin_object().member("change", word_of(each.sign)).member("kind", each.kind);
    json.member("name", each.name).member("field", each.field);
    json.member("from", each.from).member("to", each.to).end_object();
  }
  json.end_array().end_object();
  call->respond_json(std::move(body));
}

bool flag(const CallPtr& call, const char* name) {
  const auto given = call->query_all(name);
  return !given.empty() && given.back() == "true";
}

}  // namespace

void show_platform(const CallPtr& call) {
  view(
      call,
      [call](const core::State& state) -> Result<spec::PlatformFile> {
        if (auto ok = core::require_platform_admin(state, call->actor); !ok)
          return tl::unexpected(ok.error());
        return spec::in_force(state);
      },
      [call](const spec::PlatformFile& file) {
        call->respond_json(spec::to_json(spec::to_wish(file)));
      });
}

void apply_platform(const CallPtr& call) {
  const auto wish = body_of<spec::PlatformWish>(call);
  if (!wish) return;
  const auto file = spec::to_platform_file(*wish);
  if (!file) return call->refuse(file.error());
  const core::ApplyPlatform order = spec::to_command(*file, flag(call, "prune"));
  if (flag(call, "dry_run")) {
    return view(
        call,
        [call, order](const core::State& state) {
          return spec::preview(state, call->actor, order);
        },
        [call](const std::vector<spec::Change>& changes) {
          respond_changes(call, changes, false);
        });
  }
  // Looked at on the very state that the command is decided on.
  auto changes = std::make_shared<std::vector<spec::Change>>();
  command(
      call, order, {},
      [call, changes](const runtime::Accepted&) { respond_changes(call, *changes, true); },
      [call, order, changes](const core::State& state) -> Result<void> {
        auto found = spec::preview(state, call->actor, order);
        if (!found) return tl::unexpected(found.error());
        *changes = std::move(*found);
        return {};
      });
}

}  // namespace atl::api
