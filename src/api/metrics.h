// What /metrics counts, kept by prometheus-cpp. Labels are bounded: routes and statuses, never ids.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <string>

namespace atl::api {

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
};

class Metrics {
 public:
  explicit Metrics(const std::string& version);
  ~Metrics();

  // Thread-safe; `endpoint` is an index into endpoints().
  void record(size_t endpoint, int status, std::chrono::steady_clock::duration took);

  // The text exposition format.
  std::string expose(const Gauges& gauges) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace atl::api
