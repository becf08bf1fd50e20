// What apply asks the outside to do, in the imperative. The runtime makes the events durable first,
// together with the archive effects, and only then carries out the others. All of them may be
// repeated: they name the attempt.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "core/state.h"

namespace atl::core {

// Durable in the same commit as the events they came with.
struct ArchiveAttempt {
  AttemptId attempt;
  bool array = false;
  bool retried = false;  // another attempt follows
  Outcome outcome = Outcome::succeeded;
  Placement placement;
  Time placed;
  AttemptResult result;
};
struct ArchiveJob {
  Job job;  // as it was when it ended
  Terms terms;
  Outcome outcome = Outcome::succeeded;
  std::string message;
  Time ended;
};
struct UnarchiveJob {
  JobId id;
};
struct RememberKey {
  UserId user;
  std::string key;
  JobId job;
};
// Bodies of items that are gone.
struct DropItems {
  QueueId queue;
  std::vector<ItemRange> items;
};

// Sent after the commit.
struct StartAttempt {
  AttemptId attempt;
  Placement placement;
  Time placed;
  bool repeated = false;  // after a restart: nobody knows whether it was carried out
  bool array = false;
  bool resumed = false;             // an earlier attempt left a checkpoint
  uint32_t recalls = 0;             // earlier attempts that never began
  std::optional<AttemptId> behind;  // begins when that one has ended
  UserId user;
  NamespaceId ns;
  std::string name;
  Terms terms;
  Digest payload;
  std::string leader;  // of a gang: the node of its first member
};
struct StopAttempt {
  AttemptId attempt;
  SiteId site;
  Duration grace;
  bool unless_begun = false;  // hand it back if it is still in line, else let it be
  StopReason reason = StopReason::cancelled;
  Time deadline;  // when its grace is over
};
// The result is durable here; the site may drop its copy.
struct ForgetAttempt {
  AttemptId attempt;
  SiteId site;
};
struct SendNotice {
  Notice notice;
};

// Makes what the step runs from its recipe and what others have left; StepPrepared comes back.
struct PrepareStep {
  StepRef step;
  Digest recipe;
  uint64_t opening = 0;  // comes back with the answer
};
// Looks at what the step's job has left; StepCollected comes back.
struct CollectStep {
  StepRef step;
  Digest recipe;
  JobId job;  // zero: of a step that went through a queue, what all of its jobs left
  uint64_t opening = 0;
  std::string outputs;  // that are known already, as JSON
};

// Finds out the next times of the schedule behind `after`; ScheduleTimes comes back.
struct TimeSchedule {
  ScheduleId id;
  uint32_t revision = 0;
  std::string timing;
  bool calendar = false;
  std::string zone;
  Time after;
};
// Makes the run of a firing; RunPlanned comes back, and RunSteps for those of a large one.
struct OpenRun {
  ScheduleId id;
  uint32_t revision = 0;
  uint64_t number = 0;
  std::string ns;
  std::string schedule;
  Cause cause = Cause::time;
  Time at;  // the time that it is for; zero where there is none
  std::string body;
  std::string program;
};

using Effect = std::variant<ArchiveAttempt, ArchiveJob, UnarchiveJob, RememberKey, StartAttempt,
                            StopAttempt, ForgetAttempt, SendNotice, PrepareStep, CollectStep,
                            DropItems, TimeSchedule, OpenRun>;
using Effects = std::vector<Effect>;

// Steps whose preparing or collecting may never have been carried out
// (workflow/apply_workflow.cpp).
Effects pending_steps(const State& state);
// The same for times and runs of schedules (schedule/apply.cpp).
Effects pending_schedules(const State& state);

}  // namespace atl::core
