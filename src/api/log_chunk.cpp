#include "api/log_chunk.h"

#include <algorithm>

#include "base/text.h"
#include "http/sse.h"

namespace atl::api {

std::string base64(std::string_view bytes) {
  constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (size_t i = 0; i < bytes.size(); i += 3) {
    const auto at = [&](size_t k) {
      return i + k < bytes.size() ? static_cast<unsigned char>(bytes[i + k]) : 0u;
    };
    const unsigned bits = at(0) << 16 | at(1) << 8 | at(2);
    out += kDigits[bits >> 18];
    out += kDigits[bits >> 12 & 63];
    out += i + 1 < bytes.size() ? kDigits[bits >> 6 & 63] : '=';
    out += i + 2 < bytes.size() ? kDigits[bits & 63] : '=';
  }
  return out;
}

size_t whole_characters(std::string_view bytes) {
  // Steps back over at most three continuation bytes to the lead byte of the last sequence.
  for (size_t back = 1; back <= 4 && back <= bytes.size(); ++back) {
    const auto c = static_cast<unsigned char>(bytes[bytes.size() - back]);
    if ((c & 0xc0) == 0x80) continue;
    const size_t length = c > 0xf4 ? 1 : c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : c >= 0xc0 ? 2 : 1;
    return length > back ? bytes.size() - back : bytes.size();
  }
  return bytes.size();
}

std::string log_event(std::string_view bytes, uint32_t attempt, int64_t end_offset) {
  const bool plain = bytes.find_first_of(std::string_view("\r\0", 2)) == std::string_view::npos &&
                     valid_utf8(bytes);
  return http::format_event({.id = std::to_string(attempt) + "." + std::to_string(end_offset),
                             .event = plain ? "output" : "base64",
                             .data = plain ? std::string(bytes) : base64(bytes)});
}

}  // namespace atl::api
