// The bytes of one commit in the journal (docs/formats/journal.md).
//
//   record  := "ATJ" version:u8 checksum:u32 sequence:u64 previous:u32 count:u32 { event }
//
// The checksum (CRC-32C) covers everything after itself; `previous` is the checksum of the record
// before, so a record that is missing, doubled or from another journal is found out. Numbers are
// little-endian.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "core/event.h"

namespace atl::journal {

inline constexpr uint8_t kRecordVersion = 1;
inline constexpr size_t kRecordHeadBytes = 24;

struct RecordHead {
  uint64_t sequence = 0;
  uint32_t previous = 0;  // checksum of the record before; zero for the first
  uint32_t checksum = 0;
};

struct Record {
  RecordHead head;
  core::Events events;
};

// Replaces `out`, whose memory is reused; returns the checksum.
uint32_t encode_record(uint64_t sequence, uint32_t previous, const core::Events& events,
                       std::string& out);

// Verifies the checksum. `invalid` with a sentence on what is wrong.
[[nodiscard]] Result<Record> decode_record(std::string_view bytes);

// The head alone, checksum not verified.
[[nodiscard]] Result<RecordHead> peek_record(std::string_view bytes);

}  // namespace atl::journal
