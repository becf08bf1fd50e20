// The whole platform as one document: what is in force, and what shall be.
#include "api/context.h"
#include "api/handlers.h"
#include "core/notes.h"
#include "spec/platform_change.h"
#include "spec/platform_json.h"

namespace atl::api {
namespace {

const char* word_of(char sign) { return sign == '+' ? "add" : sign == '-' ? "remove" : "change"; }

// What would change, and what should be known of it.
struct Difference {
  std::vector<spec::Change> changes;
  std::vector<std::string> warnings;
};

Result<Difference> look_at(const CallPtr& call, const core::State& state,
                           const core::ApplyPlatform& order) {
  auto changes = spec::preview(state, call->actor, order, call->context.options.now());
  if (!changes) return tl::unexpected(changes.error());
  core::Quota named;
  for (const auto& each : order.cohorts) {
    named.devices.insert(each.quota.devices.begin(), each.quota.devices.end());
    named.devices.insert(each.borrow.devices.begin(), each.borrow.devices.end());
  }
  for (const auto& each : order.namespaces) {
    named.devices.insert(each.quota.devices.begin(), each.quota.devices.end());
    named.devices.insert(each.borrow.devices.begin(), each.borrow.devices.end());
  }
  for (const auto& each : order.calendar)
    named.devices.insert(each.limit.devices.begin(), each.limit.devices.end());
  auto notes = core::unknown_devices(state, named);
  for (const auto& each : order.cohorts)
    core::note_idle_borrowing("cohort " + each.name, !each.parent.empty(), each.borrow, notes);
  for (const auto& each : order.namespaces)
    core::note_idle_borrowing("namespace " + each.name, !each.cohort.empty(), each.borrow, notes);
  return Difference{std::move(*changes), std::move(notes)};
}

void text_or_null(spec::JsonWriter& json, const char* key, const std::string& text) {
  json.key(key);
  text.empty() ? json.null() : json.text(text);
}

void respond_changes(const CallPtr& call, const Difference& difference, bool applied) {
  std::string body;
  spec::JsonWriter json(body);
  json.begin_object().member("applied", applied).key("changes").begin_array();
  for (const spec::Change& each : difference.changes) {
    json.begin_object().member("change", word_of(each.sign)).member("kind", each.kind);
    json.member("name", each.name).member("field", each.field);
    text_or_null(json, "from", each.from);
    text_or_null(json, "to", each.to);
    json.end_object();
  }
  json.end_array().member("warnings", difference.warnings).end_object();
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
        call, [call, order](const core::State& state) { return look_at(call, state, order); },
        [call](const Difference& difference) { respond_changes(call, difference, false); });
  }
  // Looked at on the very state that the command is decided on.
  auto difference = std::make_shared<Difference>();
  command(
      call, order, {},
      [call, difference](const runtime::Accepted&) { respond_changes(call, *difference, true); },
      [call, order, difference](const core::State& state) -> Result<void> {
        auto found = look_at(call, state, order);
        if (!found) return tl::unexpected(found.error());
        *difference = std::move(*found);
        return {};
      });
}

}  // namespace atl::api
