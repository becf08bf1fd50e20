// CRC-32C (Castagnoli), the checksum of iSCSI, ext4 and LevelDB.
#pragma once

#include <cstdint>
#include <string_view>

namespace atl::journal {

// The checksum of `bytes` appended to what gave `crc`; start from zero.
uint32_t crc32c(std::string_view bytes, uint32_t crc = 0);

}  // namespace atl::journal
