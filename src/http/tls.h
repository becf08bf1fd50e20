// OpenSSL made safe to hold: contexts for both sides, and sessions over a socket we own.
#pragma once

#include <openssl/ssl.h>

#include <memory>
#include <span>
#include <string>

#include "base/result.h"

namespace atl::http {

struct SslContextFree {
  void operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
};
struct SslFree {
  void operator()(SSL* ssl) const { SSL_free(ssl); }
};
using SslContext = std::unique_ptr<SSL_CTX, SslContextFree>;
using Ssl = std::unique_ptr<SSL, SslFree>;

// TLS 1.2 or newer. `invalid` names the file that cannot be used.
[[nodiscard]] Result<SslContext> make_server_context(const std::string& certificate_chain,
                                                     const std::string& private_key);

// Verifies against ca_file, or when empty against the system's authorities; SSL_CERT_FILE and
// SSL_CERT_DIR are honoured.
[[nodiscard]] Result<SslContext> make_client_context(const std::string& ca_file, bool verify);

// Over a non-blocking socket that must outlive it. A closed peer is an error code and never
// SIGPIPE.
Ssl make_server_ssl(SSL_CTX* context, int fd);
Ssl make_client_ssl(SSL_CTX* context, int fd, const std::string& host);

enum class IoState { done, want_read, want_write, ended, failed };

struct IoResult {
  IoState state = IoState::failed;
  std::size_t bytes = 0;
};

IoResult tls_read(SSL* ssl, std::span<char> into);
// After a tls_read that failed, on its thread: whether the peer sent a plain HTTP request instead.
bool tls_got_plain_http();
IoResult tls_write(SSL* ssl, std::string_view bytes);

// Drains OpenSSL's error queue of this thread into a sentence.
std::string tls_error_text();

}  // namespace atl::http
