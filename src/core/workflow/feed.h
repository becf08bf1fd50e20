// A step that goes through the items of a queue. While it is under way it leases items itself and
// starts a job for each lease; a lease begins with its job and is over with it, in the same commit,
// so that an item is done exactly when the job that worked on it is taken as a success.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "core/queue/types.h"
#include "core/types.h"

namespace atl::core {

struct FeedTerms {
  std::string queue;         // of the workflow's namespace; empty: no step of this kind
  uint32_t workers_min = 1;  // jobs at once; the fewest that what waits is dealt to
  uint32_t workers_max = 1;
  uint32_t batch = 1;         // items of a job, at most
  bool until_closed = false;  // a queue that is dry is waited for until it is closed too
  bool operator==(const FeedTerms&) const = default;
};

struct FedJob {
  LeaseId lease;
  bool collecting = false;  // it has succeeded, and what it left is being looked at
  bool operator==(const FedJob&) const = default;
};

// What its jobs have come to.
struct FeedUse {
  Time queued;            // when it was begun
  uint64_t attempts = 0;  // that have ended
  Usage usage;            // of all of them
  bool operator==(const FeedUse&) const = default;
};

struct Feed {
  FeedTerms terms;
  // Since it was begun last.
  QueueId queue;   // zero: there was none of that name
  Digest payload;  // what each job runs
  std::map<JobId, FedJob> jobs;
  bool stopped = false;  // no more is leased, and it ends as cancelled
  std::string reason;    // why it was stopped
  uint64_t done = 0;     // items
  uint64_t given_back = 0;
  uint64_t dead = 0;
  FeedUse use;
  bool operator==(const Feed&) const = default;
};

struct State;
struct Workflow;
struct WorkQueue;

namespace workflow {

// The step that the job works for, if that goes through a queue; else null.
const Feed* feed_of(const State& state, JobId job);
// Its queue, or null when there is none (any more).
const WorkQueue* queue_of(const State& state, const Feed& feed);
// Whether nothing will come out of the queue any more, as far as the step waits for it.
bool dry(const WorkQueue& queue, const FeedTerms& terms);
// How many more jobs the items that wait are dealt to.
uint32_t jobs_wanted(const WorkQueue& queue, const Feed& feed);
// Whether it is under way and a tick has something to decide about it.
bool feed_due(const State& state, const Workflow& workflow, uint32_t step);
// What it leaves in any case, as JSON: {"done":…}.
std::string counts(const Feed& feed);

}  // namespace workflow

ATOLL_DESCRIBE(FeedTerms, queue, workers_min, workers_max, batch, until_closed)
ATOLL_DESCRIBE(FedJob, lease, collecting)
ATOLL_DESCRIBE(FeedUse, queued, attempts, usage)
ATOLL_DESCRIBE(Feed, terms, queue, payload, jobs, stopped, reason, done, given_back, dead, use)

}  // namespace atl::core
