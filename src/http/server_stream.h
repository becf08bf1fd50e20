// The server's Stream: a bounded buffer between any thread that writes and the session that sends.
// Internal.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "http/exchange.h"

namespace atl::http {

class Mailbox;
class Session;

class ServerStream : public Stream {
 public:
  enum class Framing { none, chunked, length, until_close };

  struct Options {
    Framing framing = Framing::chunked;
    std::optional<std::uint64_t>
        length;  // the Content-Length to announce, binding for Framing::length
    std::size_t buffer_max = 0;
    std::function<void()>
        wake;  // tells the session, from any thread, that there is something to take
  };

  explicit ServerStream(Options options);

  bool write(std::string_view bytes) override;
  void close() override;
  bool is_open() const override;
  void on_close(std::function<void()> callback) override;
  void on_writable(std::function<void()> callback) override;

  Framing framing() const { return options_.framing; }
  std::optional<std::uint64_t> length() const { return options_.length; }

  // What the handler gets: its last copy dropped without close() cuts the answer.
  static std::shared_ptr<Stream> handle(const std::shared_ptr<ServerStream>& core);

  enum class State { open, ended, cut };

  // For the session, on its thread. Moves what was written to `out`, which is empty, and says what
  // comes after it.
  State take(std::string& out);
  void sent_all();  // what was taken has been sent
  void end();       // as close(), by the server
  void lost();      // the connection is gone

 private:
  void finish(State state);
  void append_framed(std::string_view bytes);

  const Options options_;

  // Under mutex_.
  mutable std::mutex mutex_;
  State state_ = State::open;
  std::string pending_;
  std::size_t taken_ = 0;  // bytes the session has not sent yet
  std::uint64_t length_left_;
  bool woken_ = false;
  bool starved_ = false;  // a write was refused since the buffer was last empty
  std::function<void()> on_close_;
  std::function<void()> on_writable_;
};

}  // namespace atl::http
