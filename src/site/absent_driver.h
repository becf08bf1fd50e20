// Stands for a site whose driver could not be made: it does nothing, and says why. Work that is
// there stays as it was last known.
#pragma once

#include "site/driver.h"

namespace atl::site {

class AbsentDriver : public SiteDriver {
 public:
  explicit AbsentDriver(std::string why) : why_(std::move(why)) {}

  void adopt(std::vector<AttemptId>, ReportSink) override {}
  void start(std::vector<StartOrder>) override {}
  void stop(std::vector<StopOrder>) override {}
  void forget(std::vector<AttemptId>) override {}
  Result<LogChunk> logs(AttemptId, LogStream, int64_t, size_t) override {
    return fail(ErrorCode::unavailable, why_);
  }
  Result<ExecResult> exec(const ExecRequest&) override {
    return fail(ErrorCode::unavailable, why_);
  }
  std::string job_directory(JobId) override { return {}; }
  void purge(JobId) override {}
  void close() override {}
  std::string trouble() override { return why_; }

 private:
  const std::string why_;
};

}  // namespace atl::site
