// A Slurm cluster as a site (README.md tells how its work lives).
//
// One thread of its own talks to the login node, which is this machine or one behind ssh; verbs
// only queue. All runs are looked after by one exchange per poll: one squeue, sacct for those that
// left the queue, and the run directories. Nothing is kept here that is not over there too: a
// driver that is started anew finds its work by the names of the jobs and by the run directories.
#pragma once

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "site/driver.h"
#include "site/remote/run_directory.h"
#include "site/remote/shell.h"
#include "site/slurm/cluster.h"
#include "site/slurm/follow.h"
#include "site/slurm/slurm_commands.h"
#include "site/slurm/slurm_options.h"

namespace atl::site {

class SlurmDriver : public SiteDriver {
 public:
  explicit SlurmDriver(SlurmOptions options);
  // On a login node that is reached otherwise, as tests do.
  SlurmDriver(SlurmOptions options, std::shared_ptr<Shell> shell);
  ~SlurmDriver() override;

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

  // Why Slurm does not answer; empty while it does. From any thread.
  std::string trouble() override;

 private:
  struct Live {
    std::optional<StartOrder> order;  // until its job is in Slurm
    uint64_t job = 0;                 // in Slurm; zero while not known
    bool tried = false;  // it may be in Slurm: to be looked for by its name before sbatch is called
    Time tried_at;
    int tries = 0;
    Time next_try;
    std::string last_error;
    Followed followed;
    std::optional<StopOrder> stop;
    bool stop_told = false;
    Time kill_at;  // when the grace of a stop is over
    bool unreachable = false;
  };
  struct Wanted {
    std::vector<StartOrder> starts;
    std::vector<StopOrder> stops;
    std::vector<AttemptId> forgets;
    bool empty() const { return starts.empty() && stops.empty() && forgets.empty(); }
  };
  using RunsSeen = std::map<AttemptId, RunStatus>;

  void run();
  void turn();
  bool wait_for_work();
  void take_wanted();
  void begin(StartOrder order);
  void begin_stop(const StopOrder& order);
  void tell_nothing_there();
  void forget_due();

  // slurm_submit.cpp
  void submit_due();
  std::vector<AttemptId> place_orders(const std::vector<AttemptId>& attempts);
  void submit_some(const std::vector<AttemptId>& attempts);
  [[nodiscard]] Result<std::string> submission(AttemptId attempt, const Sections& sections);
  void heard_submission(AttemptId attempt, int exit_code, const std::string& said);
  void accepted(AttemptId attempt, uint64_t job);
  void submission_failed(AttemptId attempt);

  // slurm_poll.cpp
  bool probe();
  void learn(const std::vector<SlurmNode>& nodes, const std::vector<SlurmPartition>& partitions);
  void poll();
  [[nodiscard]] Result<void> ask_queue();
  [[nodiscard]] Result<RunsSeen> look_at_runs();
  void take_records(const std::string& out);
  const JobRecord* record_of(AttemptId attempt, const Live& live) const;
  bool known(AttemptId attempt, const RunsSeen& runs) const;
  void reconcile_first(const RunsSeen& runs);
  void follow_all(const RunsSeen& runs, Time asked);
  void follow_results(const RunsSeen& runs);
  void apply_consequence(AttemptId attempt, Consequence consequence);
  void cancel_doubles(AttemptId attempt, uint64_t job);
  void cancel_strays();
  void stop_due();
  void fence_due();
  void cancel_due();
  void discard(const std::vector<AttemptId>& attempts);

  [[nodiscard]] Result<Said> ask(const std::string& text);
  void tell(core::Report report) { reports_.push_back(std::move(report)); }
  void end(AttemptId attempt, core::AttemptResult result);
  void deliver();
  void went_away(const std::string& why);
  void came_back();
  std::string name_of(AttemptId attempt) const;
  bool use_json() const;
  std::vector<AttemptId> live_attempts() const;

  const SlurmOptions options_;
  const std::shared_ptr<Shell> shell_;
  RunDirectory runs_;
  std::thread thread_;

  // Guarded by mutex_.
  std::mutex mutex_;
  std::condition_variable changed_;
  bool closing_ = false;
  Wanted wanted_;
  std::string trouble_;
  std::string root_;  // of the run directories, once it is known
  std::map<AttemptId, Progress> progress_;

  // Of the driver's thread.
  SystemClock clock_;
  ReportSink sink_;
  std::vector<core::Report> reports_;
  std::vector<AttemptId> expected_;
  bool probed_ = false;
  bool adopted_ = false;
  bool told_away_ = false;  // before anything was adopted
  std::string template_;
  std::string template_error_;
  SlurmVersion version_;
  std::map<std::string, SlurmPartition> partitions_;
  std::string default_partition_;
  core::SiteReport reported_;
  Time next_probe_;
  Time registering_until_;  // nodes come back one by one: looked at more often
  Time next_poll_;
  Time away_since_;
  std::map<AttemptId, Live> live_;
  std::set<AttemptId> ended_;       // told, not yet forgotten
  std::set<AttemptId> resultless_;  // of those, what has no result in its run directory
  std::set<AttemptId> forgets_;     // to be told to the run directories
  std::map<AttemptId, std::map<uint64_t, JobRecord>> records_;  // of the newest poll
  std::map<uint64_t, Time> strays_;  // jobs of ours that nobody waits for, since when
  std::set<uint64_t> to_account_;    // left the queue: asked for with the next poll
  std::set<uint64_t> to_cancel_;
  std::vector<StopOrder> fence_;  // ended without a result: whatever is left of them shall end
};

}  // namespace atl::site
