#include "bin/server.h"

#include <spdlog/spdlog.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <mutex>

#include "api/service.h"
#include "auth/vault.h"
#include "bin/background.h"
#include "bin/bootstrap.h"
#include "bin/doctor.h"
#include "bin/file_watch.h"
#include "bin/notifier.h"
#include "bin/sites.h"
#include "bin/upkeep.h"
#include "bin/zone.h"
#include "http/server.h"
#include "http/socket.h"
#include "http/tls.h"
#include "journal/backup.h"
#include "journal/sqlite_journal.h"
#include "runtime/runtime.h"
#include "steward/steward.h"

namespace atl::bin {

// In the order of construction; destroyed in reverse.
struct Server::Parts {
  ServerOptions options;
  SystemClock clock;
  std::unique_ptr<journal::SqliteJournal> journal;
  Sites sites;
  std::unique_ptr<runtime::Runtime> runtime;
  std::unique_ptr<auth::Vault> vault;
  std::unique_ptr<Background> background;
  std::unique_ptr<Notifier> notifier;
  std::unique_ptr<steward::Steward> steward;
  std::unique_ptr<Upkeep> upkeep;
  std::unique_ptr<ZoneWatch> zone;
  std::unique_ptr<api::Service> service;
  std::unique_ptr<http::Server> http;
  std::unique_ptr<FileWatch> files;
  std::map<SiteId, std::string> site_names;  // of the runtime's thread, once that runs
  std::mutex isolation_mutex;
  IsolationChoice isolation_choice;

