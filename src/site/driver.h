// The contract between the platform and a place where work runs.
//
// A driver is called on the runtime's thread and must not block it: verbs hand the work to the
// driver's own thread or process and return. What happened comes back later as reports through the
// sink, which may be called from any thread. Every order names its attempt, so each may be
// repeated: a driver that has seen the attempt does nothing new.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/input.h"
#include "core/payload.h"
#include "site/progress.h"

namespace atl::site {

struct StartOrder {
  AttemptId attempt;
  bool array = false;
  bool resumed = false;   // an earlier attempt of this task left a checkpoint
  uint32_t recalls = 0;   // earlier attempts that were handed back before they began
  bool repeated = false;  // the server restarted and does not know whether this order ever arrived
  Time
      placed;  // when it was decided; a repeated order older than the machine's boot ends as `lost`
  std::optional<AttemptId> behind;  // begin when that one has ended, or at once if it is not here
  std::string name;                 // of the job
  std::string ns;
  std::string user;             // Atoll's name of who asked
  std::optional<uint32_t> uid;  // the machine's account to run under, when known
  core::Placement placement;
  core::Resources resources;
  Duration wall;
  Duration grace;
  core::Payload payload;
  uint32_t gang = 0;   // how many members start with it, itself included
  std::string leader;  // the node of the first of them
};

struct StopOrder {
  AttemptId attempt;
  Duration grace;  // between SIGTERM and SIGKILL; zero kills at once
  // Hand it back, with cause `recalled`, if it is still behind another one; let it be if it is not.
  bool unless_begun = false;
  // Why, and when the grace is over: what the task finds in the file that ATOLL_NOTICE_FILE names.
  core::StopReason reason = core::StopReason::cancelled;
  Time deadline;
};

enum class LogStream : uint8_t { out, err };

struct LogChunk {
  int64_t offset =
      0;  // of the first byte in `bytes`; more than asked for when the start was cut away
  std::string bytes;
  int64_t size = 0;  // absolute end of what exists now
};

struct ExecRequest {
  AttemptId attempt;
  std::vector<std::string> argv;
  std::string stdin_text;
  Duration timeout = seconds(60);
};
struct ExecResult {
  int exit_code = 0;
  std::string out;
  std::string err;
};

using ReportSink = std::function<void(core::Report)>;

class SiteDriver {
 public:
  virtual ~SiteDriver() = default;

  // Begins reporting: first a SiteProbed, then, for every attempt in `expected` (those the state
  // holds as starting, running or stopping), exactly one of AttemptStarted, AttemptEnded or
  // nothing. Nothing means that the driver has never heard of it, which is only an answer for
  // attempts that it may be told to start again; one that was seen and cannot be accounted for ends
  // with cause `lost`. Attempts it runs that are not expected are stopped.
  virtual void adopt(std::vector<AttemptId> expected, ReportSink sink) = 0;

  // Starts the attempts, each at most once ever. Success is an AttemptStarted or AttemptEnded
  // report; what cannot be started ends with cause `start_error`. An order names one it is behind
  // only on a site that reports the ability `line`.
  virtual void start(std::vector<StartOrder> orders) = 0;

  // Ends the attempts: SIGTERM to the whole tree, SIGKILL after the grace. Success is an
  // AttemptEnded report. One that is not known ends at once with cause `lost`.
  virtual void stop(std::vector<StopOrder> orders) = 0;

  // The attempts' results are durable; copies kept for redelivery may go.
  virtual void forget(std::vector<AttemptId> attempts) = 0;

  // At most `max` bytes from an absolute offset. Works for running and ended attempts. Blocking;
  // called off the core's thread, concurrently. not_found when there is no such log.
  [[nodiscard]] virtual Result<LogChunk> logs(AttemptId attempt, LogStream stream, int64_t offset,
                                              size_t max) = 0;

  // The newest progress of the attempts, in their order; nothing for those that told none, do not
  // run or are not known. Cheap: what the driver has heard, without asking anybody, so a page may
  // ask for thousands. From any thread. A site without progress leaves it as it is.
  virtual std::vector<std::optional<Progress>> progress(std::span<const AttemptId> attempts) {
    return std::vector<std::optional<Progress>>(attempts.size());
  }

  // Runs a command in the place of a running attempt (its directory, environment, limits, sandbox).
  // Blocking.
  [[nodiscard]] virtual Result<ExecResult> exec(const ExecRequest& request) = 0;

  // The directory of files that belongs to a job (checkpoints, notes), empty when the site has
  // none.
  virtual std::string job_directory(JobId job) = 0;

  // Removes logs and directories of a job that history no longer holds. Blocking.
  virtual void purge(JobId job) = 0;

  // What is wrong with the site as a whole, a sentence; empty: nothing. And with each node of which
  // something is, which may be one that was never reached. Cheap: what the driver knows, without
  // asking anybody. From any thread.
  virtual std::string trouble() { return {}; }
  virtual std::map<std::string, std::string> node_trouble() { return {}; }

  // Stops reporting and lets go of the site; its work goes on.
  virtual void close() = 0;
};

}  // namespace atl::site
