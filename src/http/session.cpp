#include "http/session.h"

#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <boost/asio/post.hpp>
#include <cerrno>

#include "http/server_exchange.h"

namespace atl::http {
namespace {

using boost::system::error_code;
using Socket = boost::asio::generic::stream_protocol::socket;

// One stream with a fast reader must not keep its thread from the others.
constexpr int kRefillsMax = 16;

IoResult send_plain(int fd, std::string_view head, std::string_view body) {
  ssize_t sent = 0;
  if (body.empty()) {
    sent = ::send(fd, head.data(), head.size(), MSG_NOSIGNAL);
  } else {
    iovec parts[2] = {{const_cast<char*>(head.data()), head.size()},
                      {const_cast<char*>(body.data()), body.size()}};
    msghdr message{};
    message.msg_iov = parts;
    message.msg_iovlen = 2;
    sent = ::sendmsg(fd, &message, MSG_NOSIGNAL);
  }
  if (sent >= 0) return {IoState::done, static_cast<std::size_t>(sent)};
  const bool full = errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
  return {full ? IoState::want_write : IoState::failed, 0};
}

}  // namespace

Session::Session(Worker& worker, UniqueFd fd, SSL_CTX* tls)
    : worker_(worker), socket_(worker.loop()), peer_(peer_of(fd.get())) {
  if (!peer_.unix_socket) tune_tcp(fd.get());
  if (tls) {
    tls_ = make_server_ssl(tls, fd.get());
    peer_.tls = true;
  }
  error_code error;
  const int family = peer_.unix_socket ? AF_UNIX : AF_INET;
  socket_.assign(boost::asio::generic::stream_protocol(family, 0), fd.get(), error);
  if (!error) fd.release();
}

void Session::start() {
  if (!socket_.is_open() || (peer_.tls && !tls_)) return close();
  phase_deadline_ = worker_.now() + worker_.limits().header_timeout;
  settle();
}

void Session::run() {
  if (running_ || phase_ == Phase::closed) return;
  const auto keep_alive = shared_from_this();
  running_ = true;
  do {
    consume_input();
  } while (flush() && reading() && !input_starved_);
  running_ = false;
  settle();
}

void Session::settle() {
  if (phase_ == Phase::closed) return;
  const bool all_sent = out_.empty() && !write_pending_;
  if (phase_ == Phase::closing && all_sent) return finish_connection();
  if (reading() && input_ended_ && input_starved_ && all_sent) return close();
  update_deadline();
  start_read();
}

void Session::update_deadline() {
  if (write_pending_) return;  // set when the wait began
  switch (phase_) {
    case Phase::head:
      deadline_ = phase_deadline_;
      break;
    case Phase::body:
      deadline_ = std::min(worker_.now() + worker_.limits().body_timeout, phase_deadline_);
      break;
    case Phase::handling:
    case Phase::streaming:
      deadline_ = SteadyTime::max();
      break;
    case Phase::closing:
    case Phase::lingering:
    case Phase::closed:
      break;
  }
}

void Session::start_read() {
  if (read_pending_ || input_ended_) return;
  const bool bulk = phase_ == Phase::body || phase_ == Phase::lingering;
  const std::size_t wanted = bulk ? kReadBufferLarge : kReadBufferSmall;
  const std::size_t max =
      bulk ? 2 * kReadBufferLarge : worker_.limits().header_bytes + kReadBufferSmall;
  const std::span<char> space = in_.prepare(wanted, max);
  if (space.empty()) return;
  read_pending_ = true;
  if (tls_) return read_tls(space);
  socket_.async_read_some(boost::asio::buffer(space.data(), space.size()),
                          [self = shared_from_this()](error_code error, std::size_t bytes) {
                            self->read_pending_ = false;
                            if (!error) return self->on_read(bytes);
                            self->on_input_end(error == boost::asio::error::eof);
                          });
}

void Session::read_tls(std::span<char> space) {
  const IoResult got = tls_read(tls_.get(), space);
  if (got.state == IoState::want_read || got.state == IoState::want_write) {
    const auto direction = got.state == IoState::want_read ? Socket::wait_read : Socket::wait_write;
    socket_.async_wait(direction, [self = shared_from_this(), space](error_code) {
      if (self->phase_ != Phase::closed) self->read_tls(space);
    });
    return;
  }
  const bool plain = got.state == IoState::failed && tls_got_plain_http();
  // Not called from here, because whoever started the read is not ready for what it brings.
  boost::asio::post(worker_.loop(), [self = shared_from_this(), got, plain] {
    self->read_pending_ = false;
    if (plain) return self->refuse_plain();
    if (got.state == IoState::done) return self->on_read(got.bytes);
    self->on_input_end(got.state == IoState::ended);
  });
}

// Whoever speaks HTTP to a port for HTTPS is told so in what it understands.
void Session::refuse_plain() {
  if (phase_ == Phase::closed) return;
  tls_.reset();
  current_.id = worker_.next_request_id();
  refuse(400, "this port speaks TLS: write https:// in place of http://");
  run();
}

void Session::on_read(std::size_t bytes) {
  if (phase_ == Phase::closed) return;
  in_.commit(bytes);
  if (phase_ == Phase::lingering) in_.consume_to({});
  input_starved_ = false;
  run();
}

void Session::on_input_end(bool clean) {
  if (phase_ == Phase::closed) return;
  input_ended_ = true;
  // A client may close its sending side and still wait for an answer, but nobody ends a stream that
  // way.
  if (!clean || phase_ == Phase::streaming || phase_ == Phase::lingering) return close();
  if (in_.data().empty()) input_starved_ = true;
  run();
}

void Session::consume_input() {
  while (reading() && !out_.full() && !input_starved_) input_starved_ = !advance();
}

bool Session::advance() {
  if (!parser_) begin_request();
  if (!parser_) return false;
  std::string_view rest = in_.data();
  const auto progress = parser_->parse(rest);
  in_.consume_to(rest);
  switch (progress) {
    case RequestParser::Progress::need_more:
      return false;
    case RequestParser::Progress::head_done:
      take_head();
      break;
    case RequestParser::Progress::body_part:
      hold_body();
      break;
    case RequestParser::Progress::done:
      if (hold_body()) dispatch();
      break;
    case RequestParser::Progress::refused:
      refuse(parser_->status(), parser_->detail());
      break;
  }
  return true;
}

void Session::refuse(int status, std::string_view detail, Headers headers) {
  const bool unread = !parser_ || parser_->status() != 0 || status == 408 || parser_->has_body();
  if (unread) {
    current_.keep_alive = false;
    input_unread_ = true;
  }
  Response answer = worker_.shared().options.refuse(status, detail, current_.id);
  for (const Header& header : headers) answer.headers.add(header.name, header.value);
  write_response(std::move(answer));
  end_exchange();
}

HeadOptions Session::head_options() {
  if (worker_.stopping()) current_.keep_alive = false;
  const Connection kept = current_.http_1_0 ? Connection::keep_http_1_0 : Connection::keep;
  return {.date = worker_.date(),
          .request_id = current_.id,
          .connection = current_.keep_alive ? kept : Connection::close,
          .content_length = {}};
}

void Session::write_response(Response response) {
  HeadOptions options = head_options();
  const bool has_body = status_has_body(response.status);
  if (has_body) options.content_length = response.body.size();
  append_head(out_.gather(), response.status, response.content_type, response.headers, options);
  if (!has_body || current_.is_head) return;
  if (response.body.size() <= kInlineBodyMax) {
    out_.gather() += response.body;
  } else {
    out_.set_body(std::move(response.body));
  }
}

void Session::deliver(std::uint64_t serial, Response response) {
  if (serial != current_.serial || phase_ != Phase::handling) return;
  write_response(std::move(response));
  end_exchange();
  run();
}

void Session::begin_stream(std::uint64_t serial, int status, const Headers& headers,
                           std::shared_ptr<ServerStream> stream) {
  if (serial != current_.serial || phase_ != Phase::handling) return stream->lost();
  const auto framing = stream->framing();
  if (framing == ServerStream::Framing::until_close) current_.keep_alive = false;
  HeadOptions options = head_options();
  options.content_length = stream->length();
  options.chunked = framing == ServerStream::Framing::chunked;
  append_head(out_.gather(), status, {}, headers, options);
  stream_ = std::move(stream);
  endless_ = headers.get("Content-Type").starts_with("text/event-stream");
  phase_ = Phase::streaming;
  if (input_ended_) return close();
  run();
}

void Session::end_exchange() {
  parser_.reset();
  body_ = {};
  stream_.reset();
  ++current_.serial;
  input_starved_ = false;
  const bool more = current_.keep_alive && !worker_.stopping();
  phase_ = more ? Phase::head : Phase::closing;
  phase_deadline_ = worker_.now() + worker_.limits().idle_timeout;
}

bool Session::flush() {
  for (int refills = 0; refills < kRefillsMax; ++refills) {
    if (write_pending_ || !send_gathered()) return false;
    if (!stream_) return true;
    if (!refill_from_stream()) return phase_ != Phase::closed;
  }
  boost::asio::post(worker_.loop(), [self = shared_from_this()] { self->run(); });
  return false;
}

bool Session::send_gathered() {
  while (!out_.empty()) {
    const IoResult result = send_some();
    if (result.state == IoState::done) {
      out_.sent(result.bytes);
    } else if (result.state == IoState::want_read || result.state == IoState::want_write) {
      return wait_to_send(result.state), false;
    } else {
      return close(), false;
    }
  }
  out_.clear();
  return phase_ != Phase::closed;
}

IoResult Session::send_some() {
  if (!tls_) return send_plain(socket_.native_handle(), out_.head(), out_.body());
  return tls_write(tls_.get(), out_.head().empty() ? out_.body() : out_.head());
}

void Session::wait_to_send(IoState wanted) {
  write_pending_ = true;
  deadline_ = worker_.now() + worker_.limits().write_timeout;
  const auto direction = wanted == IoState::want_read ? Socket::wait_read : Socket::wait_write;
  socket_.async_wait(direction, [self = shared_from_this()](error_code) {
    self->write_pending_ = false;
    self->run();
  });
}

// True when there is more to send now.
bool Session::refill_from_stream() {
  stream_->sent_all();
  if (!stream_) return false;  // the producer, told of the room, may have ended things
  const ServerStream::State state = stream_->take(out_.gather());
  if (!out_.empty()) return true;
  if (state == ServerStream::State::cut) close();
  if (state == ServerStream::State::ended) end_exchange();
  return false;
}

void Session::time_out() {
  if (phase_ == Phase::closed) return;
  const bool request_begun = phase_ == Phase::body || (phase_ == Phase::head && parser_);
  if (write_pending_ || !request_begun) return close();
  refuse(408, "the request did not arrive in time");
  run();
}

void Session::begin_stop() {
  const bool idle = phase_ == Phase::head && !parser_ && in_.data().empty() && out_.empty();
  if (idle) return close();
  if (phase_ == Phase::streaming && endless_) stream_->end();
}

void Session::cut() { close(); }

void Session::finish_connection() {
  if (tls_) SSL_shutdown(tls_.get());
  if (!input_unread_ && in_.data().empty()) return close();
  // Closing with unread input would reset the connection, and the client might never see our
  // answer.
  error_code ignored;
  socket_.shutdown(Socket::shutdown_send, ignored);
  phase_ = Phase::lingering;
  deadline_ = worker_.now() + worker_.limits().linger_timeout;
  in_.consume_to({});
  if (input_ended_) return close();
  start_read();
}

void Session::close() {
  if (phase_ == Phase::closed) return;
  const auto keep_alive = shared_from_this();
  phase_ = Phase::closed;
  error_code ignored;
  socket_.close(ignored);
  if (const auto stream = std::exchange(stream_, nullptr)) stream->lost();
  worker_.remove(keep_alive);
}

}  // namespace atl::http
