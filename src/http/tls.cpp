#include "http/tls.h"

#include <arpa/inet.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/x509v3.h>
#include <sys/socket.h>

#include <cerrno>
#include <climits>
#include <cstring>

namespace atl::http {
namespace {

// OpenSSL's own socket BIO calls write(), which raises SIGPIPE on a closed peer; this one sends
// with MSG_NOSIGNAL.
int bio_fd(BIO* bio) {
  return static_cast<int>(reinterpret_cast<std::intptr_t>(BIO_get_data(bio)));
}

bool is_transient(int error) { return error == EAGAIN || error == EWOULDBLOCK || error == EINTR; }

int bio_write(BIO* bio, const char* data, int size) {
  BIO_clear_retry_flags(bio);
  const auto sent = ::send(bio_fd(bio), data, static_cast<std::size_t>(size), MSG_NOSIGNAL);
  if (sent < 0 && is_transient(errno)) BIO_set_retry_write(bio);
  return static_cast<int>(sent);
}

int bio_read(BIO* bio, char* data, int size) {
  BIO_clear_retry_flags(bio);
  const auto got = ::recv(bio_fd(bio), data, static_cast<std::size_t>(size), 0);
  if (got < 0 && is_transient(errno)) BIO_set_retry_read(bio);
  if (got == 0) BIO_set_flags(bio, BIO_FLAGS_IN_EOF);
  return static_cast<int>(got);
}

long bio_control(BIO* bio, int command, long, void*) {
  if (command == BIO_CTRL_EOF) return BIO_test_flags(bio, BIO_FLAGS_IN_EOF) != 0;
  return command == BIO_CTRL_FLUSH ? 1 : 0;
}

const BIO_METHOD* socket_bio_method() {
  static const BIO_METHOD* method = [] {
    BIO_METHOD* made = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "atoll socket");
    BIO_meth_set_write(made, bio_write);
    BIO_meth_set_read(made, bio_read);
    BIO_meth_set_ctrl(made, bio_control);
    return made;
  }();
  return method;
}

Ssl make_ssl(SSL_CTX* context, int fd) {
  Ssl ssl(SSL_new(context));
  BIO* bio = BIO_new(socket_bio_method());
  if (!ssl || !bio) return nullptr;
  BIO_set_data(bio, reinterpret_cast<void*>(static_cast<std::intptr_t>(fd)));
  BIO_set_init(bio, 1);
  SSL_set_bio(ssl.get(), bio, bio);
  return ssl;
}

SslContext make_context(const SSL_METHOD* method) {
  SslContext context(SSL_CTX_new(method));
  SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION);
  // Our output buffer may move and grow between two attempts to send its front.
  SSL_CTX_set_mode(context.get(), SSL_MODE_ENABLE_PARTIAL_WRITE |
                                      SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                                      SSL_MODE_RELEASE_BUFFERS);
  return context;
}

int choose_protocol(SSL*, const unsigned char** out, unsigned char* out_size,
                    const unsigned char* in, unsigned in_size, void*) {
  static constexpr unsigned char kHttp11[] = "\x08http/1.1";
  auto* chosen = const_cast<unsigned char**>(out);
  const int status =
      SSL_select_next_proto(chosen, out_size, kHttp11, sizeof kHttp11 - 1, in, in_size);
  return status == OPENSSL_NPN_NEGOTIATED ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_NOACK;
}

bool is_address(const std::string& host) {
  unsigned char buffer[sizeof(in6_addr)];
  return ::inet_pton(AF_INET, host.c_str(), buffer) == 1 ||
         ::inet_pton(AF_INET6, host.c_str(), buffer) == 1;
}

IoResult outcome(SSL* ssl, int status) {
  if (status > 0) return {IoState::done, static_cast<std::size_t>(status)};
  switch (SSL_get_error(ssl, status)) {
    case SSL_ERROR_WANT_READ:
      return {IoState::want_read, 0};
    case SSL_ERROR_WANT_WRITE:
      return {IoState::want_write, 0};
    case SSL_ERROR_ZERO_RETURN:
      return {IoState::ended, 0};
    default:
      return {IoState::failed, 0};
  }
}

int clamp_size(std::size_t size) { return static_cast<int>(std::min<std::size_t>(size, INT_MAX)); }

}  // namespace

Result<SslContext> make_server_context(const std::string& certificate_chain,
                                       const std::string& private_key) {
  SslContext context = make_context(TLS_server_method());
  if (SSL_CTX_use_certificate_chain_file(context.get(), certificate_chain.c_str()) != 1) {
    return fail(ErrorCode::invalid,
                "cannot use certificate " + certificate_chain + ": " + tls_error_text());
  }
  if (SSL_CTX_use_PrivateKey_file(context.get(), private_key.c_str(), SSL_FILETYPE_PEM) != 1 ||
      SSL_CTX_check_private_key(context.get()) != 1) {
    return fail(ErrorCode::invalid, "cannot use private key " + private_key + " with certificate " +
                                        certificate_chain + ": " + tls_error_text());
  }
  SSL_CTX_set_alpn_select_cb(context.get(), choose_protocol, nullptr);
  return context;
}

Result<SslContext> make_client_context(const std::string& ca_file, bool verify) {
  SslContext context = make_context(TLS_client_method());
  SSL_CTX_set_verify(context.get(), verify ? SSL_VERIFY_PEER : SSL_VERIFY_NONE, nullptr);
  const int loaded = ca_file.empty()
                         ? SSL_CTX_set_default_verify_paths(context.get())
                         : SSL_CTX_load_verify_locations(context.get(), ca_file.c_str(), nullptr);
  if (loaded != 1) {
    return fail(ErrorCode::invalid,
                "cannot read certificate authorities from " + ca_file + ": " + tls_error_text());
  }
  return context;
}

Ssl make_server_ssl(SSL_CTX* context, int fd) {
  Ssl ssl = make_ssl(context, fd);
  if (ssl) SSL_set_accept_state(ssl.get());
  return ssl;
}

Ssl make_client_ssl(SSL_CTX* context, int fd, const std::string& host) {
  Ssl ssl = make_ssl(context, fd);
  if (!ssl) return ssl;
  SSL_set_connect_state(ssl.get());
  if (is_address(host)) {
    X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl.get()), host.c_str());
  } else {
    SSL_set_tlsext_host_name(ssl.get(), host.c_str());
    SSL_set1_host(ssl.get(), host.c_str());
  }
  return ssl;
}

IoResult tls_read(SSL* ssl, std::span<char> into) {
  ERR_clear_error();
  return outcome(ssl, SSL_read(ssl, into.data(), clamp_size(into.size())));
}

bool tls_got_plain_http() { return ERR_GET_REASON(ERR_peek_error()) == SSL_R_HTTP_REQUEST; }

IoResult tls_write(SSL* ssl, std::string_view bytes) {
  ERR_clear_error();
  return outcome(ssl, SSL_write(ssl, bytes.data(), clamp_size(bytes.size())));
}

std::string tls_error_text() {
  std::string text;
  while (const unsigned long error = ERR_get_error()) {
    // "system lib" only repeats that the error before it was the system's.
    if (ERR_GET_REASON(error) == ERR_R_SYS_LIB && !text.empty()) continue;
    const char* reason = ERR_SYSTEM_ERROR(error) ? std::strerror(ERR_GET_REASON(error))
                                                 : ERR_reason_error_string(error);
    if (!text.empty()) text += "; ";
    text += reason ? reason : "OpenSSL's error " + std::to_string(error);
  }
  return text.empty() ? "the peer closed the connection" : text;
}

}  // namespace atl::http
