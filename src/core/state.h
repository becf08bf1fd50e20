// Everything the platform knows that is still alive. Only apply changes it; everyone else reads it.
//
// The first part of each struct is what events say; the part headed "derived" is an index that
// apply keeps up to date so that decide need not search. Snapshots hold only the first part and
// rebuild the second.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "base/flat.h"
#include "base/id_map.h"
#include "base/lazy_map.h"
#include "core/event.h"
#include "core/metering/meter.h"
#include "core/metering/pace.h"
#include "core/queue/queue.h"
#include "core/types.h"
#include "core/waiting.h"

namespace atl::core {

struct User {
  UserId id;
  std::string name;
  bool disabled = false;
  bool platform_admin = false;
  std::optional<uint32_t> uid;
  bool operator==(const User&) const = default;
};

struct Token {
  TokenId id;
  UserId user;
  Digest hash;
  std::string note;
  Time created;
  Time expires;
  bool read_only = false;
  std::vector<NamespaceId> namespaces;
  bool operator==(const Token&) const = default;
};

// What is in use by placed tasks.
struct InUse {
  int64_t cpu_milli = 0;
  int64_t memory_bytes = 0;
  FlatMap<std::string, int64_t> devices;  // in thousandths, by kind and by kind:model
  uint64_t tasks = 0;
  bool operator==(const InUse&) const = default;
};

// Whose use is metered, by tier: what counts against work is what its own tier and those above it
// have used.
using Account = LazyMap<Tier, Meter>;

struct Namespace {
  NamespaceId id;
  std::string name;
  std::map<UserId, Role> members;
  Quota quota;
  Stake stake;
  Account account;
  std::map<UserId, Account> user_accounts;
  std::map<UserId, Pace> paces;  // of whose work
  // derived
  InUse in_use;
  uint64_t jobs = 0;  // not ended
  uint64_t workflows = 0;
  bool operator==(const Namespace&) const = default;
};

// Namespaces that share: what one of them leaves unused the others may borrow. A tree.
struct Cohort {
  CohortId id;
  std::string name;
  Quota quota;
  Stake stake;
  Account account;
  // derived
  Quota nominal;  // its quota, and where it has none the sum of its members'
  InUse in_use;
  bool operator==(const Cohort&) const = default;
};

// A task that has room on a node, as the scheduler needs to know it.
struct Holder {
  NamespaceId ns;
  TermsId terms;
  uint32_t attempt = 0;
  bool stopping = false;
  Time since;         // its start, or its placing as long as it has not started
  Time until;         // when it has ended at the latest; zero: nobody knows
  JobId beneficiary;  // for whom it yields
  std::vector<HeldDevice> devices;
  bool operator==(const Holder&) const = default;
};

// What tasks hold of one device: shares of it (or all), or slots.
struct UnitUse {
  int32_t share_milli = 0;
  uint32_t slots = 0;
  bool whole = false;  // by one task, that has all slots too
  uint32_t holders = 0;
  bool operator==(const UnitUse&) const = default;
};

struct Node {
  NodeCapacity capacity;
  bool gone = false;  // no longer reported, but work is still on it
  bool draining = false;
  // derived
  int64_t cpu_milli_used = 0;
  int64_t memory_bytes_used = 0;
  FlatMap<std::string, UnitUse> units_used;
  FlatMap<TaskId, Holder> holders;
  bool operator==(const Node&) const = default;
};

// Whether nobody needs to know of it any more.
bool forgettable(const Node& node);
// How many thousandths of a device are held.
int64_t used_milli(const Node& node, const Device& device);

struct Site {
  SiteId id;
  std::string name;
  std::string kind;
  bool draining = false;
  bool reported = false;
  std::vector<std::string> abilities;
  std::map<std::string, Node> nodes;
  std::string definition;  // as it was added; empty: the configuration has it
  // derived
  bool by_name = false;  // no part of the platform that is shared: what is held here counts nowhere
  bool operator==(const Site&) const = default;
};

struct TaskBackoff {
  Time not_before;
  RetryReason reason = RetryReason::failed;
  bool operator==(const TaskBackoff&) const = default;
};
struct TaskStarting {
  Placement placement;
  Time placed;
  bool operator==(const TaskStarting&) const = default;
};
struct TaskRunning {
  Placement placement;
  Time placed;
  Time started;
  bool unreachable = false;
  bool operator==(const TaskRunning&) const = default;
};
struct TaskStop {
  Placement placement;
  Time placed;
  Time started;  // zero: had not been reported as started
  Time since;
  StopReason reason = StopReason::cancelled;
  Duration grace;
  bool unreachable = false;
  JobId beneficiary;
  bool operator==(const TaskStop&) const = default;
};
using TaskState = std::variant<TaskBackoff, TaskStarting, TaskRunning, TaskStop>;

// The placement of a task that holds one, or null.
const Placement* placement_of(const TaskState& state);

// Next in line: handed to the site, to begin when the one before it has ended. Until then it holds
// nothing of its own.
struct InLine {
  AttemptId behind;
  bool recalled = false;
  bool operator==(const InLine&) const = default;
};

// A task that is more than an index in a range: placed, or in back-off.
struct Task {
  uint32_t attempt = 0;  // the one placed, or the last one that ended
  TaskState state;
  std::optional<InLine> line;
  bool operator==(const Task&) const = default;
};

// Whether the task is in line, not asked back, and not known to have begun.
bool in_line(const Task& task);

// What earlier attempts of an index have used up of its allowances.
struct Tries {
  uint32_t attempts = 0;
  uint32_t failures = 0;      // count against retry.max
  uint32_t losses = 0;        // against kLostAttemptsMax
  bool checkpointed = false;  // the last attempt left a checkpoint to resume from
  uint32_t recalls = 0;       // attempts that were handed back before they began
  bool operator==(const Tries&) const = default;
};

using Tally = std::array<uint32_t, kOutcomes>;  // indices by outcome

struct Job {
  JobId id;
  NamespaceId ns;
  UserId user;
  TermsId terms;
  bool array = false;
  bool held = false;
  Time submitted;
  Digest payload;
  std::string name;
  IntervalSet waiting;             // indices that could be placed, or will be once the job is ready
  LazyMap<uint32_t, Task> tasks;   // indices that are more than waiting
  LazyMap<uint32_t, Tries> tries;  // indices, not ended, that had an attempt before
  Tally tally{};                   // ended indices
  std::vector<Dependency> dependencies;  // not settled yet
  Labels labels;
  Notify notify;
  uint64_t size = 1;    // indices in all
  Unplaced unplaced;    // of the ended ones
  IntervalSet yielded;  // waiting again because they had to yield: they come first
  bool gang = false;    // as its terms say
  uint32_t owed = 0;    // tasks that were stopped for it, and whose room it has not had yet
  StepRef of;           // the step of a workflow that it is the job of, if any
  // derived
  uint32_t placed = 0;  // tasks that hold a placement
  bool operator==(const Job&) const = default;

