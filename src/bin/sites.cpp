#include "bin/sites.h"

#include <algorithm>

#include "site/simulated/simulated_driver.h"

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

std::shared_ptr<site::LocalDriver> local_site(const std::string& home, const SiteConfig& site,
                                              const journal::Identity& identity) {
  site::LocalOptions options;
  options.home = home;
  options.installation = identity.installation + "-" + std::to_string(identity.epoch);
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

}  // namespace

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
