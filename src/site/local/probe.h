// What this machine offers to local work, for the site's report and for `atoll doctor`.
#pragma once

#include <string>

#include "core/types.h"

namespace atl::site {

// Host name, cores this process may use, memory; no devices.
core::NodeCapacity machine_capacity();

// Each fact with a sentence that says why it is so.
struct LocalFacts {
  int cgroup_version = 0;  // 0: none may be used
  std::string cgroup_why;
  bool sandbox = false;  // bubblewrap was tried and works
  std::string sandbox_why;
  bool root = false;  // work can run under the submitter's account
  std::string root_why;
  int gpus = 0;
  std::string gpus_why;
};

// Really tries: makes and removes a control group, runs `true` in a sandbox. Blocking, some 20 ms.
LocalFacts probe_local(const std::string& nvml = "libnvidia-ml.so.1");

}  // namespace atl::site
