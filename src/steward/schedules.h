// What schedules need of the outside: their next times, and their runs.
#pragma once

#include <vector>

#include "core/effect.h"
#include "core/input.h"
#include "journal/journal.h"

namespace atl::steward {

// A report with the bytes that it names.
struct Answer {
  core::Report report;
  std::vector<journal::Blob> blobs;
};

// The workflow that a schedule runs, in the order its parts are to be reported; a program that
// cannot be planned is one answer that says why. Asking twice is harmless.
std::vector<Answer> open_run(const core::OpenRun& order);

core::ScheduleTimes times_of(const core::TimeSchedule& order);

}  // namespace atl::steward
