// The #ATOLL and #SBATCH lines of a script: what they say about the job, laid under what JSON and
// flags say.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "spec/job_flags.h"

namespace atl::spec {

inline constexpr size_t kDirectiveBlockMax = 1 << 20;  // bytes of leading comment that are read
inline constexpr size_t kDirectiveWarningsMax = 100;

struct Warning {
  size_t line = 0;  // from 1
  std::string message;
  bool operator==(const Warning&) const = default;
};

// Only what the lines say.
struct Directives : JobAsk {
  std::vector<Warning> warnings;
};

// Who reads: only the command line can answer --env NAME, --env-all, --stdin - and --key; for the
// server they are warnings.
enum class Place : uint8_t { server, command_line };

// Reads the leading block of comments and blank lines, so the length of the rest does not matter.
// #ATOLL takes the flags of `atoll submit`; #SBATCH those of Slurm that have a meaning here, with
// Slurm's units (--mem in MiB, --time in minutes). What is unknown or has no meaning here is a
// warning; a value that cannot be read is an error. Both name the line.
[[nodiscard]] Result<Directives> read_directives(std::string_view script,
                                                 Place place = Place::server);

}  // namespace atl::spec
