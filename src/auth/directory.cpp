#include "auth/directory.h"

#include <algorithm>

namespace atl::auth {
namespace {

template <class Body, class... Concerned>
constexpr bool is_one_of = (std::is_same_v<Body, Concerned> || ...);

bool concerns(const core::Event& event) {
  return std::visit(
      [](const auto& body) {
        return is_one_of<std::remove_cvref_t<decltype(body)>, core::UserCreated, core::UserChanged,
                         core::NamespaceCreated, core::NamespaceDeleted, core::MemberSet,
                         core::MemberRemoved, core::TokenCreated, core::TokenRevoked,
                         core::SiteAdded, core::SiteRemoved, core::CohortSet, core::CohortDeleted>;
      },
      event.body);
}

}  // namespace

void Directory::refresh(const core::State& state) {
  auto table = std::make_shared<core::State>();
  table->now = state.now;
  table->users = state.users;
  table->tokens = state.tokens;
  table->namespaces = state.namespaces;
  table->user_names = state.user_names;
  table->user_uids = state.user_uids;
  table->namespace_names = state.namespace_names;
  table->token_hashes = state.token_hashes;
  table->site_names = state.site_names;
  for (const auto& [id, site] : state.sites) {
    core::Site& copy = table->sites[id];
    copy.id = id;
    copy.name = site.name;
    copy.kind = site.kind;
  }
  for (const auto& [id, cohort] : state.cohorts) {
    core::Cohort& copy = table->cohorts[id];
    copy.id = id;
    copy.name = cohort.name;
  }
  const std::lock_guard lock(mutex_);
  table_ = std::move(table);
}

void Directory::on_commit(const core::State& state, const core::Events& events) {
  if (std::any_of(events.begin(), events.end(), concerns)) refresh(state);
}

Directory::Table Directory::table() const {
  const std::lock_guard lock(mutex_);
  return table_;
}

}  // namespace atl::auth
