// Events as people see them: names instead of numbers, nothing secret, and only what the actor may
// see.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/input.h"
#include "core/state.h"
#include "journal/journal.h"

namespace atl::api {

// What an event does not say about its job. Of one that nobody remembers the indices are written,
// since it may have been an array.
struct EventJob {
  NamespaceId ns;
  bool array = true;
};

// A commit with what there is to know of the jobs in it, as far as they were alive. The rest is
// found in history.
struct SeenCommit {
  journal::Committed commit;
  std::map<JobId, EventJob> jobs;
};

// On the runtime's thread.
SeenCommit see(const core::State& state, journal::Committed commit);

struct EventFilter {
  core::Actor actor;
  NamespaceId ns;  // zero: any
  JobId job;       // zero: any
};

struct ShownEvent {
  const char* type = "";
  std::string json;
};
// `table` says who may see what (auth::Directory). Blocking: asks history for jobs that have ended.
std::vector<ShownEvent> show_commit(const core::State& table, journal::History& history,
                                    const EventFilter& filter, const SeenCommit& seen);

}  // namespace atl::api
