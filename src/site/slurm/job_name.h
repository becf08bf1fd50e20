// The name of an attempt in Slurm, by which it is found again when the answer to its submission was
// lost or the server restarted: "atoll-INSTALLATION-12.7.2". The installation's part has the epoch
// in it, so a restored copy never takes over what is not its own.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/ids.h"

namespace atl::site {

std::string slurm_job_name(std::string_view installation, AttemptId attempt);
std::optional<AttemptId> attempt_of_name(std::string_view installation, std::string_view name);

}  // namespace atl::site
