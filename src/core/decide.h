// The parts of decide, one per kind of input; decide.cpp only chooses among them.
#pragma once

#include "core/authorize.h"
#include "core/core.h"

namespace atl::core {

// Events under construction: each is stamped with the input's time and author.
class Draft {
 public:
  Draft(Time now, UserId by) : now_(now), by_(by) {}
  void add(EventBody body) { events_.push_back(Event{now_, by_, std::move(body)}); }
  Time now() const { return now_; }
  bool empty() const { return events_.empty(); }
  const Events& events() const { return events_; }
  Events take() { return std::move(events_); }

 private:
  Time now_;
  UserId by_;
  Events events_;
};

// decide_jobs.cpp
[[nodiscard]] Result<void> decide_command(const State& state, const Actor& actor,
                                          const SubmitJobs& command, Draft& draft);
[[nodiscard]] Result<void> decide_command(const State& state, const Actor& actor,
                                          const CancelJob& command, Draft& draft);
[[nodiscard]] Result<void> decide_command(const State& state, const Actor& actor,
                                          const HoldJob& command, Draft& draft);
[[nodiscard]] Result<void> decide_command(const State& state, const Actor& actor,
                                          const ReleaseJob& command, Draft& draft);
[[nodiscard]] Result<void> decide_command(const State& state, const Actor& actor,
                                          const ChangeJob& command, Draft& draft);
[[nodiscard]] Result<void> decide_command(const State& state, const Actor& actor,
                                          const RequeueJob& command, Draft& draft);

// decide_devices.cpp
[[nodiscard]] Result<void> check_devices(const std::vector<DeviceRequest>& devices);
// A part that was asked for by memory or as a slice counts as much as on the device where it is the
// largest.
void settle_parts(const State& state, Resources& resources);
// Why no node has such devices, even one of each, and what to ask for instead.
std::string why_no_device(const State& state, const Terms& terms);

// What is wrong with the devices or amounts of terms that no node could ever hold, and what to ask
// for instead (decide_jobs.cpp).
std::string why_infeasible(const State& state, const Terms& terms);

// decide_platform.cpp
Error no_such_site(const State& state, const std::string& name, const std::string& field);
[[nodiscard]] Result<void> decide_command(const State& state, const Actor& actor,
                                          const CreateUser& command, Draft& draft);
[[nodiscard]] Result<void> decide_command(const State& state, const Actor& actor,
                                          const ChangeUser& command, Draft& draft);
[[nodiscard]] Result<void> decide_command(const State& state, const Actor& actor,
                                          const CreateNamespace& command, Draft& draft);
[[nodiscard]] Result<void> decide_command(const State& state, const Actor& actor,
                                          const DeleteNamespace& command, Draft& draft);
[[nodiscard]] Result<void> decide_command(const State& state, const Actor& actor,
                                          const SetQuota& command, Draft& draft);
[[nodiscard]] Result<void> decide_command(const State& state, const Actor& actor,
                                          const SetMember& command, Draft& draft);
[[nodiscard]] Result<void> decide_command(const State& state, const Actor& actor,
                                          const RemoveMember& command, Draft& draft);
[[nodiscard]] Result<void> decide_command(const State& state, const Actor& actor,
                                          const CreateToken& command, Draft& draft);
[[nodiscard]] Result<void> decide_command(const State& state, const Actor& actor,
                                          const RevokeToken& command, Draft& draft);
[[nodiscard]] Result<void> decide_command(const State& state, const Actor& actor,
                                          const AddSite& command, Draft& draft);
[[nodiscard]] Result<void> decide_command(const State& state, const Actor& actor,
                                          const RemoveSite& command, Draft& draft);
[[nodiscard]] Result<void> decide_command(const State& state, const Actor& actor,
                                          const DrainSite& command, Draft& draft);
[[nodiscard]] Result<void> decide_command(const State& state, const Actor& actor,
                                          const RecordDeed& command, Draft& draft);
[[nodiscard]] Result<void> decide_command(const State& state, const Actor& actor,
                                          const DrainNode& command, Draft& draft);

// decide_reservations.cpp
// The reservation with its place. `may_have_begun`: its beginning, not its end, may be in the past.
[[nodiscard]] Result<Reservation> plan_reservation(const State& state,
                                                   const CreateReservation& command, Time now,
                                                   bool may_have_begun);
[[nodiscard]] Result<void> decide_command(const State& state, const Actor& actor,
                                          const CreateReservation& command, Draft& draft);
[[nodiscard]] Result<void> decide_command(const State& state, const Actor& actor,
                                          const CancelReservation& command, Draft& draft);

// workflow/decide_workflow.cpp
[[nodiscard]] Result<void> decide_command(const State& state, const Actor& actor,
                                          const SubmitWorkflow& command, Draft& draft);
[[nodiscard]] Result<void> decide_command(const State& state, const Actor& actor,
                                          const AddSteps& command, Draft& draft);
[[nodiscard]] Result<void> decide_command(const State& state, const Actor& actor,
                                          const PauseWorkflow& command, Draft& draft);
[[nodiscard]] Result<void> decide_command(const State& state, const Actor& actor,
                                          const CancelWorkflow& command, Draft& draft);
[[nodiscard]] Result<void> decide_command(const State& state, const Actor& actor,
                                          const RetryWorkflow& command, Draft& draft);
// Refuses terms that are out of bounds or that no node, quota or calendar could ever hold
// (decide_jobs.cpp).
[[nodiscard]] Result<void> check_kind(const State& state, const StepKind& kind, NamespaceId ns,
                                      bool keep);
[[nodiscard]] Result<void> check_indices(const Terms& terms, const IntervalSet& indices);
// Ends everything of the job that is not placed, and stops what is (decide_jobs.cpp). `with_step`:
// the step that it works for is being stopped by the same draft.
void cancel_whole(const State& state, const Job& job, Duration grace, bool with_step, Draft& draft);

// workflow/progress.cpp
JobSubmitted job_of_step(const State& state, const Workflow& of, uint32_t number, JobId id,
                         const Digest& payload, bool array, const IntervalSet& indices,
                         std::optional<uint32_t> parallel_max);
// Those that have not begun end as `how`, and the jobs of the others are cancelled; `but` end by
// other events.
void stop_steps(const State& state, const Workflow& of, StepState how, const std::string& why,
                const std::vector<workflow::Fallen>& but, Draft& draft);
// Cancels it on the platform's own account, for a reason that is told.
void stop_workflow(const State& state, const Workflow& of, const std::string& reason, bool overran,
                   Draft& draft);
void decide_step(const State& state, const StepPrepared& report, Draft& draft);
void decide_step(const State& state, const StepCollected& report, Draft& draft);
// Starts what is ready, ends what has finished with what falls with it, and ends what is done.
void advance_workflows(const State& state, Draft& draft);

// workflow/feed.cpp
// A job of a step that goes through a queue ends: so do its items, or they are given back. Unless
// the step is being stopped, as the state or `with_step` says, that was one of their attempts.
void end_fed_job(const State& state, const Job& job, Outcome outcome, const std::string& message,
                 bool with_step, Draft& draft);
// What one of its jobs has left.
void decide_fed_job(const State& state, const StepCollected& report, Draft& draft);
// It leases no more, and what runs of it is stopped.
void stop_feed(const State& state, const Workflow& of, uint32_t step, const std::string& why,
               Draft& draft);
StepFeeding begin_feed(const State& state, const Workflow& of, uint32_t step,
                       const Digest& payload);
// Leases to as many more jobs as there may be; `jobs` of them at most, numbered behind `last_job`.
// How many they are.
uint32_t feed_jobs(const State& state, const Workflow& of, uint32_t step, uint32_t jobs,
                   uint64_t last_job, Draft& draft);

// kept/kept.cpp
[[nodiscard]] Result<void> decide_command(const State& state, const Actor& actor,
                                          const KeepDocument& command, Draft& draft);
[[nodiscard]] Result<void> decide_command(const State& state, const Actor& actor,
                                          const DropDocument& command, Draft& draft);

// decide_sharing.cpp
[[nodiscard]] Result<void> decide_command(const State& state, const Actor& actor,
                                          const SetCohort& command, Draft& draft);
[[nodiscard]] Result<void> decide_command(const State& state, const Actor& actor,
                                          const DeleteCohort& command, Draft& draft);
[[nodiscard]] Result<void> decide_command(const State& state, const Actor& actor,
                                          const SetStake& command, Draft& draft);
[[nodiscard]] Result<void> decide_command(const State& state, const Actor& actor,
                                          const SetPolicy& command, Draft& draft);
[[nodiscard]] Result<void> decide_command(const State& state, const Actor& actor,
                                          const SetCalendarEntry& command, Draft& draft);
[[nodiscard]] Result<void> decide_command(const State& state, const Actor& actor,
                                          const DeleteCalendarEntry& command, Draft& draft);
// Adds a change of a quota or a stake, unless members would then be promised more than their cohort
// has.
[[nodiscard]] Result<void> draft_within_cohorts(const State& state, EventBody change, Draft& draft);
[[nodiscard]] Result<void> check_quota(const Quota& quota);
[[nodiscard]] Result<void> check_calendar_entry(const CalendarEntry& entry);
// In the place of the one of its name.
void put_entry(Calendar& calendar, const CalendarEntry& entry);
// Whether there are too many entries, or a tier is shut for good; `field` is that of the entry.
[[nodiscard]] Result<void> check_calendar(const Calendar& calendar, Tier tier,
                                          const std::string& field);

// queue/decide.cpp
[[nodiscard]] Result<void> decide_command(const State& state, const Actor& actor,
                                          const CreateQueue& command, Draft& draft);
[[nodiscard]] Result<void> decide_command(const State& state, const Actor& actor,
                                          const ChangeQueue& command, Draft& draft);
[[nodiscard]] Result<void> decide_command(const State& state, const Actor& actor,
                                          const DeleteQueue& command, Draft& draft);
[[nodiscard]] Result<void> decide_command(const State& state, const Actor& actor,
                                          const PutItems& command, Draft& draft);
[[nodiscard]] Result<void> decide_command(const State& state, const Actor& actor,
                                          const LeaseItems& command, Draft& draft);
[[nodiscard]] Result<void> decide_command(const State& state, const Actor& actor,
                                          const FinishItems& command, Draft& draft);
[[nodiscard]] Result<void> decide_command(const State& state, const Actor& actor,
                                          const ReturnItems& command, Draft& draft);
[[nodiscard]] Result<void> decide_command(const State& state, const Actor& actor,
                                          const ExtendLeases& command, Draft& draft);
[[nodiscard]] Result<void> decide_command(const State& state, const Actor& actor,
                                          const RestoreItems& command, Draft& draft);
[[nodiscard]] Result<void> decide_command(const State& state, const Actor& actor,
                                          const RemoveItems& command, Draft& draft);

// schedule/decide.cpp
[[nodiscard]] Result<void> decide_command(const State& state, const Actor& actor,
                                          const SetSchedule& command, Draft& draft);
[[nodiscard]] Result<void> decide_command(const State& state, const Actor& actor,
                                          const PauseSchedule& command, Draft& draft);
[[nodiscard]] Result<void> decide_command(const State& state, const Actor& actor,
                                          const DeleteSchedule& command, Draft& draft);
[[nodiscard]] Result<void> decide_command(const State& state, const Actor& actor,
                                          const FireSchedule& command, Draft& draft);

// schedule/tick.cpp
void decide_schedule(const State& state, const ScheduleTimes& report, Draft& draft);
void decide_schedule(const State& state, const RunPlanned& report, Draft& draft);
void decide_schedule(const State& state, const RunSteps& report, Draft& draft);
void decide_schedule(const State& state, const FilesLooked& report, Draft& draft);
// Fires what is due, and asks for more times where they are used up.
void fire_schedules(const State& state, Draft& draft);
// When a tick has something to do for a schedule next; zero: never.
Time next_schedule_timer(const State& state);

// decide_apply.cpp
[[nodiscard]] Result<void> decide_command(const State& state, const Actor& actor,
                                          const ApplyPlatform& command, Draft& draft);

// decide_apply_when.cpp: the calendar and the reservations of a whole platform. `after` has the
// namespaces as they will be.
[[nodiscard]] Result<void> draft_calendar(const State& state, const ApplyPlatform& wish,
                                          Draft& draft);
[[nodiscard]] Result<void> draft_reservations(const State& state, State& after,
                                              const ApplyPlatform& wish, Draft& draft);

// decide_reports.cpp: a report never fails; one that no longer matters decides nothing.
void decide_report(const State& state, const Report& report, Draft& draft);

// Ends the job when `ending` tasks more are all that is left of it. `tally` is the job's tally with
// them counted; `with_step` as for cancel_whole.
void end_if_done(const State& state, const Job& job, uint64_t ending, const Tally& tally,
                 std::string message, Draft& draft, bool with_step = false);

// Asks back one that is in line and not asked back yet.
void recall(const State& state, TaskId task, Draft& draft);

// A job's outcome from those of its tasks: the worst one.
Outcome overall(const Tally& tally);

}  // namespace atl::core
