#include <atomic>

#include "http/exchange.h"
#include "http/sse.h"
#include "http/test_support.h"

namespace atl::http::testing {
namespace {

Router stream_router(Headers headers, std::function<void(std::shared_ptr<Stream>)> produce) {
  Router router;
  router.add("GET", "/s", [headers, produce](std::shared_ptr<Exchange> exchange) {
    produce(exchange->stream(200, headers));
  });
  router.add("GET", "/after",
             [](std::shared_ptr<Exchange> exchange) { exchange->respond(text("after")); });
  return router;
}

void write_two(std::shared_ptr<Stream> stream) {
  EXPECT_TRUE(stream->write("hello "));
  EXPECT_TRUE(stream->write("world"));
  stream->close();
  EXPECT_FALSE(stream->write("more"));
}

TEST(Stream, IsChunkedAndTheConnectionGoesOn) {
  auto server = start_server(stream_router({{"Content-Type", "text/plain"}}, write_two));
  RawClient client(server->tcp_port());
  client.send(get("/s") + get("/after"));
  EXPECT_NE(client.read_until("\r\n\r\n").find("Transfer-Encoding: chunked"), std::string::npos);
  EXPECT_EQ(client.read_until("0\r\n\r\n"), "6\r\nhello \r\n5\r\nworld\r\n0\r\n\r\n");
  EXPECT_TRUE(client.read_until("after").ends_with("after"));
}

TEST(Stream, WithALengthIsNotChunked) {
  auto server = start_server(stream_router({{"Content-Length", "11"}}, write_two));
  RawClient client(server->tcp_port());
  client.send(get("/s") + get("/after"));
  const std::string head = client.read_until("\r\n\r\n");
  EXPECT_NE(head.find("Content-Length: 11\r\n"), std::string::npos);
  EXPECT_EQ(head.find("chunked"), std::string::npos);
  EXPECT_EQ(client.read_bytes(11), "hello world");
  EXPECT_TRUE(client.read_until("after").ends_with("after"));
}

TEST(Stream, ShorterThanPromisedCutsTheConnection) {
  auto server = start_server(stream_router({{"Content-Length", "20"}}, write_two));
  const auto answer = client_of(*server).send({.target = "/s"});
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, ErrorCode::unavailable);
}

TEST(Stream, DroppedUnclosedCutsTheConnection) {
  auto server = start_server(stream_router(
      {}, [](std::shared_ptr<Stream> stream) { EXPECT_TRUE(stream->write("half")); }));
  EXPECT_FALSE(client_of(*server).send({.target = "/s"}));
}

TEST(Stream, ToAnOldClientEndsWithTheConnection) {
  auto server = start_server(stream_router({}, write_two));
  RawClient client(server->tcp_port());
  client.send("GET /s HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
  EXPECT_TRUE(client.read_to_end().ends_with("\r\n\r\nhello world"));
}

TEST(Stream, ForHeadIsClosedFromTheStart) {
  auto closed = std::make_shared<std::atomic<bool>>(false);
  auto server = start_server(
      stream_router({{"Content-Length", "5"}}, [closed](std::shared_ptr<Stream> stream) {
        EXPECT_FALSE(stream->write("x"));
        stream->on_close([closed] { *closed = true; });
      }));
  Client client = client_of(*server);
  const auto answer = client.send({.method = "HEAD", .target = "/s"});
  EXPECT_EQ(answer->headers.get("Content-Length"), "5");
  EXPECT_EQ(client.send({.target = "/after"})->body, "after");
  EXPECT_TRUE(*closed);
}

// Writes `total` bytes, waiting for room whenever it is refused.
struct Producer : std::enable_shared_from_this<Producer> {
  std::shared_ptr<Stream> stream;
  std::size_t left = 0;
  std::atomic<std::size_t> written = 0;
  std::atomic<int> refused = 0;
  Signal closed;

  void begin(std::shared_ptr<Stream> to, std::size_t total) {
    stream = std::move(to);
    left = total;
    stream->on_writable([self = shared_from_this()] { self->pump(); });
    stream->on_close([self = shared_from_this()] { self->closed.set(); });
    pump();
  }
  void pump() {
    const std::string piece(10'000, 'p');
    while (left > 0) {
      const std::size_t size = std::min(left, piece.size());
      if (!stream->write(std::string_view(piece).substr(0, size))) {
        ++refused;
        return;
      }
      left -= size;
      written += size;
    }
    stream->close();
    stream.reset();
  }
};

TEST(Stream, ASlowReaderHoldsBackTheWriterInBoundedMemory) {
  auto producer = std::make_shared<Producer>();
  constexpr std::size_t kTotal = 64 << 20;
  auto server = start_server(stream_router({}, [producer](std::shared_ptr<Stream> stream) {
    producer->begin(std::move(stream), kTotal);
  }));
  RawClient client(server->tcp_port());
  client.send(get("/s"));
  client.read_until("\r\n\r\n");
  std::size_t before = 1, now = 0;
  while (now != before) {
    before = std::exchange(now, producer->written.load());
    std::this_thread::sleep_for(50ms);
    now = producer->written.load();
  }
  EXPECT_LT(now, kTotal / 2);  // what the kernel's buffers and ours hold
  EXPECT_GT(producer->refused, 0);
  std::size_t got = client.read_until("0\r\n\r\n").size();
  EXPECT_GT(got, kTotal);
  EXPECT_EQ(producer->written, kTotal);
}

TEST(Stream, AReaderThatStopsIsReaped) {
  auto producer = std::make_shared<Producer>();
  auto server = start_server(stream_router({},
                                           [producer](std::shared_ptr<Stream> stream) {
                                             producer->begin(std::move(stream), 64 << 20);
                                           }),
                             {.write_timeout = 100ms});
  RawClient client(server->tcp_port());
  client.send(get("/s"));
  EXPECT_TRUE(producer->closed.wait());
}

TEST(Stream, AClientThatLeavesIsNoticed) {
  auto closed = std::make_shared<Signal>();
  auto keep = std::make_shared<std::shared_ptr<Stream>>();
  auto server = start_server(stream_router({}, [=](std::shared_ptr<Stream> stream) {
    stream->on_close([closed] { closed->set(); });
    EXPECT_TRUE(stream->write("hello"));
    *keep = std::move(stream);
  }));
  {
    RawClient client(server->tcp_port());
    client.send(get("/s"));
    client.read_until("hello");
  }
  ASSERT_TRUE(closed->wait());
  EXPECT_FALSE((*keep)->write("anyone?"));
}

TEST(Stream, ManyThreadsMayWrite) {
  constexpr int kThreads = 4, kEach = 500;
  auto server = start_server(stream_router({}, [](std::shared_ptr<Stream> stream) {
    const std::shared_ptr<void> close_when_all_end(nullptr, [stream](void*) { stream->close(); });
    for (int i = 0; i < kThreads; ++i) {
      std::thread([stream, close_when_all_end] {
        for (int n = 0; n < kEach;) n += stream->write("0123456789") ? 1 : 0;
      }).detach();
    }
  }));
  const auto answer = client_of(*server).send({.target = "/s"});
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->body.size(), kThreads * kEach * 10u);
}

TEST(Stop, EndsEventStreamsAtOnceAndProperly) {
  auto keep = std::make_shared<std::shared_ptr<Stream>>();
  auto closed = std::make_shared<Signal>();
  auto server = start_server(
      stream_router({{"Content-Type", "text/event-stream"}}, [=](std::shared_ptr<Stream> stream) {
        EXPECT_TRUE(stream->write(format_event({.data = "x"})));
        stream->on_close([closed] { closed->set(); });
        *keep = std::move(stream);
      }));
  RawClient client(server->tcp_port());
  client.send(get("/s"));
  client.read_until("data: x\n\n");
  server->stop(20s);
  EXPECT_TRUE(client.read_to_end().ends_with("0\r\n\r\n"));
  EXPECT_TRUE(closed->wait());
}

TEST(Stream, BegunAfterTheServerStoppedIsClosed) {
  auto arrived = std::make_shared<Signal>();
  auto keep = std::make_shared<std::shared_ptr<Exchange>>();
  Router router;
  router.add("GET", "/s", [=](std::shared_ptr<Exchange> exchange) {
    *keep = std::move(exchange);
    arrived->set();
  });
  auto server = start_server(std::move(router));
  RawClient client(server->tcp_port());
  client.send(get("/s"));
  ASSERT_TRUE(arrived->wait());
  server.reset();
  Signal closed;
  const auto stream = (*keep)->stream(200, {});
  EXPECT_FALSE(stream->is_open());
  stream->on_close([&] { closed.set(); });
  EXPECT_TRUE(closed.wait());
}

}  // namespace
}  // namespace atl::http::testing
