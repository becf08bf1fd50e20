// Tasks and attempts as answers show them.
#pragma once

#include "core/state.h"
#include "journal/journal.h"
#include "site/progress.h"
#include "spec/json_writer.h"

namespace atl::api {

// "energy_joules", null where nobody measured it.
void write_energy(spec::JsonWriter& json, const core::Usage& usage);
void write_attempt(spec::JsonWriter& json, const core::State& table,
                   const journal::EndedAttempt& attempt);

// A task that is placed or in back-off.
void write_task(spec::JsonWriter& json, const core::State& table, TaskId id, bool array,
                const core::Task& task, const std::optional<site::Progress>& progress);
// One that has ended: its last attempt, or none when it never ran, and how it ended if it did so
// while it waited for another.
void write_ended_task(spec::JsonWriter& json, const core::State& table, TaskId id, bool array,
                      const journal::EndedAttempt* last,
                      std::optional<core::Outcome> unplaced = {});
void write_waiting_task(spec::JsonWriter& json, TaskId id, bool array);

}  // namespace atl::api