  // One that starts together waits until all of it does.
  bool ready() const {
    return !held && dependencies.empty() && !waiting.empty() && (!gang || tasks.empty());
  }
};

// Whether some task of it holds a placement or is in line for one.
bool has_placed(const Job& job);
// Whether the outcome is not the one the dependency asks for; false while it is unknown.
bool refuted(const Dependency& dependency);
// Whether it is known if the job may go on: every outcome is there, or one of them rules it out.
bool dependencies_decided(const Job& job);

struct TermsEntry {
  Terms terms;
  uint32_t brisk = 0;  // so many may be in line behind one task, for the last ones were short
  ShapeId shape;
  // derived
  uint32_t jobs = 0;
  bool operator==(const TermsEntry&) const = default;
};

// A note owed to somebody, kept until its delivery is reported.
struct Notice {
  NoticeId id;
  JobId job;
  std::string job_name;
  std::string ns;
  Outcome outcome = Outcome::succeeded;
  Time ended;
  Notify target;
  std::string message;  // such as the exit code
  bool operator==(const Notice&) const = default;
};

struct ShapeEntry {
  Shape shape;
  uint32_t terms = 0;  // that have it
  bool operator==(const ShapeEntry&) const = default;
};

// The last of each line, of one namespace and equal terms, without devices: a placed task that
// nobody is behind, or the last one in line behind it. By how many are before it.
using Leaders = IdMap<NamespaceId, std::map<TermsId, std::set<std::pair<uint32_t, AttemptId>>>>;

struct Counters {
  uint64_t job = 0;
  uint32_t user = 0;
  uint32_t ns = 0;
  uint32_t terms = 0;
  uint32_t site = 0;
  uint32_t token = 0;
  uint64_t notice = 0;
  uint32_t cohort = 0;
  uint32_t shape = 0;
  uint32_t reservation = 0;
  uint64_t workflow = 0;
  uint32_t queue = 0;
  uint64_t lease = 0;
  uint64_t opening = 0;
  uint32_t schedule = 0;
  bool operator==(const Counters&) const = default;
};

struct State {
  Time now;  // of the latest event
  Counters counters;
  std::map<UserId, User> users;
  std::map<TokenId, Token> tokens;
  IdMap<NamespaceId, Namespace> namespaces;
  std::map<SiteId, Site> sites;
  IdMap<TermsId, TermsEntry> terms;
  IdMap<JobId, Job> jobs;
  std::map<NoticeId, Notice> notices;
  IdMap<CohortId, Cohort> cohorts;
  Policy policy;
  Calendar calendar;
  std::map<ReservationId, Reservation> reservations;
  std::map<WorkflowId, Workflow> workflows;
  std::map<QueueId, WorkQueue> queues;
  std::map<KeptKey, KeptDocument> kept;
  std::map<ScheduleId, Schedule> schedules;

