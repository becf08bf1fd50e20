// What reaches the core: a person's command, a site's report, or a tick of the clock. Whatever
// decide needs about ended things was looked up by the runtime and is part of the input.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/event.h"
#include "core/schedule/inputs.h"
#include "core/types.h"

namespace atl::core {

// Where a job goes that names no namespace. The platform begins with it, and it is never deleted.
inline constexpr const char* kDefaultNamespace = "default";

// Who asks, as authentication found out. A token may narrow what its user could do.
struct Actor {
  UserId user;
  bool read_only = false;
  std::vector<NamespaceId> namespaces;  // empty: not narrowed
  Time expires;                         // of the token it came with; zero: never
};

struct SubmitJob {
  std::string ns;
  std::string name;
  Terms terms;
  Digest payload;
  bool array = false;
  IntervalSet indices;
  std::vector<Dependency> dependencies;  // the outcome is filled in for jobs that have ended
  Labels labels;
  bool held = false;
  bool keep = false;  // wait for capacity to come instead of being refused as infeasible
  Notify notify;
  std::string key;
};
// All or none: the first refusal names the job by its place in the list.
struct SubmitJobs {
  std::vector<SubmitJob> jobs;
};
struct CancelJob {
  JobId id;
  std::optional<uint32_t> index;
  std::optional<Duration> grace;
};
struct HoldJob {
  JobId id;
};
struct ReleaseJob {
  JobId id;
};
struct ChangeJob {
  JobId id;
  std::optional<std::string> name;
  std::optional<int32_t> priority;
  std::optional<int64_t> cpu_milli;
  std::optional<int64_t> memory_bytes;
  std::optional<std::vector<DeviceRequest>> devices;
  std::optional<Duration> wall;
  std::optional<uint32_t> parallel_max;
  std::optional<Labels> labels;
  std::optional<Duration> grace;
  std::optional<RetryPolicy> retry;
  std::optional<Tier> tier;
};
struct RequeueJob {
  JobId id;
  std::optional<uint32_t> index;
  std::optional<JobReopened> ended;  // filled from history when the job has ended
};

struct CreateUser {
  std::string name;
  bool platform_admin = false;
  std::optional<uint32_t> uid;
};
struct ChangeUser {
  std::string name;
  std::optional<bool> disabled;
  std::optional<bool> platform_admin;
  std::optional<uint32_t> uid;
};
struct CreateNamespace {
  std::string name;
  std::string admin;  // a user who becomes its administrator; empty: who asks
};
struct DeleteNamespace {
  std::string name;
};
struct SetQuota {
  std::string ns;
  Quota quota;
};
// Makes the cohort or changes what is named of it.
struct SetCohort {
  std::string name;
  std::optional<std::string> parent;  // empty: none
  std::optional<uint32_t> weight_milli;
  std::optional<Quota> quota;
  std::optional<Quota> borrow;
};
struct DeleteCohort {
  std::string name;
};
struct SetStake {
  std::string ns;
  std::optional<std::string> cohort;  // empty: none
  std::optional<uint32_t> weight_milli;
  std::optional<Quota> borrow;
};
struct SetPolicy {
  std::optional<Duration> half_life;
  std::optional<Duration> ageing;
};
// So many times what is asked for, or so many whole nodes.
struct CreateReservation {
  std::string name;
  Time from;  // zero: now
  Time until;
  std::vector<std::string> namespaces;
  uint32_t count = 1;
  bool whole_nodes = false;
  Resources each;
  std::string site;  // empty: any
  bool operator==(const CreateReservation&) const = default;
};
// What shall be in force, all of it or nothing. Each entry is the whole of what it names, but for
// members that it leaves out; what is not named stays, unless it is pruned. The order does not
// matter: only the end is judged.
struct ApplyPlatform {
  struct CohortTerms {
    std::string name;
    std::string parent;  // empty: none
    uint32_t weight_milli = 1000;
    Quota quota;
    Quota borrow;
  };
  struct NamespaceTerms {
    std::string name;
    std::string cohort;  // empty: none
    uint32_t weight_milli = 1000;
    Quota quota;
    Quota borrow;
    std::optional<std::map<std::string, Role>> members;  // absent: as they are
  };
  std::optional<Policy> policy;
  std::vector<CohortTerms> cohorts;
  std::vector<NamespaceTerms> namespaces;
  // Delete cohorts, calendar entries and reservations that are not named, and namespaces that have
  // no jobs.
  bool prune = false;
  std::vector<CalendarEntry> calendar;
  // One that is in force as it is named stays; another of its name is cancelled for it.
  std::vector<CreateReservation> reservations;
};
inline constexpr uint32_t kPlatformEntriesMax = 5'000;  // of either; each costs a count of all
struct SetMember {
  std::string ns;
  std::string user;
  Role role = Role::member;
};
struct RemoveMember {
  std::string ns;
  std::string user;
};
struct CreateToken {
  std::string user;  // empty: who asks
  Digest hash;
  std::string note;
  Duration lifetime;  // zero: never expires
  bool read_only = false;
  std::vector<std::string> namespaces;
};
struct RevokeToken {
  TokenId id;
};
struct AddSite {
  std::string name;
  std::string kind;
  // Its settings as JSON, which src/spec has checked; empty: the configuration has them.
  std::string definition = {};
};
struct RemoveSite {
  std::string name;
};
struct DrainSite {
  std::string name;
  bool draining = true;
};
struct DrainNode {
  std::string site;
  std::string node;
  bool draining = true;
};
// Makes the entry or replaces the one of its name.
struct SetCalendarEntry {
  CalendarEntry entry;
};
struct DeleteCalendarEntry {
  std::string name;
};
struct CancelReservation {
  std::string name;
};
// Keeps a deed with the events before it is done. A job that has ended is not in the state, so the
// caller says where it belongs.
struct RecordDeed {
  std::variant<ExecAsked, UploadAsked, BackupAsked> deed;
  NamespaceId ns;  // of the job
};

// A workflow with its first steps, or all of them: what a list of kinds and needs is, NewStep says.
// One that is not sealed waits for AddSteps.
struct SubmitWorkflow {
  std::string ns;
  std::string name;
  Digest files;
  std::string document;
  bool fail_fast = false;
  bool paused = false;
  uint32_t parallel_max = 0;
  bool sealed = true;
  bool keep = false;  // wait for capacity to come instead of being refused as infeasible
  std::vector<StepKind> kinds;
  std::vector<NewStep> steps;
  std::string lane;
  Overlap overlap = Overlap::allow;
  std::string origin;
  Duration time_limit;
};
// Steps of a kind say its place in the list here, unless they are `numbered` as what they are in
// the whole workflow.
struct AddSteps {
  WorkflowId id;
  std::vector<StepKind> kinds;
  std::vector<NewStep> steps;
  // By name, of each step, beside those that it names by number.
  std::vector<std::vector<std::pair<std::string, Need>>> needs;
  bool numbered = false;
  bool seal = false;
  bool keep = false;
};
struct PauseWorkflow {
  WorkflowId id;
  bool paused = true;
};
struct CancelWorkflow {
  WorkflowId id;
};
// Runs again what did not succeed, and what that kept from running.
struct RetryWorkflow {
  WorkflowId id;
  std::vector<std::string> steps;  // only these and what needs them; empty: all
  std::optional<Workflow> ended;   // filled from history when it has ended
};
struct CreateQueue {
  std::string ns;
  std::string name;
  QueueSettings settings;
};
struct ChangeQueue {
  std::string ns;
  std::string name;
  std::optional<Duration> visibility;
  std::optional<uint32_t> attempts;
  std::optional<bool> dead_letters;
  std::optional<bool> closed;
};
// One that has no items.
struct DeleteQueue {
  std::string ns;
  std::string name;
};
struct NewItem {
  int32_t priority = 0;
  Duration delay;
  std::string key;
  uint64_t bytes = 0;  // of its body, which the runtime keeps
};
// All or none.
struct PutItems {
  std::string ns;
  std::string queue;
  std::vector<NewItem> items;
};
// Nothing to lease is no refusal: it decides nothing.
struct LeaseItems {
  std::string ns;
  std::string queue;
  uint32_t max = 1;
  std::optional<Duration> visibility;  // the queue's own when absent
  std::string holder;                  // who works on them, for people
};
// All of a lease's items when none is named. The same for those below.
struct FinishItems {
  std::string ns;
  std::string queue;
  LeaseId lease;
  std::vector<ItemId> items;
};
struct ReturnItems {
  std::string ns;
  std::string queue;
  LeaseId lease;
  std::vector<ItemId> items;
  Duration delay;
  std::string message;  // why, for people
};
struct ExtendLeases {
  std::string ns;
  std::string queue;
  std::vector<LeaseId> leases;
  std::optional<Duration> visibility;  // from now
};
// Dead letters; the first ones when none is named.
struct RestoreItems {
  std::string ns;
  std::string queue;
  std::vector<ItemId> items;
};
// The first ones of what is meant when none is named; never more than kItemsPerRemovalMax.
struct RemoveItems {
  std::string ns;
  std::string queue;
  Removal what = Removal::dead;
  std::vector<ItemId> items;
};
// Writes a document of a namespace: a new one, or the next version of it.
struct KeepDocument {
  std::string ns;
  std::string kind;
  std::string name;
  std::string text;
  Role role = Role::member;          // that it takes
  bool create_only = false;          // one that is there already is a conflict
  std::optional<uint64_t> expected;  // the version it is written over; another one is a conflict
  std::optional<std::string> owner;  // instead of who wrote it first
};
struct DropDocument {
  std::string ns;
  std::string kind;
  std::string name;
  Role role = Role::member;
};

using Command =
    std::variant<SubmitJobs, CancelJob, HoldJob, ReleaseJob, ChangeJob, RequeueJob, CreateUser,
                 ChangeUser, CreateNamespace, DeleteNamespace, SetQuota, SetMember, RemoveMember,
                 CreateToken, RevokeToken, AddSite, RemoveSite, DrainSite, RecordDeed, SetCohort,
                 DeleteCohort, SetStake, SetPolicy, ApplyPlatform, DrainNode, SetCalendarEntry,
                 DeleteCalendarEntry, CreateReservation, CancelReservation, SubmitWorkflow,
                 AddSteps, PauseWorkflow, CancelWorkflow, RetryWorkflow, CreateQueue, ChangeQueue,
                 DeleteQueue, PutItems, LeaseItems, FinishItems, ReturnItems, ExtendLeases,
                 RestoreItems, RemoveItems, KeepDocument, DropDocument, SetSchedule, PauseSchedule,
                 DeleteSchedule, FireSchedule>;

struct SiteProbed {
  std::string site;
  SiteReport report;
};
struct AttemptStarted {
  AttemptId attempt;
  Time started;
};
struct AttemptEnded {
  AttemptId attempt;
  AttemptResult result;
};
struct AttemptUnreachable {
  AttemptId attempt;
  bool unreachable = true;
};
struct NoticeReported {
  NoticeId id;
  bool delivered = false;
  std::string message;
};
// How far the clock on the wall, by which the calendar goes, is ahead of UTC.
struct ZoneSeen {
  int32_t utc_offset = 0;  // in minutes
};
// What a step is to run has been made, or has come to something else.
struct StepPrepared {
  StepRef step;
  enum class Result : uint8_t { run, reuse, skip, fail };
  Result result = Result::run;
  Digest payload;
  bool array = false;
  IntervalSet indices{Interval{0, 0}};
  std::optional<uint32_t> parallel_max;  // of its tasks
  std::string message;                   // why it is skipped, or has failed
  std::string outputs;                   // of the one that is reused
  StepRef reused;
  uint64_t opening = 0;  // that it was asked for
};
// What a step has left.
struct StepCollected {
  StepRef step;
  JobId job;
  bool failed = false;
  std::string message;
  std::string outputs;
  Digest cache;  // by what it may be found again
  uint64_t opening = 0;
};
// What the firing of a schedule runs, or why it cannot.
struct RunPlanned {
  ScheduleId id;
  uint32_t revision = 0;
  uint64_t number = 0;
  SubmitWorkflow run;
  std::string error;  // empty: there is a run
};
// More steps of a run that is not sealed yet.
struct RunSteps {
  ScheduleId id;
  uint32_t revision = 0;
  uint64_t number = 0;
  AddSteps steps;
};
using Report = std::variant<SiteProbed, AttemptStarted, AttemptEnded, AttemptUnreachable,
                            NoticeReported, ZoneSeen, StepPrepared, StepCollected, ScheduleTimes,
                            RunPlanned, RunSteps, FilesLooked>;

struct Request {
  Actor actor;
  Command command;
};
struct Tick {};

struct Input {
  Time now;
  std::variant<Request, Report, Tick> body;
};

}  // namespace atl::core
