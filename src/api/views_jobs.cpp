#include "api/view_fields.h"
#include "spec/job_spec.h"

namespace atl::api {
namespace {

const Shape& tasks_shape();
const Shape& device_request_shape();

constexpr const char* kRowTiers[] = {"interactive", "service", "batch", "opportunistic"};

#define ATOLL_ROW_FIELDS                                                                           \
  always(Kind::text, "id", "Its id."), always(Kind::text, "name", "What people see in lists."),    \
      always(Kind::text, "namespace",                                                              \
             "The namespace it belongs to; empty when that was deleted."),                         \
      always(Kind::text, "user", "Who submitted it."),                                             \
      word("state", "Where it stands.", kStateWords),                                              \
      maybe_word("outcome", "How it ended.", kOutcomeWords),                                       \
      maybe(Kind::text, "reason", "Why it waits, in one word."),                                   \
      always(Kind::boolean, "held", "Whether somebody holds it back."),                            \
      always(Kind::integer, "priority", "Higher starts first within the namespace."),              \
      always(Kind::number, "cpus", "Cores per task."),                                             \
      always(Kind::integer, "memory_bytes", "Memory per task."),                                   \
      always(Kind::texts, "devices", "Devices per task, as kind:model:count."),                    \
      always(Kind::objects, "device_requests", "The same in full.", device_request_shape),         \
      word("tier", "Who is served before whom.", kRowTiers),                                       \
      maybe(Kind::number, "time_seconds", "The wall-time that was asked for; null: no limit."),    \
      always(Kind::number, "grace_seconds", "From the request to stop until it is killed."),       \
      maybe(Kind::integer, "gang", "How many tasks start together; null: each by itself."),        \
      maybe(Kind::integer, "parallel_max",                                                         \
            "How many tasks of the array may run at once; null when nothing limits them."),        \
      maybe(Kind::text, "site", "Where it runs or ran; null for arrays."),                         \
      maybe(Kind::text, "node", "The node there; null for arrays."),                               \
      always(Kind::boolean, "unreachable", "Whether its site cannot be asked at the moment."),     \
      always(Kind::time, "submitted", "When it was submitted."),                                   \
      maybe(Kind::time, "started", "When it started."),                                            \
      maybe(Kind::time, "ended", "When it ended."),                                                \
      always(Kind::boolean, "array", "Whether it is an array."),                                   \
      maybe(Kind::object, "tasks", "How many tasks of an array are in which state.", tasks_shape), \
      maybe(Kind::object, "progress",                                                              \
            "How far it says it is while it runs; of an array the mean over all its tasks, where " \
            "ended ones count as 100 and those that wait or tell nothing as 0.",                   \
            progress_shape),                                                                       \
      always(Kind::text_map, "labels", "Names and values to find it by."),                         \
      always(Kind::text, "message", "What there is to say about its end.")

constexpr std::array kTasks{
    always(Kind::integer, "total", "All tasks."),
    always(Kind::integer, "waiting", "Not started yet."),
    always(Kind::integer, "active", "Starting, running or stopping."),
    always(Kind::integer, "succeeded", "Ended well."),
    always(Kind::integer, "failed", "Ended with an error."),
    always(Kind::integer, "cancelled", "Ended by somebody."),
    always(Kind::integer, "timed_out", "Ran out of time."),
    always(Kind::integer, "lost", "Nobody knows how they ended."),
    always(Kind::integer, "skipped", "Never ran, because of a dependency.")};
const Shape& tasks_shape() {
  static constexpr Shape shape{"TaskCounts", "Tasks of an array by state.", kTasks};
  return shape;
}

constexpr std::array kProgress{
    maybe(Kind::number, "percent", "From 0 to 100; null when it has told none yet."),
    maybe(Kind::text, "status", "A word of its own, such as running."),
    maybe(Kind::text, "message", "What else it says."),
    maybe(Kind::integer, "pid", "The process or batch job it names; shown as it was told."),
    maybe(Kind::time, "at", "When that was read."),
    always(Kind::integer, "ignored", "Progress lines that said what cannot be, such as 150 %.")};
}  // namespace

const Shape& progress_shape() {
  static constexpr Shape shape{"Progress", "How far a task says it is.", kProgress};
  return shape;
}

namespace {

constexpr std::array kDeviceRequest{
    always(Kind::text, "kind", "Such as gpu."),
    always(Kind::texts, "models", "That would do, the better ones first; empty: any."),
    always(Kind::integer, "count", "How many."),
    always(Kind::number, "share", "What each counts as in quotas and fair shares."),
    maybe(Kind::integer, "memory_bytes", "Of each, where a part was asked for by its memory."),
    maybe(Kind::text, "slice", "The profile, where a slice of each was asked for.")};
const Shape& device_request_shape() {
  static constexpr Shape shape{"DeviceRequest", "Devices that each task needs.", kDeviceRequest};
  return shape;
}

const Shape& spec_shape() { return spec::shape_of<spec::JobSpec>(); }

constexpr std::array kRow{ATOLL_ROW_FIELDS};
constexpr std::array kJob{
    ATOLL_ROW_FIELDS,
    maybe(Kind::text, "sentence", "Why it waits, for people; times in it are RFC 3339, in UTC."),
    always(Kind::texts, "waits_for", "Jobs that must end first."),
    maybe(Kind::time, "until", "When its pause before the next attempt ends."),
    maybe(Kind::integer, "exit_code", "Of the last attempt that ended."),
    maybe(Kind::integer, "signal", "That ended the last attempt."),
    always(Kind::integer, "attempt",
           "The number of the current or last attempt; 0 before the first."),
    always(Kind::objects, "attempts",
           "The newest 100 attempts that have ended, in order; empty for arrays. "
           "GET /jobs/{id}/attempts lists all.",
           attempt_shape),
    always(Kind::object, "spec", "What was asked for.", spec_shape)};
constexpr std::array kJobList{always(Kind::objects, "jobs", "Newest first.", job_row_shape),
                              maybe(Kind::text, "next", "The cursor of the next page.")};
constexpr std::array kAccepted{
    sometimes(Kind::text, "id", "Of a single job."),
    always(Kind::texts, "ids", "Of all jobs, in the order they were sent."),
    always(Kind::boolean, "repeated",
           "Whether the idempotency key was known, so that nothing was done again."),
    always(Kind::texts, "warnings",
           "Directives in scripts that were not understood, shares that are rounded up, and jobs "
           "that are not explained.")};
constexpr std::array kDone{
    always(Kind::text, "id", "The job."),
    always(Kind::boolean, "changed", "Whether anything had to be done."),
    sometimes(Kind::texts, "warnings", "When devices were changed: shares that are rounded up.")};

constexpr const char* kCauses[] = {"exited", "signalled",   "wall_time", "stopped",
                                   "memory", "start_error", "lost",      "recalled"};

#define ATOLL_RESULT_FIELDS                                            \
  maybe_word("cause", "What ended it.", kCauses),                      \
      maybe(Kind::integer, "exit_code", "What the program returned."), \
      maybe(Kind::integer, "signal", "The signal that killed it."),    \
      always(Kind::text, "message", "What the site says.")
#define ATOLL_PLACE_FIELDS                                                                     \
  maybe(Kind::text, "site", "The site it was given."), maybe(Kind::text, "node", "The node."), \
      always(Kind::texts, "devices", "The devices it holds.")

constexpr std::array kTask{
    always(Kind::text, "id", "Such as 12[7]."),
    always(Kind::text, "job", "Its job."),
    always(Kind::integer, "index", "Its index in the array."),
    word("state", "Where it stands.", kStateWords),
    maybe_word("outcome", "How it ended.", kOutcomeWords),
    always(Kind::integer, "attempt", "The number of the current or last attempt."),
    ATOLL_PLACE_FIELDS,
    always(Kind::boolean, "unreachable", "Whether its site cannot be asked at the moment."),
    maybe(Kind::time, "placed", "When it was given its place."),
    maybe(Kind::time, "started", "When it started."),
    maybe(Kind::time, "ended", "When it ended."),
    maybe(Kind::object, "progress", "How far it says it is, while it runs.", progress_shape),
    ATOLL_RESULT_FIELDS};
constexpr std::array kTaskList{
    always(Kind::text, "waiting", "The indices that wait, as ranges."),
    always(Kind::objects, "tasks", "Tasks that started, in order of index.", task_shape),
    maybe(Kind::text, "next", "The cursor of the next page.")};
constexpr std::array kAttempt{
    always(Kind::text, "id", "Such as 12[7].2."),
    always(Kind::integer, "index", "The index of its task."),
    always(Kind::integer, "attempt", "Its number, from 1."),
    word("outcome", "How it ended.", kOutcomeWords),
    always(Kind::boolean, "retried", "Whether another attempt followed."),
    ATOLL_PLACE_FIELDS,
    ATOLL_RESULT_FIELDS,
    always(Kind::boolean, "checkpointed", "Whether it left a checkpoint to resume from."),
    maybe(Kind::time, "placed", "When it was given its place."),
    maybe(Kind::time, "started", "On its site's clock."),
    maybe(Kind::time, "ended", "On its site's clock."),
    always(Kind::number, "wall_seconds", "How long it ran."),
    always(Kind::number, "cpu_seconds", "Processor time it used."),
    always(Kind::integer, "memory_peak_bytes", "The most memory it had."),
    always(Kind::integer, "read_bytes", "Read from disks."),
    always(Kind::integer, "written_bytes", "Written to disks."),
    maybe(Kind::number, "energy_joules", "About what it used, where that is known."),
    always(Kind::integer, "stdout_bytes", "Written to standard output, kept or not."),
    always(Kind::integer, "stderr_bytes", "Written to standard error, kept or not.")};
constexpr std::array kAttemptList{
    always(Kind::objects, "attempts", "In order of index and number.", attempt_shape),
    maybe(Kind::text, "next", "The cursor of the next page.")};
constexpr std::array kHeldBy{
    always(Kind::text, "namespace", "Whose work."),
    always(Kind::number, "amount", "How much of the resource."),
    always(Kind::number, "borrowed", "How much of that it has to give back on demand."),
    always(Kind::time, "since", "When the first of it was taken."),
    maybe(Kind::time, "until", "When all of it is free at the latest.")};
const Shape& held_by_shape() {
  static constexpr Shape shape{"HeldBy", "What a namespace has of a resource.", kHeldBy};
  return shape;
}
constexpr std::array kExpectedStart{
    maybe(Kind::time, "expected", "If work takes as long as half of it used to."),
    maybe(Kind::time, "earliest", "If it takes as long as the shorter fifth."),
    maybe(Kind::time, "latest", "If it takes as long as four fifths at most."),
    maybe(Kind::time, "not_before", "How far ahead was looked, if it has not started by then."),
    always(Kind::boolean, "rough", "Whether the times go on from there at the pace seen so far.")};
const Shape& expected_start_shape() {
  static constexpr Shape shape{
      "ExpectedStart", "From running the scheduler ahead, if nobody new comes.", kExpectedStart};
  return shape;
}
constexpr std::array kAlternative{
    always(Kind::text, "change", "As flags: --cpus 4."),
    maybe(Kind::text, "starts",
          "now, or the time at which it is expected to start; null: it could, nobody knows when."),
    always(Kind::integer, "yields", "How many tasks make room for it first.")};
const Shape& alternative_shape() {
  static constexpr Shape shape{"Alternative", "Another request that starts sooner.", kAlternative};
  return shape;
}
constexpr std::array kExplanation{
    always(Kind::text, "id", "The job, or the task: 12[3]."),
    word("state", "Where it stands.", kStateWords),
    maybe(Kind::text, "reason", "Why it waits, in one word."),
    maybe(Kind::text, "sentence", "Why it waits, for people."),
    always(Kind::texts, "waits_for", "Jobs that must end first."),
    maybe(Kind::time, "until",
          "When that is over at the latest: a pause, a reservation, the calendar's hours."),
    maybe(Kind::integer, "position", "Among the ready jobs of its namespace, from 1."),
    maybe(Kind::text, "resource", "What there is too little of: cpu, memory, tasks, gpu:a100."),
    maybe(Kind::number, "asked", "How much of it one task asks for."),
    maybe(Kind::number, "in_use", "How much of it is in use where it comes nearest to fitting."),
    maybe(Kind::number, "limit", "How much of it there is, or may be used."),
    always(Kind::objects, "held_by", "Who has it, most first.", held_by_shape),
    maybe(Kind::time, "starts_by",
          "When the first in line starts at the latest, if nobody else comes."),
    maybe(Kind::object, "expected_start", "When it is expected to start.", expected_start_shape),
    always(Kind::objects, "alternatives", "Other requests that would start now or sooner.",
           alternative_shape)};
constexpr std::array kTriedPlace{
    always(Kind::text, "site", "Where."), always(Kind::text, "node", "Likewise."),
    always(Kind::integer, "tasks", "How many of its tasks start there.")};
const Shape& tried_place_shape() {
  static constexpr Shape shape{"TriedPlace", "A node on which tasks would start now.", kTriedPlace};
  return shape;
}
constexpr std::array kTriedRest{
    always(Kind::integer, "tasks", "How many do not start now."),
    maybe(Kind::time, "first", "When the first of them is expected to start."),
    maybe(Kind::time, "last", "When the last of them is."),
    always(Kind::boolean, "rough", "Whether the times go on at the pace seen so far.")};
const Shape& tried_rest_shape() {
  static constexpr Shape shape{"TriedRest", "The tasks of an array that start later.", kTriedRest};
  return shape;
}
constexpr std::array kTried{
    maybe(Kind::text, "starts", "now, or the expected time of its first task's start."),
    maybe(Kind::text, "site", "Where its first task starts now."),
    maybe(Kind::text, "node", "Likewise."),
    always(Kind::integer, "tasks", "How many tasks it has."),
    always(Kind::integer, "tasks_now", "How many of them start now."),
    always(Kind::objects, "places", "All nodes on which they do.", tried_place_shape),
    maybe(Kind::object, "rest", "Of an array: when the others start.", tried_rest_shape),
    maybe(
        Kind::text, "reason",
        "Why it would wait, in one word; skipped: it would never start, because of a dependency."),
    maybe(Kind::text, "sentence", "Why it would wait, for people; only of the first ten jobs."),
    maybe(Kind::time, "starts_by",
          "When the first in line starts at the latest, if nobody else comes."),
    maybe(Kind::object, "expected_start", "When it is expected to start.", expected_start_shape),
    always(Kind::objects, "alternatives", "Other requests that would start now or sooner.",
           alternative_shape)};
const Shape& tried_shape() {
  static constexpr Shape shape{"Tried", "A job that was not submitted.", kTried};
  return shape;
}
constexpr std::array kDryRun{
    always(Kind::objects, "jobs", "In the order they were sent.", tried_shape),
    always(Kind::texts, "warnings",
           "Directives in scripts that were not understood, and shares that are rounded up.")};

}  // namespace

const Shape& job_row_shape() {
  static constexpr Shape shape{"JobRow", "A job as lists show it.", kRow};
  return shape;
}
const Shape& job_shape() {
  static constexpr Shape shape{"Job", "A job with everything known about it.", kJob};
  return shape;
}
const Shape& job_list_shape() {
  static constexpr Shape shape{"JobList", "A page of jobs.", kJobList};
  return shape;
}
const Shape& accepted_shape() {
  static constexpr Shape shape{"Accepted", "Jobs that are durable.", kAccepted};
  return shape;
}
const Shape& dry_run_shape() {
  static constexpr Shape shape{"DryRun", "Where and when jobs would start.", kDryRun};
  return shape;
}
const Shape& done_shape() {
  static constexpr Shape shape{"Done", "What a verb did.", kDone};
  return shape;
}
const Shape& task_shape() {
  static constexpr Shape shape{"Task", "One task of a job.", kTask};
  return shape;
}
const Shape& task_list_shape() {
  static constexpr Shape shape{"TaskList", "A page of tasks.", kTaskList};
  return shape;
}
const Shape& attempt_shape() {
  static constexpr Shape shape{"Attempt", "An attempt that has ended.", kAttempt};
  return shape;
}
const Shape& attempt_list_shape() {
  static constexpr Shape shape{"AttemptList", "A page of attempts.", kAttemptList};
  return shape;
}
const Shape& explanation_shape() {
  static constexpr Shape shape{"Explanation", "Why a job waits.", kExplanation};
  return shape;
}

}  // namespace atl::api
