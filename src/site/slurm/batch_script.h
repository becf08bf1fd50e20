// The batch script of an attempt, from a template that the administrator may change. Pure.
//
// A template is a shell script with {slurm.sbatch}, the block of #SBATCH lines, and {slurm.run},
// the command that runs the attempt; between them it may load modules or bind mounts. The single
// values are there too: {slurm.partition}, {slurm.gres} and so on. What Atoll relies on (name, no
// requeue, signal, output) is not in the script but on the command line of sbatch, which outweighs
// it.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "site/driver.h"
#include "site/slurm/slurm_options.h"

namespace atl::site {

inline constexpr const char* kBatchTemplate = "#!/bin/sh\n{slurm.sbatch}\n{slurm.run}\n";

// What sbatch is asked for on behalf of an attempt, or of a gang as one allocation.
struct BatchRequest {
  std::string name;  // in Slurm
  SlurmChoice choice;
  std::string gres;  // with counts, of each node: "gpu:a100:2"
  uint32_t nodes = 1;
  int64_t cpus = 1;           // of each
  int64_t memory_mib = 0;     // of each; zero: Slurm's default
  int64_t minutes = 0;        // zero: the partition's default
  int64_t signal_before = 0;  // seconds before the limit at which the batch shell hears SIGTERM
  std::string nodelist;
};

// Refused with `invalid`, and a sentence, when Slurm could not express it. `time_max` is the limit
// of the partition, zero for none: a wall-time within it is asked for as it is.
[[nodiscard]] Result<BatchRequest> request_for(const StartOrder& order, const SlurmOptions& options,
                                               Duration time_max);

// The choice for these resources: the site's own, then what the accelerators' entries say.
SlurmChoice choose(const SlurmOptions& options, const core::Resources& resources);

// Errors name the line of the template and what may stand there.
[[nodiscard]] Result<void> check_template(std::string_view text);
// `run` is a line of shell.
[[nodiscard]] Result<std::string> batch_script(std::string_view text, const BatchRequest& request,
                                               const std::string& run);

// The arguments of sbatch that Atoll relies on, without the script's path.
std::vector<std::string> sbatch_arguments(const BatchRequest& request,
                                          const std::string& directory);

}  // namespace atl::site
