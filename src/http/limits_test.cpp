#include "http/limits.h"

#include "http/test_support.h"

namespace atl::http::testing {
namespace {

int status_of(const std::string& answer) {
  return answer.size() > 12 ? std::stoi(answer.substr(9, 3)) : 0;
}

// What a new connection is answered with; the connection must end by itself.
std::string only_answer(const Server& server, const std::string& bytes) {
  RawClient client(server.tcp_port());
  client.send(bytes);
  client.finish_sending();
  return client.read_to_end();
}

TEST(Limits, ABodyDeclaredTooLargeIsRefusedBeforeItIsSent) {
  auto server = start_server(echo_router());
  RawClient client(server->tcp_port());
  client.send("POST /echo/a HTTP/1.1\r\nHost: x\r\nContent-Length: 1073741824\r\n\r\n");
  const std::string head = client.read_until("\r\n\r\n");
  EXPECT_EQ(status_of(head), 413);
  EXPECT_NE(head.find("Connection: close"), std::string::npos);
}

TEST(Limits, AnUploadInFlightStillSeesItsRefusal) {
  auto server = start_server(echo_router());
  Client client = client_of(*server);
  const auto answer =
      client.send({.method = "POST", .target = "/tiny", .body = std::string(16 << 20, 'x')});
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->status, 413);
}

TEST(Limits, ARouteMayHaveItsOwnBodyLimit) {
  auto server = start_server(echo_router());
  Client client = client_of(*server);
  EXPECT_EQ(
      client.send({.method = "POST", .target = "/tiny", .body = std::string(1024, 'x')})->status,
      200);
  EXPECT_EQ(
      client.send({.method = "POST", .target = "/tiny", .body = std::string(1025, 'x')})->status,
      413);
}

TEST(Limits, AChunkedBodyIsCountedAsItComes) {
  auto server = start_server(echo_router());
  RawClient client(server->tcp_port());
  client.send("POST /tiny HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n");
  const std::string chunk = "100\r\n" + std::string(256, 'x') + "\r\n";
  for (int i = 0; i < 5; ++i) client.send(chunk);
  EXPECT_EQ(status_of(client.read_until("\r\n\r\n")), 413);
}

TEST(Limits, AHugeChunkSizeIsRefused) {
  auto server = start_server(echo_router());
  const std::string head = "POST /echo/a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n";
  EXPECT_EQ(status_of(only_answer(*server, head + "ffffffffffffffff\r\n")), 413);
  EXPECT_EQ(status_of(only_answer(*server, head + "fffffffffffffffff\r\n")), 400);
  EXPECT_EQ(status_of(only_answer(*server, head + "1;" + std::string(200'000, 'x'))), 400);
}

TEST(Limits, HeadersAreBoundedInBytesAndCount) {
  auto server = start_server(echo_router());
  EXPECT_EQ(
      status_of(only_answer(*server, get("/echo/a", "A: " + std::string(20'000, 'x') + "\r\n"))),
      431);
  EXPECT_EQ(
      status_of(only_answer(*server, "GET /echo/a HTTP/1.1\r\nA: " + std::string(1 << 20, 'x'))),
      431);
  const std::string spaces = get("/echo/a", "A:" + std::string(20'000, ' ') + "x\r\n");
  EXPECT_EQ(status_of(only_answer(*server, spaces)), 431) << "bytes count that are thrown away";
  std::string many, medium;
  for (int i = 0; i < 100; ++i) many += "A: b\r\n";
  for (int i = 0; i < 20; ++i) medium += "A: " + std::string(1000, 'x') + "\r\n";
  EXPECT_EQ(status_of(only_answer(*server, get("/echo/a", many))), 431);
  EXPECT_EQ(status_of(only_answer(*server, get("/echo/a", medium))), 431);
  EXPECT_EQ(status_of(only_answer(*server, get("/" + std::string(9'000, 'x')))), 414);
}

TEST(Limits, AmbiguousRequestsAreRefused) {
  auto server = start_server(echo_router());
  const struct {
    const char* request;
    int status;
  } table[] = {
      {"POST /echo/a HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: "
       "chunked\r\n\r\n",
       400},
      {"POST /echo/a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nContent-Length: "
       "1\r\n\r\n",
       400},
      {"POST /echo/a HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", 400},
      {"POST /echo/a HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n", 400},
      {"POST /echo/a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", 501},
      {"POST /echo/a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: identity\r\n\r\n", 501},
      {"GET /echo/a HTTP/1.1\r\n\r\n", 400},
      {"GET /echo/a HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n", 400},
      {"GET /echo/a HTTP/2.0\r\nHost: x\r\n\r\n", 505},
      {"GET /echo/a HTTP/1.1\r\nHost : x\r\n\r\n", 400},
      {"GET /echo/a HTTP/1.1\nHost: x\n\n", 505},
      {"GET  /echo/a HTTP/1.1\r\nHost: x\r\n\r\n", 400},
      {"\x16\x03\x01\x02\x00\x01\r\n\r\n", 400},
      {"GET /echo/a HTTP/1.1\r\nHost: x\r\nExpect: wonders\r\n\r\n", 417},
  };
  for (const auto& row : table)
    EXPECT_EQ(status_of(only_answer(*server, row.request)), row.status) << row.request;
}

TEST(Limits, AClientMayAskBeforeItSendsTheBody) {
  auto server = start_server(echo_router());
  RawClient client(server->tcp_port());
  const std::string head =
      "POST /tiny HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: ";
  client.send(head + "3\r\n\r\n");
  EXPECT_EQ(client.read_until("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
  client.send("abc");
  EXPECT_EQ(status_of(client.read_until("\r\n\r\n")), 200);
  EXPECT_EQ(client.read_bytes(14), "POST /tiny abc");
  client.send(head + "2000\r\n\r\n");
  EXPECT_EQ(status_of(client.read_until("\r\n\r\n")), 413);
}

TEST(Limits, TricklingHeadersTimeOut) {
  auto server = start_server(echo_router(), {.header_timeout = 60ms});
  RawClient client(server->tcp_port());
  const std::string request = get("/echo/a", "A: " + std::string(5000, 'x') + "\r\n");
  for (char byte : request) {
    if (!client.send({&byte, 1})) break;
    pollfd entry{.fd = client.fd(), .events = POLLIN, .revents = 0};
    if (::poll(&entry, 1, 5) > 0) break;
  }
  EXPECT_EQ(status_of(client.read_to_end()), 408);
}

TEST(Limits, AMissingBodyTimesOut) {
  auto server = start_server(echo_router(), {.body_timeout = 60ms});
  RawClient client(server->tcp_port());
  client.send("POST /echo/a HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nabc");
  EXPECT_EQ(status_of(client.read_until("\r\n\r\n")), 408);
}

TEST(Limits, ATricklingBodyTimesOutAsAWhole) {
  auto server = start_server(echo_router(), {.request_timeout = 60ms});
  RawClient client(server->tcp_port());
  client.send("POST /echo/a HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n");
  pollfd entry{.fd = client.fd(), .events = POLLIN, .revents = 0};
  while (client.send("x") && ::poll(&entry, 1, 5) == 0) continue;
  EXPECT_EQ(status_of(client.read_until("\r\n\r\n")), 408);
}

TEST(Limits, IdleAndSilentConnectionsAreClosed) {
  auto server = start_server(echo_router(), {.header_timeout = 60ms, .idle_timeout = 60ms});
  RawClient silent(server->tcp_port());
  EXPECT_EQ(silent.read_to_end(), "");
  RawClient idle(server->tcp_port());
  idle.send(get("/echo/a"));
  EXPECT_TRUE(idle.read_to_end().ends_with("GET /echo/a "));
}

TEST(Limits, TooManyConnectionsAreTurnedAwayPolitely) {
  auto server = start_server(echo_router(), {.connections = 2});
  RawClient first(server->tcp_port()), second(server->tcp_port());
  first.send(get("/echo/a"));
  first.read_until("GET /echo/a ");
  second.send(get("/echo/a"));
  second.read_until("GET /echo/a ");
  RawClient third(server->tcp_port());
  const std::string answer = third.read_to_end();
  EXPECT_EQ(status_of(answer), 503);
  EXPECT_NE(answer.find("Retry-After: 1\r\n"), std::string::npos);
  EXPECT_EQ(server->stats().connections_refused, 1u);
}

// A router that lets nobody but "friend" send much.
Router guarded_router() {
  Router router;
  const auto admit = [](const Request& request) -> std::optional<Response> {
    if (request.headers.get("Authorization") == "friend") return std::nullopt;
    return Response{.status = 401, .content_type = {}, .body = "who are you?", .headers = {}};
  };
  router.add("POST", "/put", [](const auto& exchange) { exchange->respond({.status = 204}); },
             {.body_max = {}, .admit = admit});
  return router;
}

TEST(Limits, ALargeBodyOfAStrangerIsNotRead) {
  auto server = start_server(guarded_router());
  for (const char* sized : {"Content-Length: 10000000", "Transfer-Encoding: chunked"}) {
    RawClient client(server->tcp_port());
    client.send(std::string("POST /put HTTP/1.1\r\nHost: x\r\n") + sized + "\r\n\r\n");
    const std::string chunk = "4000\r\n" + std::string(0x4000, 'x') + "\r\n";
    for (int i = 0; i < 5; ++i) client.send(chunk);
    EXPECT_EQ(status_of(client.read_until("\r\n\r\n")), 401) << sized;
  }
  Client client = client_of(*server);
  Call call{.method = "POST", .target = "/put", .body = std::string(1 << 20, 'x')};
  EXPECT_EQ(client.send(call)->status, 401);
  call.headers = {{"Authorization", "friend"}};
  EXPECT_EQ(client.send(call)->status, 204);
}

TEST(Limits, AllBodiesTogetherAreBounded) {
  auto server = start_server(guarded_router(), {.bodies_bytes = 1 << 20});
  const auto wait_for_held = [&](std::uint64_t low, std::uint64_t high) {
    const auto until = patience();
    std::uint64_t held = 0;
    do {
      held = server->stats().bodies_bytes;
      std::this_thread::sleep_for(1ms);
    } while ((held < low || held > high) && std::chrono::steady_clock::now() < until);
    return held;
  };
  RawClient first(server->tcp_port());
  first.send(
      "POST /put HTTP/1.1\r\nHost: x\r\nAuthorization: friend\r\nContent-Length: 2000000\r\n\r\n" +
      std::string(900'000, 'x'));
  EXPECT_EQ(wait_for_held(900'000, 900'000), 900'000u);
  Client other = client_of(*server);
  const Call call{.method = "POST",
                  .target = "/put",
                  .headers = {{"Authorization", "friend"}},
                  .body = std::string(500'000, 'x')};
  const auto refused = other.send(call);
  ASSERT_TRUE(refused) << refused.error().message;
  EXPECT_EQ(refused->status, 503);
  EXPECT_EQ(refused->headers.get("Retry-After"), "1");
  EXPECT_EQ(other.send({.method = "POST", .target = "/put", .body = "small"})->status, 204)
      << "small ones always go";
  first.reset();
  EXPECT_EQ(wait_for_held(0, 0), 0u) << "what a client that is gone had sent is let go";
  EXPECT_EQ(other.send(call)->status, 204);
}

}  // namespace
}  // namespace atl::http::testing
