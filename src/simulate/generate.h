// Traces as a research group's machine sees them: people work by day and less on weekends, in
// sessions of similar jobs; a few people submit most of it; run times differ by orders of
// magnitude; sizes are mostly powers of two; and the time that is asked for is a round number well
// above what is needed. The same options give the same trace on every machine.
#pragma once

#include <iosfwd>
#include <string>

#include "simulate/trace.h"

namespace atl::simulate {

struct GenerateOptions {
  uint32_t days = 30;
  uint64_t jobs = 100'000;
  uint32_t nodes = 100;
  uint32_t cores = 32;  // of each node; no job asks for more
  uint32_t users = 200;
  uint32_t groups = 8;
  uint64_t load_permille = 900;       // of all cores over all days, by the run times
  uint64_t interactive_permille = 0;  // of sessions: short and small
  uint64_t opportunistic_permille = 0;
  uint64_t seed = 1;
};

inline constexpr Duration kGeneratedRunMax = hours(72);
inline constexpr int64_t kInteractiveQueue = 0;  // as the Standard Workload Format has it
inline constexpr int64_t kBatchQueue = 1;
inline constexpr int64_t kOpportunisticQueue = 2;

[[nodiscard]] Result<Trace> generate(const GenerateOptions& options);

// In the Standard Workload Format. `note` goes into the header.
void write_swf(const Trace& trace, const std::string& note, std::ostream& out);

// How to make the same again: "atoll simulate generate --days 30 …".
std::string command_of(const GenerateOptions& options);

}  // namespace atl::simulate
