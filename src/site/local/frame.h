// Frames on a stream socket: the way driver, warden and keepers talk.
//
//   frame := u32 length, little endian   then   wire-encoded message variant (base/wire.h)
//
// A frame longer than kFrameMax breaks the connection; a frame whose message is of a kind the
// reader does not know is skipped, so that either side may be one version ahead.
#pragma once

#include <cstring>
#include <optional>
#include <string>
#include <string_view>

#include "base/wire.h"

namespace atl::site {

inline constexpr size_t kFrameMax =
    64 << 20;  // the largest payload the API accepts, with room to spare

template <class Message>
void put_frame(std::string& out, const Message& message) {
  const size_t start = out.size();
  out.append(4, '\0');
  wire::put(out, message);
  const auto length = static_cast<uint32_t>(out.size() - start - 4);
  std::memcpy(out.data() + start, &length, 4);
}

// Cuts a byte stream into frames. Views returned by next() live until the next append().
class FrameReader {
 public:
  void append(std::string_view bytes);
  std::optional<std::string_view> next();
  bool broken() const { return broken_; }

 private:
  std::string buffer_;
  size_t at_ = 0;
  bool broken_ = false;
};

// One end of a stream socket with buffers on both sides. Owns the descriptor. Not thread-safe.
class Link {
 public:
  Link() = default;
  explicit Link(int fd) : fd_(fd) {}
  Link(Link&& other) noexcept;
  Link& operator=(Link&& other) noexcept;
  ~Link() { close(); }

  int fd() const { return fd_; }
  bool open() const { return fd_ >= 0; }
  void close();

  // Reads what is there without waiting; false when the other end is gone or broke the format.
  [[nodiscard]] bool fill();
  // Writes what the socket takes without waiting; false when the other end is gone.
  [[nodiscard]] bool flush();
  bool pending() const { return out_at_ < out_.size(); }

  template <class Message>
  void send(const Message& message) {
    put_frame(out_, message);
  }
  // The next whole message that is understood.
  template <class Message>
  std::optional<Message> receive() {
    while (std::optional<std::string_view> frame = in_.next()) {
      if (Result<Message> message = wire::decode<Message>(*frame)) return std::move(*message);
    }
    return std::nullopt;
  }

 private:
  int fd_ = -1;
  FrameReader in_;
  std::string out_;
  size_t out_at_ = 0;
};

}  // namespace atl::site
