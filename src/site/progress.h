// How far a task is, as it says of itself: what lists show and what drives a bar. It is no fact of
// the core: nothing is decided by it and no journal holds it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/describe.h"
#include "base/time.h"

namespace atl::site {

struct Progress {
  std::optional<uint32_t> percent_milli;  // thousandths of a percent, up to kPercentMilliMax
  std::string status;                     // a word of its own, at most kProgressStatusMax bytes
  std::string message;                    // UTF-8, at most kProgressMessageMax bytes
  // As it was told: of some process, or the number that a batch system gave the job. It is shown
  // and never trusted: nothing is looked up, signalled or refused by it.
  std::optional<uint64_t> pid;
  Time at;               // when the newest line was read, by the site's clock
  uint64_t ignored = 0;  // lines that told what cannot be, such as 150 %
  bool operator==(const Progress&) const = default;
};

inline constexpr uint32_t kPercentMilliMax = 100'000;
inline constexpr size_t kProgressStatusMax = 32;    // a word beside the bar
inline constexpr size_t kProgressMessageMax = 256;  // a line of a terminal, with room to spare

ATOLL_DESCRIBE(Progress, percent_milli, status, message, pid, at, ignored)

}  // namespace atl::site
