// One request and its one answer. Handlers get an Exchange, may keep it, and answer from any
// thread.
#pragma once

#include <functional>
#include <memory>
#include <string_view>

#include "http/message.h"

namespace atl::http {

// The body of an answer that is still being made: server-sent events, a download. All calls are
// safe from any thread. Dropping the last reference without close() cuts the connection, so that a
// client never takes half an answer for a whole one.
class Stream {
 public:
  virtual ~Stream() = default;

  // All or nothing. False when the stream is closed, or when the client has not yet taken what was
  // written (then wait for on_writable). A piece larger than the buffer is taken when the buffer is
  // empty.
  [[nodiscard]] virtual bool write(std::string_view bytes) = 0;

  // Ends the answer after what was written. May be repeated.
  virtual void close() = 0;

  // False once closed by either side: distinguishes the two reasons of a refused write.
  virtual bool is_open() const = 0;

  // Called once when the stream has ended, for whatever reason, at once if it already has. Runs on
  // a server thread or inside close(): it must not block.
  virtual void on_close(std::function<void()> callback) = 0;

  // Called on a server thread each time the buffer has emptied after a refused write. It must not
  // block.
  virtual void on_writable(std::function<void()> callback) = 0;
};

class Exchange {
 public:
  virtual ~Exchange() = default;

  virtual const Request& request() const = 0;

  // The body may be large; a handler that keeps the exchange takes it out rather than copying it.
  virtual std::string take_body() = 0;

  // Exactly one of respond and stream is called, once; later calls change nothing. An exchange that
  // is dropped unanswered is answered with 500.
  virtual void respond(Response response) = 0;

  // Sends the head now. With a Content-Length among the headers the body has that length, else it
  // is chunked. For HEAD the stream is returned closed.
  virtual std::shared_ptr<Stream> stream(int status, Headers headers) = 0;
};

using Handler = std::function<void(std::shared_ptr<Exchange>)>;

}  // namespace atl::http
