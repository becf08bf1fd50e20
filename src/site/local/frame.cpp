#include "site/local/frame.h"

#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace atl::site {

void FrameReader::append(std::string_view bytes) {
  if (at_ > 0) {
    buffer_.erase(0, at_);
    at_ = 0;
  }
  buffer_ += bytes;
}

std::optional<std::string_view> FrameReader::next() {
  if (broken_ || buffer_.size() - at_ < 4) return std::nullopt;
  uint32_t length;
  std::memcpy(&length, buffer_.data() + at_, 4);
  if (length > kFrameMax) {
    broken_ = true;
    return std::nullopt;
  }
  if (buffer_.size() - at_ - 4 < length) return std::nullopt;
  const std::string_view frame(buffer_.data() + at_ + 4, length);
  at_ += 4 + length;
  return frame;
}

Link::Link(Link&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)),
      in_(std::move(other.in_)),
      out_(std::move(other.out_)),
      out_at_(std::exchange(other.out_at_, 0)) {}

Link& Link::operator=(Link&& other) noexcept {
  close();
  fd_ = std::exchange(other.fd_, -1);
  in_ = std::move(other.in_);
  out_ = std::move(other.out_);
  out_at_ = std::exchange(other.out_at_, 0);
  return *this;
}

void Link::close() {
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
}

bool Link::fill() {
  char buffer[64 << 10];
  for (;;) {
    const ssize_t n = ::recv(fd_, buffer, sizeof buffer, MSG_DONTWAIT);
    if (n > 0) in_.append({buffer, static_cast<size_t>(n)});
    if (n == static_cast<ssize_t>(sizeof buffer)) continue;
    if (n > 0) return !in_.broken();
    if (n < 0 && errno == EINTR) continue;
    return n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
  }
}

bool Link::flush() {
  while (pending()) {
    const ssize_t n =
        ::send(fd_, out_.data() + out_at_, out_.size() - out_at_, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return errno == EAGAIN || errno == EWOULDBLOCK;
    out_at_ += static_cast<size_t>(n);
  }
  out_.clear();
  out_at_ = 0;
  return true;
}

}  // namespace atl::site
