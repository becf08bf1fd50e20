// The platform as one process: builds journal, sites, runtime, API and HTTP server by constructor,
// in the order in which they need each other, and takes them down in reverse.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "base/result.h"
#include "bin/config.h"

namespace atl::bin {

struct ServerOptions {
  std::string home;
  Config config;
};

class Server {
 public:
  // Serving when this returns. Errors say what is in the way: another server, an unusable
  // directory, a taken port.
  [[nodiscard]] static Result<std::unique_ptr<Server>> start(ServerOptions options);
  ~Server();

  // "http://127.0.0.1:7380", or empty when only the socket is served.
  std::string url() const;

  // Stops serving; the work goes on.
  void stop();

 private:
  struct Parts;
  explicit Server(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace atl::bin
