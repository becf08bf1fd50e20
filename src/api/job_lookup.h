// Finding what a request names, live or ended, and whether its actor may see it.
#pragma once

#include <functional>

#include "api/context.h"
#include "api/job_row.h"

namespace atl::api {

// A copy of what there is to show of a job, taken on the core's thread or from history.
struct FoundJob {
  JobRow row;
  core::Job job;  // of a live array without its tasks
  core::Terms terms;
  std::string tag;
  std::string sentence;  // why it waits
  std::vector<JobId> waits_for;
  Time until;
  std::optional<core::Task> task;         // the one asked for, or the only one
  bool task_waiting = false;              // the task asked for has not been placed yet
  std::optional<core::Outcome> unplaced;  // how it ended, if it did so while it waited
  bool live = false;
};

struct Want {
  std::optional<uint32_t> index = {};  // of an array's task
};

Error no_such_job(JobId id);

// How a task ended, if it did so while it waited.
std::optional<core::Outcome> unplaced_outcome(const core::Job& job, uint32_t index);

// Calls `then` off the core's thread, or refuses the call with not_found.
void find_job(const CallPtr& call, JobId id, Want want, std::function<void(FoundJob)> then);

// The newest attempts of a task that have ended, in order. Blocking.
[[nodiscard]] Result<std::vector<journal::EndedAttempt>> ended_attempts(Context& context,
                                                                        TaskId task, size_t max);

// The task that logs, exec and files mean: the one named, or the only one of a job that is no
// array.
[[nodiscard]] Result<TaskId> single_task(const FoundJob& found, const Selector& selector);

// Which attempt of a task is meant, and where it is or was.
struct Where {
  AttemptId attempt;
  std::string site;
  bool running = false;
};
[[nodiscard]] Result<Where> locate(Context& context, const FoundJob& found, TaskId task,
                                   std::optional<uint32_t> attempt);

[[nodiscard]] Result<std::shared_ptr<site::SiteDriver>> driver_for(Context& context,
                                                                   const std::string& site);

// Whether the actor may act on the job, as the core would decide for a live one.
[[nodiscard]] Result<void> may_act(const core::State& table, const core::Actor& actor,
                                   const FoundJob& found);

}  // namespace atl::api
