#include "http/server_exchange.h"

#include <charconv>

#include "http/session.h"
#include "http/worker.h"

namespace atl::http {
namespace {

// On the session's own thread at once, which is the fast path; else by letter. The action gets null
// when the session is gone.
template <class Action>
void on_session(const std::weak_ptr<Session>& session, Mailbox& mailbox, Action action) {
  if (mailbox.on_own_thread()) return action(session.lock().get());
  const bool posted = mailbox.post([session, action]() mutable { action(session.lock().get()); });
  if (!posted) action(nullptr);
}

std::optional<std::uint64_t> declared_length(const Headers& headers) {
  const std::string_view text = headers.get("Content-Length");
  std::uint64_t length = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), length);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return length;
}

}  // namespace

ServerExchange::~ServerExchange() {
  if (!answered_) respond(problem(500, "the request was dropped without an answer"));
}

void ServerExchange::respond(Response response) {
  if (answered_.exchange(true)) return;
  on_session(origin_.session, *origin_.mailbox,
             [serial = origin_.serial, response = std::move(response)](Session* session) mutable {
               if (session) session->deliver(serial, std::move(response));
             });
}

std::shared_ptr<Stream> ServerExchange::stream(int status, Headers headers) {
  auto core = std::make_shared<ServerStream>(stream_options(status, headers));
  const bool second_answer = answered_.exchange(true);
  if (second_answer) {
    core->lost();
    return ServerStream::handle(core);
  }
  on_session(
      origin_.session, *origin_.mailbox,
      [serial = origin_.serial, status, headers = std::move(headers), core](Session* session) {
        if (!session) return core->lost();
        session->begin_stream(serial, status, headers, core);
      });
  if (core->framing() == ServerStream::Framing::none) core->end();
  return ServerStream::handle(core);
}

ServerStream::Options ServerExchange::stream_options(int status, const Headers& headers) const {
  using Framing = ServerStream::Framing;
  ServerStream::Options options;
  options.buffer_max = origin_.stream_buffer_max;
  // Always by letter, also from the session's own thread: a writer must not find itself inside the
  // session.
  options.wake = [session = origin_.session, mailbox = origin_.mailbox] {
    mailbox->post([session] {
      if (auto alive = session.lock()) alive->stream_ready();
    });
  };
  options.length = declared_length(headers);
  if (request_.method == "HEAD" || !status_has_body(status)) {
    options.framing = Framing::none;
  } else if (options.length) {
    options.framing = Framing::length;
  } else {
    options.framing = origin_.http_1_0 ? Framing::until_close : Framing::chunked;
  }
  return options;
}

}  // namespace atl::http
