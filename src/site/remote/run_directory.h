// The work of one account on one machine, found there again whatever dies here: a directory per
// attempt below ROOT, with the wrapper of wrapper.sh in it. Every call is one exchange of the shell
// and may be repeated. Blocking; from any thread, like the shell.
//
// Errors are those of Shell::run, and besides: exhausted, when the host's disk is full or its home
// cannot be written, and internal, when it answers what nobody understands.
#pragma once

#include <atomic>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "site/remote/run_order.h"
#include "site/remote/shell.h"

namespace atl::site {

struct HostFacts {
  HostPlace place;
  std::string host;  // as it calls itself
  int64_t cores = 0;
  int64_t memory_bytes = 0;
  int64_t scratch_bytes = 0;          // free where the jobs' directories are
  std::vector<core::Device> devices;  // "gpu0", …
  bool sha256sum = false;
  int64_t uptime_cs = 0;
};

enum class RunStage : uint8_t { placed, beginning, running, ended };

struct RunStatus {
  AttemptId attempt;
  RunStage stage = RunStage::placed;
  Time started;
  core::AttemptResult result;  // when it has ended
  bool left_files = false;     // in the job's directory, when it has ended
  std::optional<Progress> progress;
};

struct HostStatus {
  int64_t uptime_cs = 0;
  std::vector<RunStatus> runs;  // everything that is not forgotten, in no order
};

struct RunDirectoryOptions {
  std::string installation;  // with its epoch: a restored backup finds nothing of another's
  std::string root;          // empty: ~/.atoll/INSTALLATION; else an absolute path of the host
};

class RunDirectory {
 public:
  RunDirectory(Shell& shell, RunDirectoryOptions options);

  // Places the wrapper if it is not there, and looks at the machine. The other calls do it first
  // where nobody has.
  [[nodiscard]] Result<HostFacts> probe();

  // Places the orders; with `begin` they are also begun, each at most once ever. What cannot be run
  // at all is in `refused`, and the others are placed.
  using Refused = std::map<AttemptId, Error>;
  [[nodiscard]] Result<void> start(std::span<const RunOrder> orders, bool begin, Refused& refused);

  // What all attempts do. `renew_cs` renews the lease: the host's uptime at an answer that we had,
  // so that a renewal that is under way for long renews nothing that it should not.
  [[nodiscard]] Result<HostStatus> poll(int64_t renew_cs);

  // Only renews, for as long as the next poll has to wait; the host's uptime.
  [[nodiscard]] Result<int64_t> renew(int64_t renew_cs);

  // Gives back those that nobody knows there.
  [[nodiscard]] Result<std::vector<AttemptId>> stop(std::span<const StopOrder> orders);
  // Ends what is left of an attempt that never said more than that it begins.
  [[nodiscard]] Result<void> end(AttemptId attempt, const std::string& message);
  [[nodiscard]] Result<void> forget(std::span<const AttemptId> attempts);
  [[nodiscard]] Result<void> purge(JobId job);
  [[nodiscard]] Result<LogChunk> logs(AttemptId attempt, LogStream stream, int64_t offset,
                                      size_t max);
  [[nodiscard]] Result<ExecResult> exec(const ExecRequest& request);

  // `sh WRAPPER run ROOT ID` as shell words, for a batch script: the wrapper in the foreground.
  [[nodiscard]] Result<std::string> foreground_command(AttemptId attempt);
  // Known once it was probed.
  [[nodiscard]] Result<HostPlace> place();
  Shell& shell() { return shell_; }

 private:
  [[nodiscard]] Result<Said> ask(const std::string& verb, const std::string& arguments,
                                 std::string input, Duration timeout = seconds(60),
                                 size_t out_max = 16 << 20);
  [[nodiscard]] Result<Said> install_and_probe();
  [[nodiscard]] Error refusal(const Said& said, const std::string& doing) const;

  Shell& shell_;
  const RunDirectoryOptions options_;
  const std::string root_word_;     // as the host's shell expands it
  const std::string wrapper_word_;  // of this release's wrapper
  std::mutex mutex_;
  std::optional<HostPlace> place_;  // guarded by mutex_
};

// Lines of the verb `poll`. Pure; internal when they are no such lines.
[[nodiscard]] Result<HostStatus> parse_host_status(std::string_view text);

}  // namespace atl::site
