// A workflow: steps, what each needs of others, and how far they are. Flat lists, so that a million
// steps are a few lists and not a million things, and a step that is added to many costs as much as
// one that is added to few. Only apply changes it, through the functions below.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/types.h"
#include "core/workflow/feed.h"

namespace atl::core {

enum class StepState : uint8_t {
  waiting,     // for others
  ready,       // to be started
  preparing,   // what it runs is being made, from what others left
  running,     // it has a job
  finished,    // its job has ended; what that means is not decided yet
  collecting,  // what it left is being looked at
  succeeded,
  failed,
  cancelled,
  skipped,  // its condition did not hold, or it needs one that was skipped
  blocked,  // it needs one that failed, was cancelled or was blocked itself
};
BOOST_DESCRIBE_ENUM(StepState, waiting, ready, preparing, running, finished, collecting, succeeded,
                    failed, cancelled, skipped, blocked)
inline constexpr size_t kStepStates = 11;

constexpr bool ended(StepState state) { return state >= StepState::succeeded; }
// Begun and not ended.
constexpr bool under_way(StepState state) {
  return state >= StepState::preparing && state <= StepState::collecting;
}

// One step of one workflow.
struct StepRef {
  WorkflowId workflow;
  uint32_t step = 0;
  auto operator<=>(const StepRef&) const = default;
};

// What a step needs, and what it puts up with.
struct Need {
  uint32_t step = 0;
  bool can_fail = false;  // the other one may end without success
  bool can_skip = false;
  bool operator==(const Need&) const = default;
};

// What steps have in common: most of them share one.
struct StepKind {
  Terms terms;
  Labels labels;
  auto operator<=>(const StepKind&) const = default;
};

// A step as it is added.
struct NewStep {
  std::string name;
  uint32_t kind = 0;  // by its place in the workflow's list
  Digest payload;     // what it runs; of one that is prepared none
  Digest recipe;      // how it is prepared and collected, if it is either
  bool prepared = false;
  bool collected = false;
  bool array = false;
  IntervalSet indices{Interval{0, 0}};
  std::vector<Need> needs;  // of earlier ones
  FeedTerms feed;           // of one that goes through a queue
  bool operator==(const NewStep&) const = default;
};

// What becomes of a workflow when another one of its lane is under way.
enum class Overlap : uint8_t {
  allow,
  refuse,
  replace,  // the others are cancelled, and it starts when they have ended
  wait,     // for those before it
};
BOOST_DESCRIBE_ENUM(Overlap, allow, refuse, replace, wait)

inline constexpr uint32_t kNoEdge = UINT32_MAX;

struct Step {
  std::string name;
  uint32_t kind = 0;
  Digest payload;
  Digest recipe;
  bool prepared = false;
  bool collected = false;
  bool array = false;
  bool fed = false;  // it goes through a queue: what it has of that is in the workflow's feeds
  IntervalSet indices{Interval{0, 0}};
  StepState state = StepState::waiting;
  uint32_t unmet = 0;                    // needs that have not ended well enough
  uint32_t first_edge = kNoEdge;         // to those that need it
  JobId job;                             // its last one
  Outcome outcome = Outcome::succeeded;  // of its job, once that has ended
  uint64_t opening = 0;                  // which time of being prepared or collected this is
  bool operator==(const Step&) const = default;
};

// From a step to one that needs it.
struct Edge {
  uint32_t to = 0;
  bool can_fail = false;
  bool can_skip = false;
  uint32_t next = kNoEdge;  // of the same step
  bool operator==(const Edge&) const = default;
};

using StepTally = std::array<uint32_t, kStepStates>;

struct Workflow {
  WorkflowId id;
  NamespaceId ns;
  UserId user;
  std::string name;
  Time submitted;
  Time touched;         // when steps were added last
  bool sealed = false;  // all that it began with is there: it may start
  bool paused = false;
  bool cancelled = false;
  bool fail_fast = false;     // the first failure that nobody puts up with ends it
  uint32_t parallel_max = 0;  // steps under way at once; zero: as many as may be
  std::vector<StepKind> kinds;
  std::vector<Step> steps;
  std::vector<Edge> edges;
  std::string lane;  // of workflows of its namespace that know of each other; empty: none
  Overlap overlap = Overlap::allow;
  std::string origin;   // what made it, where that was no person: "schedule/nightly"
  Duration time_limit;  // from when it could start; zero: none
  Time began;           // when it could start
  std::string stopped;  // why the platform cancelled it
  bool overran = false;
  std::map<uint32_t, Feed> feeds;  // of the steps that go through queues, by their number
  // derived
  Time until;  // its time is over
  std::map<std::string, uint32_t> names;
  std::set<uint32_t> ready;
  std::set<uint32_t> finished;
  StepTally tally{};
  uint32_t under_way = 0;
  bool operator==(const Workflow&) const = default;

  uint32_t count(StepState state) const { return tally[static_cast<size_t>(state)]; }
};

namespace workflow {

void add_step(Workflow& workflow, const NewStep& step);

// The step has gone on, or has ended: those become ready that needed only this.
void advance(Workflow& workflow, uint32_t step, StepState to);

// They wait again for those of their needs that have not ended well enough.
void reopen(Workflow& workflow, const IntervalSet& steps);

// Rebuilds what is derived.
void index(Workflow& workflow);

// Whether one that needs a step is content with how it ended.
bool enough(const Edge& edge, StepState how);

// Whether a step that ended badly was one that those who need it all put up with.
bool tolerated(const Workflow& workflow, uint32_t step);

// Calls fn(edge) for each that needs the step.
template <class Fn>
void for_each_follower(const Workflow& workflow, uint32_t step, const Fn& fn) {
  for (uint32_t at = workflow.steps[step].first_edge; at != kNoEdge; at = workflow.edges[at].next)
    fn(workflow.edges[at]);
}

// Who can never run once the steps end as they are told: to be ended after them, in this order.
struct Fallen {
  uint32_t step = 0;
  StepState how = StepState::blocked;
  uint32_t because = 0;  // of which step
  bool operator==(const Fallen&) const = default;
};
std::vector<Fallen> fallen_with(const Workflow& workflow, std::vector<Fallen> ending);

// Whether it waits for others of its lane.
bool held(const Workflow& workflow);

// Whether a tick has something to decide about it.
bool due(const Workflow& workflow);

}  // namespace workflow

ATOLL_DESCRIBE(StepRef, workflow, step)
ATOLL_DESCRIBE(Need, step, can_fail, can_skip)
ATOLL_DESCRIBE(StepKind, terms, labels)
ATOLL_DESCRIBE(NewStep, name, kind, payload, recipe, prepared, collected, array, indices, needs,
               feed)
ATOLL_DESCRIBE(Step, name, kind, payload, recipe, prepared, collected, array, indices, state, unmet,
               first_edge, job, outcome, fed, opening)
ATOLL_DESCRIBE(Edge, to, can_fail, can_skip, next)
ATOLL_DESCRIBE(Workflow, id, ns, user, name, submitted, touched, sealed, paused, cancelled,
               fail_fast, parallel_max, kinds, steps, edges, lane, overlap, origin, time_limit,
               began, stopped, overran, feeds)

}  // namespace atl::core
