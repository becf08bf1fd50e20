// Who is known, as of the last commit: a published copy of the people's part of the state, so that
// authentication and every check of "may they see this" run on any thread without asking the
// core's.
#pragma once

#include <memory>
#include <mutex>

#include "core/state.h"

namespace atl::auth {

class Directory {
 public:
  // Users, tokens and namespaces with their derived indices, of sites only id, name and kind, and
  // of cohorts only id and name.
  // The functions of core/authorize.h apply to it as they do to the state itself; whatever counts
  // work in it is stale.
  using Table = std::shared_ptr<const core::State>;

  // On the runtime's thread: after open(), and after each commit.
  void refresh(const core::State& state);
  void on_commit(const core::State& state, const core::Events& events);

  // From any thread; the copy stays as it is for as long as it is held.
  Table table() const;

 private:
  mutable std::mutex mutex_;
  Table table_ = std::make_shared<core::State>();
};

}  // namespace atl::auth
