// The table of steps: the columns of Table I of CHASE-CI, measured here.
#pragma once

#include <string>
#include <vector>

#include "report/workflow_run.h"

namespace atl::report {

// With a line below that says what is missing, when there are more than kTableRowsMax.
std::string step_table(const WorkflowRun& run);

// At most `max` steps in the order of the run; when some have to be left out, those that failed or
// still go on come first.
std::vector<const StepRun*> worth_showing(const WorkflowRun& run, size_t max);

}  // namespace atl::report
