#include "journal/crc32c.h"

#include <boost/crc.hpp>
#include <cstring>

#if defined(__x86_64__)
#include <nmmintrin.h>
#endif

namespace atl::journal {
namespace {

uint32_t portable(std::string_view bytes, uint32_t crc) {
  boost::crc_optimal<32, 0x1EDC6F41, 0xFFFFFFFF, 0xFFFFFFFF, true, true> sum(crc ^ 0xFFFFFFFF);
  sum.process_bytes(bytes.data(), bytes.size());
  return sum.checksum();
}

#if defined(__x86_64__)
__attribute__((target("sse4.2"))) uint32_t hardware(std::string_view bytes, uint32_t crc) {
  uint64_t sum = crc ^ 0xFFFFFFFF;
  const char* at = bytes.data();
  size_t left = bytes.size();
  for (; left >= 8; left -= 8, at += 8) {
    uint64_t word;
    std::memcpy(&word, at, 8);
    sum = _mm_crc32_u64(sum, word);
  }
  auto tail = static_cast<uint32_t>(sum);
  for (; left > 0; --left) tail = _mm_crc32_u8(tail, static_cast<uint8_t>(*at++));
  return tail ^ 0xFFFFFFFF;
}
#endif

}  // namespace

uint32_t crc32c(std::string_view bytes, uint32_t crc) {
#if defined(__x86_64__)
  static const bool fast = __builtin_cpu_supports("sse4.2");
  if (fast) return hardware(bytes, crc);
#endif
  return portable(bytes, crc);
}

}  // namespace atl::journal
