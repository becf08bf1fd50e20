#include "http/server_stream.h"

#include <charconv>
#include <utility>

namespace atl::http {

ServerStream::ServerStream(Options options)
    : options_(std::move(options)), length_left_(options_.length.value_or(0)) {}

bool ServerStream::write(std::string_view bytes) {
  bool wake = false;
  {
    const std::lock_guard lock(mutex_);
    if (state_ != State::open) return false;
    if (bytes.empty()) return true;
    const std::size_t held = pending_.size() + taken_;
    if (held > 0 && held + bytes.size() > options_.buffer_max) {
      starved_ = true;
      return false;
    }
    if (options_.framing == Framing::length && bytes.size() > length_left_) return false;
    append_framed(bytes);
    wake = !std::exchange(woken_, true);
  }
  if (wake) options_.wake();
  return true;
}

void ServerStream::append_framed(std::string_view bytes) {
  if (options_.framing != Framing::chunked) {
    if (options_.framing == Framing::length) length_left_ -= bytes.size();
    pending_ += bytes;
    return;
  }
  char size[20];
  const auto end = std::to_chars(size, size + sizeof size, bytes.size(), 16).ptr;
  pending_.append(size, end);
  pending_ += "\r\n";
  pending_ += bytes;
  pending_ += "\r\n";
}

void ServerStream::finish(State state) {
  std::function<void()> on_close, on_writable;
  {
    const std::lock_guard lock(mutex_);
    if (state_ != State::open) return;
    const bool short_body = options_.framing == Framing::length && length_left_ > 0;
    state_ = short_body ? State::cut : state;
    if (state_ == State::ended && options_.framing == Framing::chunked) pending_ += "0\r\n\r\n";
    on_close.swap(on_close_);
    on_writable.swap(on_writable_);  // it may hold the stream itself
  }
  options_.wake();
  if (on_close) on_close();
}

void ServerStream::close() { finish(State::ended); }
void ServerStream::end() { finish(State::ended); }
void ServerStream::lost() { finish(State::cut); }

bool ServerStream::is_open() const {
  const std::lock_guard lock(mutex_);
  return state_ == State::open;
}

void ServerStream::on_close(std::function<void()> callback) {
  {
    const std::lock_guard lock(mutex_);
    if (state_ == State::open) {
      on_close_ = std::move(callback);
      return;
    }
  }
  callback();
}

void ServerStream::on_writable(std::function<void()> callback) {
  const std::lock_guard lock(mutex_);
  if (state_ == State::open) on_writable_ = std::move(callback);
}

std::shared_ptr<Stream> ServerStream::handle(const std::shared_ptr<ServerStream>& core) {
  return std::shared_ptr<Stream>(core.get(), [core](Stream*) { core->finish(State::cut); });
}

ServerStream::State ServerStream::take(std::string& out) {
  const std::lock_guard lock(mutex_);
  woken_ = false;
  if (state_ == State::cut) return state_;
  out.swap(pending_);
  taken_ = out.size();
  return state_;
}

void ServerStream::sent_all() {
  std::function<void()> on_writable;
  {
    const std::lock_guard lock(mutex_);
    taken_ = 0;
    if (!pending_.empty() || !std::exchange(starved_, false)) return;
    on_writable = on_writable_;
  }
  if (on_writable) on_writable();
}

}  // namespace atl::http
