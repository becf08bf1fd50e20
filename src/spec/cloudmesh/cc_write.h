// A Cloudmesh workflow back to what cc's clients read: its saved file, its times, the JSON of its
// REST routes, and its tables. For the state of a run, give what with_run() made.
#pragma once

#include <string>

#include "spec/cloudmesh/cc_file.h"
#include "spec/cloudmesh/cc_status.h"

namespace atl::spec::cc {

// The saved form: dependencies as a map, nodes with parents and all attributes. Reading it gives
// the same workflow.
std::string save_cc(const CcWorkflow& workflow);

// NAME.dat: times: {created_time: …, t0_NAME: …, tstart_JOB: …}, those that are known.
std::string times_dat(const CcWorkflow& workflow, const CcRun& run);

std::string status_json(const CcWorkflow& workflow);    // {"workflow": "running", "jobs": {…}}
std::string workflow_json(const CcWorkflow& workflow);  // {"nodes": {…}, "dependencies": {…}}
std::string jobs_json(const CcWorkflow& workflow);      // {"jobs": {…}}
std::string job_json(const CcWorkflow& workflow, const CcNode& node);  // its attributes

// number, host, status, name, progress, script, user, parent, kind; a row per node by its number.
std::string jobs_csv(const CcWorkflow& workflow);
std::string jobs_table(const CcWorkflow& workflow);

}  // namespace atl::spec::cc