  // derived
  std::map<std::string, UserId> user_names;
  std::map<uint32_t, UserId> user_uids;
  std::map<std::string, NamespaceId> namespace_names;
  std::map<std::string, SiteId> site_names;
  std::map<Digest, TokenId> token_hashes;
  std::map<std::string, CohortId> cohort_names;
  std::map<Terms, TermsId> terms_ids;
  std::map<ShapeId, ShapeEntry> shapes;
  std::map<Shape, ShapeId> shape_ids;
  Amounts capacity;  // of all nodes that work may use without naming their site
  std::map<Tier, InUse> tier_in_use;
  std::map<JobId, std::set<JobId>> dependents;  // of a live job: who waits for it
  std::set<JobId> unsettled;                    // jobs whose dependencies are decided
  std::set<std::pair<Time, TaskId>> backoffs;   // by when they end
  Backlog backlog;                              // jobs that are ready
  Leaders leaders;
  std::set<JobId> owed;                       // ready jobs for which others have made room
  std::map<AttemptId, AttemptId> followers;   // who is in line behind whom
  std::set<std::pair<Time, TaskId>> recalls;  // those in line, by when they are asked back
  std::set<WorkflowId> workflows_due;         // of which a tick has something to decide
  std::set<WorkflowId> workflows_unsealed;
  std::map<std::pair<NamespaceId, std::string>, std::set<WorkflowId>> lanes;
  std::set<std::pair<Time, WorkflowId>> workflow_limits;  // by when their time is over
  std::map<std::pair<NamespaceId, std::string>, QueueId> queue_names;
  std::set<QueueTimer> queue_timers;
  std::set<std::pair<QueueId, StepRef>> feeders;  // steps that go through a queue now
  std::map<std::pair<NamespaceId, std::string>, ScheduleId> schedule_names;
  std::set<std::pair<Time, ScheduleId>>
      schedule_timers;                       // those whose next time is known, or asked for
  std::set<ScheduleId> schedules_on_queues;  // not paused

  bool operator==(const State&) const = default;

  const Job* job(JobId id) const;
  const Workflow* workflow(WorkflowId id) const;
  const Terms& terms_of(const Job& job) const;
  const User* user_named(const std::string& name) const;
  const Namespace* namespace_named(const std::string& name) const;
  const Site* site_named(const std::string& name) const;
  const Cohort* cohort_named(const std::string& name) const;
  const WorkQueue* queue_named(NamespaceId ns, const std::string& name) const;
  const Schedule* schedule_named(NamespaceId ns, const std::string& name) const;
  const KeptDocument* document(NamespaceId ns, const std::string& kind,
                               const std::string& name) const;
};

// Whether the site is no place for work that does not ask for it: one that only pretends, beside
// one that does not.
bool only_by_name(const State& state, const Site& site);

// Recomputes every derived part from the others; what loading a snapshot ends with.
void rebuild_derived(State& state);

// What a snapshot holds. Jobs are left out of State's list: they are written beside it in chunks
// (journal/snapshot.h).
ATOLL_DESCRIBE(User, id, name, disabled, platform_admin, uid)
ATOLL_DESCRIBE(Token, id, user, hash, note, created, expires, read_only, namespaces)
ATOLL_DESCRIBE(Namespace, id, name, members, quota, stake, account, user_accounts, paces)
ATOLL_DESCRIBE(Cohort, id, name, quota, stake, account)
ATOLL_DESCRIBE(Node, capacity, gone, draining)
ATOLL_DESCRIBE(Site, id, name, kind, draining, reported, abilities, nodes, definition)
ATOLL_DESCRIBE(TaskBackoff, not_before, reason)
ATOLL_DESCRIBE(TaskStarting, placement, placed)
ATOLL_DESCRIBE(TaskRunning, placement, placed, started, unreachable)
ATOLL_DESCRIBE(TaskStop, placement, placed, started, since, reason, grace, unreachable, beneficiary)
ATOLL_DESCRIBE(InLine, behind, recalled)
ATOLL_DESCRIBE(Task, attempt, state, line)
ATOLL_DESCRIBE(Tries, attempts, failures, losses, checkpointed, recalls)
ATOLL_DESCRIBE(Job, id, ns, user, terms, array, held, submitted, payload, name, waiting, tasks,
               tries, tally, dependencies, labels, notify, size, unplaced, yielded, gang, owed, of)
ATOLL_DESCRIBE(TermsEntry, terms, brisk, shape)
ATOLL_DESCRIBE(Notice, id, job, job_name, ns, outcome, ended, target, message)
ATOLL_DESCRIBE(Counters, job, user, ns, terms, site, token, notice, cohort, shape, reservation,
               workflow, queue, lease, opening, schedule)
ATOLL_DESCRIBE(State, now, counters, users, tokens, namespaces, sites, terms, notices, cohorts,
               policy, calendar, reservations, workflows, queues, kept, schedules)

}  // namespace atl::core
