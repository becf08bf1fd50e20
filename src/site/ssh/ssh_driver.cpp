#include "site/ssh/ssh_driver.h"

#include <set>

#include "base/text.h"
#include "base/wire.h"
#include "site/local/files.h"

namespace atl::site {
namespace {

constexpr size_t kHostsMax = 512;  // one thread and one connection each

std::string capacity_path(const std::string& directory, const std::string& host) {
  return directory + "/hosts/" + host;
}

}  // namespace

Result<void> check_ssh_options(const SshOptions& options) {
  if (options.hosts.empty())
    return fail(ErrorCode::invalid, "an ssh site needs at least one host", "hosts");
  if (options.hosts.size() > kHostsMax)
    return fail(ErrorCode::invalid,
                "an ssh site has at most " + std::to_string(kHostsMax) + " hosts", "hosts");
  std::set<std::string> seen;
  for (const std::string& host : options.hosts) {
    const bool odd = host.empty() || host.size() > 255 || host.starts_with('-') ||
                     host.find_first_of("/ \t\n\"'\\$`;&|<>()*?") != std::string::npos;
    if (odd)
      return fail(ErrorCode::invalid,
                  quote(host) +
                      " is no host: write it as for `ssh HOST`, an alias, a name or "
                      "user@name; a port belongs into the ssh configuration",
                  "hosts");
    if (!seen.insert(host).second)
      return fail(ErrorCode::invalid, "the host " + quote(host) + " is there twice", "hosts");
  }
  if (options.lease.us > 0 && options.lease < seconds(10))
    return fail(ErrorCode::invalid,
                "a lease of less than 10 s would end work at a hiccup of the "
                "network: write 1m or more",
                "lease");
  return {};
}

SshDriver::SshDriver(SshOptions options)
    : options_(std::move(options)),
      directory_(options_.home + "/site/" + options_.site),
      placements_(directory_ + "/placed") {
  static_cast<void>(make_directories(directory_ + "/hosts", 0700));
  static_cast<void>(make_directories(directory_ + "/jobs", 0700));
  for (const std::string& host : options_.hosts) {
    HostOptions each{.ssh = {.host = host,
                             .config = options_.ssh_config,
                             .program = options_.ssh_program,
                             .connect_timeout = options_.connect_timeout},
                     .directory = {.installation = options_.installation, .root = options_.root},
                     .jobs = directory_ + "/jobs",
                     .lease = options_.lease,
                     .lease_margin = options_.lease_margin,
                     .poll = options_.poll,
                     .idle_poll = options_.idle_poll,
                     .give_up = options_.give_up};
    workers_[host] = std::make_unique<HostWorker>(
        std::move(each), placements_,
        HostWorker::Ears{
            .report = [this](core::Report report) { tell(std::move(report)); },
            .probed = [this](const std::string& name, const std::optional<HostFacts>& facts,
                             const std::string& error) { on_probed(name, facts, error); }});
  }
}

SshDriver::~SshDriver() { close(); }

// What the hosts were before: one that is away keeps its capacity.
void SshDriver::adopt(std::vector<AttemptId> expected, ReportSink sink) {
  sink_ = std::move(sink);
  for (const auto& [host, worker] : workers_) {
    const std::optional<std::string> known = read_file(capacity_path(directory_, host));
    if (!known) continue;
    if (Result<core::NodeCapacity> node = wire::decode<core::NodeCapacity>(*known); node)
      nodes_[host] = std::move(*node);
  }
  const std::set<AttemptId> all(expected.begin(), expected.end());
  for (const auto& [host, worker] : workers_) worker->adopt(all);
}

core::SiteReport SshDriver::report() const {
  core::SiteReport report{.abilities = {"exec", "progress", "ssh"}};
  if (options_.lease.us > 0) report.abilities.emplace_back("lease");
  for (const auto& [host, node] : nodes_) report.nodes.push_back(node);
  return report;
}

void SshDriver::on_probed(const std::string& host, const std::optional<HostFacts>& facts,
                          const std::string& error) {
  const std::lock_guard lock(mutex_);
  if (facts) {
    core::NodeCapacity node{.name = host,
                            .cpu_milli = facts->cores * 1000,
                            .memory_bytes = facts->memory_bytes,
                            .devices = facts->devices};
    static_cast<void>(write_file(capacity_path(directory_, host), wire::encode(node)));
    nodes_[host] = std::move(node);
    troubles_.erase(host);
  } else {
    troubles_[host] = error;
  }
  sink_(core::SiteProbed{options_.site, report()});
  probed_ = true;
  for (core::Report& held : std::exchange(held_, {})) sink_(std::move(held));
}

void SshDriver::tell(core::Report report) {
  const std::lock_guard lock(mutex_);
  if (probed_)
    sink_(std::move(report));
  else
    held_.push_back(std::move(report));
}

HostWorker* SshDriver::worker_of(AttemptId attempt) {
  const std::optional<Placed> placed = placements_.find(attempt);
  const auto at = placed ? workers_.find(placed->host) : workers_.end();
  return at == workers_.end() ? nullptr : at->second.get();
}

void SshDriver::start(std::vector<StartOrder> orders) {
  for (StartOrder& order : orders) {
    auto at = workers_.find(order.placement.node);
    if (at == workers_.end() && order.placement.node.empty()) at = workers_.begin();
    if (at != workers_.end()) {
      placements_.put(order.attempt, at->first, options_.lease);
      at->second->start(std::move(order));
      continue;
    }
    core::AttemptResult result{.cause = core::EndCause::start_error,
                               .message = quote(order.placement.node) + " is no host of the site " +
                                          options_.site + " any more"};
    result.usage.started = result.usage.ended = wall_now();
    tell(core::AttemptEnded{order.attempt, std::move(result)});
  }
}

void SshDriver::stop(std::vector<StopOrder> orders) {
  for (const StopOrder& order : orders) {
    if (HostWorker* worker = worker_of(order.attempt)) {
      worker->stop(order);
      continue;
    }
    core::AttemptResult result{.cause = core::EndCause::lost,
                               .message = "no host of the site knows this attempt"};
    result.usage.started = result.usage.ended = wall_now();
    tell(core::AttemptEnded{order.attempt, std::move(result)});
  }
}

void SshDriver::forget(std::vector<AttemptId> attempts) {
  std::map<HostWorker*, std::vector<AttemptId>> by_host;
  for (const AttemptId attempt : attempts) {
    if (HostWorker* worker = worker_of(attempt)) by_host[worker].push_back(attempt);
  }
  for (auto& [worker, some] : by_host) worker->forget(std::move(some));
}

Result<LogChunk> SshDriver::logs(AttemptId attempt, LogStream stream, int64_t offset, size_t max) {
  HostWorker* worker = worker_of(attempt);
  if (!worker) return fail(ErrorCode::not_found, "no host has a log of " + to_string(attempt));
  if (const std::string away = worker->away(); !away.empty())
    return fail(ErrorCode::unavailable, "its log is on a host that is away: " + away);
  return worker->directory().logs(attempt, stream, offset, max);
}

std::vector<std::optional<Progress>> SshDriver::progress(std::span<const AttemptId> attempts) {
  std::vector<std::optional<Progress>> found(attempts.size());
  for (size_t i = 0; i < attempts.size(); ++i) {
    if (HostWorker* worker = worker_of(attempts[i])) found[i] = worker->progress(attempts[i]);
  }
  return found;
}

Result<ExecResult> SshDriver::exec(const ExecRequest& request) {
  HostWorker* worker = worker_of(request.attempt);
  if (!worker) return fail(ErrorCode::not_found, "no host runs " + to_string(request.attempt));
  return worker->directory().exec(request);
}

std::string SshDriver::job_directory(JobId job) {
  return directory_ + "/jobs/" + std::to_string(job.value);
}

void SshDriver::purge(JobId job) {
  for (const std::string& host : placements_.hosts(job)) {
    if (const auto at = workers_.find(host); at != workers_.end())
      static_cast<void>(at->second->directory().purge(job));
  }
  placements_.remove(job);
  remove_tree(job_directory(job));
}

void SshDriver::close() {
  for (const auto& [host, worker] : workers_) worker->close();
}

std::map<std::string, std::string> SshDriver::node_trouble() {
  std::map<std::string, std::string> all;
  {
    const std::lock_guard lock(mutex_);
    all = troubles_;
  }
  for (const auto& [host, worker] : workers_) {
    if (std::string why = worker->away(); !why.empty()) all[host] = std::move(why);
  }
  return all;
}

std::string SshDriver::control_path(const std::string& host) {
  return workers_.at(host)->shell().control_path();
}

}  // namespace atl::site
