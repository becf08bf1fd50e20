// One event being applied: the time and author, the state, and the effects so far. Platform and
// jobs are in apply.cpp, tasks in apply_tasks.cpp, workflows in workflow/apply_workflow.cpp.
#pragma once

#include "core/core.h"

namespace atl::core {

class Application {
 public:
  Application(State& state, const Event& event) : state_(state), at_(event.at), by_(event.by) {}

  void operator()(const UserCreated& e);
  void operator()(const UserChanged& e);
  void operator()(const NamespaceCreated& e);
  void operator()(const NamespaceDeleted& e);
  void operator()(const QuotaSet& e);
  void operator()(const MemberSet& e) { state_.namespaces.at(e.id).members[e.user] = e.role; }
  void operator()(const MemberRemoved& e) { state_.namespaces.at(e.id).members.erase(e.user); }
  void operator()(const TokenCreated& e);
  void operator()(const TokenRevoked& e);
  void operator()(const SiteAdded& e);
  void operator()(const SiteRemoved& e);
  void operator()(const SiteReported& e);
  void operator()(const SiteDrained& e) { state_.sites.at(e.id).draining = e.draining; }
  void operator()(const JobSubmitted& e);
  void operator()(const JobHeld& e) { set_held(e.id, true); }
  void operator()(const JobReleased& e) { set_held(e.id, false); }
  void operator()(const JobChanged& e);
  void operator()(const DependenciesSettled& e);
  void operator()(const WaitingEnded& e);
  void operator()(const TaskPlaced& e);
  void operator()(const TaskStarted& e);
  void operator()(const TaskStopping& e);
  void operator()(const TaskUnreachable& e);
  void operator()(const TaskEnded& e);
  void operator()(const TaskRetried& e);
  void operator()(const BackoffEnded& e);
  void operator()(const JobEnded& e);
  void operator()(const JobReopened& e);
  void operator()(const NoticeSettled& e) { state_.notices.erase(e.id); }
  void operator()(const TaskRecalled& e);
  void operator()(const ExecAsked&) {}
  void operator()(const UploadAsked&) {}
  void operator()(const BackupAsked&) {}
  void operator()(const CohortSet& e);
  void operator()(const CohortDeleted& e);
  void operator()(const StakeSet& e);
  void operator()(const PolicySet& e);

  void operator()(const NodeDrained& e);
  void operator()(const CalendarSet& e) { state_.calendar = e.calendar; }
  void operator()(const ReservationMade& e);
  void operator()(const ReservationEnded& e) { state_.reservations.erase(e.id); }

  void operator()(const WorkflowSubmitted& e);
  void operator()(const StepsAdded& e);
  void operator()(const WorkflowSealed& e);
  void operator()(const WorkflowPaused& e);
  void operator()(const WorkflowCancelled& e);
  void operator()(const StepPreparing& e);
  void operator()(const StepCollecting& e);
  void operator()(const StepsEnded& e);
  void operator()(const StepsReopened& e);
  void operator()(const WorkflowEnded& e);
  void operator()(const WorkflowReopened& e);
  // workflow/apply_feed.cpp
  void operator()(const StepFeeding& e);
  void operator()(const FeedStopped& e);
  void operator()(const FedJobCollecting& e);
  void operator()(const FedJobEnded& e);
  // queue/apply.cpp
  void operator()(const QueueSet& e);
  void operator()(const QueueDeleted& e);
  void operator()(const ItemsPut& e);
  void operator()(const ItemsLeased& e);
  void operator()(const LeasesExtended& e);
  void operator()(const ItemsFinished& e);
  void operator()(const ItemsReturned& e);
  void operator()(const ItemsBuried& e);
  void operator()(const DelaysEnded& e);
  void operator()(const ItemsRestored& e);
  void operator()(const ItemsRemoved& e);
  // kept/kept.cpp
  void operator()(const DocumentKept& e);
  void operator()(const DocumentDropped& e);

  // schedule/apply.cpp
  void operator()(const ScheduleSet& e);
  void operator()(const ScheduleDeleted& e);
  void operator()(const SchedulePaused& e);
  void operator()(const ScheduleAsked& e);
  void operator()(const ScheduleTimed& e);
  void operator()(const ScheduleFired& e);
  void operator()(const ScheduleSkipped& e);
  void operator()(const ScheduleOpened& e);
  void operator()(const ScheduleLooked& e);

  Effects take_effects() { return std::move(effects_); }

 private:
  Job& job(JobId id);
  Task& task(Job& job, AttemptId attempt);
  void set_held(JobId id, bool held);
  void set_yielded(Job& job, uint32_t index, bool yielded);
  Job& insert_job(const JobSubmitted& e, Time submitted);
  void archive(const Job& job, AttemptId attempt, const Task& task, Outcome outcome, bool retried,
               const AttemptResult& result);
  void end_placement(Job& job, AttemptId attempt, Task& task, const AttemptResult& result);
  void give_up_room(Job& owner, AttemptId attempt, Task& leaving);
  void settle_dependents(JobId id, Outcome outcome);
  void owe_notice(const Job& job, const JobEnded& end);
  Workflow& workflow(WorkflowId id);
  Schedule& schedule(ScheduleId id);
  void begin_workflow(Workflow& target);
  void move_step(StepRef step, StepState to);
  void begin_step(const JobSubmitted& e);
  void finish_step(const Job& job, Outcome outcome);
  Feed& feed(StepRef step);
  // Adds an attempt to what the step has used that its job works for.
  void charge_feed(const Job& job, const AttemptResult& result);
  Step& open_step(StepRef ref, uint64_t opening);

  State& state_;
  const Time at_;
  const UserId by_;
  Effects effects_;
};

}  // namespace atl::core
