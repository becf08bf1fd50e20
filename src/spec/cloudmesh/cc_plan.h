// A Cloudmesh workflow as steps: what each node runs, where, and after which others. Nothing is
// read here: whether a script is there is found out by the step itself, when it runs.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "spec/cloudmesh/cc_file.h"
#include "spec/workflow/plan.h"

namespace atl::spec::cc {

struct CcPlanOptions {
  // Where the scripts are and the nodes run; an absolute path. Empty: each in one of its own.
  std::string directory;
  std::string home;  // of the user: what ~ stands for in scripts and venv
  std::string local_site = "local";
  std::set<std::string> sites;  // that are configured, the local one among them
  // What is in the scripts, by their names, as far as the caller knows. A node that runs elsewhere
  // takes its script along, with the #SBATCH lines in it; without it the file has to be there.
  std::map<std::string, std::string> scripts;
  bool skip_done = false;  // nodes that the file says are done are not run again
};

struct CcPlan {
  WorkflowPlan plan;      // each step after those that it needs
  bool fail_fast = true;  // a failed node ends the workflow, and its descendants fail with it
};

// The error names the place in the file; its field is "nodes.NAME.host".
[[nodiscard]] Result<CcPlan> plan_cc(const CcFile& file, const CcPlanOptions& options);

// What the step of a node runs here: a script for sh.
std::string node_script(const CcNode& node, const CcPlanOptions& options);

// A text as one word of sh.
std::string shell_word(std::string_view text);

}  // namespace atl::spec::cc
