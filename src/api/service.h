// The HTTP API over a runtime: /api/v1, /cloudmesh, /openapi.json, /docs, /healthz, /readyz,
// /version and /metrics.
//
//   api::Service service(runtime, journal, history, options);   before runtime.open(): it listens
//   to commits runtime.open();  service.ready();  runtime.start(); http::Router router;
//   service.mount(router);  http::Server::start(server_options, std::move(router));
//
// Stop in the order: server, runtime, service. Handlers run on the server's threads, look at the
// state on the runtime's and render on the service's own.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "core/types.h"
#include "http/router.h"
#include "journal/journal.h"
#include "runtime/runtime.h"
#include "site/driver.h"

namespace atl::auth {
class Vault;
}

namespace atl::api {

// What a site may tell about a running or ended attempt over time; a driver that samples implements
// it.
struct Sample {
  Duration at;   // since the start
  Duration cpu;  // used by then
  int64_t memory_bytes = 0;
};
class SampleSource {
 public:
  virtual ~SampleSource() = default;
  // The newest `max`, oldest first. Blocking; called off the core's thread.
  [[nodiscard]] virtual Result<std::vector<Sample>> samples(AttemptId attempt, size_t max) = 0;
};

// One thing that decides whether work runs well here, for `atoll doctor`.
struct Check {
  std::string check;
  std::string status;  // ok, warn or fail
  std::string detail;
};

struct Options {
  std::string version = ATOLL_VERSION;
  uint32_t server_uid = 0;    // it and root are platform administrators on the socket
  std::string installation;   // shown by /version
  size_t threads = 2;         // for rendering, history and logs
  size_t slow_threads = 4;    // for exec, backups and files, which may take a minute
  size_t queue_max = 10'000;  // of either; beyond it requests are refused with 503
  size_t copies_max = 4;      // of the server at once, for explain and dry runs; beyond it 503
  size_t streams_max = 512;   // event and log streams at once; beyond it 429
  std::function<Time()> now;  // wall clock, from any thread; the system's when empty
  std::function<Result<void>(const std::string& file)>
      backup;        // POST /admin/backup; refused when empty
  bool mail = true;  // whether a notice can go by mail
  std::map<std::string, std::shared_ptr<SampleSource>> samples;  // by site
  std::function<std::vector<Check>(bool thorough)> doctor;  // GET /doctor; may block for a while
  std::string cloudmesh;           // where workflows of Cloudmesh are kept by name; empty: nowhere
  auth::Vault* vault = nullptr;    // seals and opens secrets; null: there are none
  std::vector<std::string> watch;  // directories below which schedules may wait for files
  std::function<std::vector<std::string>()> listen;  // addresses served over TCP, for /version
};

struct Context;

class Service {
 public:
  Service(runtime::Runtime& runtime, journal::Journal& journal, journal::History& history,
          Options options = {});
  ~Service();

  // After runtime.open(), before it runs: publishes who is known.
  void ready();

  void mount(http::Router& router);

  // For ServerOptions::refuse, so that what never reaches a handler looks the same.
  static http::Response refuse(int status, std::string_view detail, std::string_view request_id);

  // Ends streams and waits for what is under way. Also called by the destructor.
  void stop();

 private:
  std::unique_ptr<Context> context_;
};

}  // namespace atl::api
