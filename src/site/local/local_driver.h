// The local site: work of this machine under a warden (README.md tells how it lives).
//
// One thread of its own talks to the warden; verbs only queue. When the warden dies the driver
// starts another, which ends what the first left, and asks again what is known; attempts that were
// lost come back as such. Reports come from the driver's thread.
#pragma once

#include <atomic>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include "site/driver.h"
#include "site/local/accounts.h"
#include "site/local/frame.h"
#include "site/local/protocol.h"
#include "site/local/samples.h"
#include "site/local/warden_client.h"

namespace atl::site {

struct LocalOptions {
  std::string site = "local";  // the site's name in reports
  std::string home;            // the server's data directory; the site lives in HOME/site/local
  std::string installation;    // an identifier unique to this data directory
  std::string node;            // empty: the machine's host name
  std::string warden;          // path of atoll-warden; empty: beside the running program
  std::string jobs;            // root of the jobs' directories; empty: HOME/jobs
  std::optional<int64_t> cpu_milli;  // instead of the machine's cores; may be more
  std::optional<int64_t> memory_bytes;
  std::vector<core::Device> devices;                  // declared ones, beside those found
  int32_t gpu_share_milli = 0;                        // those found are shared in steps of this
  std::string nvml = "libnvidia-ml.so.1";             // empty: do not look for GPUs
  core::Isolation isolation = core::Isolation::none;  // what `automatic` means here
  uint32_t processes_max = 4096;                      // of a task that does not say
  int64_t log_bytes_max = 64 << 20;                   // per stream, of a task that does not say
  bool cgroups = true;                                // false: rlimits only
  Duration warden_idle_exit =
      seconds(60);                       // the warden leaves after so long without server and work
  uint32_t protocol = kProtocolVersion;  // what this server speaks; tests pretend another
};

class LocalDriver : public SiteDriver {
 public:
  explicit LocalDriver(LocalOptions options);
  ~LocalDriver() override;

  void adopt(std::vector<AttemptId> expected, ReportSink sink) override;
  void start(std::vector<StartOrder> orders) override;
  void stop(std::vector<StopOrder> orders) override;
  void forget(std::vector<AttemptId> attempts) override;
  Result<LogChunk> logs(AttemptId attempt, LogStream stream, int64_t offset, size_t max) override;
  std::vector<std::optional<Progress>> progress(std::span<const AttemptId> attempts) override;
  Result<ExecResult> exec(const ExecRequest& request) override;
  std::string job_directory(JobId job) override;
  void purge(JobId job) override;
  void close() override;

  // What `automatic` means from now on: a platform that gains a second user begins to isolate. From
  // any thread.
  void set_isolation(core::Isolation isolation) { isolation_ = isolation; }

  // What the attempt used over time; empty for one that lived less than a second. Blocking.
  [[nodiscard]] Result<Timeline> samples(AttemptId attempt);

  // Ends all work of this installation and the warden itself, for uninstalling and for tests.
  // Blocking.
  void shutdown();

  // The process of the warden; zero before the first report.
  int64_t warden_pid() const { return warden_pid_; }

  // Why the warden that runs is not used (check_warden); empty when it is. Its work goes on, and
  // orders wait until it has left. From any thread.
  std::string refusal();

  core::SiteReport report(const std::vector<std::string>& abilities) const;

 private:
  // What the driver believes of an attempt that has not ended.
  struct Live {
    std::string launch;  // kept until the warden is known to have it
    std::optional<AttemptId> behind;
    bool sent = false;
    bool started = false;
    bool unwanted = false;  // found running, not expected: stopped, its end not reported
    std::optional<StopTask> stop;
  };
  struct Wanted {
    std::vector<StartOrder> starts;
    std::vector<StopOrder> stops;
    std::vector<AttemptId> forgets;
    std::vector<ExecTask> execs;
    bool shutdown = false;
    bool empty() const {
      return starts.empty() && stops.empty() && forgets.empty() && execs.empty() && !shutdown;
    }
  };

  void wake();
  void run();
  bool connected();
  void refuse(const std::string& why);
  bool still_refused(int64_t now);
  void take_wanted();
  void begin(StartOrder order);
  void send_start(AttemptId attempt, Live& live);
  void send_starts(std::set<AttemptId> attempts);
  void begin_stop(const StopOrder& order);
  [[nodiscard]] Result<Launch> resolve(StartOrder& order);
  void hear();
  void tell(core::Report report) { reports_.push_back(std::move(report)); }
  void deliver();
  void on_notice(Welcome& notice);
  void on_notice(TaskStarted& notice);
  void on_notice(TaskEnded& notice);
  void on_notice(Listed&);
  void on_notice(ExecEnded& notice);
  void on_notice(TaskProgressed& notice);
  void reconcile_first();
  void reconcile_again();
  void stop_unwanted(AttemptId attempt);
  void give_up_unsent(const std::string& why);
  void fail_execs(const std::string& why);
  void leave_line(AttemptId attempt, const Live& live);
  void report_end(AttemptId attempt, core::AttemptResult result);
  void report_end(AttemptId attempt, core::EndCause cause, std::string message);

  const LocalOptions options_;
  const std::string directory_;  // HOME/site/local
  const std::vector<core::Device> devices_;
  WardenCommand command_;
  int event_ = -1;
  std::thread thread_;
  std::atomic<bool> closing_ = false;
  std::atomic<int64_t> warden_pid_ = 0;
  std::atomic<core::Isolation> isolation_{options_.isolation};

  // Guarded by mutex_.
  std::mutex mutex_;
  Wanted wanted_;
  std::map<uint64_t, std::optional<ExecEnded>> exec_results_;
  std::condition_variable exec_done_;
  uint64_t next_exec_ = 1;
  std::string refusal_;
  std::map<AttemptId, Progress> progress_;  // until they are forgotten

  // Of the driver's thread.
  ReportSink sink_;
  std::vector<core::Report> reports_;  // not yet delivered
  std::vector<AttemptId> expected_;
  bool adopted_ = false;
  bool listing_ = false;
  Link warden_;
  Welcome welcome_;
  std::map<AttemptId, std::optional<core::AttemptResult>> listed_;  // no result: running
  std::map<AttemptId, Time> listed_starts_;
  std::map<AttemptId, Live> live_;
  std::map<AttemptId, AttemptId> followers_;  // who was ordered behind whom
  Accounts accounts_;
  int64_t away_since_ = 0;
  int64_t next_spawn_ = 0;
  int64_t next_look_ = 0;  // at the lock of a refused warden
  bool shutting_down_ = false;
  std::string last_error_ = "see warden.log in its directory";
};

}  // namespace atl::site
