// Facts. Each names something that has happened, in the past tense; apply turns it into the new
// state and cannot refuse. Those of workflows, queues and schedules are in their own rooms.
// Alternatives of EventBody and members of each struct are only appended: their order is the
// journal's format.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/lazy_map.h"
#include "core/kept/kept.h"
#include "core/queue/events.h"
#include "core/schedule/events.h"
#include "core/types.h"
#include "core/workflow/events.h"

namespace atl::core {

struct UserCreated {
  UserId id;
  std::string name;
  bool platform_admin = false;
  std::optional<uint32_t> uid;  // the machine's account behind it, if any
  bool operator==(const UserCreated&) const = default;
};
struct UserChanged {
  UserId id;
  bool disabled = false;
  bool platform_admin = false;
  std::optional<uint32_t> uid;
  bool operator==(const UserChanged&) const = default;
};
struct NamespaceCreated {
  NamespaceId id;
  std::string name;
  bool operator==(const NamespaceCreated&) const = default;
};
struct NamespaceDeleted {
  NamespaceId id;
  bool operator==(const NamespaceDeleted&) const = default;
};
struct QuotaSet {
  NamespaceId id;
  Quota quota;
  bool operator==(const QuotaSet&) const = default;
};
struct MemberSet {
  NamespaceId id;
  UserId user;
  Role role = Role::viewer;
  bool operator==(const MemberSet&) const = default;
};
struct MemberRemoved {
  NamespaceId id;
  UserId user;
  bool operator==(const MemberRemoved&) const = default;
};
struct TokenCreated {
  TokenId id;
  UserId user;
  Digest hash;
  std::string note;
  Time expires;  // zero: never
  bool read_only = false;
  std::vector<NamespaceId> namespaces;  // empty: all of the user's
  bool operator==(const TokenCreated&) const = default;
};
struct TokenRevoked {
  TokenId id;
  bool operator==(const TokenRevoked&) const = default;
};

struct SiteAdded {
  SiteId id;
  std::string name;
  std::string kind;
  std::string definition;  // its settings as JSON; empty: the configuration has them
  bool operator==(const SiteAdded&) const = default;
};
struct SiteRemoved {
  SiteId id;
  bool operator==(const SiteRemoved&) const = default;
};
struct SiteReported {
  SiteId id;
  SiteReport report;
  bool operator==(const SiteReported&) const = default;
};
struct SiteDrained {
  SiteId id;
  bool draining = false;
  bool operator==(const SiteDrained&) const = default;
};

// Indices that were waiting when they ended, by how: no attempt says it, and a requeue needs it.
using Unplaced = LazyMap<Outcome, IntervalSet>;

struct JobSubmitted {
  JobId id;
  NamespaceId ns;
  UserId user;
  std::string name;
  Terms terms;
  Digest payload;
  bool array = false;
  IntervalSet indices;  // {0} when not an array
  std::vector<Dependency> dependencies;
  Labels labels;
  bool held = false;
  Notify notify;
  std::string key;  // the idempotency key it came with
  StepRef of;       // the step of a workflow that it is the job of, if any
  LeaseId lease;    // of the items that it works on, where the step goes through a queue
  bool operator==(const JobSubmitted&) const = default;
};
struct JobHeld {
  JobId id;
  bool operator==(const JobHeld&) const = default;
};
struct JobReleased {
  JobId id;
  bool operator==(const JobReleased&) const = default;
};
struct JobChanged {
  JobId id;
  std::string name;
  Terms terms;
  Labels labels;
  bool operator==(const JobChanged&) const = default;
};
struct DependenciesSettled {
  JobId id;
  bool operator==(const DependenciesSettled&) const = default;
};
// Waiting indices that end without ever being placed (cancelled, skipped).
struct WaitingEnded {
  JobId id;
  IntervalSet indices;
  Outcome outcome = Outcome::cancelled;
  std::string message;
  bool operator==(const WaitingEnded&) const = default;
};

struct TaskPlaced {
  AttemptId attempt;
  Placement placement;
  std::optional<AttemptId> behind;  // next in line: it takes over the room of this one
  bool operator==(const TaskPlaced&) const = default;
};
struct TaskStarted {
  AttemptId attempt;
  Time started;
  bool operator==(const TaskStarted&) const = default;
};

// `yielded`: others have the better right to its room.
enum class StopReason : uint8_t { none, cancelled, requeued, yielded };
BOOST_DESCRIBE_ENUM(StopReason, none, cancelled, requeued, yielded)

struct TaskStopping {
  AttemptId attempt;
  StopReason reason = StopReason::cancelled;
  Duration grace;
  JobId beneficiary;  // of one that yields
  bool operator==(const TaskStopping&) const = default;
};
struct TaskUnreachable {
  AttemptId attempt;
  bool unreachable = false;
  bool operator==(const TaskUnreachable&) const = default;
};
// An attempt is over and so is its task.
struct TaskEnded {
  AttemptId attempt;
  Outcome outcome = Outcome::succeeded;
  AttemptResult result;
  bool operator==(const TaskEnded&) const = default;
};

enum class RetryReason : uint8_t { failed, lost, checkpointed, requeued, recalled, yielded };
BOOST_DESCRIBE_ENUM(RetryReason, failed, lost, checkpointed, requeued, recalled, yielded)

// An attempt is over and the task waits for another one.
struct TaskRetried {
  AttemptId attempt;
  RetryReason reason = RetryReason::failed;
  AttemptResult result;
  Time not_before;
  bool operator==(const TaskRetried&) const = default;
};
struct BackoffEnded {
  TaskId task;
  bool operator==(const BackoffEnded&) const = default;
};
struct JobEnded {
  JobId id;
  Outcome outcome = Outcome::succeeded;
  std::string message;
  bool operator==(const JobEnded&) const = default;
};
// An ended job lives again: the record that history held, with the indices that shall run once
// more.
struct JobReopened {
  JobSubmitted job;
  Time submitted;
  std::vector<uint32_t> attempts;  // of each index, in order: how many it had
  std::vector<uint64_t> tally;     // tasks that keep their outcome
  Unplaced unplaced;               // those of them that ended while waiting
  bool operator==(const JobReopened&) const = default;
};
// One that is next in line is asked back; it ends as recalled unless it has begun.
struct TaskRecalled {
  AttemptId attempt;
  bool operator==(const TaskRecalled&) const = default;
};
struct NoticeSettled {
  NoticeId id;
  bool delivered = false;
  std::string message;
  JobId job;  // whose end it told of
  bool operator==(const NoticeSettled&) const = default;
};
// Deeds that leave the state as it is, kept before they are done so that who did them is known.
struct ExecAsked {
  AttemptId attempt;
  std::string command;  // its beginning
  bool operator==(const ExecAsked&) const = default;
};
struct UploadAsked {
  JobId id;
  std::string path;
  uint64_t bytes = 0;
  bool operator==(const UploadAsked&) const = default;
};
struct BackupAsked {
  std::string file;
  bool operator==(const BackupAsked&) const = default;
};
// Made or changed.
struct CohortSet {
  CohortId id;
  std::string name;
  Quota quota;
  Stake stake;
  bool operator==(const CohortSet&) const = default;
};
struct CohortDeleted {
  CohortId id;
  bool operator==(const CohortDeleted&) const = default;
};
struct StakeSet {
  NamespaceId id;
  Stake stake;
  bool operator==(const StakeSet&) const = default;
};
struct PolicySet {
  Policy policy;
  bool operator==(const PolicySet&) const = default;
};
struct NodeDrained {
  SiteId site;
  std::string node;
  bool draining = false;
  bool operator==(const NodeDrained&) const = default;
};
struct CalendarSet {
  Calendar calendar;
  bool operator==(const CalendarSet&) const = default;
};
struct ReservationMade {
  Reservation reservation;
  bool operator==(const ReservationMade&) const = default;
};
// Its time is over, or somebody has cancelled it.
struct ReservationEnded {
  ReservationId id;
  bool cancelled = false;
  bool operator==(const ReservationEnded&) const = default;
};

using EventBody = std::variant<
    UserCreated, UserChanged, NamespaceCreated, NamespaceDeleted, QuotaSet, MemberSet,
    MemberRemoved, TokenCreated, TokenRevoked, SiteAdded, SiteRemoved, SiteReported, SiteDrained,
    JobSubmitted, JobHeld, JobReleased, JobChanged, DependenciesSettled, WaitingEnded, TaskPlaced,
    TaskStarted, TaskStopping, TaskUnreachable, TaskEnded, TaskRetried, BackoffEnded, JobEnded,
    JobReopened, NoticeSettled, TaskRecalled, ExecAsked, UploadAsked, BackupAsked, CohortSet,
    CohortDeleted, StakeSet, PolicySet, NodeDrained, CalendarSet, ReservationMade, ReservationEnded,
    WorkflowSubmitted, StepsAdded, WorkflowSealed, WorkflowPaused, WorkflowCancelled, StepPreparing,
    StepCollecting, StepsEnded, StepsReopened, WorkflowEnded, WorkflowReopened, QueueSet,
    QueueDeleted, ItemsPut, ItemsLeased, LeasesExtended, ItemsFinished, ItemsReturned, ItemsBuried,
    DelaysEnded, ItemsRestored, ItemsRemoved, DocumentKept, DocumentDropped, StepFeeding,
    FeedStopped, FedJobCollecting, FedJobEnded, ScheduleSet, ScheduleDeleted, SchedulePaused,
    ScheduleAsked, ScheduleTimed, ScheduleFired, ScheduleSkipped, ScheduleOpened, ScheduleLooked>;

struct Event {
  Time at;
  UserId by;  // zero: the platform itself
  EventBody body;
  bool operator==(const Event&) const = default;
};
using Events = std::vector<Event>;

// "job_submitted", the same word in the journal, the API, the command line and the docs.
const char* event_name(const EventBody& body);

ATOLL_DESCRIBE(UserCreated, id, name, platform_admin, uid)
ATOLL_DESCRIBE(UserChanged, id, disabled, platform_admin, uid)
ATOLL_DESCRIBE(NamespaceCreated, id, name)
ATOLL_DESCRIBE(NamespaceDeleted, id)
ATOLL_DESCRIBE(QuotaSet, id, quota)
ATOLL_DESCRIBE(MemberSet, id, user, role)
ATOLL_DESCRIBE(MemberRemoved, id, user)
ATOLL_DESCRIBE(TokenCreated, id, user, hash, note, expires, read_only, namespaces)
ATOLL_DESCRIBE(TokenRevoked, id)
ATOLL_DESCRIBE(SiteAdded, id, name, kind, definition)
ATOLL_DESCRIBE(SiteRemoved, id)
ATOLL_DESCRIBE(SiteReported, id, report)
ATOLL_DESCRIBE(SiteDrained, id, draining)
ATOLL_DESCRIBE(JobSubmitted, id, ns, user, name, terms, payload, array, indices, dependencies,
               labels, held, notify, key, of, lease)
ATOLL_DESCRIBE(JobHeld, id)
ATOLL_DESCRIBE(JobReleased, id)
ATOLL_DESCRIBE(JobChanged, id, name, terms, labels)
ATOLL_DESCRIBE(DependenciesSettled, id)
ATOLL_DESCRIBE(WaitingEnded, id, indices, outcome, message)
ATOLL_DESCRIBE(TaskPlaced, attempt, placement, behind)
ATOLL_DESCRIBE(TaskStarted, attempt, started)
ATOLL_DESCRIBE(TaskStopping, attempt, reason, grace, beneficiary)
ATOLL_DESCRIBE(TaskUnreachable, attempt, unreachable)
ATOLL_DESCRIBE(TaskEnded, attempt, outcome, result)
ATOLL_DESCRIBE(TaskRetried, attempt, reason, result, not_before)
ATOLL_DESCRIBE(BackoffEnded, task)
ATOLL_DESCRIBE(JobEnded, id, outcome, message)
ATOLL_DESCRIBE(JobReopened, job, submitted, attempts, tally, unplaced)
ATOLL_DESCRIBE(TaskRecalled, attempt)
ATOLL_DESCRIBE(NoticeSettled, id, delivered, message, job)
ATOLL_DESCRIBE(ExecAsked, attempt, command)
ATOLL_DESCRIBE(UploadAsked, id, path, bytes)
ATOLL_DESCRIBE(BackupAsked, file)
ATOLL_DESCRIBE(CohortSet, id, name, quota, stake)
ATOLL_DESCRIBE(CohortDeleted, id)
ATOLL_DESCRIBE(StakeSet, id, stake)
ATOLL_DESCRIBE(PolicySet, policy)
ATOLL_DESCRIBE(NodeDrained, site, node, draining)
ATOLL_DESCRIBE(CalendarSet, calendar)
ATOLL_DESCRIBE(ReservationMade, reservation)
ATOLL_DESCRIBE(ReservationEnded, id, cancelled)
ATOLL_DESCRIBE(Event, at, by, body)

}  // namespace atl::core
