// The HTTP/1.1 server: sockets, limits, time-outs and routing; what an answer means is the
// handlers' business.
//
// Each thread has its own event loop and its own connections, so a request is parsed, handled and
// answered on one thread without a lock, provided the handler answers inside its call.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "http/limits.h"
#include "http/message.h"
#include "http/router.h"

namespace atl::http {

struct TlsFiles {
  std::string certificate_chain;  // PEM, the server's certificate first
  std::string private_key;        // PEM
};

// A left-over socket file that nobody answers on is replaced; a living one, or any other kind of
// file, is an error.
struct UnixListener {
  std::string path;
  unsigned mode = 0600;  // who may connect; set before the first connection is accepted
};

struct TcpListener {
  std::string host = "127.0.0.1";  // a numeric address
  std::uint16_t port = 0;          // 0 lets the kernel choose, see Server::tcp_port
  std::optional<TlsFiles> tls;
};

struct ServerOptions {
  std::vector<UnixListener> unix_listeners;
  std::vector<TcpListener> tcp_listeners;
  int threads = 2;
  Limits limits;

  // Makes the answer to what never reaches a handler: 404, 405, 413 and so on.
  std::function<Response(int status, std::string_view detail, std::string_view request_id)> refuse =
      problem;

  // Told of a handler's exception, which the client sees only as 500.
  std::function<void(const Request&, std::string_view what)> on_handler_error;
};

struct ServerStats {
  std::uint64_t connections_open = 0;
  std::uint64_t connections_refused = 0;  // with 503, over the limit
  std::uint64_t requests = 0;             // that reached a handler
  std::uint64_t bodies_bytes = 0;         // of bodies being read or handled
};

class Server {
 public:
  // Listens and serves on its own threads when this returns. Errors: `invalid` for an address,
  // certificate or path that cannot be used as written, `conflict` when another server has it,
  // `unavailable` otherwise.
  [[nodiscard]] static Result<std::unique_ptr<Server>> start(ServerOptions options, Router router);

  ~Server();  // stop() without grace

  // The port bound by the i-th TCP listener.
  std::uint16_t tcp_port(std::size_t index = 0) const;

  // Accepts nothing more, ends event streams and idle connections at once, lets pending requests be
  // answered for up to `grace`, then cuts what is left. Returns when the threads have ended; not to
  // be called from a handler.
  void stop(std::chrono::milliseconds grace = std::chrono::seconds(5));

  ServerStats stats() const;

 private:
  struct Impl;
  explicit Server(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace atl::http