  Result<void> open_journal();
  Result<void> check_listening() const;
  void connect_site(const core::SiteAdded& site);
  void disconnect_site(SiteId id);
  void connect_known_sites();
  void choose_isolation_for_jobs();
  IsolationChoice isolation();
  std::string url() const;
  void build_runtime();
  void build_service();
  Result<void> serve();
  void purge(const std::vector<JobId>& jobs);
  api::Options api_options();
};

Result<void> Server::Parts::open_journal() {
  const bool fresh = access(options.home.c_str(), F_OK) != 0;
  auto opened = journal::SqliteJournal::open(options.home);
  if (!opened) return tl::unexpected(opened.error());
  journal = std::move(*opened);
  // Other accounts pass through root's directory to the socket and to their jobs' directories.
  if (fresh && getuid() == 0) chmod(options.home.c_str(), 0711);
  // The lock is ours: from now on, and before anybody can ask, this is the server of that
  // directory.
  std::ofstream(options.home + "/server.pid") << getpid() << "\n";
  return {};
}

// Before anything else is started, so that a server that cannot serve leaves nothing running.
Result<void> Server::Parts::check_listening() const {
  const Config& config = options.config;
  if (!config.listen_tcp) return {};
  if (!config.tls_certificate.empty()) {
    const auto usable = http::make_server_context(config.tls_certificate, config.tls_key);
    if (!usable) return tl::unexpected(usable.error());
  }
  const auto port = http::listen_tcp(config.host, config.port);
  if (port) return {};
  return fail(
      port.error().code,
      port.error().message +
          "; give another address: `atoll up --listen HOST:PORT`, or `listen` in atoll.yaml");
}

void Server::Parts::purge(const std::vector<JobId>& jobs) {
  for (const auto& [name, driver] : *runtime->drivers().all()) {
    for (const JobId job : jobs) driver->purge(job);
  }
}

void Server::Parts::build_runtime() {
  runtime = std::make_unique<runtime::Runtime>(clock, *journal, journal->history());
  for (const auto& [name, driver] : sites.drivers) runtime->add_driver(name, driver);
  vault = std::make_unique<auth::Vault>(options.home + "/secrets.key");
  runtime->set_secret_opener(
      [this](const core::State& state, NamespaceId ns, const std::string& reference) {
        return vault->reveal(state, ns, reference);
      });
  background = std::make_unique<Background>();
  notifier = std::make_unique<Notifier>(options.config.mail_command, [this](core::Report report) {
    runtime->post(std::move(report));
  });
  runtime->set_notice_sender([this](const core::Notice& notice) { notifier->send(notice); });
  steward = std::make_unique<steward::Steward>(
      steward::Sources{journal->history(), runtime->drivers()},
      [this](core::Report report, std::vector<journal::Blob> blobs) {
        runtime->post(std::move(report), std::move(blobs));
      });
  runtime->set_steward(steward->verbs());
  upkeep = std::make_unique<Upkeep>(
      clock, *journal, options.home, options.config.retention, [this](std::vector<JobId> jobs) {
        background->post([this, jobs = std::move(jobs)] { purge(jobs); });
      });
  zone = std::make_unique<ZoneWatch>(clock, *runtime);
  runtime->on_turn([this] {
    (*upkeep)();
    (*zone)();
  });
  runtime->on_commit([this](uint64_t, const core::Events& events) {
    bool people = false;
    for (const core::Event& event : events) {
      people |= std::holds_alternative<core::UserCreated>(event.body) ||
                std::holds_alternative<core::UserChanged>(event.body);
      if (const auto* added = std::get_if<core::SiteAdded>(&event.body)) connect_site(*added);
      if (const auto* removed = std::get_if<core::SiteRemoved>(&event.body))
        disconnect_site(removed->id);
    }
    if (people) choose_isolation_for_jobs();
  });
}

// On the runtime's thread, once the site is durable; the driver is made on another one.
void Server::Parts::connect_site(const core::SiteAdded& site) {
  site_names[site.id] = site.name;
  if (site.definition.empty()) return;
  background->post([this, site] {
    runtime->attach(site.id, make_defined_site(options.home, journal->identity(), site.name,
                                               site.kind, site.definition));
  });
}

void Server::Parts::disconnect_site(SiteId id) {
  const auto name = site_names.find(id);
  if (name == site_names.end()) return;
  auto driver = runtime->drivers().take(name->second);
  site_names.erase(name);
  if (driver) background->post([driver = std::move(driver)] { driver->close(); });
}

// Before the runtime runs: those of which the journal tells.
void Server::Parts::connect_known_sites() {
  for (const auto& [id, site] : runtime->state().sites) {
    site_names[id] = site.name;
    if (site.definition.empty()) continue;
    runtime->add_driver(site.name, make_defined_site(options.home, journal->identity(), site.name,
                                                     site.kind, site.definition));
  }
}

// On the runtime's thread: whenever somebody joins or leaves.
void Server::Parts::choose_isolation_for_jobs() {
  std::lock_guard lock(isolation_mutex);
  isolation_choice = choose_isolation(options.config, runtime->state());
  if (sites.local) sites.local->set_isolation(isolation_choice.level);
}

IsolationChoice Server::Parts::isolation() {
  std::lock_guard lock(isolation_mutex);
  return isolation_choice;
}

std::string Server::Parts::url() const {
  const Config& config = options.config;
  if (!config.listen_tcp || !http) return {};
  const std::string host =
      config.host.find(':') == std::string::npos ? config.host : "[" + config.host + "]";
  return (config.tls_certificate.empty() ? "http://" : "https://") + host + ":" +
         std::to_string(http->tcp_port());
}

api::Options Server::Parts::api_options() {
  api::Options api;
  api.server_uid = getuid();
  api.installation = journal->identity().installation;
  api.backup = [home = options.home](const std::string& file) {
    return journal::backup(home, file);
  };
  api.mail = !options.config.mail_command.empty();
  api.samples = sites.samples;
  api.cloudmesh = options.home + "/cloudmesh";
  api.vault = vault.get();
  api.watch = options.config.watch;
  api.doctor = [this](bool thorough) {
    return examine(options.home, options.config, isolation(), runtime->health(), thorough);
  };
  api.listen = [this] {
    const std::string address = url();
    return address.empty() ? std::vector<std::string>{} : std::vector{address};
  };
  return api;
}

void Server::Parts::build_service() {
  service = std::make_unique<api::Service>(*runtime, *journal, journal->history(), api_options());
}

Result<void> Server::Parts::serve() {
  const Config& config = options.config;
  http::ServerOptions serving;
  // Peer credentials decide who somebody is, so root's server lets every account of the machine
  // connect.
  const unsigned mode = config.socket_mode != 0 ? config.socket_mode : getuid() == 0 ? 0666 : 0600;
  serving.unix_listeners.push_back({options.home + "/atoll.sock", mode});
  if (config.listen_tcp) {
    http::TcpListener tcp{config.host, config.port, {}};
    if (!config.tls_certificate.empty())
      tcp.tls = http::TlsFiles{config.tls_certificate, config.tls_key};
    serving.tcp_listeners.push_back(std::move(tcp));
  }
  serving.threads = config.threads;
  serving.limits.body_bytes = static_cast<size_t>(config.body_bytes_max);
  serving.limits.connections = config.connections_max;
  serving.refuse = api::Service::refuse;
  serving.on_handler_error = [](const http::Request& request, std::string_view what) {
    spdlog::error("{} {}: {}", request.method, request.path, what);
  };
  http::Router router;
  service->mount(router);
  auto started = http::Server::start(std::move(serving), std::move(router));
  if (!started) return tl::unexpected(started.error());
  http = std::move(*started);
  return {};
}

Result<std::unique_ptr<Server>> Server::start(ServerOptions options) {
  auto parts = std::make_unique<Parts>();
  parts->options = std::move(options);
  if (auto opened = parts->open_journal(); !opened) return tl::unexpected(opened.error());
  if (auto free = parts->check_listening(); !free) {
    std::remove((parts->options.home + "/server.pid").c_str());
    return tl::unexpected(free.error());
  }
  parts->sites = make_sites(parts->options.home, parts->options.config, parts->journal->identity());
  parts->build_runtime();
  parts->build_service();
  if (auto opened = parts->runtime->open(); !opened) return tl::unexpected(opened.error());
  if (const std::string damage = parts->runtime->health().damage; !damage.empty())
    spdlog::warn("{}", damage);
  if (auto ready = bootstrap(*parts->runtime, parts->options.config); !ready)
    return tl::unexpected(ready.error());
  parts->connect_known_sites();
  parts->choose_isolation_for_jobs();
  parts->service->ready();
  parts->runtime->adopt();
  parts->runtime->start();
  if (auto serving = parts->serve(); !serving) return tl::unexpected(serving.error());
  if (!parts->options.config.watch.empty())
    parts->files = std::make_unique<FileWatch>(*parts->runtime, parts->options.config.watch);
  return std::unique_ptr<Server>(new Server(std::move(parts)));
}

Server::Server(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}

Server::~Server() { stop(); }

std::string Server::url() const { return parts_->url(); }

void Server::stop() {
  if (!parts_ || !parts_->http) return;
  parts_->files.reset();
  parts_->service->stop();
  parts_->http->stop();
  for (const auto& [name, driver] : *parts_->runtime->drivers().all()) driver->close();
  parts_->runtime->stop();
  parts_->steward->stop();
  parts_->notifier->stop();
  parts_->http.reset();
  std::remove((parts_->options.home + "/server.pid").c_str());
}

}  // namespace atl::bin
