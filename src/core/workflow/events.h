// What happens to workflows and their steps. Members are only appended: their order is the
// journal's format.
#pragma once

#include <string>
#include <vector>

#include "core/workflow/workflow.h"

namespace atl::core {

// Its steps follow in StepsAdded; it may start when it is sealed.
struct WorkflowSubmitted {
  WorkflowId id;
  NamespaceId ns;
  UserId user;
  std::string name;
  Digest files;          // as they were written
  std::string document;  // what it was asked for with, for those who show it
  bool fail_fast = false;
  bool paused = false;
  uint32_t parallel_max = 0;
  std::string lane;
  Overlap overlap = Overlap::allow;
  std::string origin;
  Duration time_limit;
  bool operator==(const WorkflowSubmitted&) const = default;
};
struct StepsAdded {
  WorkflowId id;
  uint32_t first = 0;           // the number of the first of them
  std::vector<StepKind> kinds;  // more of them
  std::vector<NewStep> steps;
  bool operator==(const StepsAdded&) const = default;
};
struct WorkflowSealed {
  WorkflowId id;
  bool operator==(const WorkflowSealed&) const = default;
};
// Nothing more of it starts, or goes on to start.
struct WorkflowPaused {
  WorkflowId id;
  bool paused = true;
  bool operator==(const WorkflowPaused&) const = default;
};
// Nothing more of it starts; what runs is stopped by events of its own.
struct WorkflowCancelled {
  WorkflowId id;
  std::string reason;    // of the platform; of a person none
  bool overran = false;  // its time was over: it has failed
  bool operator==(const WorkflowCancelled&) const = default;
};
struct StepPreparing {
  StepRef step;
  uint64_t opening = 0;  // so that an answer to an earlier one is known for what it is
  bool operator==(const StepPreparing&) const = default;
};
struct StepCollecting {
  StepRef step;
  uint64_t opening = 0;
  bool operator==(const StepCollecting&) const = default;
};
// They have ended as `how` says, all for the same reason.
struct StepsEnded {
  WorkflowId id;
  IntervalSet steps;
  StepState how = StepState::succeeded;
  std::string message;
  std::string outputs;  // the values that one of them left, as JSON
  StepRef reused;       // instead of running, it took over what that one had left
  Digest cache;         // of a success: by what it may be found again
  JobId job;            // of one of them that has run
  FeedUse use;          // of one that went through a queue
  bool operator==(const StepsEnded&) const = default;
};
struct StepsReopened {
  WorkflowId id;
  IntervalSet steps;
  bool operator==(const StepsReopened&) const = default;
};
// It goes through the items of a queue from now on.
struct StepFeeding {
  StepRef step;
  QueueId queue;   // zero: there is none of that name
  Digest payload;  // what each of its jobs runs
  bool operator==(const StepFeeding&) const = default;
};
// It leases no more items; what runs of it is stopped by events of its own.
struct FeedStopped {
  StepRef step;
  std::string reason;
  bool operator==(const FeedStopped&) const = default;
};
// A job of it has succeeded, and what it left is looked at before its items are done.
struct FedJobCollecting {
  StepRef step;
  JobId job;
  bool operator==(const FedJobCollecting&) const = default;
};
// A job of it is over, and so is its lease, by an event of its own in the same commit.
struct FedJobEnded {
  StepRef step;
  JobId job;
  std::vector<ItemRange> items;  // of its lease
  uint64_t done = 0;             // of them
  uint64_t given_back = 0;
  uint64_t dead = 0;
  std::string outputs;  // what the job left, as JSON; only with items that are done
  bool operator==(const FedJobEnded&) const = default;
};
struct WorkflowEnded {
  WorkflowId id;
  Outcome outcome = Outcome::succeeded;
  std::string message;
  StepTally tally{};
  bool operator==(const WorkflowEnded&) const = default;
};
// An ended one lives again, as it was when it ended.
struct WorkflowReopened {
  Workflow workflow;
  bool operator==(const WorkflowReopened&) const = default;
};

ATOLL_DESCRIBE(WorkflowSubmitted, id, ns, user, name, files, document, fail_fast, paused,
               parallel_max, lane, overlap, origin, time_limit)
ATOLL_DESCRIBE(StepsAdded, id, first, kinds, steps)
ATOLL_DESCRIBE(WorkflowSealed, id)
ATOLL_DESCRIBE(WorkflowPaused, id, paused)
ATOLL_DESCRIBE(WorkflowCancelled, id, reason, overran)
ATOLL_DESCRIBE(StepPreparing, step, opening)
ATOLL_DESCRIBE(StepCollecting, step, opening)
ATOLL_DESCRIBE(StepsEnded, id, steps, how, message, outputs, reused, cache, job, use)
ATOLL_DESCRIBE(StepsReopened, id, steps)
ATOLL_DESCRIBE(StepFeeding, step, queue, payload)
ATOLL_DESCRIBE(FeedStopped, step, reason)
ATOLL_DESCRIBE(FedJobCollecting, step, job)
ATOLL_DESCRIBE(FedJobEnded, step, job, items, done, given_back, dead, outputs)
ATOLL_DESCRIBE(WorkflowEnded, id, outcome, message, tally)
ATOLL_DESCRIBE(WorkflowReopened, workflow)

}  // namespace atl::core
