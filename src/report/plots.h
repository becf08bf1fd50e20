// How a run went, as pictures for the report: each an SVG element that takes its state colours from
// the page (page_style.h).
#pragma once

#include <string>

#include "report/workflow_run.h"

namespace atl::report {

// When each step was queued and when it ran, at most kGanttRowsMax of them: the longest.
std::string plot_gantt(const WorkflowRun& run);

// How many steps were running and how many queued over time, of all of them.
std::string plot_concurrency(const WorkflowRun& run);

// Whether there is a span of time to plot.
bool has_times(const WorkflowRun& run);

}  // namespace atl::report
