#include "bin/bootstrap.h"

#include <pwd.h>
#include <unistd.h>

#include <optional>

#include "base/text.h"

namespace atl::bin {
namespace {

Result<void> ask(runtime::Runtime& runtime, core::Command command) {
  std::optional<Result<runtime::Accepted>> answer;
  core::Actor actor;
  // The platform acts as its first administrator; on an empty state there is none yet.
  for (const auto& [id, user] : runtime.state().users) {
    if (user.platform_admin && !user.disabled && !actor.user) actor.user = id;
  }
  runtime.post({{actor, std::move(command)}, {}},
               [&](Result<runtime::Accepted> result) { answer = std::move(result); });
  while (runtime.step()) {
  }
  if (!answer) return fail(ErrorCode::internal, "the runtime did not answer");
  if (!*answer) return tl::unexpected(answer->error());
  return {};
}

Result<void> add_missing_sites(runtime::Runtime& runtime, const Config& config) {
  for (const auto& [name, site] : config.sites) {
    const core::Site* known = runtime.state().site_named(name);
    if (known && !known->definition.empty())
      return fail(
          ErrorCode::conflict,
          "the configuration has a site " + quote(name) +
              ", and one of that name was added with `atoll site add`: give it another name "
              "in the configuration, or remove the other one first");
    if (known) continue;
    if (auto added = ask(runtime, core::AddSite{name, site.kind}); !added) return added;
  }
  return {};
}

// A site that the file no longer names has no driver: nothing may be placed there, and it goes once
// it is empty. Those that a command added are none of the file's business.
Result<void> retire_unknown_sites(runtime::Runtime& runtime, const Config& config) {
  std::vector<std::string> unknown;
  for (const auto& [id, site] : runtime.state().sites) {
    if (!config.sites.count(site.name) && site.definition.empty()) unknown.push_back(site.name);
  }
  for (const std::string& name : unknown) {
    if (ask(runtime, core::RemoveSite{name})) continue;
    if (auto drained = ask(runtime, core::DrainSite{name, true}); !drained) return drained;
  }
  return {};
}

}  // namespace

std::string own_account() {
  const passwd* entry = getpwuid(getuid());
  const std::string name = entry ? entry->pw_name : "";
  return check_identifier(name, "user") ? name : "uid-" + std::to_string(getuid());
}

Result<void> bootstrap(runtime::Runtime& runtime, const Config& config) {
  if (runtime.state().users.empty()) {
    if (auto made = ask(runtime, core::CreateUser{own_account(), true, getuid()}); !made)
      return made;
    if (auto made = ask(runtime, core::CreateNamespace{core::kDefaultNamespace, ""}); !made)
      return made;
  }
  if (auto added = add_missing_sites(runtime, config); !added) return added;
  return retire_unknown_sites(runtime, config);
}

}  // namespace atl::bin
