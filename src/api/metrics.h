// What /metrics counts, kept by prometheus-cpp. Labels are bounded: routes, statuses, outcomes,
// sites and kinds of devices, never ids.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/state.h"

namespace atl::api {

// What a site has and what placed tasks hold of it, over all its nodes. A node that is gone counts
// only for what is still on it.
struct SiteUse {
  struct Of {
    double capacity = 0;
    double used = 0;
  };
  std::string name;
  Of cpus;
  Of memory_bytes;
  std::map<std::pair<std::string, std::string>, Of> devices;  // by kind and model
  double tasks = 0;
};
SiteUse use_of(const core::Site& site);

// Read when somebody asks for the metrics.
struct Gauges {
  std::map<std::string, double> jobs_by_state;
  double commits = 0;
  double events = 0;
  double turns = 0;
  double longest_turn_seconds = 0;
  double inputs_queued = 0;
  double streams = 0;
  bool read_only = false;
  std::vector<SiteUse> sites;
};

class Metrics {
 public:
  explicit Metrics(const std::string& version);
  ~Metrics();

  // Thread-safe; `endpoint` is an index into endpoints().
  void record(size_t endpoint, int status, std::chrono::steady_clock::duration took);

  // On the runtime's thread after each commit.
  void on_commit(const core::State& state, const core::Events& events);

  // The text exposition format.
  std::string expose(const Gauges& gauges) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace atl::api
