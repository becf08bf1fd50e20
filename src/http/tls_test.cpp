#include "http/tls.h"

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <cstdio>

#include "http/test_support.h"

namespace atl::http::testing {
namespace {

void add_extension(X509* certificate, int nid, const char* value) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, certificate, certificate, nullptr, nullptr, 0);
  X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, &context, nid, value);
  X509_add_ext(certificate, extension, -1);
  X509_EXTENSION_free(extension);
}

// A self-signed certificate for 127.0.0.1 and localhost, as PEM files.
TlsFiles make_certificate(const TempDir& dir, const char* names = "IP:127.0.0.1,DNS:localhost") {
  EVP_PKEY* key = EVP_EC_gen("P-256");
  X509* certificate = X509_new();
  X509_set_version(certificate, 2);
  ASN1_INTEGER_set(X509_get_serialNumber(certificate), 1);
  X509_gmtime_adj(X509_getm_notBefore(certificate), -3600);
  X509_gmtime_adj(X509_getm_notAfter(certificate), 3600);
  X509_set_pubkey(certificate, key);
  X509_NAME* name = X509_get_subject_name(certificate);
  X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC,
                             reinterpret_cast<const unsigned char*>("test"), -1, -1, 0);
  X509_set_issuer_name(certificate, name);
  add_extension(certificate, NID_basic_constraints, "critical,CA:TRUE");
  add_extension(certificate, NID_subject_alt_name, names);
  X509_sign(certificate, key, EVP_sha256());
  const TlsFiles files{.certificate_chain = dir / "cert.pem", .private_key = dir / "key.pem"};
  std::FILE* cert_file = std::fopen(files.certificate_chain.c_str(), "w");
  PEM_write_X509(cert_file, certificate);
  std::fclose(cert_file);
  std::FILE* key_file = std::fopen(files.private_key.c_str(), "w");
  PEM_write_PrivateKey(key_file, key, nullptr, nullptr, 0, nullptr, nullptr);
  std::fclose(key_file);
  X509_free(certificate);
  EVP_PKEY_free(key);
  return files;
}

struct TlsServer {
  TempDir dir;
  TlsFiles files;
  std::unique_ptr<Server> server;

  explicit TlsServer(const char* names = "IP:127.0.0.1,DNS:localhost")
      : files(make_certificate(dir, names)) {
    Router router = echo_router();
    router.add("GET", "/secure", [](std::shared_ptr<Exchange> exchange) {
      exchange->respond(text(exchange->request().peer.tls ? "yes" : "no"));
    });
    router.add("GET", "/stream", [](std::shared_ptr<Exchange> exchange) {
      auto stream = exchange->stream(200, {});
      for (int i = 0; i < 20; ++i) EXPECT_TRUE(stream->write(std::string(10'000, 's')));
      stream->close();
    });
    ServerOptions options;
    options.tcp_listeners = {{.tls = files}};
    auto started = Server::start(std::move(options), std::move(router));
    EXPECT_TRUE(started) << started.error().message;
    server = std::move(*started);
  }

  Client client(ClientOptions options) const {
    return Client(Url::parse("https://127.0.0.1:" + std::to_string(server->tcp_port())).value(),
                  options);
  }
};

TEST(Tls, ATrustedCertificateMakesARoundTrip) {
  TlsServer tls;
  Client client = tls.client({.ca_file = tls.files.certificate_chain});
  for (int i = 0; i < 3; ++i) {
    const auto answer = client.send({.target = "/secure"});
    ASSERT_TRUE(answer) << answer.error().message;
    EXPECT_EQ(answer->body, "yes");
  }
  EXPECT_EQ(tls.server->stats().connections_open, 1u);
}

TEST(Tls, LargeBodiesAndStreamsGoThrough) {
  TlsServer tls;
  Client client = tls.client({.ca_file = tls.files.certificate_chain});
  const std::string body(4 << 20, 'b');
  const auto answer = client.send({.method = "POST", .target = "/echo/a", .body = body});
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_TRUE(answer->body == "POST /echo/a " + body);
  EXPECT_EQ(client.send({.target = "/stream"})->body.size(), 200'000u);
}

TEST(Tls, ARefusedUploadStillSeesItsAnswer) {
  TlsServer tls;
  Client client = tls.client({.ca_file = tls.files.certificate_chain});
  const auto answer =
      client.send({.method = "POST", .target = "/tiny", .body = std::string(4 << 20, 'x')});
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->status, 413);
}

TEST(Tls, AnUnknownAuthorityIsRefusedWithItsReason) {
  TlsServer tls;
  const auto answer = tls.client({}).send({.target = "/secure"});
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, ErrorCode::unauthorized) << "asking again does not help";
  EXPECT_NE(answer.error().message.find("self-signed certificate"), std::string::npos)
      << answer.error().message;
  EXPECT_EQ(tls.client({.verify_tls = false}).send({.target = "/secure"})->body, "yes");
}

TEST(Tls, ACertificateForAnotherHostIsRefused) {
  TlsServer tls("DNS:elsewhere.example");
  const auto answer =
      tls.client({.ca_file = tls.files.certificate_chain}).send({.target = "/secure"});
  ASSERT_FALSE(answer);
  EXPECT_NE(answer.error().message.find("mismatch"), std::string::npos) << answer.error().message;
}

TEST(Tls, TheEnvironmentMayNameTheAuthorities) {
  TlsServer tls;
  ::setenv("SSL_CERT_FILE", tls.files.certificate_chain.c_str(), 1);
  const auto answer = tls.client({}).send({.target = "/secure"});
  ::unsetenv("SSL_CERT_FILE");
  ASSERT_TRUE(answer) << answer.error().message;
}

TEST(Tls, APlainRequestOnASecurePortIsToldSo) {
  TlsServer tls;
  RawClient client(tls.server->tcp_port());
  client.send(get("/secure"));
  const std::string answer = client.read_to_end();
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 400 ")) << answer;
  EXPECT_NE(answer.find("https://"), std::string::npos) << answer;
}

TEST(Tls, OtherBytesOnASecurePortAreClosed) {
  TlsServer tls;
  RawClient client(tls.server->tcp_port());
  client.send("SSH-2.0-OpenSSH_9.2\r\n");
  EXPECT_EQ(client.read_to_end().find("HTTP/1.1"), std::string::npos);
}

TEST(Tls, UnusableFilesAreNamed) {
  TempDir dir;
  ServerOptions options;
  options.tcp_listeners = {{.tls = TlsFiles{dir / "none.pem", dir / "none.key"}}};
  const auto server = Server::start(options, Router());
  ASSERT_FALSE(server);
  EXPECT_EQ(server.error().code, ErrorCode::invalid);
  EXPECT_EQ(server.error().message,
            "cannot use certificate " + (dir / "none.pem") + ": No such file or directory");
}

}  // namespace
}  // namespace atl::http::testing
