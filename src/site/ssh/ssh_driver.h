// A site of machines behind ssh: each host is a node, and Atoll places among them (README.md tells
// how remote work lives). Nothing is installed on the hosts. One worker per host; verbs only queue.
//
// Work runs as the account that the ssh configuration logs into, whoever submitted it.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "site/driver.h"
#include "site/ssh/host_worker.h"

namespace atl::site {

struct SshOptions {
  std::string site;                // the site's name in reports
  std::string home;                // the server's data directory; the site lives in HOME/site/NAME
  std::string installation;        // with its epoch: names the directory on the hosts
  std::vector<std::string> hosts;  // as `ssh HOST` takes them; the names of the nodes
  std::string ssh_config;          // for `ssh -F`; empty: the account's own
  std::string ssh_program = "ssh";
  std::string root;  // on the hosts; empty: ~/.atoll/INSTALLATION
  Duration lease;    // zero: work goes on however long the server is away
  Duration lease_margin = seconds(15);
  Duration poll = seconds(1);  // how often a host with work is asked
  Duration idle_poll = seconds(10);
  Duration connect_timeout = seconds(10);
  Duration give_up = seconds(60);  // orders that cannot be sent end as lost, to be tried elsewhere
};

// What is wrong with the options, as a sentence with its field.
[[nodiscard]] Result<void> check_ssh_options(const SshOptions& options);

class SshDriver : public SiteDriver {
 public:
  explicit SshDriver(SshOptions options);
  ~SshDriver() override;

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

  // Hosts that do not answer or cannot take work, and why. From any thread.
  std::map<std::string, std::string> node_trouble() override;

  // The socket of a host's connection, for tests that end its process.
  std::string control_path(const std::string& host);

 private:
  void on_probed(const std::string& host, const std::optional<HostFacts>& facts,
                 const std::string& error);
  void tell(core::Report report);
  HostWorker* worker_of(AttemptId attempt);
  core::SiteReport report() const;

  const SshOptions options_;
  const std::string directory_;  // HOME/site/NAME
  Placements placements_;
  ReportSink sink_;
  std::map<std::string, std::unique_ptr<HostWorker>> workers_;

  // Guarded by mutex_; the sink is called with it, so that the first report is the site's.
  std::mutex mutex_;
  std::map<std::string, core::NodeCapacity> nodes_;
  std::map<std::string, std::string> troubles_;
  bool probed_ = false;
  std::vector<core::Report> held_;
};

}  // namespace atl::site
