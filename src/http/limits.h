// Every bound of this room, with its reason.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace atl::http {

inline constexpr std::size_t kQueryParamsMax = 256;  // more is a mistake or a hash-flooding attempt
inline constexpr std::size_t kTargetBytesMax = 8 * 1024;  // what browsers and proxies agree on
inline constexpr std::size_t kRequestIdMax = 64;  // a client's own id is echoed only up to this

// A response body below this is copied behind its head, so that one send carries both; above it the
// copy would cost more than the second buffer.
inline constexpr std::size_t kInlineBodyMax = 32 * 1024;

// Answers to pipelined requests gather up to this before they are sent.
inline constexpr std::size_t kOutputGatherMax = 64 * 1024;

inline constexpr std::size_t kReadBufferSmall =
    4 * 1024;  // most requests; idle connections hold no more
inline constexpr std::size_t kReadBufferLarge = 64 * 1024;  // while a body comes in

// A body above this is only read for somebody whom the route admits.
inline constexpr std::size_t kFreeBodyMax = 64 * 1024;

// What one connection may ask of the server. Time-outs are checked by a sweep, so they may be late
// by a quarter of the shortest one, at most by a second.
struct Limits {
  std::size_t header_bytes = 16 * 1024;          // request line and fields together; then 431
  std::size_t header_count = 100;                // then 431
  std::uint64_t body_bytes = 64ull << 20;        // unless the route says otherwise; then 413
  std::uint64_t bodies_bytes = 1ull << 30;       // all bodies in memory; then 503 with Retry-After
  std::size_t connections = 1024;                // then 503 with Retry-After
  std::size_t stream_buffer_bytes = 256 * 1024;  // what a slow reader of a stream may leave unsent

  using Duration = std::chrono::milliseconds;
  Duration header_timeout{10'000};    // from a request's first byte to its last header, then 408
  Duration body_timeout{30'000};      // without one byte of the body, then 408
  Duration request_timeout{600'000};  // for the whole body, so that trickling does not help
  Duration idle_timeout{75'000};      // between requests; browsers keep connections about as long
  Duration write_timeout{30'000};     // without the client taking one byte
  Duration linger_timeout{2'000};  // for a refused client to read our answer while it still sends
};

}  // namespace atl::http
