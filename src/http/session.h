// One connection: reads requests, hands each to its handler, writes the answers in order. Internal.
//
// All of it runs on its worker's thread. Requests of one connection are handled one after the
// other; what a client pipelines waits in the read buffer.
#pragma once

#include <boost/asio/generic/stream_protocol.hpp>
#include <memory>
#include <optional>
#include <string>

#include "http/buffers.h"
#include "http/request_parser.h"
#include "http/response_head.h"
#include "http/server_stream.h"
#include "http/tls.h"
#include "http/worker.h"

namespace atl::http {

class Session : public std::enable_shared_from_this<Session> {
 public:
  Session(Worker& worker, UniqueFd fd, SSL_CTX* tls);

  void start();

  // From an exchange. A serial other than the current request's is stale and changes nothing.
  void deliver(std::uint64_t serial, Response response);
  void begin_stream(std::uint64_t serial, int status, const Headers& headers,
                    std::shared_ptr<ServerStream> stream);
  void stream_ready() { run(); }

  // From the worker.
  SteadyTime deadline() const { return deadline_; }
  void time_out();
  void begin_stop();
  void cut();

 private:
  enum class Phase {
    head,       // reading a request's head, or idle before it
    body,       // reading its body
    handling,   // the handler has it
    streaming,  // the handler is writing a stream
    closing,    // sending what is left, then closing
    lingering,  // everything sent; waiting for the client to stop sending
    closed,
  };

  // What of the current request still matters when its answer is written.
  struct Current {
    std::uint64_t serial = 0;
    std::string id;
    bool is_head = false;
    bool http_1_0 = false;
    bool keep_alive = true;
  };

  // The one place where progress is made: parse, handle, send, until something must be waited for.
  void run();
  void settle();
  bool reading() const { return phase_ == Phase::head || phase_ == Phase::body; }

  // Reading.
  void start_read();
  void read_tls(std::span<char> space);
  void refuse_plain();
  void on_read(std::size_t bytes);
  void on_input_end(bool clean);
  void consume_input();
  bool advance();
  void begin_request();
  void take_head();
  bool route_request();
  bool admitted();
  bool hold_body();
  void accept_expectation();
  void dispatch();

  // Answering.
  void refuse(int status, std::string_view detail, Headers headers = {});
  void refuse_unrouted(const Router::Match& match);
  void write_response(Response response);
  HeadOptions head_options();
  void end_exchange();
  bool flush();
  bool send_gathered();
  IoResult send_some();
  void wait_to_send(IoState wanted);
  bool refill_from_stream();

  // Ending.
  void finish_connection();
  void close();
  void update_deadline();

  Worker& worker_;
  boost::asio::generic::stream_protocol::socket socket_;
  Ssl tls_;
  Peer peer_;
  Phase phase_ = Phase::head;
  SteadyTime deadline_ = SteadyTime::max();  // what the sweep looks at
  SteadyTime phase_deadline_;                // for the head or the body as a whole

  ReadBuffer in_;
  bool read_pending_ = false;
  bool input_ended_ = false;
  bool input_starved_ = false;  // what is buffered is not enough for another step
  bool input_unread_ = false;   // a request was refused before all of it was read
  std::optional<RequestParser> parser_;
  const Route* route_ = nullptr;
  bool admitted_ = false;
  BodyHold body_;
  Current current_;

  WriteBuffer out_;
  bool write_pending_ = false;
  bool running_ = false;
  std::shared_ptr<ServerStream> stream_;
  bool endless_ = false;  // an event stream, which a stopping server does not wait for
};

}  // namespace atl::http
