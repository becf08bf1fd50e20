// Days of the week and times of the day as people write them: "mon-fri", "sat,sun", "08:00".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace atl::spec {

inline constexpr uint8_t kAllDays = 0b1111111;  // a bit for each, Monday's is the first

// "mon", "mon-fri", "fri-mon", "sat,sun", "daily".
[[nodiscard]] Result<uint8_t> parse_days(std::string_view text);
std::string format_days(uint8_t days);

// The day that begins with these letters, Monday being 0: "tue", "tuesday"; -1: none.
int day_named(std::string_view text);

// Minutes since midnight: "8:00", "08:00", "24:00".
[[nodiscard]] Result<uint32_t> parse_clock_time(std::string_view text);
std::string format_clock_time(uint32_t minutes);

}  // namespace atl::spec
