// How a workflow of Cloudmesh is getting on, in its own words.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "spec/cloudmesh/cc_file.h"
#include "spec/cloudmesh/label.h"

namespace atl::spec::cc {

// cc's word for a state of our steps ("succeeded" is done), and one of our states for its word.
// Descendants of a failed node, which are blocked here, have failed there.
std::string_view cc_status(std::string_view step_state);
std::string_view step_state(std::string_view cc_status);

// What is known of a job beside its node. Times are zero until they are there.
struct CcJobRun {
  std::string status;  // cc's word; empty: as the node says
  int progress = 0;
  std::string pid;
  Time created, modified, started, ended;
};

struct CcRun {
  Time created, started, ended;  // of the workflow
  std::map<std::string, CcJobRun> jobs;
  std::map<std::string, std::string> os;  // for labels
  std::map<std::string, std::string> cm;
  Time now;
  Zone zone;
};

// The workflow with the state of the run in its nodes; labels are rendered when `labels` says so.
CcWorkflow with_run(const CcWorkflow& workflow, const CcRun& run, bool labels);

LabelValues label_values(const CcNode& node, const CcRun& run);

// One word for all: failed as soon as one has failed, done when all are.
std::string_view workflow_status(const CcWorkflow& workflow);

// How many nodes have each status, those that cc counts at least with zero.
std::map<std::string, size_t> status_counts(const CcWorkflow& workflow);

}  // namespace atl::spec::cc
