// The JSON of Slurm 23.02 and later. A number may be plain or {"set": true, "number": 5}, a state a
// word or a list of words; both are read, here and nowhere else.
#pragma once

#include <string_view>
#include <vector>

#include "site/slurm/cluster.h"
#include "site/slurm/job_record.h"

namespace atl::site {

[[nodiscard]] Result<std::vector<JobRecord>> parse_jobs_json(std::string_view bytes);
[[nodiscard]] Result<std::vector<SlurmNode>> parse_nodes_json(std::string_view bytes);
[[nodiscard]] Result<std::vector<SlurmPartition>> parse_partitions_json(std::string_view bytes);

}  // namespace atl::site
