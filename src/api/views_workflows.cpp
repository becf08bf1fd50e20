#include "api/view_fields.h"
#include "api/workflows.h"

namespace atl::api {
namespace {

constexpr const char* kWorkflowStates[] = {"waiting", "running", "paused", "stopping", "ended"};
constexpr const char* kStepStates[] = {"waiting", "ready",      "preparing",
                                       "running", "collecting", "ended"};

constexpr std::array kStepCounts{
    always(Kind::integer, "total", "All steps."),
    always(Kind::integer, "waiting", "Not begun."),
    always(Kind::integer, "active", "Under way."),
    always(Kind::integer, "succeeded", "Ended well."),
    always(Kind::integer, "failed", "Ended with an error."),
    always(Kind::integer, "cancelled", "Ended by somebody."),
    always(Kind::integer, "skipped", "Never ran: by a condition, or behind one that failed.")};
const Shape& step_counts_shape() {
  static constexpr Shape shape{"StepCounts", "Steps by how far they are.", kStepCounts};
  return shape;
}

#define ATOLL_WORKFLOW_FIELDS                                                               \
  always(Kind::text, "id", "Its number."), always(Kind::text, "name", "Its name."),         \
      always(Kind::text, "namespace", "Where it belongs."),                                 \
      always(Kind::text, "user", "Who submitted it."),                                      \
      always(Kind::integer, "version", "Of its files, among all that ran under its name."), \
      word("state", "How far it is.", kWorkflowStates),                                     \
      maybe_word("outcome", "How it ended.", kOutcomeWords),                                \
      always(Kind::text, "message", "What there is to say about its end."),                 \
      always(Kind::time, "submitted", "When it was submitted."),                            \
      maybe(Kind::time, "ended", "When it ended."),                                         \
      always(Kind::text, "origin", "What made it, where no person did: schedule/nightly."), \
      always(Kind::boolean, "held", "Whether it waits for others of its kind to end."),     \
      always(Kind::object, "steps", "How many are how far.", step_counts_shape)

constexpr std::array kWorkflowRow{ATOLL_WORKFLOW_FIELDS};
constexpr std::array kWorkflowView{
    ATOLL_WORKFLOW_FIELDS, always(Kind::boolean, "fail_fast", "Whether the first failure ends it."),
    always(Kind::any, "request", "What it was asked for with: format, main, directory, params."),
    always(Kind::text_map, "files", "Its files, as they were sent.")};
const Shape& workflow_row_shape() {
  static constexpr Shape shape{"WorkflowRow", "A workflow in a list.", kWorkflowRow};
  return shape;
}
constexpr std::array kWorkflowList{
    always(Kind::objects, "workflows", "Newest first.", workflow_row_shape),
    maybe(Kind::text, "next", "What ?before= takes for the next page.")};

constexpr std::array kStepNeed{always(Kind::text, "step", "Its name."),
                               always(Kind::integer, "number", "Its place."),
                               always(Kind::boolean, "can_fail", "It may fail."),
                               always(Kind::boolean, "can_skip", "It may be skipped.")};
const Shape& step_need_shape() {
  static constexpr Shape shape{"StepNeed", "A step that has to end first.", kStepNeed};
  return shape;
}
constexpr std::array kStepTasks{always(Kind::integer, "total", "All tasks."),
                                always(Kind::integer, "waiting", "Not placed."),
                                always(Kind::integer, "active", "Starting, running or stopping."),
                                always(Kind::integer, "succeeded", "Ended well."),
                                always(Kind::integer, "failed", "Ended badly."),
                                always(Kind::integer, "cancelled", "Never ran, or were stopped.")};
const Shape& step_tasks_shape() {
  static constexpr Shape shape{"StepTasks", "The tasks of a step.", kStepTasks};
  return shape;
}
constexpr std::array kStepQueue{
    always(Kind::text, "name", "The queue."),
    always(Kind::integer, "done", "By this step."),
    always(Kind::integer, "dead", "That failed too often in its hands."),
    always(Kind::integer, "given_back", "To be tried again."),
    always(Kind::integer, "working", "That its jobs work on."),
    always(Kind::integer, "left", "In the queue and not done; 0 when the step is not under way.")};
const Shape& step_queue_shape() {
  static constexpr Shape shape{"StepQueue", "How far a step is that goes through a queue.",
                               kStepQueue};
  return shape;
}
constexpr std::array kStepView{
    always(Kind::integer, "number", "Its place in the workflow, from 0."),
    always(Kind::text, "name", "Its name."),
    word("state", "How far it is.", kStepStates),
    maybe_word("outcome", "How it ended.", kOutcomeWords),
    maybe(Kind::text, "reason",
          "Why it did not run: condition, upstream_failed, upstream_skipped, reused."),
    always(Kind::text, "message", "What there is to say about its end."),
    maybe(Kind::text, "job", "The job that runs or ran it."),
    maybe(Kind::time, "queued", "When its job was submitted."),
    maybe(Kind::time, "started", "When its first task started."),
    maybe(Kind::time, "ended", "When it ended."),
    always(Kind::objects, "needs", "What has to end first.", step_need_shape),
    always(Kind::object, "tasks", "Its tasks; one unless it goes through something.",
           step_tasks_shape),
    maybe(Kind::object, "queue", "Of one that goes through a queue: items.", step_queue_shape),
    maybe(Kind::object, "progress", "How far it says it is, while it runs.", progress_shape),
    always(Kind::number, "cpus", "Cores per task."),
    always(Kind::integer, "memory_bytes", "Memory per task."),
    always(Kind::number, "gpus", "GPUs per task."),
    always(Kind::number, "cpu_seconds", "Used by all of its attempts."),
    always(Kind::integer, "memory_peak_bytes", "The most that one attempt used."),
    always(Kind::integer, "read_bytes", "Read by all attempts."),
    always(Kind::integer, "written_bytes", "Written by all attempts."),
    maybe(Kind::number, "energy_joules",
          "About what the attempts used of which that is known; null where it is of none."),
    maybe(Kind::integer, "exit_code", "Of the last attempt."),
    maybe(Kind::text, "site", "Where it runs or ran."),
    maybe(Kind::text, "node", "On which node."),
    always(Kind::integer, "attempts", "That have ended."),
    always(Kind::any, "outputs", "What it has left, by name."),
    maybe(Kind::any, "reused", "The workflow and step whose outputs it took over.")};
const Shape& step_view_shape() {
  static constexpr Shape shape{"Step", "A step of a workflow.", kStepView};
  return shape;
}
constexpr std::array kStepList{
    always(Kind::objects, "steps", "In order.", step_view_shape),
    maybe(Kind::integer, "next", "What ?after= takes for the next page.")};

constexpr std::array kPlannedStep{
    always(Kind::text, "name", "Its name."), always(Kind::texts, "needs", "What has to end first."),
    maybe(Kind::integer, "tasks", "How many; null when that is known only later."),
    always(Kind::boolean, "kept", "Whether an earlier run's outputs are taken over.")};
const Shape& planned_step_shape() {
  static constexpr Shape shape{"PlannedStep", "A step that would be submitted.", kPlannedStep};
  return shape;
}
constexpr std::array kTriedWorkflow{
    always(Kind::text, "name", "Its name."), always(Kind::text_map, "params", "Its parameters."),
    always(Kind::integer, "steps", "How many."),
    always(Kind::objects, "plan", "The first 1,000 of them, each behind what it needs.",
           planned_step_shape),
    always(Kind::texts, "warnings", "What has no effect, with its place in the file.")};
constexpr std::array kSubmittedWorkflow{
    always(Kind::text, "id", "Its number."), always(Kind::text, "name", "Its name."),
    always(Kind::integer, "steps", "How many."),
    always(Kind::texts, "warnings", "What has no effect, with its place in the file.")};
constexpr std::array kAddedSteps{always(Kind::text, "id", "The workflow."),
                                 always(Kind::integer, "added", "How many steps.")};
constexpr std::array kFileVersion{always(Kind::integer, "version", "Its number."),
                                  always(Kind::text, "sha256", "Of the files together."),
                                  always(Kind::time, "first_run", "When it ran first.")};
const Shape& file_version_shape() {
  static constexpr Shape shape{"WorkflowVersion", "Files that ran under a name.", kFileVersion};
  return shape;
}
constexpr std::array kFedOutput{
    always(Kind::text, "job", "The job."),
    always(Kind::text, "items", "The numbers of its items, such as 5-8,10."),
    always(Kind::any, "outputs", "What it left, by name; it counts exactly when they are done.")};
const Shape& fed_output_shape() {
  static constexpr Shape shape{"StepOutput", "What one job of a step left.", kFedOutput};
  return shape;
}
constexpr std::array kFedOutputList{
    always(Kind::objects, "outputs", "In the order of the jobs.", fed_output_shape),
    maybe(Kind::text, "next", "What ?after= takes for the next page.")};
constexpr std::array kVersionList{
    always(Kind::objects, "versions", "Newest first.", file_version_shape)};

constexpr std::array kDefinitionList{always(Kind::texts, "workflows", "Their names.")};

}  // namespace

const Shape& definition_list_shape() {
  static constexpr Shape shape{"CloudmeshWorkflows", "Workflows that are kept by name.",
                               kDefinitionList};
  return shape;
}
const Shape& workflow_shape() {
  static constexpr Shape shape{"Workflow", "A workflow.", kWorkflowView};
  return shape;
}
const Shape& workflow_list_shape() {
  static constexpr Shape shape{"WorkflowList", "A page of workflows.", kWorkflowList};
  return shape;
}
const Shape& step_list_shape() {
  static constexpr Shape shape{"StepList", "A page of steps.", kStepList};
  return shape;
}
const Shape& tried_workflow_shape() {
  static constexpr Shape shape{"TriedWorkflow", "What would be submitted.", kTriedWorkflow};
  return shape;
}
const Shape& submitted_workflow_shape() {
  static constexpr Shape shape{"SubmittedWorkflow", "A workflow that was taken.",
                               kSubmittedWorkflow};
  return shape;
}
const Shape& added_steps_shape() {
  static constexpr Shape shape{"AddedSteps", "Steps that were added.", kAddedSteps};
  return shape;
}
const Shape& fed_output_list_shape() {
  static constexpr Shape shape{"StepOutputs", "What the jobs of a step have left.", kFedOutputList};
  return shape;
}
const Shape& version_list_shape() {
  static constexpr Shape shape{"WorkflowVersions", "The versions of a workflow's files.",
                               kVersionList};
  return shape;
}

}  // namespace atl::api
