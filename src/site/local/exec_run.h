// A command run beside a task, in its place: same account, directory, environment, control group
// and, when the task is sandboxed, its namespaces. Its output is kept in memory up to a bound and
// returned whole. Belongs to a keeper.
#pragma once

#include <sys/types.h>

#include <string>

#include "site/local/protocol.h"
#include "site/local/task.h"

namespace atl::site {

class ExecRun {
 public:
  static constexpr size_t kOutputMax = 1 << 20;  // per stream; more is cut with a line that says so

  explicit ExecRun(ExecTask order) : order_(std::move(order)) {}

  // False when it could not be started; ended() then tells why.
  [[nodiscard]] bool start(const Task& task);

  pid_t pid() const { return pid_; }
  int64_t deadline() const { return deadline_; }
  const OutputPipe& out() const { return out_; }
  const OutputPipe& err() const { return err_; }
  void drain();
  void expire();
  ExecEnded ended(int status);

 private:
  const ExecTask order_;
  OutputPipe out_, err_;
  pid_t pid_ = -1;
  int64_t deadline_ = INT64_MAX;
  bool expired_ = false;
  ExecEnded result_;
};

}  // namespace atl::site
