// The contract of SiteDriver as tests, one instantiation per driver, each against its real engine.
//
// A place is what a test needs of one engine: drivers on it, one after another (the engine outlives
// a driver, as it outlives a server), and payloads that mean the same everywhere.
#pragma once

#include <gtest/gtest.h>

#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "site/driver.h"

namespace atl::site {

// Collects reports and insists: one start and one end per attempt, the end after the start.
class Recorder {
 public:
  ReportSink sink();
  bool wait_probed(int seconds = 20);
  bool wait_started(AttemptId attempt, int seconds = 20);
  bool wait_ended(size_t count, int seconds = 60);
  bool wait_ended(AttemptId attempt, int seconds = 20);
  core::AttemptResult result(AttemptId attempt);
  core::SiteReport site();
  size_t starts(AttemptId attempt);
  size_t ends(AttemptId attempt);

 private:
  template <class Ready>
  bool wait(int seconds, Ready ready);

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<core::SiteReport> sites_;
  std::map<AttemptId, std::vector<Time>> starts_;
  std::map<AttemptId, std::vector<core::AttemptResult>> ends_;
};

class ContractPlace {
 public:
  virtual ~ContractPlace() = default;
  virtual std::unique_ptr<SiteDriver> driver() = 0;
  virtual core::Payload sleeping(int milliseconds) = 0;
  virtual core::Payload exiting(int code) = 0;
  // Ignores SIGTERM, where there is such a thing.
  virtual core::Payload stubborn() = 0;
  // Writes "hello\n" to stdout; absent when the site has no logs.
  virtual std::optional<core::Payload> talking() = 0;
  // Says that it is half-way or further, then goes on for a second or more.
  virtual core::Payload progressing() = 0;
  // Seconds for a few hundred tasks, on a machine that has other work.
  virtual int patience() { return 60; }
  // Work goes on while no driver is there.
  virtual bool outlives_driver() = 0;
};

struct ContractParam {
  const char* name;
  std::function<std::unique_ptr<ContractPlace>()> make;
};

class SiteContract : public testing::TestWithParam<ContractParam> {
 protected:
  void SetUp() override;
  void TearDown() override;
  StartOrder order(uint64_t job, core::Payload payload);
  // Adopts with the given expectation and waits for the probe.
  void adopt(std::vector<AttemptId> expected = {});
  void restart_driver();

  std::unique_ptr<ContractPlace> place_;
  std::unique_ptr<SiteDriver> driver_;
  std::unique_ptr<Recorder> seen_;
};

}  // namespace atl::site
