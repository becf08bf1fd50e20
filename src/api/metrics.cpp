#include "api/metrics.h"

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <vector>

#include "api/endpoint.h"
#include "api/process_metrics.h"
#include "api/work_counts.h"

namespace atl::api {
namespace {

const prometheus::Histogram::BucketBoundaries kSeconds{
    0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10};
constexpr std::array kStatuses{200, 201, 202, 204, 206, 304, 400, 401, 403, 404,
                               409, 412, 413, 416, 422, 429, 500, 503, 504};

// A status outside the list counts under the last one of its class, which never happens with our
// own handlers.
size_t status_slot(int status) {
  const auto it = std::find(kStatuses.begin(), kStatuses.end(), status);
  return it == kStatuses.end() ? 16 : static_cast<size_t>(it - kStatuses.begin());
}

prometheus::MetricFamily family(const char* name, const char* help, prometheus::MetricType type) {
  prometheus::MetricFamily made;
  made.name = name;
  made.help = help;
  made.type = type;
  return made;
}

void add(prometheus::MetricFamily& to, double value,
         std::vector<prometheus::ClientMetric::Label> labels = {}) {
  prometheus::ClientMetric metric;
  metric.label = std::move(labels);
  metric.counter.value = value;
  metric.gauge.value = value;
  to.metric.push_back(std::move(metric));
}

// One family for the capacity and one for its use, each with a line per site.
void add_sites(std::vector<prometheus::MetricFamily>& families, const std::vector<SiteUse>& sites,
               const char* name, const char* used_name, const char* what,
               SiteUse::Of SiteUse::* member) {
  using prometheus::MetricType;
  auto capacity = family(name, "", MetricType::Gauge);
  auto used = family(used_name, "", MetricType::Gauge);
  capacity.help = std::string(what) + " of the nodes that each site reports.";
  used.help = std::string(what) + " held by placed tasks, by site.";
  for (const SiteUse& site : sites) {
    add(capacity, (site.*member).capacity, {{"site", site.name}});
    add(used, (site.*member).used, {{"site", site.name}});
  }
  families.push_back(std::move(capacity));
  families.push_back(std::move(used));
}

void add_sites(std::vector<prometheus::MetricFamily>& families, const std::vector<SiteUse>& sites) {
  using prometheus::MetricType;
  add_sites(families, sites, "atoll_site_cpus", "atoll_site_cpus_used", "Cores", &SiteUse::cpus);
  add_sites(families, sites, "atoll_site_memory_bytes", "atoll_site_memory_used_bytes", "Memory",
            &SiteUse::memory_bytes);
  auto capacity = family("atoll_site_devices", "Devices that each site reports, by kind and model.",
                         MetricType::Gauge);
  auto used = family("atoll_site_devices_used", "Devices held by placed tasks, by site.",
                     MetricType::Gauge);
  auto tasks = family("atoll_site_tasks", "Tasks that hold a place, by site.", MetricType::Gauge);
  for (const SiteUse& site : sites) {
    for (const auto& [kind, of] : site.devices) {
      const std::vector<prometheus::ClientMetric::Label> labels{
          {"site", site.name}, {"kind", kind.first}, {"model", kind.second}};
      add(capacity, of.capacity, labels);
      add(used, of.used, labels);
    }
    add(tasks, site.tasks, {{"site", site.name}});
  }
  for (auto* each : {&capacity, &used, &tasks}) families.push_back(std::move(*each));
}

}  // namespace

SiteUse use_of(const core::Site& site) {
  SiteUse use;
  use.name = site.name;
  for (const auto& [name, node] : site.nodes) {
    use.cpus.used += static_cast<double>(node.cpu_milli_used) / 1000;
    use.memory_bytes.used += static_cast<double>(node.memory_bytes_used);
    use.tasks += node.holders.size();
    if (!node.gone) {
      use.cpus.capacity += static_cast<double>(node.capacity.cpu_milli) / 1000;
      use.memory_bytes.capacity += static_cast<double>(node.capacity.memory_bytes);
    }
    for (const core::Device& device : node.capacity.devices) {
      SiteUse::Of& of = use.devices[{device.kind, device.model}];
      of.capacity += !node.gone;
      of.used += static_cast<double>(core::used_milli(node, device)) / core::kWholeDevice;
    }
  }
  return use;
}

struct Metrics::Impl {
  struct Route {
    std::array<std::atomic<prometheus::Counter*>, kStatuses.size()> by_status{};
    prometheus::Histogram* seconds = nullptr;
  };
  std::string version;
  prometheus::Registry registry;
  prometheus::Family<prometheus::Counter>* requests = nullptr;
  std::vector<Route> routes;
  WorkCounts work{registry};
};

Metrics::Metrics(const std::string& version) : impl_(std::make_unique<Impl>()) {
  impl_->version = version;
  impl_->requests = &prometheus::BuildCounter()
                         .Name("atoll_http_requests_total")
                         .Help("Requests answered, by route and status.")
                         .Register(impl_->registry);
  auto& seconds = prometheus::BuildHistogram()
                      .Name("atoll_http_request_duration_seconds")
                      .Help("Time to the answer, or to its first byte for streams.")
                      .Register(impl_->registry);
  impl_->routes = std::vector<Impl::Route>(endpoints().size());
  for (size_t i = 0; i < endpoints().size(); ++i) {
    impl_->routes[i].seconds =
        &seconds.Add({{"method", endpoints()[i].method}, {"route", endpoints()[i].path}}, kSeconds);
  }
}

Metrics::~Metrics() = default;

void Metrics::record(size_t endpoint, int status, std::chrono::steady_clock::duration took) {
  Impl::Route& route = impl_->routes[endpoint];
  const size_t slot = status_slot(status);
  prometheus::Counter* counter = route.by_status[slot].load(std::memory_order_acquire);
  if (!counter) {
    const Endpoint& which = endpoints()[endpoint];
    counter = &impl_->requests->Add({{"method", which.method},
                                     {"route", which.path},
                                     {"status", std::to_string(kStatuses[slot])}});
    route.by_status[slot].store(counter, std::memory_order_release);
  }
  counter->Increment();
  route.seconds->Observe(std::chrono::duration<double>(took).count());
}

void Metrics::on_commit(const core::State& state, const core::Events& events) {
  impl_->work.on_commit(state, events);
}

std::string Metrics::expose(const Gauges& gauges) const {
  using prometheus::MetricType;
  std::vector<prometheus::MetricFamily> families;
  families.push_back(
      family("atoll_build_info", "The program that runs; always 1.", MetricType::Gauge));
  add(families.back(), 1, {{"version", impl_->version}});
  families.push_back(
      family("atoll_jobs", "Jobs that have not ended, by state.", MetricType::Gauge));
  for (const auto& [state, count] : gauges.jobs_by_state)
    add(families.back(), count, {{"state", state}});
  const auto single = [&](const char* name, const char* help, MetricType type, double value) {
    families.push_back(family(name, help, type));
    add(families.back(), value);
  };
  single("atoll_journal_commits_total", "Commits made durable since the journal began.",
         MetricType::Counter, gauges.commits);
  single("atoll_runtime_events_total", "Events decided since the server started.",
         MetricType::Counter, gauges.events);
  single("atoll_runtime_turns_total", "Turns of the loop since the server started.",
         MetricType::Counter, gauges.turns);
  single("atoll_runtime_longest_turn_seconds",
         "The longest turn since the server started, its commit included.", MetricType::Gauge,
         gauges.longest_turn_seconds);
  single("atoll_runtime_inputs_queued", "Inputs that wait for their turn.", MetricType::Gauge,
         gauges.inputs_queued);
  single("atoll_http_streams_open", "Event and log streams being served.", MetricType::Gauge,
         gauges.streams);
  single("atoll_read_only", "1 while the server cannot write and refuses new work.",
         MetricType::Gauge, gauges.read_only ? 1 : 0);
  add_sites(families, gauges.sites);
  for (prometheus::MetricFamily& each : process_metrics()) families.push_back(std::move(each));
  for (prometheus::MetricFamily& each : impl_->registry.Collect())
    families.push_back(std::move(each));
  return prometheus::TextSerializer().Serialize(families);
}

}  // namespace atl::api
