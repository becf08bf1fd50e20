// One attempt inside its keeper: started, watched, stopped, accounted. Belongs to the keeper's only
// thread.
#pragma once

#include <sys/resource.h>
#include <sys/types.h>

#include <optional>
#include <string>

#include "base/result.h"
#include "site/local/cgroup.h"
#include "site/local/energy.h"
#include "site/local/inside.h"
#include "site/local/log_store.h"
#include "site/local/protocol.h"
#include "site/local/samples.h"
#include "site/local/spawn.h"
#include "site/local/task_progress.h"

namespace atl::site {

// A pipe whose reading end never waits. Both ends stay open here while the task lives, so the end
// of the task, not of its output, is what wakes the keeper.
struct OutputPipe {
  int read_fd = -1;
  int write_fd = -1;
  OutputPipe() = default;
  OutputPipe(const OutputPipe&) = delete;
  OutputPipe& operator=(const OutputPipe&) = delete;
  ~OutputPipe();
  [[nodiscard]] bool open();
};

class Task {
 public:
  Task(Launch launch, CgroupSlot& slot, LogWriter& logs, const std::vector<EnergyZone>& zones);

  // False when it never ran; result() then tells why.
  [[nodiscard]] bool start();

  // Ends it before it started.
  void refuse(std::string why) { fail_start(std::move(why)); }

  const Launch& launch() const { return launch_; }
  pid_t pid() const { return pid_; }
  Time started() const { return started_; }
  bool sandboxed() const { return launch_.payload.isolation == core::Isolation::sandbox; }
  const OutputPipe& out() const { return out_; }
  const OutputPipe& err() const { return err_; }

  // The next moment (monotonic, µs) at which tick() has something to do.
  int64_t due() const;
  // Enforces the wall-time and the grace, takes samples. True when the tree is to be killed now.
  [[nodiscard]] bool tick(int64_t now);
  void stop(Duration grace, core::EndCause cause, int64_t now);

  // Moves what the pipe holds into the log, at most `rounds` buffers.
  void drain(LogStream stream, int rounds);

  void reaped(pid_t pid, int status, const rusage& usage);
  bool ended() const { return ended_; }

  TaskProgress& progress() { return progress_; }

  // Once the whole tree is gone: drains, closes the log, and says how it ended.
  void finish(bool checkpointed);
  const core::AttemptResult& result() const { return result_; }

  // Set by the keeper when it has told the warden.
  bool announced = false;

 private:
  SpawnPlan plan() const;
  ProgressFile progress_file(const SpawnPlan& how) const;
  bool fail_start(std::string message);
  bool fail_spawn(const Spawned& spawned);
  void signal_tree(int signal);
  void sample(int64_t now);
  void account_usage();
  void settle_cause();

  const Launch launch_;
  CgroupSlot& slot_;
  LogWriter& logs_;
  OutputPipe out_, err_;
  InsideFiles inside_;  // of a sandbox
  pid_t pid_ = -1;
  Time started_;
  int64_t started_us_ = 0;
  int64_t wall_us_ = INT64_MAX;
  int64_t kill_us_ = INT64_MAX;
  std::optional<core::EndCause> ending_;  // why we are ending it
  int64_t cpu_before_ = 0;
  Sampler sampler_;
  EnergyMeter energy_;
  TaskProgress progress_;
  int64_t use_stored_us_ = 0;
  rusage used_{};
  int status_ = 0;
  bool ended_ = false;
  core::AttemptResult result_;
};

}  // namespace atl::site
