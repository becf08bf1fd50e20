// A run as an RO-Crate to publish: a zip that holds the workflow's files, the report, the outputs
// that are given with their bytes, checksums of all that are known, and a description of it all
// that other software reads (RO-Crate 1.1, profile Provenance Run Crate 0.5, with the profiles that
// it extends). Each step that ran is an action in it. The public validator accepts it: tests/crate.
#pragma once

#include <string>

#include "base/result.h"
#include "report/workflow_run.h"

namespace atl::report {

// Makes the report too, so it may wait for kLayoutTime. `conflict` when the run has no file or has
// not ended: what is published should not change. Any thread.
[[nodiscard]] Result<std::string> to_crate(const WorkflowRun& run);

}  // namespace atl::report
