// One host of an ssh site: its thread, the connection to it and what the driver believes of its
// attempts. Orders are queued from any thread; everything else happens on the worker's own, which
// does one exchange at a time: place, stop, forget, then one poll for all.
//
// A host that does not answer is away: nothing is given up, its attempts are reported unreachable,
// and orders wait. Only an attempt with a lease is reported lost, once its wrapper must have ended
// it.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "site/driver.h"
#include "site/remote/placements.h"
#include "site/remote/run_directory.h"
#include "site/remote/ssh_shell.h"

namespace atl::site {

struct HostOptions {
  SshShellOptions ssh;
  RunDirectoryOptions directory;
  std::string jobs;  // of this machine: JOBS/JOB is the copy of a job's directory
  Duration lease;    // zero: none
  Duration lease_margin = seconds(15);  // for the wrapper to notice and to end its tree
  Duration poll = seconds(1);           // while something runs
  Duration idle_poll = seconds(10);
  Duration give_up = seconds(60);  // orders that were never sent to a host that is away
};

class HostWorker {
 public:
  // Both are called on the worker's thread. `probed` comes once at the beginning, with nothing if
  // the host is away, and again with each new look at it.
  struct Ears {
    std::function<void(core::Report)> report;
    std::function<void(const std::string& host, std::optional<HostFacts>, const std::string& error)>
        probed;
  };

  HostWorker(HostOptions options, Placements& placements, Ears ears);
  ~HostWorker();

  // `expected` may hold attempts of other hosts.
  void adopt(std::set<AttemptId> expected);
  void start(StartOrder order);
  void stop(StopOrder order);
  void forget(std::vector<AttemptId> attempts);
  void close();

  RunDirectory& directory() { return directory_; }
  SshShell& shell() { return shell_; }
  std::optional<Progress> progress(AttemptId attempt);
  // Why the host is away; empty when it is not.
  std::string away();

 private:
  struct Live {
    std::optional<StartOrder> order;  // until the host is known to have it
    bool tried = false;               // it was sent, and nobody knows whether it came
    bool started = false;
    bool unreachable = false;
    bool unwanted = false;  // found there and not expected: ended, its end not reported
    bool leased = false;
    bool confirmed = false;  // by an earlier server: gone means lost
    int64_t ordered_us = 0;
    int64_t beginning_us = 0;
    std::optional<StopOrder> stop;
    bool stop_sent = false;
  };
  // The host's uptime in its newest answer, and when that came. What is sent as a renewal was put
  // here before, so a lease ends no later than counted from here.
  struct Heard {
    int64_t uptime_cs = 0;
    int64_t at_us = 0;
  };
  struct Wanted {
    std::vector<StartOrder> starts;
    std::vector<StopOrder> stops;
    std::vector<AttemptId> forgets;
  };

  void run();
  void keep_lease();
  Heard heard();
  void hear(int64_t uptime_cs);
  void wait_for_work();
  void take_wanted();
  void begin(StartOrder order);
  void begin_stop(const StopOrder& order);
  bool turn();
  [[nodiscard]] Result<void> exchange();
  [[nodiscard]] Result<void> look_at_host();
  [[nodiscard]] Result<void> send_starts();
  [[nodiscard]] Result<void> send_files(const StartOrder& order);
  [[nodiscard]] Result<void> send_stops();
  [[nodiscard]] Result<void> send_forgets();
  [[nodiscard]] Result<void> poll();
  void on_status(HostStatus status);
  void on_run(RunStatus& run, std::set<JobId>& fetched);
  void on_end(RunStatus& run, std::set<JobId>& fetched);
  void on_missing(const std::set<AttemptId>& seen);
  [[nodiscard]] Result<void> fetch(JobId job, std::set<JobId>& fetched);
  void found(const RunStatus& run);
  void set_away(const Error& why);
  void set_back();
  void expire_leases();
  void refuse_unsent(const Error& why);
  void give_up_unsent();
  void report_start(AttemptId attempt, Live& live, Time started);
  void report_end(AttemptId attempt, core::AttemptResult result);
  void report_end(AttemptId attempt, core::EndCause cause, std::string message);
  void active() { pause_ = kFirstPause; }

  static constexpr Duration kFirstPause = milliseconds(50);

  const HostOptions options_;
  const std::string host_;
  Placements& placements_;
  const Ears ears_;
  SshShell shell_;
  RunDirectory directory_;
  std::thread thread_;
  std::thread keeper_;  // of the lease, while the other one sends or fetches files for minutes
  std::atomic<bool> closing_ = false;
  std::atomic<bool> done_ = false;
  std::atomic<bool> adopted_ = false;  // the first poll was answered

  // Guarded by mutex_.
  std::mutex mutex_;
  std::condition_variable changed_;
  Wanted wanted_;
  std::map<AttemptId, Progress> progress_;
  std::string away_;
  Heard heard_;

  // Of the worker's thread.
  std::set<AttemptId> expected_;
  bool probed_ = false;
  bool told_probe_ = false;
  std::map<AttemptId, Live> live_;
  std::set<AttemptId> ended_;    // reported, not yet forgotten
  std::set<AttemptId> forgets_;  // to be sent
  int64_t away_since_us_ = 0;
  int64_t next_probe_us_ = 0;
  Duration pause_ = kFirstPause;
  int failures_ = 0;
};

}  // namespace atl::site
