#include "journal/record.h"

#include "base/wire.h"
#include "journal/bytes.h"
#include "journal/crc32c.h"

namespace atl::journal {
namespace {

constexpr size_t kChecksumAt = 4;
constexpr size_t kSequenceAt = 8;
constexpr size_t kPreviousAt = 16;
constexpr size_t kCountAt = 20;

}  // namespace

uint32_t encode_record(uint64_t sequence, uint32_t previous, const core::Events& events,
                       std::string& out) {
  out.assign("ATJ");
  out.push_back(static_cast<char>(kRecordVersion));
  put_fixed<uint32_t>(out, 0);
  put_fixed<uint64_t>(out, sequence);
  put_fixed<uint32_t>(out, previous);
  put_fixed<uint32_t>(out, static_cast<uint32_t>(events.size()));
  for (const core::Event& event : events) wire::put(out, event);
  const uint32_t checksum = crc32c(std::string_view(out).substr(kSequenceAt));
  set_fixed<uint32_t>(out, kChecksumAt, checksum);
  return checksum;
}

Result<RecordHead> peek_record(std::string_view bytes) {
  if (bytes.size() < kRecordHeadBytes) return fail(ErrorCode::invalid, "it is cut short");
  if (bytes.substr(0, 3) != "ATJ") return fail(ErrorCode::invalid, "it does not begin as a record");
  const auto version = static_cast<uint8_t>(bytes[3]);
  if (version > kRecordVersion) {
    return fail(ErrorCode::invalid, "its version " + std::to_string(version) +
                                        " is newer than this program understands");
  }
  return RecordHead{.sequence = get_fixed<uint64_t>(bytes, kSequenceAt),
                    .previous = get_fixed<uint32_t>(bytes, kPreviousAt),
                    .checksum = get_fixed<uint32_t>(bytes, kChecksumAt)};
}

Result<Record> decode_record(std::string_view bytes) {
  const auto head = peek_record(bytes);
  if (!head) return tl::unexpected(head.error());
  if (crc32c(bytes.substr(kSequenceAt)) != head->checksum) {
    return fail(ErrorCode::invalid, "its checksum does not match its content");
  }
  Record record{.head = *head, .events = {}};
  const auto count = get_fixed<uint32_t>(bytes, kCountAt);
  wire::Reader in(bytes.substr(kRecordHeadBytes));
  if (count > in.left()) in.fail();
  record.events.reserve(in.ok() ? count : 0);
  for (uint32_t i = 0; i < count && in.ok(); ++i) wire::get(in, record.events.emplace_back(), 0);
  if (!in.ok() || !in.done()) return fail(ErrorCode::invalid, "its events cannot be decoded");
  return record;
}

}  // namespace atl::journal
