// A blocking HTTP/1.1 client for the command line and for webhooks.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "http/message.h"

namespace atl::http {

struct Url {
  enum class Scheme { http, https, unix_socket };
  Scheme scheme = Scheme::http;
  std::string host;          // without brackets; for unix_socket the path of the socket
  std::uint16_t port = 0;    // never 0 for http and https
  std::string target = "/";  // path and query

  // "http://host[:port][/path]", "https://...", "unix:/path/of/socket". `invalid` says what is
  // wrong.
  [[nodiscard]] static Result<Url> parse(std::string_view text);

  std::string origin() const;  // for messages: "http://host:port" or the socket's path
};

struct ClientOptions {
  std::chrono::milliseconds connect_timeout{5'000};
  std::string ca_file;               // PEM; the system's authorities (or SSL_CERT_FILE) when empty
  bool verify_tls = true;            // false is for tests
  std::size_t body_max = 64u << 20;  // of an answer that is not given out in pieces
};

struct Call {
  std::string method = "GET";
  std::string target = "/";  // path and query, already percent-encoded
  Headers headers;
  std::string body;

  // For the whole call; with on_data, between two pieces of the answer. Zero waits for ever.
  std::chrono::milliseconds timeout{30'000};

  // When set, the body of a 2xx answer is given here as it comes and Response::body stays empty;
  // returning false ends the call well. Other answers are collected as usual.
  std::function<bool(std::string_view)> on_data;
};

// One connection, kept open between calls and opened anew when needed. Not for use by two threads
// at once.
class Client {
 public:
  // Connects on the first send.
  explicit Client(Url url, ClientOptions options = {});
  ~Client();
  Client(Client&&) noexcept;
  Client& operator=(Client&&) noexcept;

  // Any answer is a success, whatever its status. `unavailable`: no connection, or none that lived
  // long enough; the message names the server. `too_large`: more than body_max. A request is sent a
  // second time only if an idle connection turned out dead before a byte of the answer, and the
  // method or an Idempotency-Key permits it.
  [[nodiscard]] Result<Response> send(const Call& call);

  const Url& url() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace atl::http
