// Bytes that claim to be a snapshot never crash the reader. The input is a list of chunk bodies,
// each with a byte for its kind and two for its length, wrapped with right checksums; or, when the
// first byte is even, the raw file.
#include <cstdint>
#include <string>

#include "base/check.h"
#include "journal/bytes.h"
#include "journal/crc32c.h"
#include "journal/snapshot.h"

using namespace atl::journal;

namespace {

std::string wrap_chunks(std::string_view in) {
  std::string file = "ATOLLSNP";
  for (uint64_t place = 0; in.size() >= 3; ++place) {
    const char kind = in[0];
    const std::string_view body = in.substr(3, get_fixed<uint16_t>(in, 1));
    std::string prefix;
    put_fixed<uint64_t>(prefix, place);
    prefix.push_back(kind);
    put_fixed<uint32_t>(file, static_cast<uint32_t>(body.size()));
    put_fixed<uint32_t>(file, crc32c(body, crc32c(prefix)));
    file.push_back(kind);
    file += body;
    in.remove_prefix(3 + body.size());
  }
  return file;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view rest(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::string file = data[0] % 2 ? wrap_chunks(rest) : std::string(rest);
  const auto snapshot = decode_snapshot(file);
  if (snapshot) CHECK(verify_snapshot(file), "a snapshot that decodes does not verify");
  return 0;
}
