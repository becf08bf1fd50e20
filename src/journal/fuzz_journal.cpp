// Bytes that claim to be a record never crash the reader, and one that is accepted is written back
// the same. The first byte says whether to repair the checksum, so that the fuzzer gets past it.
#include <cstdint>
#include <string>

#include "base/check.h"
#include "journal/bytes.h"
#include "journal/crc32c.h"
#include "journal/record.h"

using namespace atl::journal;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  std::string bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  if (data[0] % 2 && bytes.size() >= kRecordHeadBytes) {
    bytes.replace(0, 4, std::string("ATJ\x01", 4));
    set_fixed<uint32_t>(bytes, 4, crc32c(std::string_view(bytes).substr(8)));
  }
  const auto record = decode_record(bytes);
  if (!record) return 0;
  std::string again;
  encode_record(record->head.sequence, record->head.previous, record->events, again);
  const auto twice = decode_record(again);
  CHECK(twice && twice->events == record->events, "a record changes when it is written again");
  return 0;
}
