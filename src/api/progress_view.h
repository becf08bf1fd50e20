// How far running work is, as answers show it. The sites' drivers know it; the core does not.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "api/context.h"
#include "api/job_row.h"

namespace atl::api {

inline constexpr size_t kProgressPerJob = 1'000;    // tasks of an array that are asked about
inline constexpr size_t kProgressPerPage = 10'000;  // copied on the core's thread for one answer

// Notes whose progress is the job's: its only attempt, or those of an array that are placed, of
// the first `max` tasks. On the core's thread.
void copy_placed(JobRow& row, const core::Job& job, size_t max);
std::optional<PlacedAttempt> placed_attempt(TaskId id, const core::Task& task);

// The newest progress of each, nothing where there is none. Off the core's thread.
std::vector<std::optional<site::Progress>> ask_progress(Context& context, const core::State& table,
                                                        std::span<const PlacedAttempt> placed);

// Fills in the rows' progress. That of an array is the mean over all its tasks: ended ones count as
// 100, those that wait or tell nothing as 0; when more run than were asked about, the ones that
// were stand for all. An array of which nothing has ended and nothing is told has none.
void add_progress(Context& context, const core::State& table, std::span<JobRow> rows);

void write_progress(spec::JsonWriter& json, const std::optional<site::Progress>& progress);

}  // namespace atl::api
