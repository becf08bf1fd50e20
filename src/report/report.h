// The report of a run: one HTML file that holds all it shows. It asks nothing of any other place,
// and forbids the browser to (a Content-Security-Policy in the page); one small script, named there
// by its hash, sorts the table. Its size is bounded however many steps there are and whatever they
// wrote. Draws the graph, so it may wait for kLayoutTime. Any thread.
#pragma once

#include <string>

#include "report/workflow_run.h"

namespace atl::report {

std::string to_html(const WorkflowRun& run);

// How to run it again, as one line for a shell: "atoll run connect.yaml --set years=1980-2018".
std::string command_to_repeat(const WorkflowRun& run);

}  // namespace atl::report
