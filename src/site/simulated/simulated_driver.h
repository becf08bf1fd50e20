// A site that only pretends: no processes, the payload says how long a task runs and how it ends.
// For demonstrations, teaching, and measuring the platform at a scale no machine could run: a task
// costs about a microsecond.
//
// One timer thread makes all reports. Its work ends with it, as that of a machine that is switched
// off: what it is asked to adopt after a restart is lost, and tried again.
#pragma once

#include <condition_variable>
#include <mutex>
#include <queue>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "site/driver.h"

namespace atl::site {

struct SimulatedOptions {
  std::string site = "simulated";
  std::vector<core::NodeCapacity> nodes = {
      {.name = "sim-1", .cpu_milli = 64000, .memory_bytes = 256LL << 30}};
  Duration run_for;      // of a task whose payload says nothing; zero: ends at once
  Duration start_after;  // how long the site takes to start a task
};

class SimulatedDriver : public SiteDriver {
 public:
  explicit SimulatedDriver(SimulatedOptions options);
  ~SimulatedDriver() override;

  void adopt(std::vector<AttemptId> expected, ReportSink sink) override;
  void start(std::vector<StartOrder> orders) override;
  void stop(std::vector<StopOrder> orders) override;
  void forget(std::vector<AttemptId> attempts) override;
  Result<LogChunk> logs(AttemptId attempt, LogStream stream, int64_t offset, size_t max) override;
  // The part of its time that has passed.
  std::vector<std::optional<Progress>> progress(std::span<const AttemptId> attempts) override;
  Result<ExecResult> exec(const ExecRequest& request) override;
  std::string job_directory(JobId) override { return {}; }
  void purge(JobId) override {}
  void close() override;

 private:
  struct AttemptHash {
    size_t operator()(const AttemptId& id) const {
      return std::hash<uint64_t>()(id.job.value * 0x9e3779b97f4a7c15u + id.index * 31u +
                                   id.attempt);
    }
  };
  struct Running {
    Time started;
    core::AttemptResult result;  // how it will end, unless it is stopped
  };
  struct Moment {
    Time at;
    AttemptId attempt;
    bool ends = false;
    bool operator>(const Moment& other) const { return at > other.at; }
  };

  void begin(const StartOrder& order, Time now);
  void end(const StopOrder& order, Time now);
  void run();

  const SimulatedOptions options_;
  ReportSink sink_;
  std::thread thread_;

  std::mutex mutex_;
  std::condition_variable changed_;
  bool closing_ = false;
  std::unordered_map<AttemptId, Running, AttemptHash> running_;
  std::priority_queue<Moment, std::vector<Moment>, std::greater<>> moments_;
  std::vector<core::Report> due_;
};

}  // namespace atl::site
