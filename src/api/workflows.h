// Workflows in the API: what their files are sent as, and how they are shown. For the sources of
// this room only.
#pragma once

#include "api/context.h"
#include "api/job_row.h"
#include "spec/workflow/plan.h"

namespace atl::api {

struct WorkflowWish {
  spec::TextMap files;
  spec::Text main;
  spec::TextMap set;
  spec::Text ns;
  spec::Text name;
  spec::Text directory;
  spec::Text only;
  spec::Text from;
  spec::Flag check;
  spec::Flag paused;
  spec::Flag keep;
};
struct StepsWish {
  std::optional<spec::Json> steps;
  spec::Text directory;
};
struct StepsRetryWish {
  spec::Texts steps;
};

// How far a step is that goes through a queue: items of it, and of the queue.
struct FedView {
  std::string queue;
  uint64_t done = 0;
  uint64_t dead = 0;
  uint64_t given_back = 0;
  uint64_t working = 0;
  uint64_t left = 0;  // in the queue, those too that are worked on
  core::FeedUse use;
};

// A step as it is shown: what was kept of it, and of one that is under way what the state says.
struct ShownStep {
  journal::KeptStep kept;
  core::StepState state = core::StepState::waiting;
  core::StepKind kind;
  std::optional<JobRow> live;  // its job, as far as it is shown here
  Time started;
  Time queued;
  Time ended;
  uint64_t tasks = 1;
  core::Tally outcomes{};
  core::Usage used;  // of all attempts together; the peak is the largest
  uint32_t attempts = 0;
  std::optional<int32_t> exit_code;
  std::string site;
  std::string node;
  std::optional<FedView> fed;
};

struct ShownWorkflow {
  journal::KeptWorkflow kept;
  core::StepTally tally{};
  bool paused = false;
  bool cancelled = false;
  bool held = false;  // behind others of its lane
  bool live = false;
};

// What the state knows of it, on the core's thread.
void look_at_workflow(const core::State& state, ShownWorkflow& shown);
// One that ended between the looks at history and at the state is looked up again.
void reread_ended(const CallPtr& call, ShownWorkflow& shown);

// The word for how far a workflow or step is, and for how it ended.
const char* state_word(const ShownWorkflow& shown);
const char* state_word(core::StepState state);
const char* outcome_word(core::StepState state);  // null while it is not over

[[nodiscard]] Result<WorkflowId> workflow_id(const CallPtr& call);

// Calls `then` off the core's thread, or refuses the call with not_found.
void find_workflow(const CallPtr& call, WorkflowId id, std::function<void(ShownWorkflow)> then);
// Steps from `first` on, at most `max`, with all that is known of them.
void find_steps(const CallPtr& call, ShownWorkflow of, uint32_t first, size_t max,
                std::function<void(std::vector<ShownStep>)> then);
// Only those under way, at most `max`.
void find_active_steps(const CallPtr& call, ShownWorkflow of, size_t max,
                       std::function<void(std::vector<ShownStep>)> then);

// A workflow that has been taken.
struct TakenWorkflow {
  WorkflowId id;
  std::string name;
  uint64_t steps = 0;
  std::vector<std::string> warnings;
};
// Reads, plans and submits; `taken` is called once all of it is durable, or the call is refused. On
// a thread that may block.
void take_workflow(const CallPtr& call, WorkflowWish wish,
                   std::function<void(const TakenWorkflow&)> taken);

// A plan that was made from something else than a file, with what the command says beside steps.
struct PlannedWorkflow {
  spec::WorkflowPlan plan;
  core::SubmitWorkflow command;  // without steps
  std::string files;             // what it was made from, by name: a JSON object
};
void take_plan(const CallPtr& call, PlannedWorkflow planned,
               std::function<void(const TakenWorkflow&)> taken);

// How the output of a job's last attempt ends. May block.
struct LogEnds {
  std::string out;
  std::string err;
};
LogEnds log_ends(Context& context, JobId job);
// workflows_fed.cpp
FedView look_at_feed(const core::State& state, const core::Feed& feed);
std::optional<FedView> fed_before(const journal::KeptStep& step);  // nothing: it is no such step
void write_fed(spec::JsonWriter& json, const std::optional<FedView>& fed);

void write_workflow(spec::JsonWriter& json, const core::State& table, const ShownWorkflow& shown);
void write_step(spec::JsonWriter& json, const ShownStep& step,
                const std::function<std::string(uint32_t)>& name_of_step);

}  // namespace atl::api

namespace atl::spec {

template <>
const Shape& shape_of<api::WorkflowWish>();
template <>
const Shape& shape_of<api::StepsWish>();
template <>
const Shape& shape_of<api::StepsRetryWish>();

}  // namespace atl::spec
