// File descriptors, listening and connecting, in plain POSIX.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <utility>

#include "base/result.h"
#include "http/message.h"

namespace atl::http {

class UniqueFd {
 public:
  UniqueFd() = default;
  explicit UniqueFd(int fd) : fd_(fd) {}
  UniqueFd(UniqueFd&& other) noexcept : fd_(other.release()) {}
  UniqueFd& operator=(UniqueFd&& other) noexcept;
  ~UniqueFd();

  int get() const { return fd_; }
  int release() { return std::exchange(fd_, -1); }
  explicit operator bool() const { return fd_ >= 0; }

 private:
  int fd_ = -1;
};

// Non-blocking listening sockets. See UnixListener for what happens to a file that is already
// there.
[[nodiscard]] Result<UniqueFd> listen_unix(const std::string& path, unsigned mode);
[[nodiscard]] Result<UniqueFd> listen_tcp(const std::string& host, std::uint16_t port);

std::uint16_t local_port(int fd);
Peer peer_of(int fd);

// No delay, and keep-alive probes so that a vanished client is noticed within about two minutes.
void tune_tcp(int fd);

// Non-blocking connected sockets. `deadline` bounds the connecting, not the look-up of the name.
using Deadline = std::chrono::steady_clock::time_point;
[[nodiscard]] Result<UniqueFd> connect_unix(const std::string& path, Deadline deadline);
[[nodiscard]] Result<UniqueFd> connect_tcp(const std::string& host, std::uint16_t port,
                                           Deadline deadline);

// Waits for POLLIN or POLLOUT; false when the deadline passed.
bool wait_for(int fd, short events, Deadline deadline);

}  // namespace atl::http
