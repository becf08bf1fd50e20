#include "http/server.h"

#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "http/test_support.h"

namespace atl::http::testing {
namespace {

TEST(Server, AnswersWithLengthDateAndRequestId) {
  auto server = start_server(echo_router());
  RawClient client(server->tcp_port());
  client.send(get("/echo/a"));
  const std::string head = client.read_until("\r\n\r\n");
  EXPECT_TRUE(head.starts_with("HTTP/1.1 200 OK\r\nDate: ")) << head;
  EXPECT_NE(head.find("\r\nX-Request-Id: "), std::string::npos);
  EXPECT_NE(head.find("\r\nContent-Length: 12\r\n"), std::string::npos);
  EXPECT_EQ(client.read_bytes(12), "GET /echo/a ");
}

TEST(Server, AClientsRequestIdIsEchoedWhenItIsPlain) {
  auto server = start_server(echo_router());
  Client client = client_of(*server);
  const auto plain = client.send({.target = "/echo/a", .headers = {{"X-Request-Id", "abc-1"}}});
  EXPECT_EQ(plain->headers.get("X-Request-Id"), "abc-1");
  const auto strange = client.send({.target = "/echo/a", .headers = {{"X-Request-Id", "a b"}}});
  EXPECT_NE(strange->headers.get("X-Request-Id"), "a b");
}

TEST(Server, HeadHasTheLengthAndNoBody) {
  auto server = start_server(echo_router());
  RawClient client(server->tcp_port());
  client.send("HEAD /echo/a HTTP/1.1\r\nHost: x\r\n\r\n" + get("/echo/b"));
  EXPECT_NE(client.read_until("\r\n\r\n").find("Content-Length: 13\r\n"), std::string::npos);
  EXPECT_TRUE(client.read_until("\r\n\r\n").starts_with("HTTP/1.1 200 OK"));
  EXPECT_EQ(client.read_bytes(12), "GET /echo/b ");
}

TEST(Server, MissingPathsAndMethodsKeepTheConnection) {
  auto server = start_server(echo_router());
  Client client = client_of(*server);
  EXPECT_EQ(client.send({.target = "/nowhere"})->status, 404);
  const auto wrong = client.send({.method = "DELETE", .target = "/echo/a"});
  EXPECT_EQ(wrong->status, 405);
  EXPECT_EQ(wrong->headers.get("Allow"), "GET, HEAD, POST, OPTIONS");
  const auto options = client.send({.method = "OPTIONS", .target = "/echo/a"});
  EXPECT_EQ(options->status, 204);
  EXPECT_EQ(options->headers.get("Allow"), "GET, HEAD, POST, OPTIONS");
  EXPECT_EQ(client.send({.target = "/echo/%2e%2e"})->status, 400);
  EXPECT_EQ(server->stats().connections_open, 1u);
}

TEST(Server, PipelinedRequestsAreAnsweredInOrder) {
  Router router;
  router.add("GET", "/n/{n}", [](std::shared_ptr<Exchange> exchange) {
    const std::string n(exchange->request().param("n"));
    if (n.size() % 2 == 0) return exchange->respond(text("<" + n + ">"));
    std::thread([exchange, n] { exchange->respond(text("<" + n + ">")); }).detach();
  });
  auto server = start_server(std::move(router));
  RawClient client(server->tcp_port());
  std::string requests, expected;
  for (int i = 0; i < 300; ++i) {
    const std::string n = std::to_string(i * 7);
    requests += get("/n/" + n);
    expected += "<" + n + ">";
  }
  requests += get("/n/1", "Connection: close\r\n");
  client.send(requests);
  std::string got, answers = client.read_to_end();
  for (std::size_t at = answers.find('<'); at != std::string::npos;
       at = answers.find('<', at + 1)) {
    got += answers.substr(at, answers.find('>', at) - at + 1);
  }
  EXPECT_EQ(got, expected + "<1>");
}

TEST(Server, RequestsMayComeByteByByte) {
  auto server = start_server(echo_router());
  RawClient client(server->tcp_port());
  const std::string request =
      "\r\nPOST /echo/a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: "
      "chunked\r\n\r\n3\r\nabc\r\n2;x=y\r\nde\r\n0\r\nT: v\r\n\r\n";
  for (char byte : request) client.send({&byte, 1});
  client.read_until("\r\n\r\n");
  EXPECT_EQ(client.read_bytes(18), "POST /echo/a abcde");
}

TEST(Server, AnEmptyLineBeforeARequestMayComeInTwoHalves) {
  auto server = start_server(echo_router());
  RawClient client(server->tcp_port());
  client.send("\r");
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  client.send("\nGET /echo/a HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_EQ(client.read_until("\r\n").substr(0, 15), "HTTP/1.1 200 OK");
}

TEST(Server, AnOldClientIsClosedUnlessItAsksToStay) {
  auto server = start_server(echo_router());
  RawClient leaving(server->tcp_port());
  leaving.send("GET /echo/a HTTP/1.0\r\n\r\n");
  EXPECT_TRUE(leaving.read_to_end().ends_with("GET /echo/a "));
  RawClient staying(server->tcp_port());
  staying.send("GET /echo/a HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
  EXPECT_NE(staying.read_until("GET /echo/a ").find("Connection: keep-alive"), std::string::npos);
  staying.send("GET /echo/b HTTP/1.0\r\n\r\n");
  EXPECT_TRUE(staying.read_to_end().ends_with("GET /echo/b "));
}

TEST(Server, AHalfClosedClientStillGetsItsAnswer) {
  auto release = std::make_shared<Signal>();
  Router router;
  router.add("GET", "/slow", [release](std::shared_ptr<Exchange> exchange) {
    std::thread([release, exchange] {
      release->wait();
      exchange->respond(text("late"));
    }).detach();
  });
  auto server = start_server(std::move(router));
  RawClient client(server->tcp_port());
  client.send(get("/slow"));
  client.finish_sending();
  std::this_thread::sleep_for(20ms);
  release->set();
  EXPECT_TRUE(client.read_to_end().ends_with("late"));
}

TEST(Server, LargeBodiesGoBothWays) {
  auto server = start_server(echo_router());
  Client client = client_of(*server);
  const std::string body(8 << 20, 'b');
  for (int i = 0; i < 2; ++i) {
    const auto answer = client.send({.method = "POST", .target = "/echo/a", .body = body});
    ASSERT_TRUE(answer) << answer.error().message;
    EXPECT_TRUE(answer->body == "POST /echo/a " + body);
  }
}

TEST(Server, HandlersThatFailAreAnsweredWith500) {
  std::string told;
  Router router;
  router.add("GET", "/throws",
             [](std::shared_ptr<Exchange>) { throw std::runtime_error("secret"); });
  router.add("GET", "/drops", [](std::shared_ptr<Exchange>) {});
  ServerOptions options;
  options.tcp_listeners = {TcpListener{}};
  options.on_handler_error = [&](const Request&, std::string_view what) { told = what; };
  auto server = Server::start(std::move(options), std::move(router)).value();
  Client client = client_of(*server);
  const auto thrown = client.send({.target = "/throws"});
  EXPECT_EQ(thrown->status, 500);
  EXPECT_EQ(thrown->body.find("secret"), std::string::npos);
  EXPECT_EQ(told, "secret");
  EXPECT_EQ(client.send({.target = "/drops"})->status, 500);
}

TEST(Server, ASecondAnswerChangesNothing) {
  Router router;
  router.add("GET", "/twice", [](std::shared_ptr<Exchange> exchange) {
    exchange->respond(text("first"));
    exchange->respond(text("second"));
    EXPECT_FALSE(exchange->stream(200, {})->is_open());
  });
  auto server = start_server(std::move(router));
  Client client = client_of(*server);
  EXPECT_EQ(client.send({.target = "/twice"})->body, "first");
  EXPECT_EQ(client.send({.target = "/twice"})->body, "first");
}

TEST(Server, AHeaderValueCannotSplitTheAnswer) {
  Router router;
  router.add("GET", "/x", [](std::shared_ptr<Exchange> exchange) {
    exchange->respond({.headers = {{"Location", "a\r\nSet-Cookie: b"}}});
  });
  auto server = start_server(std::move(router));
  const auto answer = client_of(*server).send({.target = "/x"});
  EXPECT_EQ(answer->headers.get("Location"), "a  Set-Cookie: b");
  EXPECT_FALSE(answer->headers.has("Set-Cookie"));
}

Result<std::unique_ptr<Server>> start_unix(const std::string& path, Router router,
                                           unsigned mode = 0600) {
  ServerOptions options;
  options.unix_listeners = {{.path = path, .mode = mode}};
  return Server::start(std::move(options), std::move(router));
}

TEST(UnixSocket, TellsWhoIsAtTheOtherEnd) {
  TempDir dir;
  Router router;
  router.add("GET", "/me", [](std::shared_ptr<Exchange> exchange) {
    const Peer& peer = exchange->request().peer;
    exchange->respond(text(std::to_string(peer.unix_socket) + " " + std::to_string(peer.uid) + " " +
                           std::to_string(peer.gid) + " " + std::to_string(peer.pid)));
  });
  auto server = start_unix(dir / "s", std::move(router), 0666).value();
  Client client(Url::parse("unix:" + (dir / "s")).value());
  EXPECT_EQ(client.send({.target = "/me"})->body, "1 " + std::to_string(::getuid()) + " " +
                                                      std::to_string(::getgid()) + " " +
                                                      std::to_string(::getpid()));
  struct stat info{};
  ::stat((dir / "s").c_str(), &info);
  EXPECT_EQ(info.st_mode & 0777, 0666u);
}

TEST(UnixSocket, ALivingServerIsNotReplacedAndAStaleFileIs) {
  TempDir dir;
  const std::string path = dir / "s";
  auto first = start_unix(path, echo_router()).value();
  const auto second = start_unix(path, echo_router());
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, ErrorCode::conflict);
  first->stop();
  EXPECT_FALSE(std::filesystem::exists(path));
  {
    const auto stale = listen_unix(path, 0600);
  }
  EXPECT_TRUE(std::filesystem::exists(path));
  EXPECT_TRUE(start_unix(path, echo_router()));
}

TEST(UnixSocket, AnOrdinaryFileIsNeverRemoved) {
  TempDir dir;
  std::ofstream(dir / "s") << "precious";
  const auto server = start_unix(dir / "s", echo_router());
  ASSERT_FALSE(server);
  EXPECT_EQ(server.error().code, ErrorCode::invalid);
  EXPECT_TRUE(std::filesystem::is_regular_file(dir / "s"));
}

TEST(Server, UnusableAddressesAreRefused) {
  ServerOptions options;
  options.tcp_listeners = {{.host = "not an address"}};
  EXPECT_EQ(Server::start(options, Router()).error().code, ErrorCode::invalid);
  auto other = start_server(echo_router());
  options.tcp_listeners = {{.port = other->tcp_port()}};
  EXPECT_EQ(Server::start(options, Router()).error().code, ErrorCode::conflict);
  options.tcp_listeners = {};
  options.unix_listeners = {{.path = std::string(200, 'x')}};
  EXPECT_EQ(Server::start(options, Router()).error().code, ErrorCode::invalid);
}

struct Pending {
  Signal arrived;
  std::shared_ptr<Exchange> exchange;
};

Router pending_router(std::shared_ptr<Pending> pending) {
  Router router;
  router.add("GET", "/wait", [pending](std::shared_ptr<Exchange> exchange) {
    pending->exchange = std::move(exchange);
    pending->arrived.set();
  });
  return router;
}

TEST(Stop, LetsPendingRequestsBeAnswered) {
  auto pending = std::make_shared<Pending>();
  auto server = start_server(pending_router(pending));
  // Connections are dealt to the two threads in turn, so each has an idle one that shows when it is
  // stopping.
  RawClient idle(server->tcp_port()), idle_too(server->tcp_port());
  RawClient client(server->tcp_port());
  client.send(get("/wait"));
  ASSERT_TRUE(pending->arrived.wait());
  std::thread stopping([&] { server->stop(20s); });
  EXPECT_EQ(idle.read_to_end(), "");
  EXPECT_EQ(idle_too.read_to_end(), "");
  pending->exchange->respond(text("still here"));
  const std::string answer = client.read_to_end();
  EXPECT_TRUE(answer.ends_with("still here"));
  EXPECT_NE(answer.find("Connection: close"), std::string::npos);
  stopping.join();
}

TEST(Stop, CutsWhatIsLeftAfterTheGraceAndIgnoresLateAnswers) {
  auto pending = std::make_shared<Pending>();
  auto server = start_server(pending_router(pending));
  RawClient client(server->tcp_port());
  client.send(get("/wait"));
  ASSERT_TRUE(pending->arrived.wait());
  server->stop(10ms);
  EXPECT_EQ(client.read_to_end(), "");
  server.reset();
  pending->exchange->respond(text("too late"));
  pending->exchange.reset();
}

TEST(Stop, AnAnswerDuringTheStopIsSafe) {
  for (int round = 0; round < 20; ++round) {
    auto pending = std::make_shared<Pending>();
    auto server = start_server(pending_router(pending));
    RawClient client(server->tcp_port());
    client.send(get("/wait"));
    ASSERT_TRUE(pending->arrived.wait());
    std::thread answering([pending] { pending->exchange->respond(text("now")); });
    server->stop(0ms);
    server.reset();
    answering.join();
  }
}

}  // namespace
}  // namespace atl::http::testing
