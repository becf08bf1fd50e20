// What one attempt needs on a machine that is not ours, as the files of its run directory
// (wrapper.sh tells what they are). Pure.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "site/driver.h"
#include "site/remote/tar.h"

namespace atl::site {

// "12.0.1": job, index, attempt.
std::string run_id(AttemptId attempt);
std::optional<AttemptId> parse_run_id(std::string_view text);

// Of the host, as it was probed.
struct HostPlace {
  std::string root;  // absolute: ~/.atoll/INSTALLATION
  std::string home;
  std::string user;
  bool gpus_present = false;
};

struct RunOrder {
  StartOrder start;
  Duration lease;            // zero: it runs on, however long nobody is heard of
  int64_t renewed_cs = 0;    // the host's uptime at the last answer that we had, for the lease
  bool devices = true;       // false where an engine tells the task which are its own
  bool limit_memory = true;  // false where an engine does
  bool limit_wall = true;
};

// The directory of the task below the root: jobs/12, or jobs/12/7 of an array.
std::string job_path(JobId job);
std::string task_path(const StartOrder& order);

// invalid when there is nothing to run or it asks for what such a host does not have.
[[nodiscard]] Result<std::vector<TarFile>> run_files(const RunOrder& order, const HostPlace& place);

// What a task finds in its notice file; empty when it gets no grace.
std::string stop_notice(const StopOrder& order);

}  // namespace atl::site
