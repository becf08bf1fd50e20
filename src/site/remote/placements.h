// On which host each attempt was put, so that a server that was restarted knows where to look while
// a host is away, and where logs are later. One file per job below a directory, a line per fact,
// only ever appended to; removed with the job. From any thread.
#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/time.h"

namespace atl::site {

struct Placed {
  std::string host;
  Duration lease;        // zero: none
  bool started = false;  // the host has told of it, so it cannot be as if it never was
  bool forgotten = false;
};

class Placements {
 public:
  explicit Placements(std::string directory);

  // Durable enough for a killed server, not for lost power; then the hosts are asked.
  void put(AttemptId attempt, const std::string& host, Duration lease);
  void started(AttemptId attempt);
  void forgotten(AttemptId attempt);
  std::optional<Placed> find(AttemptId attempt);
  std::vector<std::string> hosts(JobId job);
  void remove(JobId job);

 private:
  using Job = std::map<AttemptId, Placed>;
  std::string path(JobId job) const;
  void append(JobId job, const std::string& line);
  Job& load(JobId job);

  const std::string directory_;
  std::mutex mutex_;
  std::map<JobId, Job> jobs_;  // guarded by mutex_; at most kJobsHeld, the others are read again
};

}  // namespace atl::site
