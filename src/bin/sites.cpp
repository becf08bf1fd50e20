#include "bin/sites.h"

#include <algorithm>

#include "base/text.h"
#include "site/absent_driver.h"
#include "site/simulated/simulated_driver.h"
#include "site/slurm/slurm_driver.h"
#include "site/ssh/ssh_driver.h"
#include "spec/site_spec.h"

namespace atl::bin {
namespace {

class LocalSamples : public api::SampleSource {
 public:
  explicit LocalSamples(std::shared_ptr<site::LocalDriver> driver) : driver_(std::move(driver)) {}

  Result<std::vector<api::Sample>> samples(AttemptId attempt, size_t max) override {
    const auto timeline = driver_->samples(attempt);
    if (!timeline) return tl::unexpected(timeline.error());
    std::vector<api::Sample> samples;
    const size_t skip = timeline->points.size() > max ? timeline->points.size() - max : 0;
    for (size_t i = skip; i < timeline->points.size(); ++i) {
      const site::Sample& point = timeline->points[i];
      samples.push_back({point.at, point.cpu, point.memory_bytes});
    }
    return samples;
  }

 private:
  std::shared_ptr<site::LocalDriver> driver_;
};

std::string installation_of(const journal::Identity& identity) {
  return identity.installation + "-" + std::to_string(identity.epoch);
}

std::shared_ptr<site::LocalDriver> local_site(const std::string& home, const SiteConfig& site,
                                              const journal::Identity& identity) {
  site::LocalOptions options;
  options.home = home;
  options.installation = installation_of(identity);
  options.cpu_milli = site.cpu_milli;
  options.memory_bytes = site.memory_bytes;
  options.devices = site.devices;
  options.gpu_share_milli = site.gpu_share_milli;
  options.cgroups = site.cgroups;
  if (site.processes_max) options.processes_max = *site.processes_max;
  if (site.log_bytes_max) options.log_bytes_max = *site.log_bytes_max;
  return std::make_shared<site::LocalDriver>(std::move(options));
}

std::shared_ptr<site::SiteDriver> simulated_site(const std::string& name, const SiteConfig& site) {
  site::SimulatedOptions options;
  options.site = name;
  options.nodes.clear();
  for (uint32_t i = 0; i < site.nodes; ++i) {
    options.nodes.push_back({name + "-" + std::to_string(i + 1), site.cpu_milli.value_or(8000),
                             site.memory_bytes.value_or(int64_t{32} << 30), site.devices});
  }
  return std::make_shared<site::SimulatedDriver>(std::move(options));
}

// "gpu:a100": 2 as two devices.
void add_devices(SiteConfig& site, const std::string& name, int64_t count) {
  const size_t colon = name.find(':');
  core::Device device;
  device.kind = name.substr(0, colon);
  if (colon != std::string::npos) device.model = name.substr(colon + 1);
  device.simulated = true;
  for (int64_t i = 0; i < count; ++i) {
    device.unit = device.kind + std::to_string(site.devices.size());
    site.devices.push_back(device);
  }
}

SiteConfig config_of(const spec::SimulatedSite& said) {
  SiteConfig site;
  site.kind = "simulated";
  if (said.cpus) site.cpu_milli = said.cpus->milli;
  if (said.memory) site.memory_bytes = said.memory->count;
  site.nodes = static_cast<uint32_t>(said.nodes.value_or(1));
  if (said.devices) {
    for (const auto& [name, count] : *said.devices) add_devices(site, name, count);
  }
  return site;
}

Result<std::shared_ptr<site::SiteDriver>> ssh_site(const std::string& home,
                                                   const journal::Identity& identity,
                                                   const std::string& name,
                                                   const spec::SshSite& said) {
  site::SshOptions options;
  options.site = name;
  options.home = home;
  options.installation = installation_of(identity);
  options.hosts = said.hosts.value_or(std::vector<std::string>{});
  options.ssh_config = said.config.value_or("");
  options.root = said.directory.value_or("");
  if (said.lease) options.lease = *said.lease;
  if (said.poll) options.poll = *said.poll;
  if (auto ok = site::check_ssh_options(options); !ok) return tl::unexpected(ok.error());
  return std::make_shared<site::SshDriver>(std::move(options));
}

site::SlurmOptions slurm_options(const spec::SlurmSite& said) {
  site::SlurmOptions options;
  options.over = said.over.value_or("");
  options.ssh_config = said.config.value_or("");
  options.directory = said.directory.value_or("");
  options.choice = {.partition = said.partition.value_or(""),
                    .account = said.account.value_or(""),
                    .qos = said.qos.value_or(""),
                    .gres = {},
                    .constraint = said.constraint.value_or(""),
                    .reservation = said.reservation.value_or("")};
  for (const spec::SlurmAccelerator& each :
       said.accelerators.value_or(std::vector<spec::SlurmAccelerator>{})) {
    options.accelerators[each.device.value_or("")] = {.partition = each.partition.value_or(""),
                                                      .account = each.account.value_or(""),
                                                      .qos = each.qos.value_or(""),
                                                      .gres = each.gres.value_or(""),
                                                      .constraint = each.constraint.value_or(""),
                                                      .reservation = each.reservation.value_or("")};
  }
  options.template_file = said.template_file.value_or("");
  options.bin = said.bin.value_or("");
  options.conf = said.conf.value_or("");
  if (said.placement == "atoll") options.placement = site::SlurmPlacement::atoll;
  if (said.poll) options.poll = *said.poll;
  return options;
}

Result<std::shared_ptr<site::SiteDriver>> driver_of(const std::string& home,
                                                    const journal::Identity& identity,
                                                    const std::string& name,
                                                    const std::string& kind,
                                                    const std::string& definition) {
  if (kind == "ssh") {
    const auto said = spec::parse_json<spec::SshSite>(definition);
    if (!said) return tl::unexpected(said.error());
    return ssh_site(home, identity, name, *said);
  }
  if (kind == "slurm") {
    const auto said = spec::parse_json<spec::SlurmSite>(definition);
    if (!said) return tl::unexpected(said.error());
    site::SlurmOptions options = slurm_options(*said);
    options.site = name;
    options.home = home;
    options.installation = installation_of(identity);
    return std::make_shared<site::SlurmDriver>(std::move(options));
  }
  if (kind == "simulated") {
    const auto said = spec::parse_json<spec::SimulatedSite>(definition);
    if (!said) return tl::unexpected(said.error());
    return simulated_site(name, config_of(*said));
  }
  return fail(ErrorCode::invalid, "this program has no driver for sites of kind " + quote(kind));
}

}  // namespace

std::shared_ptr<site::SiteDriver> make_defined_site(const std::string& home,
                                                    const journal::Identity& identity,
                                                    const std::string& name,
                                                    const std::string& kind,
                                                    const std::string& definition) {
  auto made = driver_of(home, identity, name, kind, definition);
  if (made) return std::move(*made);
  return std::make_shared<site::AbsentDriver>(made.error().message);
}

Sites make_sites(const std::string& home, const Config& config, const journal::Identity& identity) {
  Sites sites;
  for (const auto& [name, site] : config.sites) {
    if (site.kind == "simulated") {
      sites.drivers[name] = simulated_site(name, site);
      continue;
    }
    sites.local = local_site(home, site, identity);
    sites.drivers[name] = sites.local;
    sites.samples[name] = std::make_shared<LocalSamples>(sites.local);
  }
  return sites;
}

IsolationChoice choose_isolation(const Config& config, const core::State& state) {
  const auto local = config.sites.find("local");
  if (local != config.sites.end() && local->second.isolation != core::Isolation::automatic) {
    return {local->second.isolation, "set by sites.local.isolation in the configuration"};
  }
  const auto users = std::count_if(state.users.begin(), state.users.end(),
                                   [](const auto& u) { return !u.second.disabled; });
  if (users > 1)
    return {core::Isolation::sandbox, "the platform has " + std::to_string(users) + " users"};
  return {core::Isolation::none, "the platform has one user, whose own machine this is"};
}

}  // namespace atl::bin
