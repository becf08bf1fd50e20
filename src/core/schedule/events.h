// What happens to schedules. Members are only appended: their order is the journal's format.
#pragma once

#include <string>
#include <vector>

#include "core/schedule/schedule.h"

namespace atl::core {

// Made or changed.
struct ScheduleSet {
  ScheduleId id;
  uint32_t revision = 1;
  NamespaceId ns;
  UserId user;
  std::string name;
  ScheduleTerms terms;
  std::vector<Time> due;
  bool paused = false;
  bool operator==(const ScheduleSet&) const = default;
};
struct ScheduleDeleted {
  ScheduleId id;
  NamespaceId ns;
  bool operator==(const ScheduleDeleted&) const = default;
};
struct SchedulePaused {
  ScheduleId id;
  NamespaceId ns;
  bool paused = true;
  bool operator==(const SchedulePaused&) const = default;
};
// Its times are used up; those behind `after` come next.
struct ScheduleAsked {
  ScheduleId id;
  Time after;
  bool operator==(const ScheduleAsked&) const = default;
};
struct ScheduleTimed {
  ScheduleId id;
  std::vector<Time> due;  // none: it never comes again
  bool operator==(const ScheduleTimed&) const = default;
};
struct ScheduleFired {
  ScheduleId id;
  NamespaceId ns;
  uint64_t number = 0;
  Cause cause = Cause::time;
  Time planned;  // times up to here are dealt with
  bool late = false;
  std::string body;
  std::vector<std::string> keys;
  std::string look;  // of the file that the body names
  bool operator==(const ScheduleFired&) const = default;
};
// Times up to `through` passed without a run.
struct ScheduleSkipped {
  ScheduleId id;
  NamespaceId ns;
  uint64_t number = 0;
  Time through;
  std::string message;
  bool operator==(const ScheduleSkipped&) const = default;
};
// How a firing ended: with a run, or why there is none.
struct ScheduleOpened {
  ScheduleId id;
  NamespaceId ns;
  uint64_t number = 0;
  FiringState state = FiringState::opened;
  WorkflowId workflow;
  std::string message;
  bool operator==(const ScheduleOpened&) const = default;
};
// Files that need no run: those that were there before, and those that are gone.
struct ScheduleLooked {
  ScheduleId id;
  std::vector<FileMark> seen;
  std::vector<std::string> gone;
  bool operator==(const ScheduleLooked&) const = default;
};

ATOLL_DESCRIBE(ScheduleSet, id, revision, ns, user, name, terms, due, paused)
ATOLL_DESCRIBE(ScheduleDeleted, id, ns)
ATOLL_DESCRIBE(SchedulePaused, id, ns, paused)
ATOLL_DESCRIBE(ScheduleAsked, id, after)
ATOLL_DESCRIBE(ScheduleTimed, id, due)
ATOLL_DESCRIBE(ScheduleFired, id, ns, number, cause, planned, late, body, keys, look)
ATOLL_DESCRIBE(ScheduleSkipped, id, ns, number, through, message)
ATOLL_DESCRIBE(ScheduleOpened, id, ns, number, state, workflow, message)
ATOLL_DESCRIBE(ScheduleLooked, id, seen, gone)

}  // namespace atl::core
