// Keeps the derived parts of State. apply calls these around each change, and rebuild_derived calls
// the same ones on everything a snapshot holds, so the two cannot drift apart.
#pragma once

#include "core/state.h"

namespace atl::core {

void index_user(State& state, const User& user);

// A job enters or leaves: its place in the namespace's count, its terms' count, the reverse
// dependencies.
void index_job(State& state, const Job& job);
void unindex_job(State& state, const Job& job);

// A job whose dependencies are decided is due to be settled.
void index_unsettled(State& state, const Job& job);

// A task's hold on its node, its namespace and the back-off timers.
void index_task(State& state, Job& job, uint32_t index, const Task& task);
void unindex_task(State& state, Job& job, uint32_t index, const Task& task);

// A task that keeps its room has started or stops.
void reindex_holder(State& state, const Job& job, uint32_t index, const Task& task);

// All of a job's tasks.
void index_tasks(State& state, Job& job);
void unindex_tasks(State& state, Job& job);

// A ready job's place in its queue.
Waiting place_of(const State& state, const Job& job);

// Takes the job out of the backlog, before its place in it changes.
void leave_backlog(State& state, const Job& job);

// Brings the backlog in line with whether the job is ready; call after anything that may change it.
void index_ready(State& state, const Job& job);

// Brings what a tick looks at in line with how far the workflow is; call after anything that may
// change it.
void index_workflow(State& state, Workflow& workflow);
// The same for those whose steps go through the queue; call after it has changed.
void wake_feeders(State& state, QueueId queue);
// A workflow enters or leaves.
void count_workflow(State& state, Workflow& workflow, int sign);

// Counts the terms under their shape, which it gives them if they have none.
void index_terms(State& state, TermsEntry& entry);
TermsId intern_terms(State& state, const Terms& terms);

// Brings the meters of everybody whom the job's use counts against up to now; call before a task of
// it takes room or gives it up.
void advance_accounts(State& state, const Job& job);

// What the platform has: all nodes but those of sites that are used by name only, on which nothing
// counts. Call after sites or their nodes change.
void count_capacity(State& state);

// What one task of these terms counts as, in its place.
Amounts amounts_of(const Terms& terms, const Placement& placement);

// Adds (or with sign -1 takes away) what one placed task uses.
void add_in_use(InUse& in_use, const Terms& terms, const Placement& placement, int sign);

}  // namespace atl::core
