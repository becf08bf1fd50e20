#include "http/client.h"

#include "http/sse.h"
#include "http/test_support.h"

namespace atl::http::testing {
namespace {

TEST(Url, IsTakenApart) {
  const Url plain = Url::parse("http://example.org:8080/a?b").value();
  EXPECT_EQ(plain.origin(), "http://example.org:8080");
  EXPECT_EQ(plain.target, "/a?b");
  EXPECT_EQ(Url::parse("https://[::1]").value().origin(), "https://[::1]:443");
  EXPECT_EQ(Url::parse("http://h?x=1").value().target, "/?x=1");
  EXPECT_EQ(Url::parse("unix:///run/a.sock").value().origin(), "/run/a.sock");
}

TEST(Url, MistakesAreNamed) {
  for (const char* bad :
       {"", "example.org", "ftp://x", "http://", "http://:80", "http://h:0", "http://h:99999",
        "http://h:x", "http://[::1", "http://u:p@h", "http://h/a b", "unix:relative"}) {
    const auto url = Url::parse(bad);
    ASSERT_FALSE(url) << bad;
    EXPECT_EQ(url.error().code, ErrorCode::invalid);
  }
}

TEST(Client, ARefusedConnectionAsksWhetherTheServerRuns) {
  std::uint16_t port = 0;
  {
    port = start_server(echo_router())->tcp_port();
  }
  Client tcp(Url::parse("http://127.0.0.1:" + std::to_string(port)).value());
  const auto refused = tcp.send({});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::unavailable);
  EXPECT_EQ(refused.error().message,
            "connection refused by 127.0.0.1:" + std::to_string(port) + ": is the server running?");
  TempDir dir;
  Client local(Url::parse("unix:" + (dir / "none")).value());
  EXPECT_NE(local.send({}).error().message.find("is the server running?"), std::string::npos);
}

TEST(Client, AnUnknownHostIsNamed) {
  Client client(Url::parse("http://no-such-host.invalid").value());
  const auto answer = client.send({});
  ASSERT_FALSE(answer);
  EXPECT_NE(answer.error().message.find("no-such-host.invalid"), std::string::npos);
}

TEST(Client, KeepsItsConnection) {
  auto server = start_server(echo_router());
  Client client = client_of(*server);
  for (int i = 0; i < 50; ++i) EXPECT_EQ(client.send({.target = "/echo/a"})->status, 200);
  EXPECT_EQ(server->stats().connections_open, 1u);
  EXPECT_EQ(server->stats().requests, 50u);
}

TEST(Client, ReconnectsWhenAnIdleConnectionHasDied) {
  auto server = start_server(echo_router(), {.idle_timeout = 40ms});
  Client client = client_of(*server);
  EXPECT_EQ(client.send({.target = "/echo/a"})->status, 200);
  while (server->stats().connections_open > 0) std::this_thread::sleep_for(5ms);
  EXPECT_EQ(client.send({.target = "/echo/a"})->status, 200);
}

TEST(Client, DoesNotRepeatWhatMayNotBeRepeated) {
  auto server = start_server(echo_router(), {.idle_timeout = 40ms});
  Client client = client_of(*server);
  EXPECT_EQ(client.send({.target = "/echo/a"})->status, 200);
  while (server->stats().connections_open > 0) std::this_thread::sleep_for(5ms);
  EXPECT_FALSE(client.send({.method = "POST", .target = "/echo/a", .body = "x"}));
  EXPECT_EQ(client.send({.method = "POST", .target = "/echo/a", .body = "x"})->status, 200);
}

TEST(Client, ASilentServerTimesOut) {
  const UniqueFd listener = listen_tcp("127.0.0.1", 0).value();
  Client client(
      Url::parse("http://127.0.0.1:" + std::to_string(local_port(listener.get()))).value());
  const auto answer = client.send({.timeout = 50ms});
  ASSERT_FALSE(answer);
  EXPECT_NE(answer.error().message.find("no answer in time"), std::string::npos);
}

// Accepts one connection, sends `bytes` after the request's head, closes.
std::thread answer_once(const UniqueFd& listener, std::string bytes) {
  return std::thread([fd = listener.get(), bytes = std::move(bytes)] {
    EXPECT_TRUE(wait_for(fd, POLLIN, patience()));
    UniqueFd peer(::accept(fd, nullptr, nullptr));
    char request[4096];
    EXPECT_GT(::recv(peer.get(), request, sizeof request, 0), 0);
    EXPECT_EQ(::send(peer.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(bytes.size()));
  });
}

Result<Response> ask_once(std::string bytes, Call call = {}, ClientOptions options = {}) {
  const UniqueFd listener = listen_tcp("127.0.0.1", 0).value();
  std::thread server = answer_once(listener, std::move(bytes));
  Client client(
      Url::parse("http://127.0.0.1:" + std::to_string(local_port(listener.get()))).value(),
      options);
  auto answer = client.send(call);
  server.join();
  return answer;
}

TEST(Client, OddAnswersAreErrorsAndNotCrashes) {
  EXPECT_NE(ask_once("SSH-2.0-OpenSSH_9.2\r\n").error().message.find("does not answer in HTTP"),
            std::string::npos);
  EXPECT_FALSE(ask_once("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc"));
  EXPECT_FALSE(ask_once("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab"));
  EXPECT_FALSE(ask_once("HTTP/1.1 200"));
  std::string interim;
  for (int i = 0; i < 20; ++i) interim += "HTTP/1.1 102 Processing\r\n\r\n";
  EXPECT_FALSE(ask_once(interim));
}

TEST(Client, AnAnswerMayEndWithTheConnectionOrFollowInterimOnes) {
  EXPECT_EQ(ask_once("HTTP/1.1 200 OK\r\n\r\nall of it")->body, "all of it");
  EXPECT_EQ(
      ask_once("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 201 Created\r\nContent-Length: 2\r\n\r\nok")
          ->status,
      201);
}

TEST(Client, AnAnswerLargerThanAllowedIsRefused) {
  const std::string head = "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n";
  const auto answer = ask_once(head + std::string(100, 'x'), {}, {.body_max = 50});
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, ErrorCode::too_large);
}

TEST(Client, HeadersCannotSmuggleARequest) {
  Client client(Url::parse("http://127.0.0.1:1").value());
  EXPECT_EQ(client.send({.headers = {{"A", "b\r\nC: d"}}}).error().code, ErrorCode::invalid);
  EXPECT_EQ(client.send({.target = "/a b"}).error().code, ErrorCode::invalid);
  EXPECT_EQ(client.send({.target = "a"}).error().code, ErrorCode::invalid);
}

Router event_router() {
  Router router;
  router.add("GET", "/events", [](std::shared_ptr<Exchange> exchange) {
    auto stream = exchange->stream(200, {{"Content-Type", "text/event-stream"}});
    std::thread([stream] {
      for (int i = 0; stream->is_open() && i < 1000; ++i) {
        (void)stream->write(
            format_event({.id = std::to_string(i), .data = "n\n" + std::to_string(i)}));
        std::this_thread::sleep_for(1ms);
      }
      stream->close();
    }).detach();
  });
  return router;
}

TEST(Client, FollowsEventsUntilItHasEnough) {
  auto server = start_server(event_router());
  Client client = client_of(*server);
  EventParser parser;
  std::vector<std::string> data;
  auto on_event = [&](const Event& event) {
    data.push_back(event.data);
    return data.size() < 5;
  };
  const auto answer = client.send({.target = "/events", .on_data = [&](std::string_view bytes) {
                                     return parser.feed(bytes, on_event);
                                   }});
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->status, 200);
  EXPECT_EQ(data.size(), 5u);
  EXPECT_EQ(data.back(), "n\n4");
  EXPECT_EQ(parser.last_event_id(), "4");
}

TEST(Client, AnErrorAnswerIsCollectedEvenWhenDataWasAskedFor) {
  auto server = start_server(event_router());
  bool called = false;
  const auto answer = client_of(*server).send(
      {.target = "/nowhere", .on_data = [&](std::string_view) { return called = true; }});
  EXPECT_EQ(answer->status, 404);
  EXPECT_FALSE(called);
  EXPECT_NE(answer->body.find("nothing at /nowhere"), std::string::npos);
}

}  // namespace
}  // namespace atl::http::testing
